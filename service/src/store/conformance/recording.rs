//! Records: small texts that ways in keep beside the memories.

use crate::store::{Record, Store};

const KIND: &str = "letter";
const NAMESPACE: &str = "default";

async fn put(store: &dyn Store, key: &str, value: &str) {
    let record = Record::new(key, value);
    store
        .put_record(KIND, NAMESPACE, record, None)
        .await
        .unwrap();
}

async fn get(store: &dyn Store, key: &str) -> Option<String> {
    store.record(KIND, NAMESPACE, key).await.unwrap()
}

async fn keys(store: &dyn Store, skip: usize, limit: usize) -> Vec<String> {
    let records = store.records(KIND, NAMESPACE, skip, limit).await.unwrap();
    records.into_iter().map(|record| record.key).collect()
}

pub(crate) async fn a_record_is_read_as_it_was_put(store: &dyn Store) {
    for (key, value) in [
        ("a b/c", "{\"x\": 1}"),
        ("键:*?[", "标签|\u{1f600}\n\u{0}"),
        ("empty", ""),
    ] {
        put(store, key, value).await;
        assert_eq!(get(store, key).await.as_deref(), Some(value));
    }
    put(store, "a b/c", "again").await;
    assert_eq!(get(store, "a b/c").await.as_deref(), Some("again"));
    assert_eq!(keys(store, 0, 10).await.len(), 3);
    assert_eq!(get(store, "A B/C").await, None);
}

pub(crate) async fn records_of_other_kinds_and_namespaces_are_apart(store: &dyn Store) {
    put(store, "key", "here").await;
    for (kind, namespace) in [
        ("letter", "other"),
        ("other", NAMESPACE),
        ("letterdefault", ""),
    ] {
        assert_eq!(store.record(kind, namespace, "key").await.unwrap(), None);
        assert_eq!(store.records(kind, namespace, 0, 9).await.unwrap(), []);
        assert!(!store.delete_record(kind, namespace, "key").await.unwrap());
    }
    assert_eq!(get(store, "key").await.as_deref(), Some("here"));
}

pub(crate) async fn records_come_the_newest_put_first(store: &dyn Store) {
    for key in ["one", "two", "three", "one"] {
        put(store, key, "x").await;
    }
    assert_eq!(keys(store, 0, 10).await, ["one", "three", "two"]);
    assert_eq!(keys(store, 1, 1).await, ["three"]);
    assert_eq!(keys(store, 3, 1).await, Vec::<String>::new());
}

pub(crate) async fn the_oldest_records_beyond_the_most_are_dropped(store: &dyn Store) {
    let elsewhere = Record::new("stays", "x");
    store
        .put_record(KIND, "other", elsewhere, None)
        .await
        .unwrap();
    for key in ["one", "two", "three", "two", "four"] {
        let record = Record::new(key, "x");
        store
            .put_record(KIND, NAMESPACE, record, Some(2))
            .await
            .unwrap();
    }
    assert_eq!(keys(store, 0, 10).await, ["four", "two"]);
    assert_eq!(get(store, "one").await, None);
    assert!(
        store
            .record(KIND, "other", "stays")
            .await
            .unwrap()
            .is_some()
    );
}

pub(crate) async fn a_deleted_record_is_gone(store: &dyn Store) {
    put(store, "one", "x").await;
    put(store, "two", "x").await;
    assert!(store.delete_record(KIND, NAMESPACE, "one").await.unwrap());
    assert!(!store.delete_record(KIND, NAMESPACE, "one").await.unwrap());
    assert_eq!(get(store, "one").await, None);
    assert_eq!(keys(store, 0, 10).await, ["two"]);
}

pub(crate) async fn kinds_and_namespaces_with_records_are_told(store: &dyn Store) {
    assert_eq!(store.record_places().await.unwrap(), []);
    for (kind, namespace) in [
        ("letter", "b:c"),
        ("letter", ""),
        ("a", "x"),
        ("letter", "b:c"),
    ] {
        let record = Record::new("key", "x");
        store
            .put_record(kind, namespace, record, None)
            .await
            .unwrap();
    }
    store.delete_record("a", "x", "key").await.unwrap();
    let places = store.record_places().await.unwrap();
    let expected = [("letter", ""), ("letter", "b:c")];
    assert_eq!(
        places,
        expected.map(|(kind, namespace)| (kind.to_owned(), namespace.to_owned()))
    );
}
