//! The schema and its versions.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::from_sqlite;
use crate::store::StoreError;

/// Marks the file as ours ("keep" in ASCII).
const APPLICATION_ID: i64 = 0x6b65_6570;

/// Steps from each version to the next, the first from an empty file.
const STEPS: [&str; 4] = [
    include_str!("schema.sql"),
    include_str!("step_2.sql"),
    include_str!("step_3.sql"),
    include_str!("step_4.sql"),
];

fn pragma(connection: &Connection, name: &str) -> Result<i64, StoreError> {
    connection
        .pragma_query_value(None, name, |row| row.get(0))
        .map_err(from_sqlite)
}

/// Refuses a file that something else made, and one that a newer version made; neither is touched.
/// The version of the schema, 0 for an empty file.
pub(super) fn check(connection: &Connection, file: &Path) -> Result<i64, StoreError> {
    let supported = STEPS.len() as i64;
    let version = pragma(connection, "user_version")?;
    let is_empty = pragma(connection, "schema_version")? == 0;
    if !is_empty && pragma(connection, "application_id")? != APPLICATION_ID {
        return Err(StoreError::Foreign {
            path: file.display().to_string(),
        });
    }
    if version > supported {
        return Err(StoreError::Version {
            found: version,
            supported,
        });
    }
    Ok(version)
}

/// Brings the schema up to date, if the file passes [`check`].
pub(super) fn run(connection: &mut Connection, file: &Path) -> Result<(), StoreError> {
    let supported = STEPS.len() as i64;
    let version = check(connection, file)?;
    connection
        .pragma_update(None, "journal_mode", "wal")
        .map_err(from_sqlite)?;
    connection
        .pragma_update(None, "synchronous", "full")
        .map_err(from_sqlite)?;
    if version == supported {
        return Ok(());
    }
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Exclusive)
        .map_err(from_sqlite)?;
    // Another process may have done it while this one waited.
    let version = pragma(&transaction, "user_version")?;
    for step in STEPS.iter().skip(usize::try_from(version).unwrap_or(0)) {
        transaction.execute_batch(step).map_err(from_sqlite)?;
    }
    transaction
        .pragma_update(None, "application_id", APPLICATION_ID)
        .map_err(from_sqlite)?;
    transaction
        .pragma_update(None, "user_version", supported)
        .map_err(from_sqlite)?;
    transaction.commit().map_err(from_sqlite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_something_else_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("other.db");
        Connection::open(&file)
            .unwrap()
            .execute_batch("CREATE TABLE notes (text)")
            .unwrap();
        let before = std::fs::read(&file).unwrap();
        let mut connection = Connection::open(&file).unwrap();
        assert!(matches!(
            run(&mut connection, &file),
            Err(StoreError::Foreign { .. })
        ));
        drop(connection);
        assert_eq!(std::fs::read(&file).unwrap(), before);
    }

    #[test]
    fn a_newer_schema_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keepsake.db");
        let mut connection = Connection::open(&file).unwrap();
        run(&mut connection, &file).unwrap();
        connection.pragma_update(None, "user_version", 99).unwrap();
        assert!(matches!(
            run(&mut connection, &file),
            Err(StoreError::Version { found: 99, .. })
        ));
    }

    #[test]
    fn opening_twice_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keepsake.db");
        let mut connection = Connection::open(&file).unwrap();
        run(&mut connection, &file).unwrap();
        run(&mut connection, &file).unwrap();
    }
}
