//! The workflow lock and the change number.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension};

use super::codec::{millis, time};
use super::from_sqlite;
use crate::store::StoreError;

/// See `ControlStore::lock`.
pub(crate) fn lock(
    connection: &Connection,
    now: DateTime<Utc>,
) -> Result<Option<Option<DateTime<Utc>>>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT value FROM control WHERE name = 'lock'")
        .map_err(from_sqlite)?;
    let until = statement
        .query_row([], |row| row.get::<_, i64>(0))
        .optional()
        .map_err(from_sqlite)?;
    Ok(until.map(time).filter(|until| *until > now).map(Some))
}

/// See `ControlStore::set_lock`.
pub(crate) fn set_lock(connection: &Connection, until: DateTime<Utc>) -> Result<(), StoreError> {
    let sql = "INSERT INTO control (name, value) VALUES ('lock', ?1) ON CONFLICT DO UPDATE SET value = excluded.value";
    connection
        .execute(sql, [millis(until)])
        .map(|_| ())
        .map_err(from_sqlite)
}

/// See `ControlStore::clear_lock`.
pub(crate) fn clear_lock(connection: &Connection) -> Result<(), StoreError> {
    connection
        .execute("DELETE FROM control WHERE name = 'lock'", [])
        .map(|_| ())
        .map_err(from_sqlite)
}

/// The number of the last change.
pub(crate) fn seq(connection: &Connection) -> Result<i64, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT value FROM control WHERE name = 'seq'")
        .map_err(from_sqlite)?;
    statement
        .query_row([], |row| row.get(0))
        .map_err(from_sqlite)
}
