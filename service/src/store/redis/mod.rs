//! The Redis store: what several services share, and what the Python Keepsake left there.
//!
//! `keys` names every key and what it holds. A memory is a hash that the search index sees (`codec`)
//! and a small one beside it that it does not. A write decides in this process and is applied by a
//! script if nothing changed meanwhile (`transaction`, `writing`, `commands`); a read is one script
//! (`retrieval`) over memories that are known already (`lately`). What an operator must hear is worded in `errors`.

pub mod adoption;
mod codec;
mod commands;
mod connection;
mod control;
pub mod erase;
mod errors;
mod examine;
mod index;
mod keys;
mod lately;
mod maintenance;
mod mirrors;
mod operations;
pub mod options;
pub mod python_index;
mod query;
mod reading;
mod records;
mod retrieval;
mod scripts;
mod signals;
#[cfg(test)]
mod test_server;
mod tokens;
mod transaction;
mod transfer;
mod upkeep;
mod values;
mod vectors;
mod writing;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, NaiveDate, Utc};

use crate::memory::{Edit, Memory, MemoryId, NewMemory};
use crate::query::{Plan, Retrieved};
use crate::scope::Scope;
use crate::signals::Topic;
use crate::store::finding::Finding;
use crate::store::lifecycle;
use crate::store::{
    Added, ControlStore, Counter, Cursor, Deleted, Edited, Import, Imported, KeptAnswer,
    ListFilters, MemoryStore, Operated, Operation, Resolved, Retriever, ScanStore, SignalStore,
    Stats, StoreError, Synonyms, TimelineEntry,
};
use crate::vector::ModelId;
use adoption::{Adoption, Pass};
use connection::Connection;
use keys::Keys;
use lately::Lately;
use options::RedisOptions;
use signals::Kept;

/// A store in Redis. Cheap to clone.
#[derive(Clone)]
pub struct RedisStore {
    inner: Arc<Inner>,
}

struct Inner {
    keys: Keys,
    connection: Connection,
    /// How long the engine may search.
    search_timeout: Duration,
    /// The server was checked and has the index.
    ready: AtomicBool,
    preparing: tokio::sync::Mutex<()>,
    kept: Mutex<Kept>,
    lately: Mutex<Lately>,
    /// The models that the index has a field for.
    meant: Mutex<HashSet<ModelId>>,
    adoption: Adoption,
    progress: Mutex<Pass>,
}

impl Inner {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lately(&self) -> MutexGuard<'_, Lately> {
        self.lately.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn meant(&self) -> MutexGuard<'_, HashSet<ModelId>> {
        self.meant.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The version of the signals was just read: what was kept of an older one is forgotten.
    fn notice_signals(&self, version: &str) {
        self.kept().notice(version);
    }

    fn progress(&self) -> MutexGuard<'_, Pass> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the pass that is going on has done so far.
    fn tell_progress(&self, pass: Pass) {
        *self.progress() = pass;
    }

    /// The index is gone: the next request makes it again.
    fn rebuild_index(&self) {
        self.meant().clear();
        self.ready.store(false, Ordering::Release);
    }
}

impl RedisStore {
    /// A store at these options. Nothing is sent before the first request.
    ///
    /// # Errors
    /// When the options are no address of a Redis.
    pub fn new(options: &RedisOptions, adoption: Adoption) -> Result<RedisStore, StoreError> {
        let inner = Inner {
            keys: Keys::new(&options.prefix),
            connection: Connection::new(options)?,
            search_timeout: options.timeout,
            ready: AtomicBool::new(false),
            preparing: tokio::sync::Mutex::default(),
            kept: Mutex::default(),
            lately: Mutex::default(),
            meant: Mutex::default(),
            adoption,
            progress: Mutex::default(),
        };
        Ok(RedisStore {
            inner: Arc::new(inner),
        })
    }

    /// A store at these options that also works in the background, in the runtime of the caller.
    ///
    /// # Errors
    /// When the options are no address of a Redis.
    pub fn open(options: &RedisOptions, adoption: Adoption) -> Result<RedisStore, StoreError> {
        let store = RedisStore::new(options, adoption)?;
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(upkeep::run(Arc::downgrade(&store.inner)));
        }
        Ok(store)
    }
}

