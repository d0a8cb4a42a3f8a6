//! The embedded store: a folder with one SQLite file, the truth, and an index derived from it.
//!
//! `sqlite/` is the truth: rows, statistics and counters, each write one transaction. `index/` is
//! derived and finds candidates. `follower` holds the two to one change number, `retrieval` asks them
//! in one read transaction. `writer` and `indexer` are threads of their own; reading runs on tokio's
//! blocking threads, never on its workers.

mod backup;
mod besides;
#[cfg(test)]
mod equivalence;
mod examine;
mod follower;
mod index;
mod indexer;
mod knn;
mod matrix;
mod record_store;
mod retrieval;
mod sqlite;
mod upkeep;
mod vector_store;
mod writer;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use rusqlite::{Connection, Transaction};

use crate::memory::{Edit, Memory, MemoryId, NewMemory};
use crate::query::{Plan, Retrieved};
use crate::scope::Scope;
use crate::store::gathered::Counters;
use crate::store::lifecycle;
use crate::store::{
    Added, Cursor, Deleted, Edited, Import, Imported, ListFilters, MemoryStore, Operated,
    Operation, Resolved, Retriever, StoreError,
};
pub use backup::Backup;
use follower::Follower;
use indexer::Indexer;
use retrieval::{Failure, Source};
use sqlite::{changes, control, from_sqlite, lists, memories, operations};
use writer::Writer;

/// Name of the SQLite file in the store's folder.
const FILE: &str = "keepsake.db";

/// A store in a folder. Cheap to clone.
#[derive(Clone)]
pub struct EmbeddedStore(Arc<Inner>);

struct Inner {
    file: PathBuf,
    /// Closed before the indexer, which looks once more what was written.
    writer: Writer,
    indexer: Indexer,
    /// Idle connections for reading.
    readers: Mutex<Vec<Connection>>,
    follower: Arc<Follower>,
    /// Those that this process holds.
    leases: Mutex<Vec<upkeep::Lease>>,
}

impl EmbeddedStore {
    /// Opens the store in a folder and creates what is missing.
    ///
    /// # Errors
    /// When the folder cannot be used, or holds something else or something newer.
    pub fn open(folder: &Path) -> Result<EmbeddedStore, StoreError> {
        create_private(folder).map_err(|error| {
            StoreError::Unavailable(
                format!("cannot create the folder `{}`: {error}", folder.display()).into(),
            )
        })?;
        indexer::open_lock(folder).map_err(|error| match error.kind() {
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
                StoreError::ReadOnly(format!("`{}`: {error}", folder.display()).into())
            }
            ErrorKind::StorageFull => StoreError::Full(error.into()),
            _ => StoreError::Unavailable(error.into()),
        })?;
        let file = folder.join(FILE);
        let connection = sqlite::open_writer(&file)?;
        let follower = Arc::new(Follower::new());
        let indexer = Indexer::start(folder, &file, follower.clone());
        let inner = Inner {
            writer: Writer::start(connection, indexer.on_commit())?,
            indexer,
            file,
            readers: Mutex::default(),
            follower,
            leases: Mutex::default(),
        };
        Ok(EmbeddedStore(Arc::new(inner)))
    }

    /// Runs one transaction that writes: all of `work` and the counters it gathered, or nothing.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>, &mut Counters) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.0.writer.write(work).await
    }

    /// Runs one transaction that reads one state of the store.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, &Follower) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let inner = self.0.clone();
        blocking(move || {
            let idle = unpoisoned(&inner.readers).pop();
            let mut connection = idle.map_or_else(|| sqlite::open_reader(&inner.file), Ok)?;
            let transaction = connection.transaction().map_err(from_sqlite)?;
            let result = work(&transaction, &inner.follower);
            drop(transaction);
            unpoisoned(&inner.readers).push(connection);
            result
        })
        .await
    }
}

/// Creates a folder that only its owner can enter.
fn create_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A panic inside a transaction rolls it back, so what the lock guards is whole.
fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(StoreError::Unavailable(Box::new(error))))
}

