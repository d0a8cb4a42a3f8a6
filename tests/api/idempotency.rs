//! `Idempotency-Key`: a write that is sent again gets its first answer and is not done again.

use serde_json::{Value, json};

use crate::answers::{assert_problem, assert_rejects_field, column, lines};
use crate::support::{Answer, TestServer};

const JSON: &str = "application/json";
const ROUTES: [&str; 3] = [
    "/v1/memories",
    "/v1/memories/batch",
    "/v1/memories/operations",
];

/// A body for each route.
fn body(path: &str, content: &str) -> String {
    match path {
        "/v1/memories" => json!({"content": content}),
        "/v1/memories/batch" => json!([{"content": content}, {"content": "  "}]),
        _ => json!([{"op_id": "1", "op": "add", "content": content}]),
    }
    .to_string()
}

fn mentions(server: &TestServer, content: &str) -> Value {
    let listed = server.get("/v1/memories?is_primary=true&limit=100").body;
    let index = column(&listed["items"], "content")
        .iter()
        .position(|found| found == content);
    listed["items"][index.expect(content)]["mentions"].clone()
}

fn is_replay(answer: &Answer) -> bool {
    answer.headers.contains_key("idempotent-replayed")
}

#[test]
fn the_same_key_and_body_get_the_first_answer_again() {
    let mut server = TestServer::start();
    for path in ROUTES {
        let content = format!("told by {path}");
        let send = |server: &TestServer| server.post_once(path, "k-1", JSON, &body(path, &content));
        let first = send(&server);
        assert!(!is_replay(&first) && first.status < 300, "{:#}", first.body);
        server.set_now("2026-06-01T20:00:00Z");
        let again = send(&server);
        assert!(is_replay(&again));
        assert_eq!((again.status, &again.body), (first.status, &first.body));
        assert_ne!(again.headers["x-request-id"], first.headers["x-request-id"]);

        server = server.restart();
        let after_restart = send(&server);
        assert_eq!(
            (after_restart.status, &after_restart.body),
            (first.status, &first.body)
        );
        assert_eq!(mentions(&server, &content), 1, "{path}");
        server.set_now("2026-06-01T12:00:00Z");
    }
}

#[test]
fn a_key_belongs_to_one_body_one_query_and_one_route() {
    let server = TestServer::start();
    for path in ROUTES {
        server.post_once(path, "k-1", JSON, &body(path, "one"));
        let other = server.post_once(path, "k-1", JSON, &body(path, "another"));
        assert_rejects_field(&other, "Idempotency-Key");
        let query = format!("{path}?agent_id=alpha");
        let other = server.post_once(&query, "k-1", JSON, &body(path, "one"));
        assert_rejects_field(&other, "Idempotency-Key");
    }
    let contents = column(
        &server.get("/v1/memories?is_primary=true").body["items"],
        "content",
    );
    assert_eq!(contents, ["one"]);
}

#[test]
fn a_refusal_is_given_again_too() {
    let server = TestServer::start();
    let first = server.post_once("/v1/memories", "k", JSON, &body("/v1/memories", " "));
    let again = server.post_once("/v1/memories", "k", JSON, &body("/v1/memories", " "));
    assert_problem(&first, 422);
    assert_problem(&again, 422);
    assert!(is_replay(&again));
}

#[test]
fn a_key_is_forgotten_after_a_day() {
    let server = TestServer::start();
    let send = || server.post_once("/v1/memories", "k", JSON, &body("/v1/memories", "tea"));
    assert_eq!(send().status, 201);
    server.set_now("2026-06-02T12:00:00Z");
    let later = send();
    assert_eq!((later.status, is_replay(&later)), (200, false));
}

#[test]
fn a_key_that_is_none_is_refused() {
    let server = TestServer::start();
    for key in ["", &"k".repeat(256)] {
        let answer = server.post_once("/v1/memories", key, JSON, &body("/v1/memories", "tea"));
        assert_rejects_field(&answer, "Idempotency-Key");
    }
}

#[test]
fn the_same_sent_by_many_at_once_is_done_once() {
    let server = TestServer::start();
    for round in 0..5 {
        let content = format!("round {round}");
        let sent = body("/v1/memories", &content);
        let key = format!("k-{round}");
        let answers: Vec<Answer> = std::thread::scope(|scope| {
            let senders: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| server.post_once("/v1/memories", &key, JSON, &sent)))
                .collect();
            senders
                .into_iter()
                .map(|sender| sender.join().unwrap())
                .collect()
        });
        for answer in &answers {
            assert!(matches!(answer.status, 201 | 409), "{:#}", answer.body);
            if answer.status == 409 {
                assert!(answer.headers.contains_key("retry-after"));
            }
        }
        assert_eq!(mentions(&server, &content), 1);
    }
}

#[test]
fn lines_sent_again_under_a_key_are_each_done_once() {
    let server = TestServer::start();
    let line = |content: &str| format!("{}\n", json!({"content": content}));
    let (one, two) = (line("one"), line("two"));
    let send = |body: &str| {
        let answer = server.post_once("/v1/memories/batch", "k", "application/x-ndjson", body);
        assert_eq!(answer.status, 200, "{:#}", answer.body);
        let found = lines(&answer);
        found
            .into_iter()
            .map(|line| line["status"].clone())
            .collect::<Vec<_>>()
    };
    // The first upload broke off after a line; the second goes on.
    assert_eq!(send(&one), [201]);
    assert_eq!(send(&format!("{one}{two}")), [201, 201]);
    assert_eq!(send(&format!("{one}{two}")), [201, 201]);
    assert_eq!(mentions(&server, "one"), 1);
    assert_eq!(mentions(&server, "two"), 1);
    // The same line twice in one upload is told twice.
    assert_eq!(send(&format!("{one}{one}")), [201, 200]);
    assert_eq!(mentions(&server, "one"), 2);
}
