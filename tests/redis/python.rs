//! Data that the Python Keepsake wrote: found, left as it was, and still its own.

use std::collections::BTreeMap;
use std::process::Command;

use keepsake::scope::Scope;
use serde_json::Value;

use super::support::{Server, add, eventually, search};

type Dump = BTreeMap<String, Value>;

fn dump(server: &Server) -> Dump {
    serde_json::from_str(&server.python(&["dump"]).concat()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_python_keepsake_wrote_is_found_and_left_as_it_was() {
    let server = Server::start(&[]);
    server.python(&["write"]);
    let before = dump(&server);
    let app = server.app();
    eventually("the memories are adopted", async || {
        search(&app, "otter")
            .await
            .is_ok_and(|found| !found.is_empty())
            && search(&app, "walrus")
                .await
                .is_ok_and(|found| !found.is_empty())
            && search(&app, "TypeScript")
                .await
                .is_ok_and(|found| !found.is_empty())
    })
    .await;
    for (query, content) in [
        ("数据库密码", "数据库密码轮换流程在每月一号执行"),
        ("wifi code", "The wifi code of the office is 1234"),
        (
            "frontend",
            "User prefers TypeScript and Vite for frontend projects",
        ),
    ] {
        assert_eq!(search(&app, query).await.unwrap(), [content], "{query}");
    }
    assert_eq!(search(&app, "seal").await.unwrap(), [""; 0]);
    let notes = app.store.notes().await.unwrap().join("\n");
    assert!(notes.contains("3 hashes"), "{notes}");

    // Nothing that was there has changed, but for the one field that means two things.
    let after = dump(&server);
    for (key, fields) in &before {
        let Some(fields) = fields.as_object() else {
            assert_eq!(&before[key], &after[key]);
            continue;
        };
        for (name, value) in fields.iter().filter(|(name, _)| *name != "sentiment_score") {
            assert_eq!(value, &after[key][name], "{key} {name}");
        }
    }
    // Both write, both find.
    add(&app, "The harbour crane needs new TypeScript bindings")
        .await
        .unwrap();
    let found = server.python(&["search", "TypeScript"]).join("\n");
    assert!(
        found.contains("harbour crane") && found.contains("Vite"),
        "{found}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_change_afterwards_is_followed() {
    let server = Server::start(&[]);
    server.python(&["write"]);
    let app = server.app();
    eventually("the memories are adopted", async || {
        search(&app, "walrus")
            .await
            .is_ok_and(|found| !found.is_empty())
    })
    .await;
    let own = add(&app, "The lighthouse keeper retires").await.unwrap();
    let own = format!("memory:frag:{}", own.memory.id);
    server.run_words(&["HSET", "memory:frag:bare", "content", "A narwhal instead"]);
    server.run_words(&[
        "HSET",
        "memory:frag:vector",
        "invalid_at",
        "2020-01-01T00:00:00",
    ]);
    server.run_words(&[
        "HINCRBY",
        "memory:frag:0123456789ab:1704067200",
        "feedback_score",
        "-2",
    ]);
    server.run_words(&["HSET", &own, "tags", "sea,corrected"]);
    eventually("the changes are noticed", async || {
        let found = async |query: &str| search(&app, query).await.unwrap().len();
        (found("narwhal").await, found("walrus").await) == (1, 0)
            && (found("otter").await, found("lighthouse").await) == (0, 0)
    })
    .await;
    let id = keepsake::memory::MemoryId::new("0123456789ab:1704067200");
    let memory = app.store.get(&Scope::owner(), &id).await.unwrap().unwrap();
    assert!(
        memory.feedback.abs() < 1e-12,
        "2 by Python, then -2: {}",
        memory.feedback
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_adopted_gets_its_vector_and_stays_the_python_keepsakes() {
    let server = Server::start(&[]);
    server.python(&["write"]);
    let app = server.app_with_model();
    eventually("the memories are adopted", async || {
        app.store.scan(None, 100).await.unwrap().len() == 6
    })
    .await;
    let meaning = app.meaning.as_ref().unwrap();
    meaning.backfill(&*app.store).await.unwrap();
    assert_eq!(meaning.counts(&*app.store).await.unwrap(), (6, 0));
    let found = search(&app, "which web framework does she like").await;
    assert!(found.unwrap()[0].contains("TypeScript"));
    let found = server.python(&["search", "TypeScript"]).join("\n");
    assert!(found.contains("Vite"), "{found}");
}

#[test]
fn its_index_is_dropped_on_request_and_no_memory_with_it() {
    let server = Server::start(&[]);
    server.python(&["write"]);
    let before = dump(&server);
    for told in ["dropped the index idx:memories", "there is no index"] {
        let output = Command::new(env!("CARGO_BIN_EXE_keepsake"))
            .args(["redis", "drop-python-index"])
            .env("HOME", "/nonexistent")
            .env("KEEPSAKE_REDIS_URL", &server.url)
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(printed.starts_with(told), "{printed} {output:?}");
    }
    assert_eq!(dump(&server), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn feedback_reaches_the_python_keepsake() {
    let server = Server::start(&[]);
    let app = server.app();
    let stored = add(&app, "The lighthouse keeper retires").await.unwrap();
    let id = stored.memory.id;
    let (owner, now) = (Scope::owner(), super::support::now());
    app.store
        .give_feedback(&owner, &id, 1.0, now)
        .await
        .unwrap();
    eventually("the score is mirrored", async || {
        let told = server.run_words(&["HGET", &id.key(), "feedback_score"]);
        told == redis::Value::BulkString(b"1".to_vec())
    })
    .await;
    let memory = app.store.get(&Scope::owner(), &id).await.unwrap().unwrap();
    assert!(
        (memory.feedback - 1.0).abs() < 1e-12,
        "counted once: {}",
        memory.feedback
    );
}
