//! Feedback, corrections, the lock, topics, attention, entities and health: their shapes.

use serde_json::json;

use crate::answers::{column, folded, header, list, number, text};
use crate::support::TestServer;

#[test]
fn feedback_adds_one_and_takes_two() {
    let server = TestServer::start();
    let id = server.add(json!({"content": "The pool is open"}));

    for (useful, sum) in [(true, 1.0), (false, -1.0), (true, 0.0)] {
        let body = server
            .post(
                "/v1/feedback",
                json!({"id": id, "useful": useful, "is_primary": true}),
            )
            .body;
        assert_eq!(body["id"], json!(id));
        assert!((number(&body["feedback"]) - sum).abs() < 1e-9, "{body:#}");
    }
}

#[test]
fn corrections_count_and_name_the_unknown() {
    let server = TestServer::start();
    let id = server.add(json!({"content": "The pool is open"}));

    let body = server
        .post(
            "/v1/corrections",
            json!({"ids": [id, "aaaaaaaaaaaaaaaa"], "is_primary": true}),
        )
        .body;

    assert_eq!(
        body,
        json!({"corrected": 1, "unknown": ["aaaaaaaaaaaaaaaa"]})
    );
}

#[test]
fn a_lock_is_set_seen_and_cleared() {
    let server = TestServer::start();
    assert_eq!(server.get("/v1/lock").body["locked"], false);

    let set = server.put("/v1/lock", json!({"ttl_seconds": 120})).body;
    let seen = server.get("/v1/lock").body;
    let cleared = server.delete("/v1/lock");

    for body in [&set, &seen] {
        assert_eq!(body["locked"], true, "{body:#}");
        assert!(
            (100.0..=120.0).contains(&number(&body["remaining_seconds"])),
            "{body:#}"
        );
    }
    assert_eq!(cleared.status, 200, "{:#}", cleared.body);
    assert_eq!(server.get("/v1/lock").body["locked"], false);
}

#[test]
fn a_lock_lasts_an_hour_unless_said() {
    let server = TestServer::start();

    let body = server.put("/v1/lock", json!({})).body;

    assert!(
        (3_500.0..=3_600.0).contains(&number(&body["remaining_seconds"])),
        "{body:#}"
    );
    server.set_now("2026-06-01T13:00:01Z");
    assert_eq!(server.get("/v1/lock").body["locked"], false);
}

#[test]
fn a_lock_silences_search_and_prefetch_but_not_writing() {
    let server = TestServer::start();
    server.put("/v1/lock", json!({}));
    server.add(json!({"content": "Proton Bridge IMAP credentials are in the vault"}));

    let query = json!({"query": "proton bridge"});
    for body in [server.search(query.clone()), server.prefetch(query.clone())] {
        assert_eq!(body["skipped"], "workflow_lock", "{body:#}");
        assert_eq!(body["empty"], "skipped", "{body:#}");
        assert_eq!(body["results"], json!([]));
    }
    server.delete("/v1/lock");
    assert_eq!(list(&server.search(query)["results"]).len(), 1);
}

#[test]
fn topics_and_attention_tell_period_and_scores() {
    let server = TestServer::start();
    server.add_all(&["marathon training 1", "marathon shoes 2", "violin 3"]);

    for list_name in ["topics", "attention"] {
        for (query, period) in [
            ("", "all"),
            ("&period=daily", "daily"),
            ("&period=weekly", "weekly"),
        ] {
            let body = server
                .get(&format!("/v1/{list_name}?is_primary=true{query}"))
                .body;
            assert_eq!(body["period"], period, "{body:#}");
            assert_eq!(
                folded(&column(&body[list_name], "topic"))[0],
                "marathon",
                "{body:#}"
            );
            let scores: Vec<_> = list(&body[list_name])
                .iter()
                .map(|row| number(&row["score"]))
                .collect();
            assert!(scores.is_sorted_by(|more, less| more >= less), "{scores:?}");
        }
        let body = server
            .get(&format!("/v1/{list_name}?is_primary=true&limit=1"))
            .body;
        assert_eq!(list(&body[list_name]).len(), 1, "{body:#}");
    }
}

#[test]
fn old_notes_make_no_topic_hot_today() {
    let server = TestServer::start();
    server.add(json!({"content": "marathon training", "created_at": "2025-01-01T00:00:00Z"}));

    let body = server.get("/v1/topics?is_primary=true&period=daily").body;

    assert_eq!(body["topics"], json!([]));
}

#[test]
fn a_timeline_and_related_tell_their_entity() {
    let server = TestServer::start();
    server.add_all(&[
        "We use Python with Django",
        "They teach Python with Django too",
    ]);

    let timeline = server
        .get("/v1/entities/Python/timeline?is_primary=true")
        .body;
    let related = server
        .get("/v1/entities/Python/related?is_primary=true")
        .body;

    for body in [&timeline, &related] {
        assert_eq!(text(&body["entity"]).to_lowercase(), "python");
    }
    for field in ["id", "content", "created_at", "state"] {
        assert!(
            timeline["items"][0][field].is_string(),
            "{field}: {timeline:#}"
        );
    }
    assert_eq!(related["items"][0]["count"], 2, "{related:#}");
}

#[test]
fn health_readiness_and_version_answer() {
    let server = TestServer::start();

    assert_eq!(server.get("/healthz").status, 200);
    assert_eq!(server.get("/readyz").status, 200);
    let version = server.get("/version").body;
    for field in ["version", "api_version", "features"] {
        assert!(!version[field].is_null(), "{field}: {version:#}");
    }
}

#[test]
fn every_answer_carries_a_request_id() {
    let server = TestServer::start();

    for answer in [
        server.get("/healthz"),
        server.get("/v1/search?q=zircon"),
        server.get("/nowhere"),
        server.post_raw("/v1/search", Some("application/json"), b"{"),
        server.request("DELETE", "/v1/search"),
    ] {
        assert!(
            !header(&answer, "x-request-id").is_empty(),
            "status {}",
            answer.status
        );
    }
}
