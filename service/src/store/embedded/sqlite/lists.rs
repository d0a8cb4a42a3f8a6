//! Reading memories in order: pages, prefixes of ids, everything.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, ToSql, named_params, params};

use super::codec::{self, COLUMNS, millis};
use super::from_sqlite;
use crate::memory::{Memory, MemoryId, State};
use crate::scope::Scope;
use crate::store::{Cursor, ListFilters, Resolved, StoreError};

/// Shortest beginning of an id that stands for the whole.
const SHORTEST_PREFIX: usize = 6;
/// Most ids that an ambiguous beginning lists.
const MOST_LISTED: usize = 5;

/// What a scope sees, in SQL.
const VISIBLE: &str = "namespace = :namespace AND (:primary OR shared OR ifnull(agent, char(0)) = ifnull(:agent, char(0)))";

/// The state of a memory at `:now`, in SQL; the same order as `Memory::state`.
const STATE: &str = "CASE WHEN trashed_at IS NOT NULL THEN 'trashed' WHEN corrected_at IS NOT NULL THEN 'corrected' \
    WHEN consumed_by IS NOT NULL THEN 'consumed' WHEN superseded_by IS NOT NULL AND ifnull(invalid_at <= :now, 1) THEN 'superseded' \
    WHEN invalid_at <= :now THEN 'expired' ELSE 'active' END";

/// A page of memories (see `MemoryStore::list`).
pub(crate) fn page(
    connection: &Connection,
    scope: &Scope,
    filters: &ListFilters,
    after: Option<&Cursor>,
    limit: usize,
    now: DateTime<Utc>,
) -> Result<Vec<Memory>, StoreError> {
    let mut conditions = vec![VISIBLE.to_owned()];
    let state = filters.state.map(State::as_str);
    let (created_at, id) = (
        after.map(|cursor| millis(cursor.created_at)),
        after.map(|cursor| cursor.id.as_str().to_owned()),
    );
    let (now, limit) = (millis(now), i64::try_from(limit).unwrap_or(i64::MAX));
    let mut values: Vec<(&str, &dyn ToSql)> = vec![
        (":namespace", &scope.namespace),
        (":primary", &scope.primary),
        (":agent", &scope.agent),
        (":limit", &limit),
        (":now", &now),
    ];
    conditions.push(if state.is_some() {
        format!("{STATE} = :state")
    } else {
        "trashed_at IS NULL AND :now IS NOT NULL".to_owned()
    });
    if state.is_some() {
        values.push((":state", &state));
    }
    for (column, name, value) in [
        ("category", ":category", &filters.category),
        ("source", ":source", &filters.source),
        ("entry_type", ":entry_type", &filters.entry_type),
        ("session", ":session", &filters.session),
        ("document", ":document", &filters.document),
    ] {
        if value.is_some() {
            conditions.push(format!("{column} = {name}"));
            values.push((name, value));
        }
    }
    if filters.tag.is_some() {
        conditions
            .push("EXISTS (SELECT 1 FROM json_each(tags) WHERE json_each.value = :tag)".to_owned());
        values.push((":tag", &filters.tag));
    }
    if after.is_some() {
        conditions.push(
            "(created_at < :created_at OR (created_at = :created_at AND memories.id > :id))"
                .to_owned(),
        );
        values.push((":created_at", &created_at));
        values.push((":id", &id));
    }
    let sql = format!(
        "SELECT {} FROM memories WHERE {} ORDER BY created_at DESC, memories.id LIMIT :limit",
        columns(),
        conditions.join(" AND ")
    );
    let mut statement = connection.prepare_cached(&sql).map_err(from_sqlite)?;
    let rows = statement
        .query_map(values.as_slice(), codec::memory)
        .map_err(from_sqlite)?;
    rows.map(|row| row.map(|(_, _, memory)| memory))
        .collect::<Result<_, _>>()
        .map_err(from_sqlite)
}

/// The columns with their table, for statements that name other tables with an `id`.
fn columns() -> String {
    COLUMNS
        .split(", ")
        .map(|column| format!("memories.{}", column.trim()))
        .collect::<Vec<_>>()
        .join(", ")
}

/// What a reference stands for (see `MemoryStore::resolve`).
pub(crate) fn resolve(
    connection: &Connection,
    scope: &Scope,
    reference: &str,
) -> Result<Resolved, StoreError> {
    let id = MemoryId::new(reference);
    if super::memories::find(connection, scope, &id)?.is_some() {
        return Ok(Resolved::One(id));
    }
    if id.as_str().chars().count() < SHORTEST_PREFIX {
        return Ok(Resolved::None);
    }
    // No text of an id sorts behind the prefix followed by the highest character.
    let sql = format!(
        "SELECT id FROM memories WHERE id >= :prefix AND id < :prefix || char(1114111) AND {VISIBLE} ORDER BY id LIMIT :limit"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(from_sqlite)?;
    let values = named_params! {
        ":prefix": id.as_str(),
        ":namespace": scope.namespace,
        ":primary": scope.primary,
        ":agent": scope.agent,
        ":limit": MOST_LISTED as i64,
    };
    let ids = statement
        .query_map(values, |row| row.get::<_, String>(0))
        .map_err(from_sqlite)?;
    let mut ids = ids
        .map(|id| id.map(MemoryId::new))
        .collect::<Result<Vec<_>, _>>()
        .map_err(from_sqlite)?;
    Ok(match ids.len() {
        0 => Resolved::None,
        1 => Resolved::One(ids.remove(0)),
        _ => Resolved::Ambiguous(ids),
    })
}

/// Everything, in the order of ids (see `ScanStore::scan`).
pub(crate) fn scan(
    connection: &Connection,
    after: Option<&MemoryId>,
    limit: usize,
) -> Result<Vec<Memory>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM memories WHERE id > ?1 ORDER BY id LIMIT ?2");
    let mut statement = connection.prepare_cached(&sql).map_err(from_sqlite)?;
    let values = params![
        after.map_or("", MemoryId::as_str),
        i64::try_from(limit).unwrap_or(i64::MAX)
    ];
    let rows = statement
        .query_map(values, codec::memory)
        .map_err(from_sqlite)?;
    rows.map(|row| row.map(|(_, _, memory)| memory))
        .collect::<Result<_, _>>()
        .map_err(from_sqlite)
}

/// How many visible memories are in each state, in the order of `State::ALL`.
pub(crate) fn by_state(
    connection: &Connection,
    scope: &Scope,
    now: DateTime<Utc>,
) -> Result<[u64; 6], StoreError> {
    let sql = format!("SELECT {STATE}, count(*) FROM memories WHERE {VISIBLE} GROUP BY 1");
    let mut statement = connection.prepare_cached(&sql).map_err(from_sqlite)?;
    let values = named_params! {":namespace": scope.namespace, ":primary": scope.primary, ":agent": scope.agent, ":now": millis(now)};
    let rows = statement
        .query_map(values, |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
        })
        .map_err(from_sqlite)?;
    let mut counts = [0; 6];
    for row in rows {
        let (name, count) = row.map_err(from_sqlite)?;
        if let Some(index) = State::ALL.iter().position(|state| state.as_str() == name) {
            counts[index] = count.unsigned_abs();
        }
    }
    Ok(counts)
}
