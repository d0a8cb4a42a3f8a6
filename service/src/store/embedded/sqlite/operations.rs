//! What is done once although it is asked for again, kept answers, and deletion of many at once.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, Transaction, named_params, params};
use serde_json::{Value, json};

use super::codec::{self, COLUMNS, millis};
use super::lists::{self, STATE};
use super::{from_sqlite, memories};
use crate::memory::{Memory, MemoryId, NewMemory, State};
use crate::scope::Scope;
use crate::store::gathered::Counters;
use crate::store::operation::REMEMBERED;
use crate::store::{
    Added, Cursor, Deleted, Effect, KeptAnswer, ListFilters, Operated, Operation, Step, StoreError,
    Target,
};

/// Rows of the table whose key is that of an answer; those of operations begin with `[`.
const ANSWERS: &str = "answers";
/// Most forgotten rows that one write deletes, so that its work is bounded.
const MOST_FORGOTTEN: i64 = 1_000;
/// Memories that are deleted together.
const CHUNK: usize = 256;

/// Does operations in order (see `MemoryStore::operate`).
pub(crate) fn operate(
    transaction: &Transaction<'_>,
    counters: &mut Counters,
    scope: &Scope,
    operations: Vec<Operation>,
    now: DateTime<Utc>,
) -> Result<Vec<Operated>, StoreError> {
    let whose = json!([scope.namespace, scope.agent]).to_string();
    let mut results = Vec::with_capacity(operations.len());
    for Operation { key, step } in operations {
        let remembered = recall(transaction, &whose, &key, now)?.and_then(|text| outcome(&text));
        let operated = match remembered {
            Some(operated) => operated,
            None => {
                let operated = take(transaction, counters, scope, step, now)?;
                if let Some(text) = outcome_text(&operated) {
                    remember(transaction, &whose, &key, &text, now)?;
                }
                operated
            }
        };
        results.push(operated);
    }
    forget(transaction, now)?;
    Ok(results)
}

fn take(
    transaction: &Transaction<'_>,
    counters: &mut Counters,
    scope: &Scope,
    step: Step,
    now: DateTime<Utc>,
) -> Result<Operated, StoreError> {
    match step {
        Step::Add(new) => {
            memories::add(transaction, counters, scope, new, now).map(Operated::Added)
        }
        Step::Replace(target, new) => match find(transaction, scope, &target, now)? {
            Found::One(id) => {
                let new = NewMemory {
                    supersedes: Some(id),
                    ..new
                };
                memories::add(transaction, counters, scope, new, now).map(Operated::Added)
            }
            Found::Not(operated) => Ok(*operated),
        },
        Step::Remove(target) => match find(transaction, scope, &target, now)? {
            Found::One(id) => {
                let trash = |memory: &mut Memory| memory.fate.trashed_at = Some(now);
                memories::change(transaction, counters, scope, &id, trash, now)?;
                Ok(Operated::Removed(id))
            }
            Found::Not(operated) => Ok(*operated),
        },
    }
}

enum Found {
    One(MemoryId),
    Not(Box<Operated>),
}

fn find(
    connection: &Connection,
    scope: &Scope,
    target: &Target,
    now: DateTime<Utc>,
) -> Result<Found, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM memories WHERE namespace = :namespace AND ifnull(agent, char(0)) = ifnull(:agent, char(0)) \
         AND {STATE} = 'active' AND (:source IS NULL OR source = :source) AND instr(content, :old_text) > 0 LIMIT 2"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(from_sqlite)?;
    let values = named_params! {
        ":namespace": scope.namespace,
        ":agent": scope.agent,
        ":now": millis(now),
        ":source": target.source,
        ":old_text": target.old_text,
    };
    let rows = statement
        .query_map(values, codec::memory)
        .map_err(from_sqlite)?;
    let found: Vec<_> = rows.collect::<Result<_, _>>().map_err(from_sqlite)?;
    Ok(match found.as_slice() {
        [] => Found::Not(Box::new(Operated::NoMatch)),
        [(_, _, memory)] => Found::One(memory.id.clone()),
        _ => Found::Not(Box::new(Operated::Ambiguous)),
    })
}

/// How an outcome is remembered; `None` if it is not.
fn outcome_text(operated: &Operated) -> Option<String> {
    let effect = |id: &MemoryId, reinforced: bool, revived: Option<State>| json!({"id": id.as_str(), "reinforced": reinforced, "revived": revived.map(State::as_str)});
    let value = match operated {
        Operated::Added(Added::Created(memory)) => effect(&memory.id, false, None),
        Operated::Added(Added::Reinforced { memory, revived }) => {
            effect(&memory.id, true, *revived)
        }
        Operated::Removed(id) => effect(id, false, None),
        Operated::NoMatch => json!("no_match"),
        Operated::Ambiguous => json!("ambiguous"),
        Operated::Added(Added::Corrected(_) | Added::NothingToSupersede(_) | Added::IdTaken)
        | Operated::Repeated(_) => return None,
    };
    Some(value.to_string())
}

