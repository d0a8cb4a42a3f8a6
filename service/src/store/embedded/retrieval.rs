//! Candidates for a plan: score what the index, the tail or the truth itself holds, choose the pool,
//! read its memories, add their neighbours.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, params};

use super::follower::{Follower, Moment, State};
use super::index::best::{Best, Rank};
use super::index::schema::id_head;
use super::index::view::{Admission, Lookups, Place};
use super::knn::Meant;
use super::matrix::Begun;
use super::sqlite::changes::{self, Changed};
use super::sqlite::codec::millis;
use super::sqlite::from_sqlite;
use crate::analysis::terms::Frequencies;
use crate::memory::Memory;
use crate::query::{Candidate, Plan, Retrieved, Statistics, admits};
use crate::ranking::bm25::Scorer;
use crate::ranking::fusion::NEIGHBOUR_REACH;
use crate::scope::Scope;
use crate::store::StoreError;

/// What went wrong in retrieval.
pub(super) enum Failure {
    Store(StoreError),
    /// The index could not be read.
    Index(String),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Store(error)
    }
}

impl From<tantivy::TantivyError> for Failure {
    fn from(error: tantivy::TantivyError) -> Failure {
        Failure::Index(error.to_string())
    }
}

/// Everything that retrieval reads from: one moment of the store.
pub(super) struct Source<'a> {
    pub connection: &'a Connection,
    pub follower: &'a Follower,
    pub moment: &'a Moment<'a>,
}

/// A memory that matches, and where it was found.
enum Match {
    Indexed(Place),
    /// In the tail, by the number of its row.
    Recent(i64),
    Scanned(Box<Scanned>),
}

/// A memory read from the truth for this search alone.
struct Scanned {
    number: i64,
    memory: Arc<Memory>,
    terms: Frequencies,
}

/// A chosen memory before its frequencies are known.
pub(super) struct Chosen {
    pub number: i64,
    pub memory: Arc<Memory>,
    known: Known,
}

/// Where the frequencies of a chosen memory are found.
enum Known {
    Indexed(Place),
    Terms(Vec<u32>),
}

/// Retrieves what is known at one moment (see `Retriever::retrieve`).
pub(super) fn retrieve(
    source: &Source<'_>,
    scope: &Scope,
    plan: &Plan,
    now: DateTime<Utc>,
) -> Result<Retrieved, Failure> {
    // A damaged file of the index may show as a panic of its reader as well as an error.
    let attempt = AssertUnwindSafe(|| Search::new(source, scope, plan, now).run());
    catch_unwind(attempt).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(Failure::Index(message.unwrap_or_default()))
    })
}

pub(super) struct Search<'a> {
    pub source: &'a Source<'a>,
    pub state: &'a State,
    pub scope: &'a Scope,
    pub plan: &'a Plan,
    pub now: DateTime<Utc>,
}

impl<'a> Search<'a> {
    fn new(source: &'a Source<'a>, scope: &'a Scope, plan: &'a Plan, now: DateTime<Utc>) -> Self {
        let (Moment::Followed(state) | Moment::Behind(state)) = source.moment;
        Search {
            source,
            state,
            scope,
            plan,
            now,
        }
    }

    /// Vectors are compared on other threads while this one looks up words.
    fn run(&self) -> Result<Retrieved, Failure> {
        let meant = Meant::of(self);
        thread::scope(|threads| {
            let begun = meant.as_ref().map(|meant| meant.begin(threads));
            self.find(meant.as_ref().zip(begun))
        })
    }

    fn find(&self, nearness: Option<(&Meant<'_>, Begun<'_>)>) -> Result<Retrieved, Failure> {
        let statistics = statistics(self.source.connection, self.scope, self.plan)?;
        let mut best = Best::new(self.plan.pool);
        let mut hidden = false;
        let scanned_rows = match self.source.moment {
            Moment::Followed(_) => {
                hidden |= self.score_tail(&statistics, &mut best);
                None
            }
            Moment::Behind(_) => {
                let (rows, kept_back) = self.scan(&statistics, &mut best)?;
                hidden |= kept_back;
                Some(rows)
            }
        };
        let changed = |number| match &scanned_rows {
            Some(rows) => rows.contains(&number),
            None => self.state.tail.has_changed(number),
        };
        let admission = Admission {
            scope: self.scope,
            plan: self.plan,
            now: self.now,
            changed: &changed,
        };
        let view = &self.state.view;
        // A term that no memory holds is held by none of the index, but for trashed ones.
        let held = |term: usize| statistics.document_frequencies[term] > 0;
        let lookups = view.look_up(&self.scope.namespace, self.plan, held)?;
        let gates = view.gates(&admission)?;
        view.score(
            &lookups,
            &statistics,
            &admission,
            &gates,
            &mut best,
            Match::Indexed,
        )?;
        let mut chosen = self.read(best)?;
        let mut meant = None;
        if let Some((nearness, begun)) = nearness {
            nearness.add_nearest(self, begun, &mut chosen, &gates, &changed)?;
            meant = Some(nearness);
        }
        let retrieved = chosen.len();
        if self.plan.neighbours {
            self.add_neighbours(&mut chosen, &changed)?;
        }
        if chosen.is_empty() {
            let lookups = view.look_up(&self.scope.namespace, self.plan, |_| true)?;
            hidden = hidden || view.hides(&lookups, &statistics, &admission, &gates)?;
        }
        Ok(Retrieved {
            lock: None,
            statistics,
            hidden: chosen.is_empty() && hidden,
            candidates: self.candidates(chosen, retrieved, meant, &lookups)?,
        })
    }

