//! The same content again is the same memory, made stronger or brought back.

use serde_json::{Value, json};

use crate::answers::{assert_problem, hit, list, number, sorted, text};
use crate::support::{Answer, TestServer};
use crate::unrelated::UNRELATED;

#[test]
fn the_same_content_is_one_memory_however_it_arrives() {
    let server = TestServer::start();
    let content = "User prefers dark mode";
    let id = server.add(json!({"content": content}));
    let again = server.post(
        "/v1/memories",
        json!({"content": content, "is_primary": true}),
    );
    server.post(
        "/v1/memories/batch?is_primary=true",
        json!([{"content": content}]),
    );
    let line = json!({"content": content}).to_string();
    server.post_raw(
        "/v1/memories/batch?is_primary=true",
        Some("application/x-ndjson"),
        line.as_bytes(),
    );
    server.cli(&["add", content]);
    server.cli_with_input(&["add", "-"], content.as_bytes());

    assert_eq!(again.status, 200, "{:#}", again.body);
    assert_eq!(again.body["reinforced"], true, "{:#}", again.body);
    assert_eq!(again.body["revived"], Value::Null, "{:#}", again.body);
    assert_eq!(again.body["id"], json!(id));
    assert_eq!(server.found("dark mode"), [content]);
    assert_eq!(memory(&server, &id)["mentions"], 6);
}

#[test]
fn reinforcing_keeps_feedback_and_merges_tags() {
    let server = TestServer::start();
    let id = server.add(json!({"content": "User prefers dark mode", "tags": ["editor"]}));
    for _ in 0..3 {
        server.post(
            "/v1/feedback",
            json!({"id": id, "useful": true, "is_primary": true}),
        );
    }

    server.add(json!({"content": "User prefers dark mode", "tags": ["theme"]}));

    let memory = memory(&server, &id);
    assert!(
        (number(&memory["feedback"]) - 3.0).abs() < 1e-9,
        "{memory:#}"
    );
    assert_eq!(
        sorted(list(&memory["tags"]).iter().map(text).collect()),
        ["editor", "theme"]
    );
}

#[test]
fn reinforcing_makes_a_memory_young_and_keeps_its_date() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let id = server
        .add(json!({"content": "User prefers dark mode", "created_at": "2026-01-10T08:00:00Z"}));
    let aged = decay(&server, &id);

    server.set_now("2026-06-02T09:00:00Z");
    server.add(json!({"content": "User prefers dark mode"}));

    assert!(aged < 1.0 && (decay(&server, &id) - 1.0).abs() < 1e-9);
    let memory = memory(&server, &id);
    assert!(
        text(&memory["created_at"]).starts_with("2026-01-10T08:00:00"),
        "{memory:#}"
    );
    assert!(
        text(&memory["updated_at"]).starts_with("2026-06-02T09:00:00"),
        "{memory:#}"
    );
    assert!(
        text(&memory["reinforced_at"]).starts_with("2026-06-02T09:00:00"),
        "{memory:#}"
    );
}

#[test]
fn the_same_content_revives_an_expired_memory() {
    let server = TestServer::start();
    let id =
        server.add(json!({"content": "The pool is open", "invalid_at": "2026-01-01T00:00:00Z"}));
    assert_eq!(memory(&server, &id)["state"], "expired");

    check_revived(
        &server,
        &id,
        &add_again(&server, "The pool is open"),
        "expired",
    );
}

#[test]
fn the_same_content_revives_a_superseded_memory() {
    let server = TestServer::start();
    let id = server.add(json!({"content": "DB is MySQL"}));
    server.add(json!({"content": "DB is PostgreSQL", "supersedes": id}));
    assert_eq!(memory(&server, &id)["state"], "superseded");

    check_revived(
        &server,
        &id,
        &add_again(&server, "DB is MySQL"),
        "superseded",
    );
}

#[test]
fn the_same_content_revives_a_trashed_memory() {
    let server = TestServer::start();
    let id = server.add(json!({"content": "The pool is open"}));
    server.delete(&format!("/v1/memories/{id}?is_primary=true"));

    check_revived(
        &server,
        &id,
        &add_again(&server, "The pool is open"),
        "trashed",
    );
}

#[test]
fn the_same_content_leaves_a_corrected_memory_corrected() {
    let server = TestServer::start();
    let id = server.add(json!({"content": "The capital of France is Lyon"}));
    server.post("/v1/corrections", json!({"ids": [id], "is_primary": true}));

    let answer = add_again(&server, "The capital of France is Lyon");

    assert_problem(&answer, 409);
    assert_eq!(memory(&server, &id)["state"], "corrected");
    assert_eq!(server.found("capital of France"), [""; 0]);
}

#[test]
fn equal_turns_of_a_session_are_separate_memories() {
    let server = TestServer::start();
    let turn = |session: &str, turn: u32| {
        server.add(json!({"content": "Yes, please go on", "session": session, "turn": turn}))
    };

    let first = turn("monday", 1);

    assert_ne!(turn("monday", 2), first);
    assert_ne!(turn("tuesday", 1), first);
    assert_eq!(turn("monday", 1), first);
    assert_eq!(memory(&server, &first)["mentions"], 2);
}

#[test]
fn equal_text_of_two_documents_is_two_memories() {
    let server = TestServer::start();
    let of = |document: &str| {
        server.add(json!({"content": "All rights reserved", "document": document}))
    };

    let first = of("lease.pdf");

    assert_ne!(of("loan.pdf"), first);
    assert_eq!(of("lease.pdf"), first);
}

fn memory(server: &TestServer, id: &str) -> Value {
    let answer = server.get(&format!("/v1/memories/{id}?is_primary=true"));
    assert_eq!(answer.status, 200, "{:#}", answer.body);
    answer.body
}

fn add_again(server: &TestServer, content: &str) -> Answer {
    server.post(
        "/v1/memories",
        json!({"content": content, "is_primary": true}),
    )
}

fn check_revived(server: &TestServer, id: &str, answer: &Answer, from: &str) {
    assert_eq!(answer.status, 200, "{:#}", answer.body);
    assert_eq!(answer.body["id"], json!(id));
    assert_eq!(answer.body["reinforced"], true, "{:#}", answer.body);
    assert_eq!(answer.body["revived"], from, "{:#}", answer.body);
    let memory = memory(server, id);
    assert_eq!(memory["state"], "active", "{memory:#}");
    assert_eq!(memory["mentions"], 2, "{memory:#}");
}

fn decay(server: &TestServer, id: &str) -> f64 {
    number(&hit(&server.search(json!({"query": "dark mode"})), id)["factors"]["decay"])
}
