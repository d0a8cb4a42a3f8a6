//! Writing memories. Each function works inside a transaction that its caller opens and commits.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::codec::{self, COLUMNS};
use super::{from_sqlite, upkeep, vectors};
use crate::memory::{Edit, Memory, MemoryId, NewMemory, Place, State, content_hash};
use crate::scope::Scope;
use crate::store::embedded::index::schema::differ;
use crate::store::gathered::{Counters, entity_key};
use crate::store::lifecycle::{self, place_key};
use crate::store::{Added, Edited, Import, Imported, StoreError};

/// A memory as it is stored, with the number of its row.
type Row = (i64, Memory);

/// The memory of that id, if the scope sees it.
pub(crate) fn find(
    connection: &Connection,
    scope: &Scope,
    id: &MemoryId,
) -> Result<Option<Row>, StoreError> {
    let found = by_id(connection, id)?;
    Ok(found.filter(|(_, memory)| {
        scope.sees(
            &memory.namespace,
            memory.agent.as_deref(),
            memory.details.shared,
        )
    }))
}

pub(super) fn by_id(connection: &Connection, id: &MemoryId) -> Result<Option<Row>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM memories WHERE id = ?1");
    let mut statement = connection.prepare_cached(&sql).map_err(from_sqlite)?;
    statement
        .query_row([id.as_str()], codec::memory)
        .optional()
        .map(row)
        .map_err(from_sqlite)
}

pub(super) fn by_content(
    connection: &Connection,
    namespace: &str,
    agent: Option<&str>,
    place: &Place,
    content: &str,
) -> Result<Option<Row>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM memories WHERE namespace = ?1 AND ifnull(agent, char(0)) = ifnull(?2, char(0)) AND place = ?3 AND content_hash = ?4"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(from_sqlite)?;
    let found = statement.query_row(
        params![namespace, agent, place_key(place), content_hash(content)],
        codec::memory,
    );
    found.optional().map(row).map_err(from_sqlite)
}

fn row(found: Option<(i64, i64, Memory)>) -> Option<Row> {
    found.map(|(number, _, memory)| (number, memory))
}

/// Adds one memory (see `MemoryStore::add`).
pub(crate) fn add(
    transaction: &Transaction<'_>,
    counters: &mut Counters,
    scope: &Scope,
    new: NewMemory,
    now: DateTime<Utc>,
) -> Result<Added, StoreError> {
    let there = by_content(
        transaction,
        &scope.namespace,
        scope.agent.as_deref(),
        &new.place,
        &new.content,
    )?;
    let superseded = match &new.supersedes {
        Some(id) => match find(transaction, scope, id)? {
            None => return Ok(Added::NothingToSupersede(id.clone())),
            // A memory cannot take its own place.
            found => {
                found.filter(|(number, _)| there.as_ref().is_none_or(|(own, _)| own != number))
            }
        },
        None => None,
    };
    let added = match there {
        Some((_, memory)) if memory.state(now) == State::Corrected && !new.force => {
            return Ok(Added::Corrected(memory.id));
        }
        Some((number, memory)) => reinforce(transaction, counters, number, memory, &new, now)?,
        None if by_id(transaction, &new.id)?.is_some() => return Ok(Added::IdTaken),
        None => Added::Created(create(transaction, counters, scope, new, now)?),
    };
    if let (
        Some((number, before)),
        Added::Created(newer) | Added::Reinforced { memory: newer, .. },
    ) = (superseded, &added)
    {
        let mut older = before.clone();
        lifecycle::supersede(&mut older, &newer.id, now);
        save(transaction, Some((number, &before)), &older)?;
    }
    Ok(added)
}

fn create(
    transaction: &Transaction<'_>,
    counters: &mut Counters,
    scope: &Scope,
    mut new: NewMemory,
    now: DateTime<Utc>,
) -> Result<Memory, StoreError> {
    let (attention, vector) = (new.attention, new.vector.take());
    let memory = lifecycle::created(scope, new, now);
    let number = save(transaction, None, &memory)?;
    link_entities(transaction, number, &memory)?;
    vectors::put(transaction, number, vector)?;
    counters.count(&memory, 1);
    counters.mention(&memory, memory.created_at, attention);
    Ok(memory)
}

/// The same content was told again.
fn reinforce(
    transaction: &Transaction<'_>,
    counters: &mut Counters,
    number: i64,
    before: Memory,
    new: &NewMemory,
    now: DateTime<Utc>,
) -> Result<Added, StoreError> {
    let (memory, revived) = lifecycle::reinforced(&before, new, now);
    save(transaction, Some((number, &before)), &memory)?;
    vectors::put(transaction, number, new.vector.clone())?;
    counters.recount(&before, &memory);
    counters.mention(&memory, new.created_at, new.attention);
    if let Some(consolidated) = &memory.fate.consumed_by
        && let Some((number, before)) = by_id(transaction, consolidated)?
    {
        // A statement that went into a consolidated memory strengthens that one, too.
        let mut consolidated = before.clone();
        lifecycle::tell_again(&mut consolidated, new.created_at, now);
        save(transaction, Some((number, &before)), &consolidated)?;
    }
    Ok(Added::Reinforced { memory, revived })
}