    /// Offers what the tail holds; whether it keeps a match back.
    fn score_tail(&self, statistics: &Statistics, best: &mut Best<Match>) -> bool {
        let mut hidden = false;
        let shelf = self.state.tail.shelf(&self.scope.namespace);
        for (score, held) in shelf
            .into_iter()
            .flat_map(|shelf| shelf.score(self.plan, statistics))
        {
            hidden |= self.offer(score, &held.memory, best, || Match::Recent(held.number));
        }
        hidden
    }

    /// Offers what changed after the view, straight from the truth: the rows that changed, and whether
    /// a match is kept back.
    fn scan(
        &self,
        statistics: &Statistics,
        best: &mut Best<Match>,
    ) -> Result<(HashSet<i64>, bool), StoreError> {
        let after = self.state.view.covered();
        let connection = self.source.connection;
        let mut rows: HashSet<i64> = changes::purged(connection, after)?
            .into_iter()
            .map(|(number, _)| number)
            .collect();
        let scorer = Scorer::new(self.plan, statistics);
        let mut hidden = false;
        changes::each_changed(connection, after, |changed: Changed| {
            rows.insert(changed.number);
            if changed.memory.namespace != self.scope.namespace {
                return Ok::<_, StoreError>(());
            }
            let memory = Arc::new(changed.memory);
            let terms = memory.indexed_terms();
            let frequencies = self.frequencies(&terms);
            let score = scorer.score(&frequencies, memory.analysis.length);
            hidden |= self.offer(score, &memory, best, || {
                Match::Scanned(Box::new(Scanned {
                    number: changed.number,
                    memory: memory.clone(),
                    terms,
                }))
            });
            Ok(())
        })?;
        Ok((rows, hidden))
    }

    /// Offers a match that scope and filters admit; whether the filters keep it back.
    fn offer(
        &self,
        score: f64,
        memory: &Memory,
        best: &mut Best<Match>,
        found: impl FnOnce() -> Match,
    ) -> bool {
        let details = &memory.details;
        if score <= 0.0
            || !self
                .scope
                .sees(&memory.namespace, memory.agent.as_deref(), details.shared)
        {
            return false;
        }
        if self.plan.filters.refusal(memory, self.now).is_some() {
            return true;
        }
        let rank = Rank {
            score,
            created: millis(memory.created_at),
            id_head: id_head(&memory.id),
        };
        if best.wants(&rank) {
            best.offer(rank, found());
        }
        false
    }

    fn frequencies(&self, terms: &Frequencies) -> Vec<u32> {
        self.plan
            .terms
            .iter()
            .map(|term| terms.get(&term.term))
            .collect()
    }

    /// The memories of the pool, best first.
    fn read(&self, best: Best<Match>) -> Result<Vec<Chosen>, Failure> {
        let mut ranked = Vec::new();
        for (rank, found) in best.into_items() {
            ranked.push((rank.score, self.chosen(found)?));
        }
        ranked.sort_by(|(score, one), (other_score, other)| {
            other_score
                .total_cmp(score)
                .then_with(|| one.memory.tie(&other.memory))
        });
        ranked.truncate(self.plan.pool);
        Ok(ranked.into_iter().map(|(_, chosen)| chosen).collect())
    }

    fn chosen(&self, found: Match) -> Result<Chosen, Failure> {
        match found {
            Match::Scanned(scanned) => Ok(Chosen {
                number: scanned.number,
                known: Known::Terms(self.frequencies(&scanned.terms)),
                memory: scanned.memory,
            }),
            Match::Recent(number) => {
                let held = self.state.tail.held(number).expect("scored a moment ago");
                Ok(Chosen {
                    number,
                    memory: held.memory.clone(),
                    known: Known::Terms(self.frequencies(&held.terms)),
                })
            }
            Match::Indexed(place) => {
                let number = self.state.view.number(place);
                let memory = self.row(number)?;
                Ok(Chosen {
                    number,
                    memory: memory.ok_or_else(|| {
                        Failure::Index(format!("it holds row {number}, which is not there"))
                    })?,
                    known: Known::Indexed(place),
                })
            }
        }
    }

