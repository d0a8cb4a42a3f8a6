//! Topics, entities and synonyms.

use chrono::{DateTime, NaiveDate, Utc};
use rusqlite::{Connection, Transaction, params};

use super::codec::{self, COLUMNS, day, day_number, json, list};
use super::from_sqlite;
use crate::memory::State;
use crate::scope::Scope;
use crate::signals::Topic;
use crate::store::gathered::entity_key;
use crate::store::{StoreError, Synonyms, TimelineEntry};

/// See `SignalStore::signals_version`.
pub(crate) fn version(connection: &Connection) -> Result<i64, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT value FROM control WHERE name = 'signals'")
        .map_err(from_sqlite)?;
    statement
        .query_row([], |row| row.get(0))
        .map_err(from_sqlite)
}

/// See `SignalStore::topics`.
pub(crate) fn topics(
    connection: &Connection,
    scope: &Scope,
    since: Option<NaiveDate>,
) -> Result<Vec<Topic>, StoreError> {
    let sql = match since {
        None => {
            "SELECT topic, sum(mentions), sum(attention), max(last_day) FROM topics \
             WHERE namespace = ?1 AND (?2 OR agent = ?3) AND ?4 IS NULL GROUP BY topic"
        }
        Some(_) => {
            "SELECT topic, sum(mentions), sum(attention), max(day) FROM topic_days \
             WHERE namespace = ?1 AND (?2 OR agent = ?3) AND day >= ?4 GROUP BY topic"
        }
    };
    let mut statement = connection.prepare_cached(sql).map_err(from_sqlite)?;
    let values = params![
        scope.namespace,
        scope.primary,
        agent(scope),
        since.map(day_number)
    ];
    let rows = statement
        .query_map(values, |row| {
            Ok(Topic {
                name: row.get(0)?,
                mentions: row.get(1)?,
                attention: row.get(2)?,
                last_mention: day(row.get(3)?),
            })
        })
        .map_err(from_sqlite)?;
    rows.collect::<Result<_, _>>().map_err(from_sqlite)
}

/// See `SignalStore::related_entities`.
pub(crate) fn related(
    connection: &Connection,
    scope: &Scope,
    entity: &str,
    limit: usize,
    least: u64,
) -> Result<Vec<(String, u64)>, StoreError> {
    let mut statement = connection
        .prepare_cached(
            "SELECT min(name), sum(memories) AS together FROM entity_pairs WHERE namespace = ?1 AND (?2 OR agent = ?3) AND entity = ?4 \
             GROUP BY other HAVING together >= ?5 ORDER BY together DESC, other LIMIT ?6",
        )
        .map_err(from_sqlite)?;
    let values = params![
        scope.namespace,
        scope.primary,
        agent(scope),
        entity_key(entity),
        least.cast_signed(),
        i64::try_from(limit).unwrap_or(i64::MAX)
    ];
    let rows = statement
        .query_map(values, |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
        })
        .map_err(from_sqlite)?;
    rows.collect::<Result<_, _>>().map_err(from_sqlite)
}

/// See `SignalStore::entity_timeline`.
pub(crate) fn timeline(
    connection: &Connection,
    scope: &Scope,
    entity: &str,
    limit: usize,
    now: DateTime<Utc>,
) -> Result<Vec<TimelineEntry>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM memories WHERE number IN (SELECT number FROM memory_entities WHERE namespace = ?1 AND entity = ?2) \
         AND trashed_at IS NULL AND corrected_at IS NULL AND (?3 OR shared OR ifnull(agent, '') = ?4) \
         ORDER BY created_at DESC, id LIMIT ?5"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(from_sqlite)?;
    let values = params![
        scope.namespace,
        entity_key(entity),
        scope.primary,
        agent(scope),
        i64::try_from(limit).unwrap_or(i64::MAX)
    ];
    let rows = statement
        .query_map(values, codec::memory)
        .map_err(from_sqlite)?;
    let entry = |(_, _, memory): (i64, i64, crate::memory::Memory)| {
        let state: State = memory.state(now);
        TimelineEntry {
            id: memory.id,
            content: memory.content,
            created_at: memory.created_at,
            state,
        }
    };
    rows.map(|row| row.map(entry))
        .collect::<Result<_, _>>()
        .map_err(from_sqlite)
}

/// See `SignalStore::synonyms`.
pub(crate) fn synonyms(
    connection: &Connection,
    namespace: &str,
) -> Result<Vec<Synonyms>, StoreError> {
    let mut statement = connection
        .prepare_cached(
            "SELECT term, terms, manual FROM synonyms WHERE namespace = ?1 ORDER BY term",
        )
        .map_err(from_sqlite)?;
    let rows = statement
        .query_map([namespace], |row| {
            Ok(Synonyms {
                term: row.get(0)?,
                terms: list(&row.get::<_, String>(1)?),
                manual: row.get(2)?,
            })
        })
        .map_err(from_sqlite)?;
    rows.collect::<Result<_, _>>().map_err(from_sqlite)
}

/// See `SignalStore::set_synonyms`.
pub(crate) fn set_synonyms(
    transaction: &Transaction<'_>,
    namespace: &str,
    synonyms: &Synonyms,
) -> Result<(), StoreError> {
    let changed = if synonyms.terms.is_empty() {
        transaction.execute(
            "DELETE FROM synonyms WHERE namespace = ?1 AND term = ?2 AND (?3 OR NOT manual)",
            params![namespace, synonyms.term, synonyms.manual],
        )
    } else {
        transaction.execute(
            "INSERT INTO synonyms (namespace, term, terms, manual) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT DO UPDATE SET terms = excluded.terms, manual = excluded.manual WHERE excluded.manual OR NOT manual",
            params![namespace, synonyms.term, json(&synonyms.terms), synonyms.manual],
        )
    };
    changed.map_err(from_sqlite)?;
    touch(transaction)
}

/// Makes readers notice that topics, attention or synonyms changed.
pub(crate) fn touch(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    let sql = "UPDATE control SET value = value + 1 WHERE name = 'signals'";
    transaction
        .execute(sql, [])
        .map(|_| ())
        .map_err(from_sqlite)
}

/// How the counters name the agent of a scope.
fn agent(scope: &Scope) -> &str {
    scope.agent.as_deref().unwrap_or_default()
}
