//! Records beside the memories.

use async_trait::async_trait;

use super::EmbeddedStore;
use super::sqlite::records;
use crate::store::{Record, RecordStore, StoreError};

#[async_trait]
impl RecordStore for EmbeddedStore {
    async fn put_record(
        &self,
        kind: &str,
        namespace: &str,
        record: Record,
        most: Option<usize>,
    ) -> Result<(), StoreError> {
        let (kind, namespace) = (kind.to_owned(), namespace.to_owned());
        self.write(move |transaction, _| {
            records::put(transaction, &kind, &namespace, &record, most)
        })
        .await
    }

    async fn record(
        &self,
        kind: &str,
        namespace: &str,
        key: &str,
    ) -> Result<Option<String>, StoreError> {
        let (kind, namespace, key) = (kind.to_owned(), namespace.to_owned(), key.to_owned());
        self.read(move |connection, _| records::get(connection, &kind, &namespace, &key))
            .await
    }

    async fn records(
        &self,
        kind: &str,
        namespace: &str,
        skip: usize,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        let (kind, namespace) = (kind.to_owned(), namespace.to_owned());
        self.read(move |connection, _| records::list(connection, &kind, &namespace, skip, limit))
            .await
    }

    async fn record_places(&self) -> Result<Vec<(String, String)>, StoreError> {
        self.read(|connection, _| records::places(connection)).await
    }

    async fn delete_record(
        &self,
        kind: &str,
        namespace: &str,
        key: &str,
    ) -> Result<bool, StoreError> {
        let (kind, namespace, key) = (kind.to_owned(), namespace.to_owned(), key.to_owned());
        self.write(move |transaction, _| records::delete(transaction, &kind, &namespace, &key))
            .await
    }
}
