//! Times from which a memory holds no more, and times that bound a search.

use serde_json::{Value, json};

use crate::answers::{contents, ids, sorted, text};
use crate::support::TestServer;
use crate::unrelated::UNRELATED;

#[test]
fn a_memory_holds_until_its_invalid_at() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let id =
        server.add(json!({"content": "The visa is valid", "invalid_at": "2099-01-01T00:00:00Z"}));
    assert_eq!(server.found("visa"), ["The visa is valid"]);
    assert_eq!(state(&server, &id), "active");

    server.set_now("2099-01-01T00:00:01Z");

    assert_eq!(server.found("visa"), [""; 0]);
    assert_eq!(state(&server, &id), "expired");
}

#[test]
fn clearing_invalid_at_revives_a_memory() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let id =
        server.add(json!({"content": "The visa is valid", "invalid_at": "2026-01-01T00:00:00Z"}));
    assert_eq!(server.found("visa"), [""; 0]);

    let answer = server.patch(
        &format!("/v1/memories/{id}?is_primary=true"),
        json!({"invalid_at": null}),
    );

    assert_eq!(answer.status, 200, "{:#}", answer.body);
    assert_eq!(answer.body["state"], "active");
    assert_eq!(server.found("visa"), ["The visa is valid"]);
}

#[test]
fn clearing_invalid_at_revives_a_superseded_memory_and_clears_its_link() {
    let server = TestServer::start();
    let old = server.add(json!({"content": "DB is MySQL"}));
    let new = server.add(json!({"content": "DB is PostgreSQL", "supersedes": old}));
    let path = format!("/v1/memories/{old}?is_primary=true");
    assert_eq!(server.get(&path).body["links"]["superseded_by"], json!(new));

    let answer = server.patch(&path, json!({"invalid_at": null}));

    assert_eq!(answer.body["state"], "active", "{:#}", answer.body);
    assert_eq!(
        answer.body["links"]
            .get("superseded_by")
            .unwrap_or(&Value::Null),
        &Value::Null
    );
}

#[test]
fn expired_memories_are_shown_to_those_who_ask() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add(json!({"content": "The visa is valid", "invalid_at": "2026-01-01T00:00:00Z"}));

    let body = server.search(json!({"query": "visa", "include_expired": true}));

    assert_eq!(contents(&body), ["The visa is valid"]);
    assert_eq!(body["results"][0]["state"], "expired");
}

#[test]
fn expired_memories_do_not_use_up_the_window() {
    let server = TestServer::start();
    for ticket in 1..=120 {
        server.add(json!({"content": format!("lighthouse tour ticket {ticket}"), "invalid_at": "2026-01-01T00:00:00Z"}));
    }
    server.add(json!({"content": "The lighthouse tour starts at the pier beside the fish market"}));

    let body = server.search(json!({"query": "lighthouse tour", "min_score": 0}));

    assert_eq!(
        contents(&body),
        ["The lighthouse tour starts at the pier beside the fish market"]
    );
}

#[test]
fn created_after_and_before_bound_a_search() {
    let server = TestServer::start();
    for month in 1..=5 {
        let created_at = format!("2026-0{month}-15T00:00:00Z");
        server
            .add(json!({"content": format!("electricity bill {month}"), "created_at": created_at}));
    }

    let body = server.search(json!({
        "query": "electricity bill", "min_score": 0,
        "created_after": "2026-02-01T00:00:00Z", "created_before": "2026-04-01T00:00:00Z",
    }));

    assert_eq!(
        sorted(contents(&body)),
        ["electricity bill 2", "electricity bill 3"]
    );
}

#[test]
fn a_narrow_time_range_is_not_starved_by_the_rest() {
    let server = TestServer::start();
    let crowd: Vec<_> = (0..300)
        .map(|number| json!({"content": format!("electricity bill {number}"), "created_at": "2025-01-01T00:00:00Z", "is_primary": true}))
        .collect();
    assert_eq!(server.post("/v1/memories/batch", json!(crowd)).status, 200);
    let one = server.add(json!({
        "content": "A rather long note about the electricity bill of the cottage by the lake",
        "created_at": "2026-05-01T00:00:00Z",
    }));

    let body = server.search(json!({
        "query": "electricity bill", "min_score": 0, "created_after": "2026-04-01T00:00:00Z",
    }));

    assert_eq!(ids(&body), [one]);
}

#[test]
fn offsets_are_times_too() {
    let server = TestServer::start();

    let answer = server.post(
        "/v1/memories",
        json!({"content": "The visa is valid", "created_at": "2026-05-01T08:00:00+02:00", "is_primary": true}),
    );

    let created_at = text(&answer.body["created_at"]);
    assert!(
        created_at.starts_with("2026-05-01T06:00:00"),
        "{created_at}"
    );
}

fn state(server: &TestServer, id: &str) -> String {
    text(
        &server
            .get(&format!("/v1/memories/{id}?is_primary=true"))
            .body["state"],
    )
}

/// As after a flat battery: what was written before lies in a time to come.
#[test]
fn a_clock_that_is_set_back_loses_nothing_and_breaks_nothing() {
    let server = TestServer::start();
    let before = server.add(json!({"content": "The lighthouse opens in April"}));
    server.set_now("2020-01-01T00:00:00Z");
    let after = server.add(json!({"content": "The lighthouse closes in May"}));
    let found = server.search(json!({"query": "lighthouse", "min_score": 0}));
    assert_eq!(found["results"].as_array().unwrap().len(), 2, "{found:#}");
    for hit in found["results"].as_array().unwrap() {
        let decay = hit["factors"]["decay"].as_f64().unwrap();
        assert!((decay - 1.0).abs() < 1e-9, "{hit:#}");
    }
    for id in [&before, &after] {
        let path = format!("/v1/memories/{id}");
        let edited = server.patch(&path, json!({"pinned": true, "is_primary": true}));
        assert_eq!(edited.status, 200, "{:#}", edited.body);
        let useful = json!({"id": id, "useful": true, "is_primary": true});
        assert_eq!(server.post("/v1/feedback", useful).status, 200);
        let path = format!("{path}?is_primary=true");
        assert_eq!(server.delete(&path).status, 200);
        let restored = server.post(
            &format!("/v1/memories/{id}/restore"),
            json!({"is_primary": true}),
        );
        assert_eq!(restored.body["state"], "active", "{:#}", restored.body);
    }
    for path in [
        "/v1/topics?period=weekly",
        "/v1/attention",
        "/v1/lock",
        "/readyz",
        "/v1/export",
    ] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    let server = server.restart();
    server.set_now("2026-06-01T12:00:00Z");
    assert_eq!(server.found("lighthouse").len(), 2);
}
