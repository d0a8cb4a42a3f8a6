//! What changed, in the order of the change numbers: how an index follows the truth.

use std::sync::LazyLock;

use rusqlite::{Connection, OptionalExtension, params};

use super::codec::{self, COLUMNS};
use super::from_sqlite;
use crate::memory::Memory;
use crate::store::StoreError;

/// Where the store stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    /// Number of the last change.
    pub seq: i64,
    /// Tells this store from every other.
    pub database: i64,
    /// Grows when the index is asked to be made anew.
    pub epoch: i64,
}

/// Where the store stands now.
pub(crate) fn position(connection: &Connection) -> Result<Position, StoreError> {
    let mut statement = connection
        .prepare_cached(
            "SELECT max(value) FILTER (WHERE name = 'seq'), max(value) FILTER (WHERE name = 'database'), \
             max(value) FILTER (WHERE name = 'epoch') FROM control WHERE name IN ('seq', 'database', 'epoch')",
        )
        .map_err(from_sqlite)?;
    statement
        .query_row([], |row| {
            Ok(Position {
                seq: row.get(0)?,
                database: row.get(1)?,
                epoch: row.get(2)?,
            })
        })
        .map_err(from_sqlite)
}

/// A memory that changed.
pub(crate) struct Changed {
    pub number: i64,
    pub seq: i64,
    /// Number of the last change of what an index holds of it.
    pub indexed_seq: i64,
    pub memory: Memory,
}

/// Goes through the memories that changed after `after`, oldest change first, while `work` says so.
pub(crate) fn each_changed<E: From<StoreError>>(
    connection: &Connection,
    after: i64,
    mut work: impl FnMut(Changed) -> Result<(), E>,
) -> Result<(), E> {
    let sql = format!("SELECT {COLUMNS}, indexed_seq FROM memories WHERE seq > ?1 ORDER BY seq");
    let mut statement = connection.prepare_cached(&sql).map_err(from_sqlite)?;
    let mut rows = statement.query([after]).map_err(from_sqlite)?;
    while let Some(row) = rows.next().map_err(from_sqlite)? {
        let (number, seq, memory) = codec::memory(row).map_err(from_sqlite)?;
        work(Changed {
            number,
            seq,
            indexed_seq: row.get("indexed_seq").map_err(from_sqlite)?,
            memory,
        })?;
    }
    Ok(())
}

/// Numbers of the rows that were deleted for good after `after`, each with its change number.
pub(crate) fn purged(connection: &Connection, after: i64) -> Result<Vec<(i64, i64)>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT number, seq FROM purged WHERE seq > ?1 ORDER BY seq")
        .map_err(from_sqlite)?;
    let rows = statement
        .query_map([after], |row| Ok((row.get(0)?, row.get(1)?)))
        .map_err(from_sqlite)?;
    rows.collect::<Result<_, _>>().map_err(from_sqlite)
}

/// The memory of a row.
pub(crate) fn by_number(
    connection: &Connection,
    number: i64,
) -> Result<Option<Memory>, StoreError> {
    static SQL: LazyLock<String> =
        LazyLock::new(|| format!("SELECT {COLUMNS} FROM memories WHERE number = ?1"));
    let mut statement = connection.prepare_cached(&SQL).map_err(from_sqlite)?;
    statement
        .query_row([number], codec::memory)
        .optional()
        .map(|found| found.map(|(_, _, memory)| memory))
        .map_err(from_sqlite)
}

/// Rows of the turns of a session from the first to the last, whoever's they are, in the order of
/// turn and row.
pub(crate) fn turns(
    connection: &Connection,
    namespace: &str,
    session: &str,
    first: i64,
    last: i64,
) -> Result<Vec<i64>, StoreError> {
    let mut statement = connection
        .prepare_cached(
            "SELECT number FROM memories WHERE namespace = ?1 AND session = ?2 AND turn BETWEEN ?3 AND ?4 ORDER BY turn, number",
        )
        .map_err(from_sqlite)?;
    let rows = statement
        .query_map(params![namespace, session, first, last], |row| row.get(0))
        .map_err(from_sqlite)?;
    rows.collect::<Result<_, _>>().map_err(from_sqlite)
}

/// Asks for an index made anew; whoever keeps the index does it.
pub(crate) fn ask_for_reindex(connection: &Connection) -> Result<(), StoreError> {
    connection
        .execute(
            "UPDATE control SET value = value + 1 WHERE name = 'epoch'",
            [],
        )
        .map(|_| ())
        .map_err(from_sqlite)
}
