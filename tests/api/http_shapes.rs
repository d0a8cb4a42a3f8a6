//! The names that clients rely on, field by field (http-api.md, "Shapes").

use serde_json::{Value, json};

use crate::answers::{column, folded, hit, list, number, text};
use crate::support::TestServer;
use crate::unrelated::UNRELATED;

const MEMORY_FIELDS: [&str; 26] = [
    "id",
    "key",
    "content",
    "tags",
    "category",
    "source",
    "entry_type",
    "agent_id",
    "namespace",
    "shared",
    "session",
    "turn",
    "created_at",
    "updated_at",
    "reinforced_at",
    "invalid_at",
    "state",
    "pinned",
    "mentions",
    "feedback",
    "level",
    "entities",
    "keywords",
    "emotion",
    "links",
    "metadata",
];

#[test]
fn a_stored_memory_shows_everything_that_was_given() {
    let server = TestServer::start();
    let given = json!({
        "content": "Ask Marta about the sauna", "tags": ["spa", "friends"], "category": "people",
        "source": "notebook", "entry_type": "note", "session": "monday", "turn": 3,
        "created_at": "2026-05-01T08:00:00Z", "invalid_at": "2030-01-01T00:00:00Z", "pinned": true,
        "metadata": {"page": 12, "nested": {"list": [1, null, "ü"]}}, "agent_id": "alpha",
        "namespace": "home", "shared": true, "origin": "person",
    });

    let answer = server.post("/v1/memories", given.clone());

    assert_eq!(answer.status, 201, "{:#}", answer.body);
    for field in [
        "content",
        "category",
        "source",
        "entry_type",
        "session",
        "turn",
        "pinned",
        "metadata",
        "agent_id",
        "namespace",
        "shared",
    ] {
        assert_eq!(answer.body[field], given[field], "{field}");
    }
    for field in ["created_at", "invalid_at"] {
        let time = text(&answer.body[field]);
        assert!(
            time.starts_with(&text(&given[field])[..19]),
            "{field}: {time}"
        );
    }
    for tag in ["spa", "friends"] {
        assert!(
            list(&answer.body["tags"]).contains(&json!(tag)),
            "{:#}",
            answer.body
        );
    }
}

#[test]
fn a_plain_memory_has_every_field() {
    let server = TestServer::start();
    let id = server.add(json!({"content": "Ask Marta about the sauna"}));

    let memory = server.get(&format!("/v1/memories/{id}")).body;

    assert_is_memory(&memory);
    assert_eq!(memory["id"], json!(id));
    assert_eq!(memory["key"], format!("memory:frag:{id}"));
    assert_eq!(memory["namespace"], "default");
    assert_eq!(memory["state"], "active");
    assert_eq!(memory["mentions"], 1);
    assert_eq!(memory["pinned"], false);
    assert_eq!(memory["shared"], false);
    assert!(number(&memory["feedback"]).abs() < 1e-9);
    assert_eq!(memory["tags"], json!([]));
    assert_eq!(memory["metadata"], json!({}));
    for absent in ["session", "turn", "invalid_at"] {
        assert_eq!(memory[absent], Value::Null, "{absent}");
    }
    assert!(
        text(&memory["created_at"]).starts_with("2026-06-01T12:00:00"),
        "{memory:#}"
    );
}

#[test]
fn keywords_are_few_and_no_stop_words_or_numbers() {
    let server = TestServer::start();
    let content = "The marathon in the old harbour needs 300 volunteers, marathon shirts, water, bananas and tents";
    let memory = server
        .post(
            "/v1/memories",
            json!({"content": content, "is_primary": true}),
        )
        .body;

    let keywords: Vec<_> = list(&memory["keywords"]).iter().map(text).collect();

    assert!((1..=5).contains(&keywords.len()), "{keywords:?}");
    assert_eq!(folded(&keywords)[0], "marathon");
    for word in ["the", "in", "and", "300"] {
        assert!(
            !folded(&keywords).contains(&word.to_owned()),
            "{keywords:?}"
        );
    }
}