#[async_trait]
impl MemoryStore for RedisStore {
    async fn add(
        &self,
        scope: &Scope,
        new: Vec<NewMemory>,
        now: DateTime<Utc>,
    ) -> Result<Vec<Added>, StoreError> {
        let add = |draft: &mut transaction::Draft<'_>| {
            let each = new.iter().map(|new| writing::add(draft, scope, new, now));
            each.collect::<Result<Vec<_>, _>>()
        };
        self.write(add).await
    }

    async fn operate(
        &self,
        scope: &Scope,
        new: Vec<Operation>,
        now: DateTime<Utc>,
    ) -> Result<Vec<Operated>, StoreError> {
        let key_of = |whose: &str, key: &str| self.inner.keys.done(whose, key);
        self.write(|draft| operations::operate(draft, key_of, scope, &new, now))
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
        self.delete_listed(scope, filters, expected, purge, now)
            .await
    }

    async fn import(&self, imported: Vec<Import>) -> Result<Vec<Imported>, StoreError> {
        let import = |draft: &mut transaction::Draft<'_>| {
            let each = imported.iter().map(|import| writing::import(draft, import));
            each.collect::<Result<Vec<_>, _>>()
        };
        self.write(import).await
    }

    async fn get(&self, scope: &Scope, id: &MemoryId) -> Result<Option<Memory>, StoreError> {
        self.visible(scope, id).await
    }

    async fn resolve(&self, scope: &Scope, reference: &str) -> Result<Resolved, StoreError> {
        self.resolve_reference(scope, reference).await
    }

    async fn edit(
        &self,
        scope: &Scope,
        id: &MemoryId,
        edit: Edit,
        now: DateTime<Utc>,
    ) -> Result<Edited, StoreError> {
        self.write(|draft| writing::edit(draft, scope, id, &edit, now))
            .await
    }

    async fn trash(
        &self,
        scope: &Scope,
        id: &MemoryId,
        now: DateTime<Utc>,
    ) -> Result<Option<Memory>, StoreError> {
        let trash =
            |memory: &mut Memory| memory.fate.trashed_at = memory.fate.trashed_at.or(Some(now));
        self.write(|draft| writing::change(draft, scope, id, trash, now))
            .await
    }

    async fn restore(
        &self,
        scope: &Scope,
        id: &MemoryId,
        now: DateTime<Utc>,
    ) -> Result<Option<Memory>, StoreError> {
        self.write(|draft| writing::change(draft, scope, id, lifecycle::restore, now))
            .await
    }

    async fn purge(&self, scope: &Scope, id: &MemoryId) -> Result<bool, StoreError> {
        self.write(|draft| writing::purge(draft, scope, id)).await
    }

    async fn give_feedback(
        &self,
        scope: &Scope,
        id: &MemoryId,
        change: f64,
        now: DateTime<Utc>,
    ) -> Result<Option<f64>, StoreError> {
        let give = |memory: &mut Memory| memory.feedback += change;
        let changed = self.write(|draft| writing::change(draft, scope, id, give, now));
        Ok(changed.await?.map(|memory| memory.feedback))
    }

    async fn correct(
        &self,
        scope: &Scope,
        id: &MemoryId,
        wrong: bool,
        now: DateTime<Utc>,
    ) -> Result<Option<Memory>, StoreError> {
        let correct = |memory: &mut Memory| {
            memory.fate.corrected_at = wrong.then_some(memory.fate.corrected_at.unwrap_or(now));
        };
        self.write(|draft| writing::change(draft, scope, id, correct, now))
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
        self.page(scope, filters, after, limit, now).await
    }
}

#[async_trait]
impl Retriever for RedisStore {
    async fn retrieve(
        &self,
        scope: &Scope,
        plan: &Plan,
        now: DateTime<Utc>,
    ) -> Result<Retrieved, StoreError> {
        self.find(scope, plan, now).await
    }
}

#[async_trait]
impl SignalStore for RedisStore {
    async fn signals_version(&self) -> Result<i64, StoreError> {
        self.read_signals_version().await
    }

    async fn topics(
        &self,
        scope: &Scope,
        since: Option<NaiveDate>,
    ) -> Result<Vec<Topic>, StoreError> {
        self.read_topics(scope, since).await
    }

    async fn related_entities(
        &self,
        scope: &Scope,
        entity: &str,
        limit: usize,
        least: u64,
    ) -> Result<Vec<(String, u64)>, StoreError> {
        self.read_related(scope, entity, limit, least).await
    }

    async fn entity_timeline(
        &self,
        scope: &Scope,
        entity: &str,
        limit: usize,
        now: DateTime<Utc>,
    ) -> Result<Vec<TimelineEntry>, StoreError> {
        self.read_timeline(scope, entity, limit, now).await
    }

    async fn synonyms(&self, namespace: &str) -> Result<Vec<Synonyms>, StoreError> {
        self.read_synonyms(namespace).await
    }

    async fn set_synonyms(&self, namespace: &str, synonyms: Synonyms) -> Result<(), StoreError> {
        self.write_synonyms(namespace, &synonyms).await
    }
}

#[async_trait]
impl ControlStore for RedisStore {
    async fn lock(&self, now: DateTime<Utc>) -> Result<Option<Option<DateTime<Utc>>>, StoreError> {
        self.read_lock(now).await
    }

    async fn set_lock(&self, until: DateTime<Utc>) -> Result<(), StoreError> {
        self.write_lock(until).await
    }

    async fn clear_lock(&self) -> Result<(), StoreError> {
        self.delete_lock().await
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.prepared().await?;
        self.inner.connection.command(&redis::cmd("PING")).await?;
        Ok(())
    }

    async fn notes(&self) -> Result<Vec<String>, StoreError> {
        self.going_on().await
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        self.look_closely().await
    }

    async fn stats(&self, scope: &Scope, now: DateTime<Utc>) -> Result<Stats, StoreError> {
        self.numbers(scope, now).await
    }

    async fn answer(
        &self,
        key: &str,
        now: DateTime<Utc>,
    ) -> Result<Option<KeptAnswer>, StoreError> {
        self.read_answer(key, now).await
    }

    async fn keep_answer(
        &self,
        key: &str,
        answer: KeptAnswer,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        self.write_answer(key, &answer, now).await
    }
}

#[async_trait]
impl ScanStore for RedisStore {
    async fn scan(
        &self,
        after: Option<&MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>, StoreError> {
        self.scan_from(after, limit).await
    }

    async fn scan_counters(
        &self,
        after: Option<&Counter>,
        limit: usize,
    ) -> Result<Vec<Counter>, StoreError> {
        self.counters_after(after, limit).await
    }

    async fn restore_counters(&self, counters: Vec<Counter>) -> Result<(), StoreError> {
        self.put_back(&counters).await
    }
}

#[cfg(test)]
mod tests {
    use super::test_server;
    use super::*;

    mod resp2 {
        use super::*;

        async fn fresh() -> (RedisStore, ()) {
            (test_server::fresh(""), ())
        }

        crate::store::conformance::conformance!(fresh);
    }

    mod resp3 {
        use super::*;

        async fn fresh() -> (RedisStore, ()) {
            (test_server::fresh("?protocol=resp3"), ())
        }

        crate::store::conformance::conformance!(fresh);
    }
}
