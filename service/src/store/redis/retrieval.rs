//! Candidates for a plan, in one exchange: the `retrieve` script finds them, this module asks it, and
//! reads those that it does not know yet (`lately`) in a second one.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use redis::Value;

use super::RedisStore;
use super::codec::{self, FIELDS, STATE_FIELDS};
use super::control::lock_of;
use super::errors::{self, from_redis};
use super::lately::{All, Held, Told};
use super::query::sides;
use super::scripts::Name;
use super::tokens;
use super::transaction::unexpected;
use super::values::{list, number, pairs, text, texts};
use super::vectors;
use crate::memory::{Memory, MemoryId};
use crate::query::{Candidate, Plan, Retrieved, Statistics, Via, admits};
use crate::ranking::bm25::{Scorer, UNIVERSAL, UNIVERSAL_FROM};
use crate::ranking::fusion::NEIGHBOUR_REACH;
use crate::scope::Scope;
use crate::store::StoreError;
use crate::vector::Probe;

/// At least so many candidates are taken from the engine, and half as many again as are wanted: its
/// order is rough.
const LEAST_DEPTH: usize = 150;
/// Most neighbours for each candidate that is wanted.
const NEIGHBOURS_FACTOR: usize = 8;
/// How often a search is asked again when candidates changed before they were read; then they are read
/// in the same step.
const TRIES: usize = 2;
/// Most terms that the engine looks for: the most telling ones.
const MOST_TERMS: usize = 64;

impl RedisStore {
    /// See `Retriever::retrieve`.
    pub(super) async fn find(
        &self,
        scope: &Scope,
        plan: &Plan,
        now: DateTime<Utc>,
    ) -> Result<Retrieved, StoreError> {
        self.prepared_for(plan).await?;
        let field = plan
            .vector
            .as_ref()
            .map(|vector| vectors::field(&vector.model));
        let field = field.as_deref();
        for tried in 0..=TRIES {
            let is_whole = tried == TRIES;
            let answer = self
                .ask(plan, &self.question(scope, plan, now, is_whole))
                .await?;
            let found = match self.read(answer, now)? {
                Answer::Locked(lock) => {
                    return Ok(Retrieved {
                        lock,
                        ..Retrieved::default()
                    });
                }
                Answer::Found(found) => found,
            };
            let held = if is_whole {
                Some(self.keep(found.told, found.rows, field)?.0)
            } else {
                self.held(found.told, field).await?
            };
            if let Some(held) = held {
                let candidates = found
                    .order
                    .candidates(scope, plan, now, &found.statistics, held);
                return Ok(Retrieved {
                    lock: None,
                    hidden: candidates.is_empty() && found.hidden,
                    candidates,
                    statistics: found.statistics,
                });
            }
        }
        Err(unexpected())
    }

    async fn ask(&self, plan: &Plan, arguments: &[Vec<u8>]) -> Result<Value, StoreError> {
        let connection = &self.inner.connection;
        let asked = match connection.script(Name::Retrieve, arguments).await {
            // Someone dropped the index: it is built again, and asked again.
            Err(error) if errors::is_missing_index(&error) => {
                self.inner.rebuild_index();
                self.prepared_for(plan).await?;
                connection.script(Name::Retrieve, arguments).await
            }
            asked => asked,
        };
        asked.map_err(from_redis)
    }

    fn read(&self, answer: Value, now: DateTime<Utc>) -> Result<Answer, StoreError> {
        let mut answer = list(answer)?.into_iter();
        let mut next = || answer.next().ok_or_else(unexpected);
        if text(next()?).as_deref() == Some("locked") {
            let (value, left) = (text(next()?).unwrap_or_default(), number(next()?));
            return Ok(Answer::Locked(lock_of(Some(value), left, now)));
        }
        self.inner
            .notice_signals(&text(next()?).unwrap_or_default());
        let (memories, words) = (number(next()?), number(next()?));
        let memories = memories.ok_or_else(unexpected)?.max(0).unsigned_abs();
        let words = words.ok_or_else(unexpected)?;
        let frequencies = list(next()?)?
            .into_iter()
            .map(|count| number(count).unwrap_or(0));
        let statistics = Statistics {
            memories,
            mean_length: if memories > 0 {
                words as f64 / memories as f64
            } else {
                0.0
            },
            document_frequencies: frequencies
                .map(|count| count.max(0).unsigned_abs())
                .collect(),
        };
        let hidden = number(next()?) == Some(1);
        let order = Order {
            best: texts(next()?)?,
            nearest: texts(next()?)?,
        };
        let told = pairs(next()?)?.into_iter();
        Ok(Answer::Found(Found {
            statistics,
            hidden,
            order,
            told: told
                .map(|(id, revision)| (MemoryId::new(id), revision))
                .collect(),
            rows: list(next()?)?,
        }))
    }

