//! Reading memories in order: pages, prefixes of ids, everything.

use chrono::{DateTime, Utc};
use rusqlite::types::Value;
use rusqlite::{Connection, ToSql, named_params, params};

use super::codec::{self, COLUMNS, millis};
use super::from_sqlite;
use crate::memory::{Memory, MemoryId, State};
use crate::scope::Scope;
use crate::store::{Cursor, ListFilters, Resolved, Stats, StoreError};

/// Shortest beginning of an id that stands for the whole.
const SHORTEST_PREFIX: usize = 6;
/// Most ids that an ambiguous beginning lists.
const MOST_LISTED: usize = 5;

/// What a scope sees, in SQL.
const VISIBLE: &str = "namespace = :namespace AND (:primary OR shared OR ifnull(agent, char(0)) = ifnull(:agent, char(0)))";

/// The state of a memory at `:now`, in SQL; the same order as `Memory::state`.
pub(super) const STATE: &str = "CASE WHEN trashed_at IS NOT NULL THEN 'trashed' WHEN corrected_at IS NOT NULL THEN 'corrected' \
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
    let mut selection = Selection::new(scope, filters, now);
    if let Some(cursor) = after {
        selection.and(
            "(created_at < :created_at OR (created_at = :created_at AND memories.id > :id))",
            [
                (":created_at", Value::from(millis(cursor.created_at))),
                (":id", Value::from(cursor.id.as_str().to_owned())),
            ],
        );
    }
    let limit = Value::from(i64::try_from(limit).unwrap_or(i64::MAX));
    selection.values.push((":limit", limit));
    let sql = format!(
        "SELECT {} FROM memories WHERE {} ORDER BY created_at DESC, memories.id LIMIT :limit",
        columns(),
        selection.condition
    );
    let mut statement = connection.prepare_cached(&sql).map_err(from_sqlite)?;
    let rows = statement
        .query_map(selection.values().as_slice(), codec::memory)
        .map_err(from_sqlite)?;
    rows.map(|row| row.map(|(_, _, memory)| memory))
        .collect::<Result<_, _>>()
        .map_err(from_sqlite)
}

/// How many memories a list holds.
pub(crate) fn count(
    connection: &Connection,
    scope: &Scope,
    filters: &ListFilters,
    now: DateTime<Utc>,
) -> Result<u64, StoreError> {
    let selection = Selection::new(scope, filters, now);
    let sql = format!(
        "SELECT count(*) FROM memories WHERE {}",
        selection.condition
    );
    let mut statement = connection.prepare_cached(&sql).map_err(from_sqlite)?;
    statement
        .query_row(selection.values().as_slice(), |row| row.get::<_, i64>(0))
        .map(i64::unsigned_abs)
        .map_err(from_sqlite)
}

/// A condition with the values that it names.
struct Selection {
    condition: String,
    values: Vec<(&'static str, Value)>,
}

impl Selection {
    /// What a list with these filters holds.
    fn new(scope: &Scope, filters: &ListFilters, now: DateTime<Utc>) -> Selection {
        let mut selection = Selection {
            condition: VISIBLE.to_owned(),
            values: vec![
                (":namespace", Value::from(scope.namespace.clone())),
                (":primary", Value::from(scope.primary)),
                (":agent", Value::from(scope.agent.clone())),
                (":now", Value::from(millis(now))),
            ],
        };
        match filters.state {
            Some(state) => {
                let name = Value::from(state.as_str().to_owned());
                selection.and(&format!("{STATE} = :state"), [(":state", name)]);
            }
            None => selection.and("trashed_at IS NULL AND :now IS NOT NULL", []),
        }
        for (condition, name, value) in [
            ("category = :category", ":category", &filters.category),
            ("source = :source", ":source", &filters.source),
            (
                "entry_type = :entry_type",
                ":entry_type",
                &filters.entry_type,
            ),
            ("session = :session", ":session", &filters.session),
            ("document = :document", ":document", &filters.document),
            (
                "EXISTS (SELECT 1 FROM json_each(tags) WHERE json_each.value = :tag)",
                ":tag",
                &filters.tag,
            ),
        ] {
            if let Some(value) = value {
                selection.and(condition, [(name, Value::from(value.clone()))]);
            }
        }
        selection
    }

    fn and<const N: usize>(&mut self, condition: &str, values: [(&'static str, Value); N]) {
        self.condition.push_str(" AND ");
        self.condition.push_str(condition);
        self.values.extend(values);
    }

    fn values(&self) -> Vec<(&str, &dyn ToSql)> {
        self.values
            .iter()
            .map(|(name, value)| (*name, value as &dyn ToSql))
            .collect()
    }
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

/// Numbers of what the scope sees (see `ControlStore::stats`).
pub(crate) fn stats(
    connection: &Connection,
    scope: &Scope,
    now: DateTime<Utc>,
) -> Result<Stats, StoreError> {
    let sql = format!(
        "SELECT {STATE}, count(*), sum(octet_length(content)) FROM memories WHERE {VISIBLE} GROUP BY 1"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(from_sqlite)?;
    let values = named_params! {":namespace": scope.namespace, ":primary": scope.primary, ":agent": scope.agent, ":now": millis(now)};
    let rows = statement
        .query_map(values, |row| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, i64>(1)?,
                row.get::<_, i64>(2)?,
            ))
        })
        .map_err(from_sqlite)?;
    let mut stats = Stats::default();
    for row in rows {
        let (name, count, bytes) = row.map_err(from_sqlite)?;
        stats.content_bytes += bytes.unsigned_abs();
        if let Some(index) = State::ALL.iter().position(|state| state.as_str() == name) {
            stats.by_state[index] = count.unsigned_abs();
        }
    }
    Ok(stats)
}
