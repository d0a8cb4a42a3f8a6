//! Revisions and marks of maintenance (see `UpkeepStore`).

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::codec::{self, COLUMNS, millis, time};
use super::memories::{by_content, by_id, link_entities, next_seq, save};
use super::{from_sqlite, vectors};
use crate::memory::{Memory, MemoryId};
use crate::store::StoreError;
use crate::store::gathered::Counters;
use crate::store::lifecycle;
use crate::store::upkeep::{Change, Revision};

/// Makes a revision if every memory is as it was read; whether it did.
pub(crate) fn revise(
    transaction: &Transaction<'_>,
    counters: &mut Counters,
    revision: Revision,
) -> Result<bool, StoreError> {
    let mut numbers = Vec::with_capacity(revision.len());
    for change in &revision {
        match is_current(transaction, change)? {
            Some(number) => numbers.push(number),
            None => return Ok(false),
        }
    }
    for (change, number) in revision.into_iter().zip(numbers) {
        apply(transaction, counters, change, number)?;
    }
    Ok(true)
}

/// The row of the memory as it was read (`Some(None)` if there is to be none); `None` if it is
/// another by now.
fn is_current(connection: &Connection, change: &Change) -> Result<Option<Option<i64>>, StoreError> {
    match (&change.before, &change.after) {
        (Some(before), _) => {
            let found = by_id(connection, &before.id)?;
            Ok(found
                .filter(|(_, memory)| memory == before)
                .map(|(number, _)| Some(number)))
        }
        (None, Some(after)) => {
            let agent = after.agent.as_deref();
            let twin = by_content(
                connection,
                &after.namespace,
                agent,
                &after.place,
                &after.content,
            )?;
            let free = twin.is_none() && by_id(connection, &after.id)?.is_none();
            Ok(free.then_some(None))
        }
        (None, None) => Ok(Some(None)),
    }
}

fn apply(
    transaction: &Transaction<'_>,
    counters: &mut Counters,
    change: Change,
    number: Option<i64>,
) -> Result<(), StoreError> {
    match (number, change.before, change.after) {
        (Some(number), Some(before), Some(after)) => {
            save(transaction, Some((number, &before)), &after)?;
            if before.analysis.entities != after.analysis.entities {
                link_entities(transaction, number, &after)?;
            }
            counters.recount(&before, &after);
        }
        (Some(number), Some(before), None) => delete(transaction, counters, number, &before)?,
        (_, _, Some(after)) => {
            let number = save(transaction, None, &after)?;
            link_entities(transaction, number, &after)?;
            counters.count(&after, 1);
        }
        (_, _, None) => {}
    }
    Ok(())
}

/// Deletes a row and all that is kept beside it.
pub(super) fn delete(
    transaction: &Transaction<'_>,
    counters: &mut Counters,
    number: i64,
    memory: &Memory,
) -> Result<(), StoreError> {
    if lifecycle::is_counted(memory) {
        counters.count(memory, -1);
    }
    let seq = next_seq(transaction)?;
    vectors::drop_all(transaction, number)?;
    for sql in [
        "DELETE FROM memories WHERE number = ?1",
        "DELETE FROM memory_entities WHERE number = ?1",
        "DELETE FROM retrievals WHERE number = ?1",
        "DELETE FROM checked WHERE number = ?1",
    ] {
        let mut statement = transaction.prepare_cached(sql).map_err(from_sqlite)?;
        statement.execute([number]).map_err(from_sqlite)?;
    }
    transaction
        .execute(
            "INSERT INTO purged (seq, number) VALUES (?1, ?2)",
            [seq, number],
        )
        .map(|_| ())
        .map_err(from_sqlite)
}

/// See `UpkeepStore::note_retrieved`.
pub(crate) fn note_retrieved(
    transaction: &Transaction<'_>,
    retrieved: &[(MemoryId, DateTime<Utc>)],
) -> Result<(), StoreError> {
    let mut statement = transaction
        .prepare_cached(
            "INSERT INTO retrievals (number, at) SELECT number, ?2 FROM memories WHERE id = ?1 \
             ON CONFLICT DO UPDATE SET at = max(at, excluded.at)",
        )
        .map_err(from_sqlite)?;
    for (id, at) in retrieved {
        statement
            .execute(params![id.as_str(), millis(*at)])
            .map_err(from_sqlite)?;
    }
    Ok(())
}

/// See `UpkeepStore::last_retrieved`.
pub(crate) fn last_retrieved(
    connection: &Connection,
    ids: &[MemoryId],
) -> Result<Vec<Option<DateTime<Utc>>>, StoreError> {
    let mut statement = connection
        .prepare_cached(
            "SELECT at FROM retrievals WHERE number = (SELECT number FROM memories WHERE id = ?1)",
        )
        .map_err(from_sqlite)?;
    let mut last = Vec::with_capacity(ids.len());
    for id in ids {
        let at = statement.query_row([id.as_str()], |row| row.get(0));
        last.push(at.optional().map_err(from_sqlite)?.map(time));
    }
    Ok(last)
}

/// See `UpkeepStore::unchecked`.
pub(crate) fn unchecked(
    connection: &Connection,
    after: Option<&MemoryId>,
    limit: usize,
) -> Result<Vec<Memory>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM memories WHERE id > ?1 AND NOT EXISTS (SELECT 1 FROM checked \
         WHERE checked.number = memories.number AND checked.content_hash = memories.content_hash) ORDER BY id LIMIT ?2"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(from_sqlite)?;
    let after = after.map(MemoryId::as_str).unwrap_or_default();
    let rows = statement
        .query_map(
            params![after, i64::try_from(limit).unwrap_or(i64::MAX)],
            codec::memory,
        )
        .map_err(from_sqlite)?;
    rows.map(|row| row.map(|(_, _, memory)| memory))
        .collect::<Result<_, _>>()
        .map_err(from_sqlite)
}

/// See `UpkeepStore::mark_checked`.
pub(crate) fn mark_checked(
    transaction: &Transaction<'_>,
    ids: &[MemoryId],
) -> Result<(), StoreError> {
    let mut statement = transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO checked (number, content_hash) SELECT number, content_hash FROM memories WHERE id = ?1",
        )
        .map_err(from_sqlite)?;
    for id in ids {
        statement.execute([id.as_str()]).map_err(from_sqlite)?;
    }
    Ok(())
}
