//! `keepsake copy` between a folder and a Redis: nothing is lost either way.

use std::path::Path;
use std::process::Command;

use chrono::TimeDelta;
use keepsake::memory::Memory;
use keepsake::scope::Scope;
use keepsake::store::embedded::EmbeddedStore;
use keepsake::store::{Counter, Record, Store, Synonyms};
use serde_json::Value;

use super::support::{Server, add, now};

fn copy(from: &str, to: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_keepsake"))
        .args(["copy", "--json", "--from", from, "--to", to])
        .env("HOME", "/nonexistent")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Memories, counters and records.
async fn held(store: &dyn Store) -> (Vec<Memory>, Vec<Counter>, Vec<Vec<Record>>) {
    let mut records = Vec::new();
    for (kind, namespace) in store.record_places().await.unwrap() {
        records.push(store.records(&kind, &namespace, 0, 1000).await.unwrap());
    }
    let counters = store.scan_counters(None, 10_000).await.unwrap();
    (store.scan(None, 10_000).await.unwrap(), counters, records)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_from_redis_to_a_folder_and_on_to_another_redis_is_the_same() {
    let (server, other) = (Server::start(&[]), Server::start(&[]));
    let folder = tempfile::tempdir().unwrap();
    let data: &Path = folder.path();
    let app = server.app();
    for number in 0..450 {
        let content = format!("Alice keeps Redis 备份 number{number} in the harbour");
        add(&app, &content).await.unwrap();
    }
    let (store, owner) = (&*app.store, Scope::owner());
    let ids = store.scan(None, 3).await.unwrap();
    let later = now() + TimeDelta::seconds(5);
    store
        .give_feedback(&owner, &ids[0].id, 1.0, later)
        .await
        .unwrap();
    store.trash(&owner, &ids[1].id, later).await.unwrap();
    store
        .correct(&owner, &ids[2].id, true, later)
        .await
        .unwrap();
    let synonyms = Synonyms {
        term: "backup".to_owned(),
        terms: vec!["备份".to_owned()],
        manual: true,
    };
    store.set_synonyms("default", synonyms).await.unwrap();
    for number in 0..250 {
        let record = Record::new(format!("key {number}"), format!("{{\"{number}\": \"值\"}}"));
        store
            .put_record("letter", "a:b", record, None)
            .await
            .unwrap();
    }

    let place = data.to_str().unwrap();
    let told = copy(&server.url, place);
    assert_eq!(
        (&told["created"], &told["records"]),
        (&450.into(), &250.into()),
        "{told}"
    );
    copy(place, &other.url);
    let expected = held(store).await;
    let embedded: &dyn Store = &EmbeddedStore::open(data).unwrap();
    assert_eq!(held(embedded).await, expected);
    assert_eq!(held(&other.quiet_store()).await, expected);

    // Again: nothing new, and what changed there meanwhile stays.
    let record = Record::new("key 7", "newer");
    embedded
        .put_record("letter", "a:b", record, None)
        .await
        .unwrap();
    let told = copy(&server.url, place);
    assert_eq!(told["created"], 0, "{told}");
    let record = embedded.record("letter", "a:b", "key 7").await;
    assert_eq!(record.unwrap().as_deref(), Some("newer"));
}
