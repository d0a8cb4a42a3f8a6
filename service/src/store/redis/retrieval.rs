//! Candidates for a plan, in one exchange: the `retrieve` script reads, this module asks it and
//! decodes.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use redis::Value;

use super::RedisStore;
use super::codec::{self, FIELDS, STATE_FIELDS, Stored};
use super::control::lock_of;
use super::errors::{self, from_redis};
use super::query::sides;
use super::scripts::Name;
use super::transaction::unexpected;
use super::values::{list, number, text};
use crate::memory::{Memory, MemoryId};
use crate::query::{Candidate, Plan, Retrieved, Statistics, Via, admits};
use crate::ranking::bm25::{B, COVERAGE, K1, Scorer, UNIVERSAL, UNIVERSAL_FROM};
use crate::ranking::fusion::NEIGHBOUR_REACH;
use crate::scope::Scope;
use crate::store::StoreError;

/// How many candidates the engine hands over for each that is wanted, and at least how many: its
/// order is rough.
const DEPTH_FACTOR: usize = 3;
const LEAST_DEPTH: usize = 300;
/// Most neighbours for each candidate that is wanted.
const NEIGHBOURS_FACTOR: usize = 8;
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
        self.prepared().await?;
        let arguments = self.question(scope, plan, now);
        let asked = self
            .inner
            .connection
            .script(Name::Retrieve, &arguments)
            .await;
        let asked = match asked {
            // Someone dropped the index: it is built again, and asked again.
            Err(error) if errors::is_missing_index(&error) => {
                self.inner.rebuild_index();
                self.prepared().await?;
                self.inner
                    .connection
                    .script(Name::Retrieve, &arguments)
                    .await
            }
            asked => asked,
        };
        let answer = asked.map_err(from_redis)?;
        let mut answer = list(answer)?.into_iter();
        let mut next = || answer.next().ok_or_else(unexpected);
        if text(next()?).as_deref() == Some("locked") {
            let (value, left) = (text(next()?).unwrap_or_default(), number(next()?));
            return Ok(Retrieved {
                lock: lock_of(Some(value), left, now),
                ..Retrieved::default()
            });
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
        let found = records(next()?)?;
        let beside = records(next()?)?;
        Ok(Retrieved {
            lock: None,
            candidates: candidates(scope, plan, now, &statistics, found, beside),
            statistics,
            hidden,
        })
    }

    /// The arguments of the script, in its order.
    fn question(&self, scope: &Scope, plan: &Plan, now: DateTime<Utc>) -> Vec<Vec<u8>> {
        let keys = &self.inner.keys;
        let namespace = &scope.namespace;
        let depth = plan.pool.saturating_mul(DEPTH_FACTOR).max(LEAST_DEPTH);
        let reach = if plan.neighbours { NEIGHBOUR_REACH } else { 0 };
        let sides = sides(scope, &plan.filters, now);
        let mut arguments: Vec<String> = vec![
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
            K1.to_string(),
            B.to_string(),
            COVERAGE.to_string(),
            UNIVERSAL.to_string(),
            UNIVERSAL_FROM.to_string(),
            codec::marker(namespace),
            sides.admitted,
            sides.refused,
        ];
        for fields in [&FIELDS[..], &STATE_FIELDS[..]] {
            arguments.push(fields.len().to_string());
            arguments.extend(fields.iter().map(|field| (*field).to_owned()));
        }
        arguments.push(plan.terms.len().to_string());
        for term in &plan.terms {
            arguments.push(term.term.to_string());
            arguments.push(term.weight.to_string());
            arguments.push(u8::from(term.by_length).to_string());
            arguments.push(u8::from(term.via == Via::Own).to_string());
        }
        arguments.into_iter().map(String::into_bytes).collect()
    }
}

/// Memories as the script tells of them.
fn records(answer: Value) -> Result<Vec<Memory>, StoreError> {
    let mut memories = Vec::new();
    for item in list(answer)? {
        if let Some((_, Stored::Present { memory, .. })) = codec::record(list(item)?) {
            memories.push(memory);
        }
    }
    Ok(memories)
}

/// The pool in the order of `ranking::bm25`, and behind it those beside its memories.
fn candidates(
    scope: &Scope,
    plan: &Plan,
    now: DateTime<Utc>,
    statistics: &Statistics,
    found: Vec<Memory>,
    beside: Vec<Memory>,
) -> Vec<Candidate> {
    let scorer = Scorer::new(plan, statistics);
    let mut pool: Vec<(f64, Candidate)> = found
        .into_iter()
        .filter(|memory| admits(scope, &plan.filters, memory, now))
        .map(|memory| candidate(plan, memory, true))
        .map(|candidate| {
            let length = candidate.memory.analysis.length;
            (scorer.score(&candidate.frequencies, length), candidate)
        })
        .filter(|(score, _)| *score > 0.0)
        .collect();
    pool.sort_by(|(score, one), (other_score, other)| {
        other_score
            .total_cmp(score)
            .then_with(|| newest_then_id(&one.memory, &other.memory))
    });
    let left_out: Vec<(f64, Candidate)> = pool.split_off(pool.len().min(plan.pool));
    let mut candidates: Vec<Candidate> = pool.into_iter().map(|(_, candidate)| candidate).collect();
    if plan.neighbours {
        let ties = left_out.into_iter().map(|(_, mut candidate)| {
            candidate.retrieved = false;
            candidate
        });
        let beside = beside
            .into_iter()
            .filter(|memory| admits(scope, &plan.filters, memory, now))
            .map(|memory| candidate(plan, memory, false));
        let beside: Vec<Candidate> = ties.chain(beside).collect();
        let neighbours = neighbours(&candidates, beside);
        candidates.extend(neighbours);
    }
    candidates
}

fn newest_then_id(one: &Memory, other: &Memory) -> Ordering {
    other
        .created_at
        .cmp(&one.created_at)
        .then_with(|| one.id.cmp(&other.id))
}

fn candidate(plan: &Plan, memory: Memory, retrieved: bool) -> Candidate {
    let held = memory.indexed_terms();
    Candidate {
        frequencies: plan.terms.iter().map(|term| held.get(&term.term)).collect(),
        memory: Arc::new(memory),
        retrieved,
    }
}

/// Those of `beside` that stand at most [`NEIGHBOUR_REACH`] turns from a candidate in a conversation
/// of the same agent, in the order of the candidates.
fn neighbours(pool: &[Candidate], beside: Vec<Candidate>) -> Vec<Candidate> {
    type Turn = (Option<String>, String, i64);
    let turn = |memory: &Memory| -> Option<Turn> {
        let place = &memory.place;
        Some((memory.agent.clone(), place.session.clone()?, place.turn?))
    };
    let mut by_turn: HashMap<Turn, Vec<Candidate>> = HashMap::new();
    let mut known: HashSet<MemoryId> = pool.iter().map(|held| held.memory.id.clone()).collect();
    for candidate in beside {
        if let Some(turn) = turn(&candidate.memory) {
            by_turn.entry(turn).or_default().push(candidate);
        }
    }
    let mut found = Vec::new();
    for (agent, session, at) in pool.iter().filter_map(|candidate| turn(&candidate.memory)) {
        let around = (-NEIGHBOUR_REACH..=NEIGHBOUR_REACH).filter_map(|by| at.checked_add(by));
        for at in around {
            let there = by_turn.remove(&(agent.clone(), session.clone(), at));
            found.extend(
                there
                    .into_iter()
                    .flatten()
                    .filter(|candidate| known.insert(candidate.memory.id.clone())),
            );
        }
    }
    found
}
