//! The embedded store: a folder with one SQLite file, the truth, and an index derived from it.
//!
//! `sqlite/` is the truth: rows, statistics and counters, each write one transaction. `index/` is
//! derived and finds candidates. `follower` holds the two to one change number, `retrieval` asks them
//! in one read transaction. `writer` and `indexer` are threads of their own; reading runs on tokio's
//! blocking threads, never on its workers.

mod backup;
#[cfg(test)]
mod equivalence;
mod follower;
mod index;
mod indexer;
mod retrieval;
mod sqlite;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use chrono::{DateTime, NaiveDate, Utc};
use rusqlite::{Connection, Transaction};

use crate::memory::{Edit, Memory, MemoryId, NewMemory};
use crate::query::{Plan, Retrieved};
use crate::scope::Scope;
use crate::signals::Topic;
use crate::store::gathered::Counters;
use crate::store::{
    Added, ControlStore, Counter, Cursor, Deleted, Edited, Imported, KeptAnswer, ListFilters,
    MemoryStore, Operated, Operation, Resolved, Retriever, ScanStore, SignalStore, Stats,
    StoreError, Synonyms, TimelineEntry,
};
pub use backup::Backup;
use follower::Follower;
use indexer::Indexer;
use retrieval::{Failure, Source};
use sqlite::{changes, control, from_sqlite, lists, memories, operations, signals, transfer};
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

    async fn import(
        &self,
        imported: Vec<(Memory, Option<f64>)>,
    ) -> Result<Vec<Imported>, StoreError> {
        self.write(move |transaction, counters| {
            imported
                .iter()
                .map(|(memory, attention)| {
                    memories::import(transaction, counters, memory, *attention)
                })
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
        self.change(scope, id, now, |memory| {
            memory.fate.trashed_at = None;
            memory.fate.consumed_by = None;
        })
        .await
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
            let moment = follower.same_moment(connection)?;
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

#[async_trait]
impl SignalStore for EmbeddedStore {
    async fn signals_version(&self) -> Result<i64, StoreError> {
        self.read(|connection, _| signals::version(connection))
            .await
    }

    async fn topics(
        &self,
        scope: &Scope,
        since: Option<NaiveDate>,
    ) -> Result<Vec<Topic>, StoreError> {
        let scope = scope.clone();
        self.read(move |connection, _| signals::topics(connection, &scope, since))
            .await
    }

    async fn related_entities(
        &self,
        scope: &Scope,
        entity: &str,
        limit: usize,
        least: u64,
    ) -> Result<Vec<(String, u64)>, StoreError> {
        let (scope, entity) = (scope.clone(), entity.to_owned());
        self.read(move |connection, _| signals::related(connection, &scope, &entity, limit, least))
            .await
    }

    async fn entity_timeline(
        &self,
        scope: &Scope,
        entity: &str,
        limit: usize,
        now: DateTime<Utc>,
    ) -> Result<Vec<TimelineEntry>, StoreError> {
        let (scope, entity) = (scope.clone(), entity.to_owned());
        self.read(move |connection, _| signals::timeline(connection, &scope, &entity, limit, now))
            .await
    }

    async fn synonyms(&self, namespace: &str) -> Result<Vec<Synonyms>, StoreError> {
        let namespace = namespace.to_owned();
        self.read(move |connection, _| signals::synonyms(connection, &namespace))
            .await
    }

    async fn set_synonyms(&self, namespace: &str, synonyms: Synonyms) -> Result<(), StoreError> {
        let namespace = namespace.to_owned();
        self.write(move |transaction, _| signals::set_synonyms(transaction, &namespace, &synonyms))
            .await
    }
}

#[async_trait]
impl ControlStore for EmbeddedStore {
    async fn lock(&self, now: DateTime<Utc>) -> Result<Option<Option<DateTime<Utc>>>, StoreError> {
        self.read(move |connection, _| control::lock(connection, now))
            .await
    }

    async fn set_lock(&self, until: DateTime<Utc>) -> Result<(), StoreError> {
        self.write(move |transaction, _| control::set_lock(transaction, until))
            .await
    }

    async fn clear_lock(&self) -> Result<(), StoreError> {
        self.write(|transaction, _| control::clear_lock(transaction))
            .await
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.read(|connection, _| control::seq(connection))
            .await
            .map(|_| ())
    }

    async fn stats(&self, scope: &Scope, now: DateTime<Utc>) -> Result<Stats, StoreError> {
        let scope = scope.clone();
        self.read(move |connection, _| lists::stats(connection, &scope, now))
            .await
    }

    async fn answer(
        &self,
        key: &str,
        now: DateTime<Utc>,
    ) -> Result<Option<KeptAnswer>, StoreError> {
        let key = key.to_owned();
        self.read(move |connection, _| operations::answer(connection, &key, now))
            .await
    }

    async fn keep_answer(
        &self,
        key: &str,
        answer: KeptAnswer,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let key = key.to_owned();
        self.write(move |transaction, _| operations::keep_answer(transaction, &key, &answer, now))
            .await
    }
}

#[async_trait]
impl ScanStore for EmbeddedStore {
    async fn scan(
        &self,
        after: Option<&MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>, StoreError> {
        let after = after.cloned();
        self.read(move |connection, _| lists::scan(connection, after.as_ref(), limit))
            .await
    }

    async fn scan_counters(
        &self,
        after: Option<&Counter>,
        limit: usize,
    ) -> Result<Vec<Counter>, StoreError> {
        let after = after.cloned();
        self.read(move |connection, _| transfer::scan(connection, after.as_ref(), limit))
            .await
    }

    async fn restore_counters(&self, restored: Vec<Counter>) -> Result<(), StoreError> {
        self.write(move |transaction, _| transfer::restore(transaction, &restored))
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