    /// Makes sure that the index can answer a plan.
    async fn prepared_for(&self, plan: &Plan) -> Result<(), StoreError> {
        match &plan.vector {
            Some(vector) => self.meant(&vector.model).await,
            None => self.prepared().await,
        }
    }

    /// The arguments of the script, in its order; `is_whole` asks for whole memories.
    fn question(
        &self,
        scope: &Scope,
        plan: &Plan,
        now: DateTime<Utc>,
        is_whole: bool,
    ) -> Vec<Vec<u8>> {
        let keys = &self.inner.keys;
        let namespace = &scope.namespace;
        let depth = plan.pool.saturating_add(plan.pool / 2).max(LEAST_DEPTH);
        let reach = if plan.neighbours { NEIGHBOUR_REACH } else { 0 };
        let sides = sides(scope, &plan.filters, now);
        let mut arguments: Vec<Vec<u8>> = Vec::new();
        let mut push = |words: Vec<String>| {
            arguments.extend(words.into_iter().map(String::into_bytes));
        };
        push(vec![
            keys.fragments(),
            keys.states(),
            keys.turns(namespace),
            keys.lock(),
            keys.signals(),
            keys.totals(namespace),
            keys.document_frequencies(namespace),
            keys.alias(),
            codec::millis(now),
            plan.pool.to_string(),
            depth.to_string(),
            reach.to_string(),
            plan.pool.saturating_mul(NEIGHBOURS_FACTOR).to_string(),
            MOST_TERMS.to_string(),
            self.inner.search_timeout.as_millis().to_string(),
            UNIVERSAL.to_string(),
            UNIVERSAL_FROM.to_string(),
            tokens::marker(namespace),
            sides.admitted,
            sides.refused,
        ]);
        let (near, numbers, field) = match &plan.vector {
            Some(vector) => {
                let field = vectors::field(&vector.model);
                let near = format!(
                    "({})=>[KNN {depth} @{field} $vector AS distance]",
                    sides.anything
                );
                let numbers = vectors::bytes(vector.values.iter().copied());
                (near, numbers, Some(field))
            }
            None => Default::default(),
        };
        arguments.extend([near.into_bytes(), numbers]);
        let mut push = |words: Vec<String>| {
            arguments.extend(words.into_iter().map(String::into_bytes));
        };
        let (fields, state) = if is_whole {
            (&FIELDS[..], &STATE_FIELDS[..])
        } else {
            Default::default()
        };
        let field = field.filter(|_| is_whole);
        let fields = fields.iter().map(|name| (*name).to_owned()).chain(field);
        let state = state.iter().map(|name| (*name).to_owned());
        for fields in [fields.collect::<Vec<_>>(), state.collect()] {
            push(vec![fields.len().to_string()]);
            push(fields);
        }
        push(vec![plan.terms.len().to_string()]);
        for term in &plan.terms {
            push(vec![
                term.term.to_string(),
                term.weight.to_string(),
                u8::from(term.via == Via::Own).to_string(),
            ]);
        }
        arguments
    }
}

/// What the script tells.
enum Answer {
    /// Until when, if there is an end.
    Locked(Option<Option<DateTime<Utc>>>),
    Found(Found),
}

/// What the script found.
struct Found {
    statistics: Statistics,
    /// Whether something would have been found but for filters.
    hidden: bool,
    order: Order,
    /// Both and their neighbours, each once.
    told: Vec<Told>,
    /// Their fields, if whole memories were asked for.
    rows: Vec<Value>,
}