#[async_trait]
impl MemoryStore for EmbeddedStore {
    async fn add(
        &self,
        scope: &Scope,
        new: Vec<NewMemory>,
        now: DateTime<Utc>,
    ) -> Result<Vec<Added>, StoreError> {
        let scope = scope.clone();
        self.write(move |transaction, counters| {
            new.into_iter()
                .map(|new| memories::add(transaction, counters, &scope, new, now))
                .collect()
        })
        .await
    }

    async fn import(&self, imported: Vec<Import>) -> Result<Vec<Imported>, StoreError> {
        self.write(move |transaction, counters| {
            imported
                .into_iter()
                .map(|import| memories::import(transaction, counters, import))
                .collect()
        })
        .await
    }

    async fn operate(
        &self,
        scope: &Scope,
        new: Vec<Operation>,
        now: DateTime<Utc>,
    ) -> Result<Vec<Operated>, StoreError> {
        let scope = scope.clone();
        self.write(move |transaction, counters| {
            operations::operate(transaction, counters, &scope, new, now)
        })
        .await
    }

    async fn get(&self, scope: &Scope, id: &MemoryId) -> Result<Option<Memory>, StoreError> {
        let (scope, id) = (scope.clone(), id.clone());
        self.read(move |connection, _| memories::find(connection, &scope, &id))
            .await
            .map(|found| found.map(|(_, memory)| memory))
    }

    async fn resolve(&self, scope: &Scope, reference: &str) -> Result<Resolved, StoreError> {
        let (scope, reference) = (scope.clone(), reference.to_owned());
        self.read(move |connection, _| lists::resolve(connection, &scope, &reference))
            .await
    }

    async fn edit(
        &self,
        scope: &Scope,
        id: &MemoryId,
        edit: Edit,
        now: DateTime<Utc>,
    ) -> Result<Edited, StoreError> {
        let (scope, id) = (scope.clone(), id.clone());
        self.write(move |transaction, counters| {
            memories::edit(transaction, counters, &scope, &id, edit, now)
        })
        .await
    }

    async fn trash(
        &self,
        scope: &Scope,
        id: &MemoryId,
        now: DateTime<Utc>,
    ) -> Result<Option<Memory>, StoreError> {
        self.change(scope, id, now, move |memory| {
            memory.fate.trashed_at = memory.fate.trashed_at.or(Some(now))
        })
        .await
    }

    async fn restore(
        &self,
        scope: &Scope,
        id: &MemoryId,
        now: DateTime<Utc>,
    ) -> Result<Option<Memory>, StoreError> {
        self.change(scope, id, now, lifecycle::restore).await
    }

    async fn purge(&self, scope: &Scope, id: &MemoryId) -> Result<bool, StoreError> {
        let (scope, id) = (scope.clone(), id.clone());
        self.write(move |transaction, counters| memories::purge(transaction, counters, &scope, &id))
            .await
    }

    async fn delete_all(
        &self,
        scope: &Scope,
        filters: &ListFilters,
        expected: u64,
        purge: bool,
        now: DateTime<Utc>,
    ) -> Result<Deleted, StoreError> {
        let (scope, filters) = (scope.clone(), filters.clone());
        self.write(move |transaction, counters| {
            operations::delete_all(
                transaction,
                counters,
                &scope,
                &filters,
                expected,
                purge,
                now,
            )
        })
        .await
    }

    async fn give_feedback(
        &self,
        scope: &Scope,
        id: &MemoryId,
        change: f64,
        now: DateTime<Utc>,
    ) -> Result<Option<f64>, StoreError> {
        let changed = self
            .change(scope, id, now, move |memory| memory.feedback += change)
            .await?;
        Ok(changed.map(|memory| memory.feedback))
    }

    async fn correct(
        &self,
        scope: &Scope,
        id: &MemoryId,
        wrong: bool,
        now: DateTime<Utc>,
    ) -> Result<Option<Memory>, StoreError> {
        self.change(scope, id, now, move |memory| {
            memory.fate.corrected_at = wrong.then_some(memory.fate.corrected_at.unwrap_or(now));
        })
        .await
    }

