//! Candidates for a plan: catch up with the truth, score, choose the pool, add neighbours.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, params};

use super::index::tail::{Shelf, Tail};
use super::knn;
use super::sqlite::codec::{self, COLUMNS};
use super::sqlite::{control, from_sqlite};
use crate::memory::Memory;
use crate::query::{Candidate, Plan, Retrieved, Statistics, admits};
use crate::ranking::fusion::NEIGHBOUR_REACH;
use crate::scope::Scope;
use crate::store::StoreError;

/// The tail in the very state that the connection's transaction reads, held there: statistics, rows
/// and tail are of one moment. Nothing may have been read in the transaction before.
pub(super) fn same_moment<'a>(
    connection: &Connection,
    tail: &'a RwLock<Tail>,
) -> Result<RwLockReadGuard<'a, Tail>, StoreError> {
    // The first read fixes the transaction's state; while the guard is held, the tail cannot have
    // gone past it.
    let current = tail.read().unwrap_or_else(PoisonError::into_inner);
    if current.seq == control::seq(connection)? {
        return Ok(current);
    }
    drop(current);
    let mut current = tail.write().unwrap_or_else(PoisonError::into_inner);
    // Another reader may have taken the tail further meanwhile: read a new state, not the old one.
    connection
        .execute_batch("COMMIT; BEGIN")
        .map_err(from_sqlite)?;
    catch_up(connection, &mut current)?;
    Ok(RwLockWriteGuard::downgrade(current))
}

/// Reads into the tail what changed since it was last asked.
fn catch_up(connection: &Connection, tail: &mut Tail) -> Result<(), StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM memories WHERE seq > ?1 ORDER BY seq");
    let mut statement = connection.prepare_cached(&sql).map_err(from_sqlite)?;
    let rows = statement
        .query_map([tail.seq], codec::memory)
        .map_err(from_sqlite)?;
    let changed = rows.collect::<Result<Vec<_>, _>>().map_err(from_sqlite)?;
    let mut statement = connection
        .prepare_cached("SELECT number FROM purged WHERE seq > ?1")
        .map_err(from_sqlite)?;
    let purged = statement
        .query_map([tail.seq], |row| row.get(0))
        .map_err(from_sqlite)?;
    for number in purged
        .collect::<Result<Vec<i64>, _>>()
        .map_err(from_sqlite)?
    {
        tail.remove(number);
    }
    for (number, _, memory) in changed {
        tail.put(number, memory);
    }
    tail.seq = control::seq(connection)?;
    Ok(())
}

/// Retrieves from a tail that has caught up (see `Retriever::retrieve`).
pub(super) fn retrieve(
    connection: &Connection,
    tail: &Tail,
    scope: &Scope,
    plan: &Plan,
    now: DateTime<Utc>,
) -> Result<Retrieved, StoreError> {
    let statistics = statistics(connection, scope, plan)?;
    let Some(shelf) = tail.shelf(&scope.namespace) else {
        return Ok(Retrieved {
            statistics,
            ..Retrieved::default()
        });
    };
    let visible = |memory: &Memory| {
        scope.sees(
            &memory.namespace,
            memory.agent.as_deref(),
            memory.details.shared,
        )
    };
    let mut hidden = false;
    let mut pool: Vec<(u32, f64, &Memory)> = Vec::new();
    for (slot, score) in shelf.score(plan, &statistics) {
        let Some(memory) = shelf
            .memory(slot)
            .filter(|memory| score > 0.0 && visible(memory))
        else {
            continue;
        };
        if plan.filters.refusal(memory, now).is_none() {
            pool.push((slot, score, memory));
        } else {
            hidden = true;
        }
    }
    let cosines = knn::cosines(connection, shelf, plan.vector.as_ref())?;
    let near = cosines.iter().filter_map(|(slot, cosine)| {
        let memory = shelf.memory(*slot)?;
        let found = *cosine > 0.0 && admits(scope, &plan.filters, memory, now);
        found.then_some((*slot, *cosine, &**memory))
    });
    let mut slots = best(pool, plan.pool);
    for slot in best(near.collect(), plan.pool) {
        if !slots.contains(&slot) {
            slots.push(slot);
        }
    }
    let retrieved = slots.len();
    if plan.neighbours {
        slots.extend(neighbours(shelf, &slots, |memory| {
            admits(scope, &plan.filters, memory, now)
        }));
    }
    let candidates = shelf
        .frequencies(plan, &slots)
        .into_iter()
        .zip(&slots)
        .enumerate()
        .filter_map(|(index, (frequencies, slot))| {
            Some(Candidate {
                memory: shelf.memory(*slot)?.clone(),
                frequencies,
                cosine: cosines.get(slot).copied(),
                retrieved: index < retrieved,
            })
        });
    Ok(Retrieved {
        lock: None,
        statistics,
        candidates: candidates.collect(),
        hidden,
    })
}

/// The `limit` best slots: best score first, then the newer, then by id.
fn best(mut scored: Vec<(u32, f64, &Memory)>, limit: usize) -> Vec<u32> {
    scored.sort_by(|(_, score, memory), (_, other_score, other)| {
        other_score
            .total_cmp(score)
            .then(other.created_at.cmp(&memory.created_at))
            .then_with(|| memory.id.cmp(&other.id))
    });
    scored.truncate(limit);
    scored.into_iter().map(|(slot, _, _)| slot).collect()
}

/// The turns around each slot that are not among the slots themselves, in a stable order.
fn neighbours(shelf: &Shelf, slots: &[u32], admitted: impl Fn(&Memory) -> bool) -> Vec<u32> {
    let mut known: HashSet<u32> = slots.iter().copied().collect();
    let mut found = Vec::new();
    for memory in slots.iter().filter_map(|slot| shelf.memory(*slot)) {
        let (Some(session), Some(turn)) = (&memory.place.session, memory.place.turn) else {
            continue;
        };
        let around =
            (-NEIGHBOUR_REACH..=NEIGHBOUR_REACH).filter_map(|distance| turn.checked_add(distance));
        for slot in around.flat_map(|turn| shelf.at_turn(session, turn)) {
            let is_neighbour = shelf
                .memory(slot)
                .is_some_and(|other| other.agent == memory.agent && admitted(other));
            if is_neighbour && known.insert(slot) {
                found.push(slot);
            }
        }
    }
    found
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
