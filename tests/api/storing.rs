//! What is stored, how often, and what the same content again does.

use serde_json::json;

use crate::answers::{assert_rejects_field, column, contents, hit, text};
use crate::support::TestServer;
use crate::unrelated::UNRELATED;

/// Made up, in the shapes of real ones.
const SECRETS: [&str; 4] = [
    "sk-Zq81mWc0Rv7pTx3LkNb5Yd2HsGj9Ef4UaXo6Qi1B",
    "AKIAQ3ZT7XW5LMNB2VRC",
    "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.Zk3vQx8Lr1Tb6Wn0Ys5Cd9",
    "-----BEGIN PRIVATE KEY-----\nMIIBVwIBADANBgkqhkiG9w0BAQEFAASCAUEwggE9\n-----END PRIVATE KEY-----",
];

#[test]
fn a_long_memory_is_found() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let long = format!("{} the runbook for failover {}", prose(800), prose(800));
    server.add(json!({"content": long}));

    assert_eq!(server.found("runbook"), [long]);
}

#[test]
fn long_memories_do_not_crowd_out_a_short_one() {
    let server = TestServer::start();
    for number in 1..=25 {
        server.add(json!({"content": format!("{} runbook {number} {}", prose(400), prose(400))}));
    }
    server.add(json!({"content": "The runbook is printed"}));

    let body = server.search(json!({"query": "runbook", "min_score": 0}));

    assert_eq!(contents(&body)[0], "The runbook is printed");
}

#[test]
fn a_long_memory_is_injected_whole() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let long = format!("Proton Bridge credentials {}end.", prose(2_960));
    assert!(long.len() > 2_900);
    server.add(json!({"content": long}));

    let context = text(&server.prefetch(json!({"query": "proton bridge"}))["context"]);

    assert!(context.contains(&long), "{context}");
}

#[test]
fn a_memory_too_long_for_the_block_is_not_cut_into_it() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add(json!({"content": format!("Proton Bridge credentials {}", prose(9_000))}));

    let context = text(&server.prefetch(json!({"query": "proton bridge"}))["context"]);

    assert!(!context.contains("Proton"), "{context}");
}

#[test]
fn ids_are_sixteen_lower_case_characters() {
    let server = TestServer::start();
    let memory = server
        .post(
            "/v1/memories",
            json!({"content": "Any text", "is_primary": true}),
        )
        .body;

    let id = text(&memory["id"]);

    assert_eq!(id.len(), 16, "{id}");
    assert!(
        id.bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()),
        "{id}"
    );
    assert_eq!(memory["key"], format!("memory:frag:{id}"));
}

#[test]
fn blank_content_is_refused() {
    let server = TestServer::start();
    for content in ["", "   ", "\n\t", "\u{3000}"] {
        let answer = server.post(
            "/v1/memories",
            json!({"content": content, "is_primary": true}),
        );
        assert_rejects_field(&answer, "content");
    }
    assert_eq!(
        column(
            &server.get("/v1/memories?is_primary=true").body["items"],
            "id"
        ),
        [""; 0]
    );
}

#[test]
fn odd_characters_are_stored_and_the_words_beside_them_found() {
    let server = TestServer::start_lexical();
    server.add_all(&UNRELATED);
    let odd = [
        "nul \u{0} byte beside zircon",
        "right \u{202e}to left\u{202c} beside feldspar",
        "family 👩‍👩‍👧 beside obsidian",
        "private \u{e000}\u{10ffff} use beside pumice",
    ];
    server.add_all(&odd);

    for (query, expected) in ["zircon", "feldspar", "obsidian", "pumice"]
        .into_iter()
        .zip(odd)
    {
        assert_eq!(server.found(query), [expected]);
    }
}

#[test]
fn a_lone_surrogate_is_replaced_or_refused() {
    let server = TestServer::start();
    let body = br#"{"content": "bad surrogate \ud83d here", "is_primary": true}"#;

    let answer = server.post_raw("/v1/memories", Some("application/json"), body);

    match answer.status {
        201 => assert_eq!(answer.body["content"], "bad surrogate \u{fffd} here"),
        status => assert_eq!(status, 400, "{:#}", answer.body),
    }
}

#[test]
fn a_memory_is_found_by_the_very_next_request() {
    let server = TestServer::start();
    for number in 101..=130 {
        let content = format!("parcel number {number} weighs little");
        let id = server.add(json!({"content": content}));
        let body = server.search(json!({"query": content}));
        assert_eq!(hit(&body, &id)["content"], content);
    }
}

#[test]
fn secrets_that_a_person_stores_are_kept() {
    let server = TestServer::start();
    for (number, secret) in SECRETS.iter().enumerate() {
        let content = format!("deploy note {number} uses {secret} for now");
        let id = server.add(json!({"content": content, "origin": "person"}));
        assert_eq!(
            server.get(&format!("/v1/memories/{id}")).body["content"],
            content
        );
    }
}

/// About `length` characters of plain text.
fn prose(length: usize) -> String {
    "the night shift wrote down every step it took "
        .chars()
        .cycle()
        .take(length)
        .collect()
}