/// Puts one memory back (see `MemoryStore::import`).
pub(crate) fn import(
    transaction: &Transaction<'_>,
    counters: &mut Counters,
    import: Import,
) -> Result<Imported, StoreError> {
    let memory = &import.memory;
    let there = by_id(transaction, &memory.id)?;
    if let Some((_, before)) = &there {
        if let Some(refusal) = lifecycle::import_refusal(before, memory) {
            return Ok(Imported::Refused(refusal));
        }
        if before.updated_at >= memory.updated_at {
            return Ok(Imported::Unchanged);
        }
    }
    let twin = by_content(
        transaction,
        &memory.namespace,
        memory.agent.as_deref(),
        &memory.place,
        &memory.content,
    )?;
    if twin.is_some_and(|(_, twin)| twin.id != memory.id) {
        return Ok(Imported::Refused(lifecycle::SAME_CONTENT));
    }
    let number = save(
        transaction,
        there.as_ref().map(|(number, before)| (*number, before)),
        memory,
    )?;
    link_entities(transaction, number, memory)?;
    if there
        .as_ref()
        .is_some_and(|(_, before)| before.content != memory.content)
    {
        vectors::drop_all(transaction, number)?;
    }
    vectors::put(transaction, number, import.vector)?;
    match there {
        Some((_, before)) => {
            counters.recount(&before, memory);
            Ok(Imported::Updated)
        }
        None => {
            if lifecycle::is_counted(memory) {
                counters.count(memory, 1);
            }
            if let Some(attention) = import.attention {
                counters.mention(memory, memory.created_at, attention);
            }
            Ok(Imported::Created)
        }
    }
}

/// Edits one memory (see `MemoryStore::edit`).
pub(crate) fn edit(
    transaction: &Transaction<'_>,
    counters: &mut Counters,
    scope: &Scope,
    id: &MemoryId,
    mut edit: Edit,
    now: DateTime<Utc>,
) -> Result<Edited, StoreError> {
    let Some((number, before)) = find(transaction, scope, id)? else {
        return Ok(Edited::NotFound);
    };
    if let Some((content, _)) = &edit.content {
        let twin = by_content(
            transaction,
            &before.namespace,
            before.agent.as_deref(),
            &before.place,
            content,
        )?;
        if let Some((_, twin)) = twin.filter(|(twin, _)| *twin != number) {
            return Ok(Edited::SameAs(twin.id));
        }
        if before.content != *content {
            vectors::drop_all(transaction, number)?;
        }
        vectors::put(transaction, number, edit.vector.take())?;
    }
    let memory = lifecycle::edited(&before, edit, now);
    save(transaction, Some((number, &before)), &memory)?;
    link_entities(transaction, number, &memory)?;
    counters.recount(&before, &memory);
    Ok(Edited::Done(memory))
}

/// Changes what became of a memory, or its feedback.
pub(crate) fn change(
    transaction: &Transaction<'_>,
    counters: &mut Counters,
    scope: &Scope,
    id: &MemoryId,
    change: impl FnOnce(&mut Memory),
    now: DateTime<Utc>,
) -> Result<Option<Memory>, StoreError> {
    let Some((number, before)) = find(transaction, scope, id)? else {
        return Ok(None);
    };
    let mut memory = before.clone();
    change(&mut memory);
    if memory != before {
        memory.updated_at = now;
        save(transaction, Some((number, &before)), &memory)?;
        counters.recount(&before, &memory);
    }
    Ok(Some(memory))
}

/// Deletes one memory for good.
pub(crate) fn purge(
    transaction: &Transaction<'_>,
    counters: &mut Counters,
    scope: &Scope,
    id: &MemoryId,
) -> Result<bool, StoreError> {
    let Some((number, memory)) = find(transaction, scope, id)? else {
        return Ok(false);
    };
    upkeep::delete(transaction, counters, number, &memory)?;
    Ok(true)
}

/// Writes a new row, or over the row that held `before`; the row's number. An index has to take in
/// only what differs for it.
pub(super) fn save(
    transaction: &Transaction<'_>,
    before: Option<(i64, &Memory)>,
    memory: &Memory,
) -> Result<i64, StoreError> {
    let seq = next_seq(transaction)?;
    let indexed = before.is_none_or(|(_, before)| differ(before, memory));
    let number = before.map(|(number, _)| number);
    codec::write(transaction, number, seq, indexed, memory)
}

pub(super) fn next_seq(transaction: &Transaction<'_>) -> Result<i64, StoreError> {
    let mut statement = transaction
        .prepare_cached("UPDATE control SET value = value + 1 WHERE name = 'seq' RETURNING value")
        .map_err(from_sqlite)?;
    statement
        .query_row([], |row| row.get(0))
        .map_err(from_sqlite)
}

/// Makes the memory findable by its entities, and by no others.
pub(super) fn link_entities(
    transaction: &Transaction<'_>,
    number: i64,
    memory: &Memory,
) -> Result<(), StoreError> {
    let mut unlink = transaction
        .prepare_cached("DELETE FROM memory_entities WHERE number = ?1")
        .map_err(from_sqlite)?;
    unlink.execute([number]).map_err(from_sqlite)?;
    let mut link = transaction
        .prepare_cached(
            "INSERT INTO memory_entities (namespace, entity, number) VALUES (?1, ?2, ?3)",
        )
        .map_err(from_sqlite)?;
    let entities: HashSet<String> = memory
        .analysis
        .entities
        .iter()
        .map(|entity| entity_key(entity))
        .collect();
    for entity in entities {
        link.execute(params![memory.namespace, entity, number])
            .map_err(from_sqlite)?;
    }
    Ok(())
}