/// The outcome that was remembered.
fn outcome(text: &str) -> Option<Operated> {
    let value: Value = serde_json::from_str(text).ok()?;
    match value.as_str() {
        Some("no_match") => return Some(Operated::NoMatch),
        Some("ambiguous") => return Some(Operated::Ambiguous),
        _ => {}
    }
    Some(Operated::Repeated(Effect {
        id: MemoryId::new(value["id"].as_str()?),
        reinforced: value["reinforced"].as_bool()?,
        revived: value["revived"].as_str().and_then(State::parse),
    }))
}

/// See `ControlStore::answer`.
pub(crate) fn answer(
    connection: &Connection,
    key: &str,
    now: DateTime<Utc>,
) -> Result<Option<KeptAnswer>, StoreError> {
    let read = |text: String| {
        let value: Value = serde_json::from_str(&text).ok()?;
        Some(KeptAnswer {
            fingerprint: value["fingerprint"].as_str()?.to_owned(),
            status: value["status"].as_u64()?.try_into().ok()?,
            content_type: value["content_type"].as_str()?.to_owned(),
            body: value["body"].as_str()?.to_owned(),
        })
    };
    Ok(recall(connection, ANSWERS, key, now)?.and_then(read))
}

/// See `ControlStore::keep_answer`.
pub(crate) fn keep_answer(
    transaction: &Transaction<'_>,
    key: &str,
    answer: &KeptAnswer,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let text = json!({
        "fingerprint": answer.fingerprint,
        "status": answer.status,
        "content_type": answer.content_type,
        "body": answer.body,
    });
    remember(transaction, ANSWERS, key, &text.to_string(), now)?;
    forget(transaction, now)
}

fn recall(
    connection: &Connection,
    whose: &str,
    key: &str,
    now: DateTime<Utc>,
) -> Result<Option<String>, StoreError> {
    let mut statement = connection
        .prepare_cached(
            "SELECT answer FROM operations WHERE scope = ?1 AND key = ?2 AND done_at > ?3",
        )
        .map_err(from_sqlite)?;
    statement
        .query_row(params![whose, key, millis(now - REMEMBERED)], |row| {
            row.get(0)
        })
        .optional()
        .map_err(from_sqlite)
}

fn remember(
    transaction: &Transaction<'_>,
    whose: &str,
    key: &str,
    text: &str,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let mut statement = transaction
        .prepare_cached(
            "INSERT INTO operations (scope, key, answer, done_at) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT DO UPDATE SET answer = excluded.answer, done_at = excluded.done_at",
        )
        .map_err(from_sqlite)?;
    statement
        .execute(params![whose, key, text, millis(now)])
        .map(|_| ())
        .map_err(from_sqlite)
}

/// Deletes what no longer needs to be remembered.
fn forget(transaction: &Transaction<'_>, now: DateTime<Utc>) -> Result<(), StoreError> {
    let mut statement = transaction
        .prepare_cached(
            "DELETE FROM operations WHERE (scope, key) IN (SELECT scope, key FROM operations WHERE done_at <= ?1 LIMIT ?2)",
        )
        .map_err(from_sqlite)?;
    statement
        .execute([millis(now - REMEMBERED), MOST_FORGOTTEN])
        .map(|_| ())
        .map_err(from_sqlite)
}

/// Deletes what a list holds (see `MemoryStore::delete_all`), a part of it at a time, so that memory
/// is bounded.
pub(crate) fn delete_all(
    transaction: &Transaction<'_>,
    counters: &mut Counters,
    scope: &Scope,
    filters: &ListFilters,
    expected: u64,
    purge: bool,
    now: DateTime<Utc>,
) -> Result<Deleted, StoreError> {
    let count = lists::count(transaction, scope, filters, now)?;
    if count != expected {
        return Ok(Deleted::Differs(count));
    }
    let mut after: Option<Cursor> = None;
    loop {
        let page = lists::page(transaction, scope, filters, after.as_ref(), CHUNK, now)?;
        let Some(last) = page.last() else {
            return Ok(Deleted::Done);
        };
        after = Some(Cursor {
            created_at: last.created_at,
            id: last.id.clone(),
        });
        for memory in page {
            if purge {
                memories::purge(transaction, counters, scope, &memory.id)?;
            } else {
                let trash = |memory: &mut Memory| {
                    memory.fate.trashed_at = memory.fate.trashed_at.or(Some(now));
                };
                memories::change(transaction, counters, scope, &memory.id, trash, now)?;
            }
        }
    }
}
