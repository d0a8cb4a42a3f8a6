//! Records (see `RecordStore`).

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::from_sqlite;
use crate::store::{Record, StoreError};

pub(crate) fn put(
    transaction: &Transaction<'_>,
    kind: &str,
    namespace: &str,
    record: &Record,
    most: Option<usize>,
) -> Result<(), StoreError> {
    delete(transaction, kind, namespace, &record.key)?;
    let sql = "INSERT INTO records (kind, namespace, key, value) VALUES (?1, ?2, ?3, ?4)";
    let values = params![kind, namespace, record.key, record.value];
    execute(transaction, sql, values)?;
    if let Some(most) = most {
        let sql = "DELETE FROM records WHERE number IN (SELECT number FROM records \
                   WHERE kind = ?1 AND namespace = ?2 ORDER BY number DESC LIMIT -1 OFFSET ?3)";
        execute(transaction, sql, params![kind, namespace, count(most)])?;
    }
    Ok(())
}

pub(crate) fn get(
    connection: &Connection,
    kind: &str,
    namespace: &str,
    key: &str,
) -> Result<Option<String>, StoreError> {
    let sql = "SELECT value FROM records WHERE kind = ?1 AND namespace = ?2 AND key = ?3";
    let mut statement = connection.prepare_cached(sql).map_err(from_sqlite)?;
    statement
        .query_row(params![kind, namespace, key], |row| row.get(0))
        .optional()
        .map_err(from_sqlite)
}

pub(crate) fn list(
    connection: &Connection,
    kind: &str,
    namespace: &str,
    skip: usize,
    limit: usize,
) -> Result<Vec<Record>, StoreError> {
    let sql = "SELECT key, value FROM records WHERE kind = ?1 AND namespace = ?2 \
               ORDER BY number DESC LIMIT ?3 OFFSET ?4";
    let mut statement = connection.prepare_cached(sql).map_err(from_sqlite)?;
    let values = params![kind, namespace, count(limit), count(skip)];
    let rows = statement.query_map(values, |row| {
        Ok(Record {
            key: row.get(0)?,
            value: row.get(1)?,
        })
    });
    let rows = rows.map_err(from_sqlite)?;
    rows.collect::<Result<_, _>>().map_err(from_sqlite)
}

pub(crate) fn places(connection: &Connection) -> Result<Vec<(String, String)>, StoreError> {
    let sql = "SELECT DISTINCT kind, namespace FROM records ORDER BY kind, namespace";
    let mut statement = connection.prepare_cached(sql).map_err(from_sqlite)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    let rows = rows.map_err(from_sqlite)?;
    rows.collect::<Result<_, _>>().map_err(from_sqlite)
}

pub(crate) fn delete(
    transaction: &Transaction<'_>,
    kind: &str,
    namespace: &str,
    key: &str,
) -> Result<bool, StoreError> {
    let sql = "DELETE FROM records WHERE kind = ?1 AND namespace = ?2 AND key = ?3";
    execute(transaction, sql, params![kind, namespace, key]).map(|deleted| deleted > 0)
}

fn execute(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<usize, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(from_sqlite)?;
    statement.execute(values).map_err(from_sqlite)
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
