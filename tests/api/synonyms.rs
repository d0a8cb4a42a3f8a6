//! Synonyms that a person sets: folded, seen by search, kept from discovery.

use std::time::{Duration, Instant};

use keepsake::embedding::Choice;
use serde_json::json;

use crate::answers::{assert_problem, assert_rejects_field};
use crate::support::{TestServer, encode};
use crate::unrelated::UNRELATED;

#[test]
fn synonyms_are_set_listed_and_removed_folded() {
    let server = TestServer::start();
    let set = server.put(
        "/v1/synonyms/K8S",
        json!({"terms": ["Kubernetes", "ＫＵＢＥＲＮＥＴＥＳ", "k8s", "容器编排"]}),
    );
    let expected =
        json!({"synonyms": {"k8s": {"terms": ["kubernetes", "容器编排"], "origin": "manual"}}});
    assert_eq!((set.status, &set.body), (200, &expected));
    assert_eq!(server.get("/v1/synonyms").body, expected);
    assert_eq!(
        server.get("/v1/synonyms?namespace=other").body,
        json!({"synonyms": {}})
    );

    assert_eq!(server.delete("/v1/synonyms/k8S").body, expected);
    assert_eq!(server.get("/v1/synonyms").body, json!({"synonyms": {}}));
    assert_problem(&server.delete("/v1/synonyms/k8s"), 404);
}

#[test]
fn what_cannot_be_a_synonym_is_refused() {
    let server = TestServer::start();
    let many: Vec<String> = (0..65).map(|number| format!("word{number}")).collect();
    for terms in [
        json!([]),
        json!([" "]),
        json!(["..."]),
        json!(["car"]),
        json!(many),
        json!("x"),
    ] {
        assert_rejects_field(
            &server.put("/v1/synonyms/car", json!({"terms": terms})),
            "terms",
        );
    }
    let long = encode(&"长".repeat(129));
    for term in ["%20", "...", &long] {
        let answer = server.put(&format!("/v1/synonyms/{term}"), json!({"terms": ["auto"]}));
        assert_rejects_field(&answer, "term");
    }
}

#[test]
fn search_uses_a_synonym_within_a_second() {
    let server = TestServer::start_with(|settings| {
        settings.signals_max_age = Duration::from_secs(1);
        // A vector knows that a car is an automobile.
        settings.embedder = Choice::None;
    });
    server.add_all(&UNRELATED);
    server.add(json!({"content": "The automobile is parked behind the mill"}));
    let found = || {
        let contents = server.found("where is my car");
        contents
            .iter()
            .any(|content| content.contains("automobile"))
    };
    assert!(!found());
    server.put("/v1/synonyms/Car", json!({"terms": ["Automobile"]}));
    let set = Instant::now();
    while !found() {
        assert!(
            set.elapsed() < Duration::from_secs(5),
            "the synonym is not used"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}