    /// The memory of a row that has not changed since the view, if there is one.
    fn row(&self, number: i64) -> Result<Option<Arc<Memory>>, StoreError> {
        if let Some(memory) = self.source.follower.cache().get(&number) {
            return Ok(Some(memory.clone()));
        }
        let memory = changes::by_number(self.source.connection, number)?.map(Arc::new);
        if let Some(memory) = &memory {
            self.source.follower.keep(number, memory);
        }
        Ok(memory)
    }

    /// Adds the turns around each chosen memory that are not chosen themselves, in a stable order.
    fn add_neighbours(
        &self,
        chosen: &mut Vec<Chosen>,
        changed: &dyn Fn(i64) -> bool,
    ) -> Result<(), Failure> {
        let mut known: HashSet<i64> = chosen.iter().map(|chosen| chosen.number).collect();
        let mut around = HashSet::new();
        for index in 0..chosen.len() {
            let memory = chosen[index].memory.clone();
            let (Some(session), Some(turn)) = (&memory.place.session, memory.place.turn) else {
                continue;
            };
            if !around.insert((memory.agent.clone(), session.clone(), turn)) {
                continue;
            }
            let (first, last) = (
                turn.saturating_sub(NEIGHBOUR_REACH),
                turn.saturating_add(NEIGHBOUR_REACH),
            );
            let connection = self.source.connection;
            for number in changes::turns(connection, &self.scope.namespace, session, first, last)? {
                if known.contains(&number) {
                    continue;
                }
                let Some(neighbour) = self.neighbour(number, changed)? else {
                    continue;
                };
                if neighbour.memory.agent == memory.agent
                    && admits(self.scope, &self.plan.filters, &neighbour.memory, self.now)
                {
                    known.insert(number);
                    chosen.push(neighbour);
                }
            }
        }
        Ok(())
    }

    pub(super) fn neighbour(
        &self,
        number: i64,
        changed: &dyn Fn(i64) -> bool,
    ) -> Result<Option<Chosen>, Failure> {
        if let (Moment::Followed(_), Some(held)) =
            (self.source.moment, self.state.tail.held(number))
        {
            return self.chosen(Match::Recent(held.number)).map(Some);
        }
        match self.state.view.place(number) {
            Some(place) if !changed(number) => self.chosen(Match::Indexed(place)).map(Some),
            _ => Ok(
                changes::by_number(self.source.connection, number)?.map(|memory| Chosen {
                    number,
                    known: Known::Terms(self.frequencies(&memory.indexed_terms())),
                    memory: Arc::new(memory),
                }),
            ),
        }
    }

    fn candidates(
        &self,
        chosen: Vec<Chosen>,
        retrieved: usize,
        meant: Option<&Meant<'_>>,
        lookups: &Lookups,
    ) -> Result<Vec<Candidate>, Failure> {
        let places: Vec<Place> = chosen
            .iter()
            .filter_map(|chosen| match chosen.known {
                Known::Indexed(place) => Some(place),
                Known::Terms(_) => None,
            })
            .collect();
        let mut indexed = self
            .state
            .view
            .frequencies(lookups, self.plan, &places)?
            .into_iter();
        Ok(chosen
            .into_iter()
            .enumerate()
            .map(|(index, chosen)| Candidate {
                cosine: meant.and_then(|meant| meant.cosine(chosen.number)),
                memory: chosen.memory,
                frequencies: match chosen.known {
                    Known::Terms(frequencies) => frequencies,
                    Known::Indexed(_) => indexed.next().unwrap_or_default(),
                },
                retrieved: index < retrieved,
            })
            .collect())
    }
}
fn statistics(
    connection: &Connection,
    scope: &Scope,
    plan: &Plan,
) -> Result<Statistics, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT memories, length FROM namespace_statistics WHERE namespace = ?1")
        .map_err(from_sqlite)?;
    let totals = statement
        .query_row([&scope.namespace], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
        })
        .optional()
        .map_err(from_sqlite)?;
    let (memories, length) = totals.unwrap_or_default();
    let mut statement = connection
        .prepare_cached("SELECT memories FROM term_statistics WHERE namespace = ?1 AND term = ?2")
        .map_err(from_sqlite)?;
    let mut frequency = |term: &str| {
        statement
            .query_row(params![scope.namespace, term], |row| row.get::<_, i64>(0))
            .optional()
    };
    let document_frequencies: Result<Vec<u64>, _> = plan
        .terms
        .iter()
        .map(|term| frequency(term.term.as_str()).map(|found| found.unwrap_or(0).unsigned_abs()))
        .collect();
    Ok(Statistics {
        memories: memories.unsigned_abs(),
        mean_length: if memories > 0 {
            length as f64 / memories as f64
        } else {
            0.0
        },
        document_frequencies: document_frequencies.map_err(from_sqlite)?,
    })
}
