//! What the store answers besides memories and retrieval: signals, control, scans.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDate, Utc};

use super::EmbeddedStore;
use super::sqlite::{control, lists, operations, signals, transfer};
use crate::memory::{Memory, MemoryId};
use crate::scope::Scope;
use crate::signals::Topic;
use crate::store::finding::Finding;
use crate::store::{
    ControlStore, Counter, KeptAnswer, ScanStore, SignalStore, Stats, StoreError, Synonyms,
    TimelineEntry,
};

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
        if let Some(what) = self.0.indexer.damage() {
            return Err(StoreError::Corrupt {
                what: what.to_owned(),
                source: None,
            });
        }
        self.read(|connection, _| control::seq(connection))
            .await
            .map(|_| ())
    }

    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        self.check().await?;
        self.look().await
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