/// The rough order of the engine.
struct Order {
    /// Ids of the best by BM25, and a few more.
    best: Vec<String>,
    /// Ids of the nearest by their vectors, and a few more.
    nearest: Vec<String>,
}

impl Order {
    /// The pool in the order of `ranking::bm25`, then the nearest that are not of it, and behind them
    /// their neighbours.
    fn candidates(
        self,
        scope: &Scope,
        plan: &Plan,
        now: DateTime<Utc>,
        statistics: &Statistics,
        held: All,
    ) -> Vec<Candidate> {
        let probe = plan
            .vector
            .as_ref()
            .map(|vector| (Probe::new(&vector.values), vector.model.dimension()));
        let cosine = |held: &Held| {
            let (probe, dimension) = probe.as_ref()?;
            vectors::cosine(probe, *dimension, held.steps()?)
        };
        let frequencies = |held: &Held| {
            let terms = plan.terms.iter();
            terms.map(|term| held.terms.get(&term.term)).collect()
        };
        let mut all: HashMap<MemoryId, Candidate> = held
            .into_iter()
            .filter(|(_, held)| admits(scope, &plan.filters, &held.memory, now))
            .map(|(id, held)| {
                let candidate = Candidate {
                    frequencies: frequencies(&held),
                    cosine: cosine(&held),
                    memory: held.memory.clone(),
                    retrieved: false,
                };
                (id, candidate)
            })
            .collect();
        let scorer = Scorer::new(plan, statistics);
        let score =
            |held: &Candidate| Some(scorer.score(&held.frequencies, held.memory.analysis.length));
        let best = ranked(&all, self.best, plan.pool, score);
        let nearest = ranked(&all, self.nearest, plan.pool, |held| held.cosine);
        let mut pool = Vec::with_capacity(best.len() + nearest.len());
        for id in best.into_iter().chain(nearest) {
            pool.extend(all.remove(&id).map(|candidate| Candidate {
                retrieved: true,
                ..candidate
            }));
        }
        if plan.neighbours {
            let beside = neighbours(&pool, all);
            pool.extend(beside);
        }
        pool
    }
}

/// Ids in the order of what they are worth, those above 0, at most `pool`.
fn ranked(
    all: &HashMap<MemoryId, Candidate>,
    ids: Vec<String>,
    pool: usize,
    worth: impl Fn(&Candidate) -> Option<f64>,
) -> Vec<MemoryId> {
    let held = ids.into_iter().filter_map(|id| all.get(&MemoryId::new(id)));
    let mut ranked: Vec<(f64, &Candidate)> = held
        .filter_map(|held| Some((worth(held).filter(|worth| *worth > 0.0)?, held)))
        .collect();
    ranked.sort_by(|(worth, one), (other_worth, other)| {
        let better = other_worth.total_cmp(worth);
        better.then_with(|| one.memory.tie(&other.memory))
    });
    ranked.truncate(pool);
    let ids = ranked.into_iter().map(|(_, held)| held.memory.id.clone());
    ids.collect()
}

/// Those of `beside` that stand at most [`NEIGHBOUR_REACH`] turns from a candidate in a conversation
/// of the same agent, in the order of the candidates.
fn neighbours(pool: &[Candidate], beside: HashMap<MemoryId, Candidate>) -> Vec<Candidate> {
    type Turn = (Option<String>, String, i64);
    let turn = |memory: &Memory| -> Option<Turn> {
        let place = &memory.place;
        Some((memory.agent.clone(), place.session.clone()?, place.turn?))
    };
    let mut by_turn: BTreeMap<Turn, Vec<Candidate>> = BTreeMap::new();
    for candidate in beside.into_values() {
        if let Some(turn) = turn(&candidate.memory) {
            by_turn.entry(turn).or_default().push(candidate);
        }
    }
    let mut found = Vec::new();
    for (agent, session, at) in pool.iter().filter_map(|candidate| turn(&candidate.memory)) {
        let around = (-NEIGHBOUR_REACH..=NEIGHBOUR_REACH).filter_map(|by| at.checked_add(by));
        for at in around {
            let there = by_turn.remove(&(agent.clone(), session.clone(), at));
            let mut there = there.unwrap_or_default();
            there.sort_by(|one, other| one.memory.tie(&other.memory));
            found.extend(there);
        }
    }
    found
}