    async fn list(
        &self,
        scope: &Scope,
        filters: &ListFilters,
        after: Option<&Cursor>,
        limit: usize,
        now: DateTime<Utc>,
    ) -> Result<Vec<Memory>, StoreError> {
        let (scope, filters, after) = (scope.clone(), filters.clone(), after.cloned());
        self.read(move |connection, _| {
            lists::page(connection, &scope, &filters, after.as_ref(), limit, now)
        })
        .await
    }
}

impl EmbeddedStore {
    async fn change(
        &self,
        scope: &Scope,
        id: &MemoryId,
        now: DateTime<Utc>,
        change: impl FnOnce(&mut Memory) + Send + 'static,
    ) -> Result<Option<Memory>, StoreError> {
        let (scope, id) = (scope.clone(), id.clone());
        self.write(move |transaction, counters| {
            memories::change(transaction, counters, &scope, &id, change, now)
        })
        .await
    }
}

#[async_trait]
impl Retriever for EmbeddedStore {
    async fn retrieve(
        &self,
        scope: &Scope,
        plan: &Plan,
        now: DateTime<Utc>,
    ) -> Result<Retrieved, StoreError> {
        let asked = Arc::new((scope.clone(), plan.clone()));
        match self.try_retrieve(asked.clone(), now).await? {
            Ok(retrieved) => Ok(retrieved),
            Err(reason) => {
                tracing::error!(reason, "the index cannot be read: searching without it");
                self.0.follower.forget_index();
                self.0.indexer.damaged();
                let again = self.try_retrieve(asked, now).await?;
                again.map_err(|reason| StoreError::Unavailable(reason.into()))
            }
        }
    }
}

/// How the index stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexState {
    /// Number of the last change that the index covers; 0 while it is to be made anew.
    pub covered: i64,
    /// Number of the last change of the store.
    pub last: i64,
}

impl IndexState {
    /// Whether the index covers everything.
    pub fn is_current(self) -> bool {
        self.covered == self.last
    }
}

impl EmbeddedStore {
    /// How far the index has followed.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn index_state(&self) -> Result<IndexState, StoreError> {
        self.read(|connection, follower| {
            let position = changes::position(connection)?;
            let covers = follower.current().view.covers;
            let is_of_it = covers.is_of(position.database, position.epoch);
            Ok(IndexState {
                covered: if is_of_it { covers.seq } else { 0 },
                last: position.seq,
            })
        })
        .await
    }

    /// Asks for everything to be indexed soon; see [`EmbeddedStore::index_state`].
    pub fn want_index(&self) {
        self.0.indexer.want();
    }

    /// Asks for an index made anew, from whichever process keeps it.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn reindex(&self) -> Result<(), StoreError> {
        self.write(|transaction, _| changes::ask_for_reindex(transaction))
            .await
    }

    /// Retrieves, or tells why the index cannot be read.
    async fn try_retrieve(
        &self,
        asked: Arc<(Scope, Plan)>,
        now: DateTime<Utc>,
    ) -> Result<Result<Retrieved, String>, StoreError> {
        self.read(move |connection, follower| {
            let model = asked.1.vector.as_ref().map(|vector| &vector.model);
            let moment = follower.same_moment(connection, model)?;
            if let Some(lock) = control::lock(connection, now)? {
                return Ok(Ok(Retrieved {
                    lock: Some(lock),
                    ..Retrieved::default()
                }));
            }
            let source = Source {
                connection,
                follower,
                moment: &moment,
            };
            match retrieval::retrieve(&source, &asked.0, &asked.1, now) {
                Ok(retrieved) => Ok(Ok(retrieved)),
                Err(Failure::Index(reason)) => Ok(Err(reason)),
                Err(Failure::Store(error)) => Err(error),
            }
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn fresh() -> (EmbeddedStore, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let store = EmbeddedStore::open(folder.path()).unwrap();
        (store, folder)
    }

    crate::store::conformance::conformance!(fresh);
}
