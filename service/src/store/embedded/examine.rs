//! A close look at the store itself, for `keepsake doctor`.

use rusqlite::Connection;

use super::sqlite::from_sqlite;
use super::{EmbeddedStore, IndexState};
use crate::store::StoreError;
use crate::store::finding::Finding;

/// Faults of the file that are told.
const MOST_FAULTS: usize = 3;
/// What helps when the file itself is damaged.
const RESTORE: &str = "stop the service and put a copy that `keepsake backup` made in the place of the data folder; `keepsake export` may still read what is sound";

impl EmbeddedStore {
    /// Looks at the file, at how writes are made durable, and at the index.
    pub(super) async fn look(&self) -> Result<Vec<Finding>, StoreError> {
        let mut findings = self
            .read(|connection, _| Ok(vec![pages(connection)?, durable(connection)?]))
            .await?;
        findings.push(index(self.index_state().await?));
        Ok(findings)
    }
}

/// Whether every page of the file is sound.
fn pages(connection: &Connection) -> Result<Finding, StoreError> {
    let mut statement = connection
        .prepare(&format!("PRAGMA quick_check({MOST_FAULTS})"))
        .map_err(from_sqlite)?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0));
    let told: Vec<String> = rows.and_then(Iterator::collect).map_err(from_sqlite)?;
    Ok(match told.as_slice() {
        [one] if one == "ok" => Finding::fine("store", "every page of the file is sound"),
        faults => Finding::fault("store", faults.join("; "), RESTORE),
    })
}

/// Whether a write is on the disk before it is answered.
fn durable(connection: &Connection) -> Result<Finding, StoreError> {
    let journal: String = connection
        .pragma_query_value(None, "journal_mode", |row| row.get(0))
        .map_err(from_sqlite)?;
    Ok(if journal.eq_ignore_ascii_case("wal") {
        Finding::fine(
            "persistence",
            "writes are on the disk before they are answered",
        )
    } else {
        Finding::fault(
            "persistence",
            format!("the journal is `{journal}`, not a write-ahead log"),
            "move the data folder to a file system of this machine",
        )
    })
}

fn index(state: IndexState) -> Finding {
    if state.is_current() {
        return Finding::fine("index", format!("covers all {} changes", state.last));
    }
    let found = format!(
        "covers {} of {} changes; searches read the rest from the file",
        state.covered, state.last
    );
    if state.covered == 0 || state.last - state.covered > 4_096 {
        let mend = "`keepsake reindex`, or wait while a service runs: it follows by itself";
        Finding::warning("index", found, mend)
    } else {
        Finding::fine("index", found)
    }
}
