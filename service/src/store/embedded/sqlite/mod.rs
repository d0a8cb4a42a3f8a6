//! The SQLite file: the truth of the embedded store.
//!
//! One connection writes, the others read. Write-ahead log with `synchronous=FULL`, so that an
//! acknowledged write survives a power cut. All SQL of Keepsake is in this folder.

pub(super) mod changes;
pub(super) mod codec;
pub(super) mod control;
pub(super) mod counters;
pub(super) mod lists;
pub(super) mod memories;
mod migrations;
pub(super) mod operations;
pub(super) mod records;
pub(super) mod signals;
pub(super) mod transfer;
pub(super) mod upkeep;
pub(super) mod vectors;

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::store::StoreError;

/// How long a connection waits for another process's write.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Pages that a connection of searches keeps, in KiB: the upper levels of the trees and what is asked for
/// often.
const PAGES: i64 = 8192;
/// The one that writes holds fewer, and one that goes through everything once needs next to none.
const PAGES_TO_WRITE: i64 = 4096;
const PAGES_TO_FOLLOW: i64 = 1024;
/// Prepared statements kept for each connection.
const CACHED_STATEMENTS: usize = 64;

/// Opens the connection that writes; creates the file and brings its schema up to date.
pub(super) fn open_writer(file: &Path) -> Result<Connection, StoreError> {
    let mut connection = Connection::open(file).map_err(from_sqlite)?;
    prepare(&connection, PAGES_TO_WRITE)?;
    migrations::run(&mut connection, file)?;
    Ok(connection)
}

/// Opens a connection for searches.
pub(super) fn open_reader(file: &Path) -> Result<Connection, StoreError> {
    open_to_read(file, PAGES)
}

/// Opens a connection that goes through everything once.
pub(super) fn open_follower(file: &Path) -> Result<Connection, StoreError> {
    open_to_read(file, PAGES_TO_FOLLOW)
}

fn open_to_read(file: &Path, pages: i64) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags).map_err(from_sqlite)?;
    prepare(&connection, pages)?;
    connection
        .pragma_update(None, "query_only", true)
        .map_err(from_sqlite)?;
    Ok(connection)
}

/// Opens a connection that copies; see [`copy`].
pub(super) fn open_copier(file: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags).map_err(from_sqlite)?;
    migrations::check(&connection, file)?;
    prepare(&connection, PAGES_TO_FOLLOW)?;
    Ok(connection)
}

/// Copies the store into a new file, checks the copy, and makes it a store of its own: an index of
/// the original is not one of the copy, which may go another way.
pub(super) fn copy(source: &Connection, to: &Path) -> Result<(), StoreError> {
    let name = to.to_str().ok_or_else(|| {
        StoreError::Unavailable(format!("`{}` is not UTF-8", to.display()).into())
    })?;
    source
        .execute("VACUUM INTO ?1", [name])
        .map_err(from_sqlite)?;
    let copy = Connection::open(to).map_err(from_sqlite)?;
    let found: String = copy
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(from_sqlite)?;
    if found != "ok" {
        return Err(StoreError::Corrupt {
            what: found,
            source: None,
        });
    }
    copy.execute(
        "UPDATE control SET value = random() WHERE name = 'database'",
        [],
    )
    .map(|_| ())
    .map_err(from_sqlite)
}

/// `pages` are kept, in KiB.
fn prepare(connection: &Connection, pages: i64) -> Result<(), StoreError> {
    connection.busy_timeout(BUSY_TIMEOUT).map_err(from_sqlite)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    connection
        .pragma_update(None, "cache_size", -pages)
        .map_err(from_sqlite)?;
    // A plan is made once for a statement, not anew for each value: a third of a search otherwise.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map_err(from_sqlite)?;
    Ok(())
}

/// Names what SQLite reported in the words that both stores share.
pub(super) fn from_sqlite(error: rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode;
    let code = error.sqlite_error_code();
    let source = Box::new(error);
    match code {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Timeout(source),
        Some(ErrorCode::DiskFull) => StoreError::Full(source),
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly(source),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt {
            what: source.to_string(),
            source: Some(source),
        },
        _ => StoreError::Unavailable(source),
    }
}