#[test]
fn a_search_answer_has_every_field() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let id = server.add(json!({"content": "The zircon ring is insured"}));

    let body = server.search(json!({"query": "zircon"}));

    assert_is_answer(&body);
    assert!(
        ["lexical", "vector", "hybrid"].contains(&text(&body["mode"]).as_str()),
        "{body:#}"
    );
    assert_is_hit(hit(&body, &id));
}

#[test]
fn a_search_by_get_answers_as_by_post() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add_all(&["The zircon ring is insured", "A zircon brooch was lost"]);

    let mut post = server.search(json!({"query": "zircon", "top_k": 1}));
    let mut get = server
        .get("/v1/search?q=zircon&top_k=1&is_primary=true")
        .body;

    for body in [&mut post, &mut get] {
        body["took_ms"] = json!(0);
        for hit in body["results"].as_array_mut().expect("results") {
            // Topics may become known between the two.
            hit["score"] = json!(0);
            hit["factors"] = json!({});
        }
    }
    assert_eq!(post, get);
}

#[test]
fn a_prefetch_answer_has_every_field() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let id = server.add(json!({"content": "Proton Bridge IMAP credentials are in the vault"}));

    let body = server.prefetch(json!({"query": "proton bridge", "session_id": "monday"}));

    assert_is_answer(&body);
    assert!(body["context"].is_string());
    assert_is_hit(hit(&body, &id));
}

#[test]
fn an_explanation_tells_why_a_memory_is_in_the_answer_or_not() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let best = server.add(json!({"content": "zircon ring box"}));
    let next = server.add(
        json!({"content": "The zircon came up once while we were talking about trains and dinner"}),
    );
    let other = server.add(json!({"content": "The pool is open"}));
    let expired =
        server.add(json!({"content": "zircon fair today", "invalid_at": "2026-01-01T00:00:00Z"}));

    for (id, reason) in [
        (best.as_str(), "returned"),
        (&next, "below_top_k"),
        (&other, "not_matched"),
        (&expired, "expired"),
        ("aaaaaaaaaaaaaaaa", "not_found"),
    ] {
        let body = server.search(json!({
            "query": "zircon", "mode": "lexical", "top_k": 1, "min_score": 0, "explain": id,
        }));
        assert_eq!(body["explanation"]["reason"], reason, "{body:#}");
    }
}

fn assert_is_answer(body: &Value) {
    for field in ["results", "degraded"] {
        list(&body[field]);
    }
    for field in ["below_floor", "took_ms"] {
        number(&body[field]);
    }
    for field in ["skipped", "empty"] {
        assert_eq!(body.get(field), Some(&Value::Null), "{field}: {body:#}");
    }
}

fn assert_is_hit(hit: &Value) {
    assert_is_memory(hit);
    number(&hit["score"]);
    let mut factors: Vec<_> = hit["factors"]
        .as_object()
        .expect("factors")
        .keys()
        .cloned()
        .collect();
    factors.sort();
    assert_eq!(
        factors,
        [
            "attention",
            "decay",
            "emotion",
            "feedback",
            "hot_topic",
            "similarity"
        ]
    );
    for kind in column(&hit["found_by"], "kind") {
        let kinds = [
            "term",
            "synonym",
            "entity",
            "cooccurrence",
            "tag",
            "neighbour",
            "vector",
        ];
        assert!(kinds.contains(&kind.as_str()), "{kind}");
    }
}

fn assert_is_memory(memory: &Value) {
    for field in MEMORY_FIELDS {
        assert!(
            memory.get(field).is_some(),
            "{field} is missing: {memory:#}"
        );
    }
    for field in ["tags", "entities", "keywords"] {
        list(&memory[field]);
    }
    number(&memory["emotion"]["intensity"]);
    number(&memory["emotion"]["polarity"]);
    text(&memory["emotion"]["label"]);
    assert!(memory["links"].is_object(), "{memory:#}");
}
