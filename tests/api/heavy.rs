//! Long, deep and broken input: answered or refused, never a 5xx.

use serde_json::json;

use crate::answers::{assert_rejects_field, column, contents};
use crate::support::TestServer;
use crate::unrelated::UNRELATED;

#[test]
fn lone_surrogates_are_replaced_or_refused() {
    let server = TestServer::start();
    for escape in [
        r"\ud83d",
        r"\udc00",
        r"\ud83d\ud83d",
        r"\udc00\ud83d",
        r"x\ud83dy",
        r"\uD83D\u0041",
    ] {
        let value = format!("\"zircon {escape} end\"");
        for (path, body) in [
            (
                "/v1/memories",
                format!("{{\"content\": {value}, \"is_primary\": true}}"),
            ),
            (
                "/v1/memories",
                format!("{{\"content\": \"The pool is open\", \"tags\": [{value}]}}"),
            ),
            (
                "/v1/search",
                format!("{{\"query\": {value}, \"is_primary\": true}}"),
            ),
            (
                "/v1/prefetch",
                format!("{{\"query\": {value}, \"is_primary\": true}}"),
            ),
            (
                "/v1/feedback",
                format!("{{\"id\": {value}, \"useful\": true}}"),
            ),
        ] {
            let answer = server.post_raw(path, Some("application/json"), body.as_bytes());
            assert!(
                answer.status < 500,
                "{path} {escape}: {} {:#}",
                answer.status,
                answer.body
            );
            if matches!(answer.status, 200 | 201) && path == "/v1/memories" {
                assert!(
                    answer.body.to_string().contains('\u{fffd}'),
                    "{escape}: {:#}",
                    answer.body
                );
            }
        }
    }
}

#[test]
fn query_strings_that_are_no_text_are_no_server_error() {
    let server = TestServer::start();
    for query in [
        "q=%ff%fe",
        "q=%",
        "q=%zz",
        "q=%00",
        "q",
        "=",
        "&&&",
        "q=a&q=b",
        "q=%ed%a0%bd",
        "%ff=a",
    ] {
        for path in ["/v1/search", "/v1/memories", "/v1/topics"] {
            let answer = server.get(&format!("{path}?{query}"));
            assert!(
                answer.status < 500,
                "{path}?{query}: {} {:#}",
                answer.status,
                answer.body
            );
        }
    }
}

/// Long and pathological messages, among them what crashed and what hung Redis.
#[test]
fn heavy_queries_are_answered() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add(json!({"content": "The zircon ring is insured"}));
    let long_words: Vec<_> = (0..3_000).map(|number| format!("word{number}")).collect();
    let queries = [
        "Is it likely that Nate has friends besides Joanna?".to_owned(),
        "昨天晚上系统突然报警了，我们检查了日志，发现数据库连接池耗尽；后来重启了服务，情况好转。\
         但是今天早上又出现了同样的问题，怎么办？要不要扩容？还是先限流？请给出建议！"
            .repeat(20),
        format!("zircon {}", long_words.join(" ")),
        "a".repeat(32_768),
        "(".repeat(32_768),
        "鱼".repeat(32_768),
        "is it ".repeat(5_000),
        "👩‍👩‍👧".repeat(4_000),
        format!("e{}", "\u{301}".repeat(30_000)),
        "a-".repeat(16_000),
        "a.b/".repeat(8_000),
        "\u{fdfa}".repeat(32_768),
    ];

    for query in queries {
        let start: String = query.chars().take(20).collect();
        for path in ["/v1/search", "/v1/prefetch"] {
            let answer = server.post(path, json!({"query": query, "is_primary": true}));
            assert_eq!(answer.status, 200, "{path} {start}: {:#}", answer.body);
        }
    }
}

#[test]
fn a_pasted_log_still_finds_its_telling_word() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add(json!({"content": "The zircon ring is insured"}));
    let log = "2026-06-01T11:59:58Z INFO request finished status=200 duration=12ms\n".repeat(150);
    let query = format!("{log}zircon\n{log}");
    assert!(query.len() > 20_000);

    let body = server.search(json!({"query": query}));

    assert!(
        contents(&body).contains(&"The zircon ring is insured".to_owned()),
        "{body:#}"
    );
}

#[test]
fn heavy_contents_are_stored() {
    let server = TestServer::start();
    for content in [
        "a".repeat(65_536),
        "(".repeat(65_536),
        format!("e{}", "\u{301}".repeat(60_000)),
        "\u{fdfa}".repeat(60_000),
        "Anna Berg met Carl Dahl. ".repeat(2_500),
        "不好".repeat(30_000),
        "!".repeat(65_000),
        format!("x{}", "\u{0}".repeat(1_000)),
    ] {
        let start: String = content.chars().take(10).collect();
        let answer = server.post(
            "/v1/memories",
            json!({"content": content, "is_primary": true}),
        );
        assert_eq!(answer.status, 201, "{start}: {:#}", answer.body);
    }
}

#[test]
fn deeply_nested_json_is_refused_or_taken() {
    let server = TestServer::start();
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    for body in [
        deep.clone(),
        format!("{{\"content\": \"x\", \"metadata\": {{\"a\": {deep}}}}}"),
    ] {
        let answer = server.post_raw("/v1/memories", Some("application/json"), body.as_bytes());
        assert!(
            (400..500).contains(&answer.status),
            "{}: {:#}",
            answer.status,
            answer.body
        );
    }
    let numbers = json!({"content": "x", "turn": 1e300});
    assert_eq!(server.post("/v1/memories", numbers).status, 422);
}

#[test]
fn a_full_lock_of_the_file_is_503_and_says_when_to_try_again() {
    let server = TestServer::start();
    server.add(json!({"content": "The pool is open"}));
    let file = server.folder().join("keepsake.db");
    let other = rusqlite::Connection::open(file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();

    let refused = server.post("/v1/memories", json!({"content": "The gym is open"}));
    assert_eq!(refused.status, 503, "{:#}", refused.body);
    assert!(refused.headers.contains_key("retry-after"));
    assert!(refused.headers.contains_key("x-request-id"));
    assert_eq!(server.found("pool"), ["The pool is open"], "readers go on");

    other.execute_batch("ROLLBACK").unwrap();
    let stored = server.post("/v1/memories", json!({"content": "The gym is open"}));
    assert_eq!(stored.status, 201, "{:#}", stored.body);
}

#[test]
fn every_answer_has_a_request_id_the_clients_own_if_it_is_sound() {
    let server = TestServer::start();
    for (method, path) in [
        ("GET", "/healthz"),
        ("GET", "/nowhere"),
        ("PUT", "/v1/search"),
        ("POST", "/v1/search"),
        ("GET", "/v1/export"),
    ] {
        let answer = server.request(method, path);
        assert!(
            answer.headers.contains_key("x-request-id"),
            "{method} {path}"
        );
    }
}

#[test]
fn metadata_without_end_are_refused() {
    let server = TestServer::start();
    let metadata = json!({"raw": "x".repeat(65_536)});
    let added = server.post(
        "/v1/memories",
        json!({"content": "x", "metadata": metadata}),
    );
    assert_rejects_field(&added, "metadata");
    let id = server.add(json!({"content": "The pool is open"}));
    let path = format!("/v1/memories/{id}?is_primary=true");
    let edited = server.patch(&path, json!({"metadata": metadata}));
    assert_rejects_field(&edited, "metadata");
}

#[test]
fn heavy_operations_are_answered() {
    let server = TestServer::start();
    let text = "不好((%_\u{0}".repeat(8_000);
    let operations = json!([
        {"op_id": "1", "op": "add", "content": text, "origin": "automatic"},
        {"op_id": "2", "op": "replace", "old_text": text, "content": "key token secret password: sk- ".repeat(2_000), "origin": "automatic"},
        {"op_id": "3", "op": "remove", "old_text": "password: sk- key"},
        {"op_id": "4", "op": "remove", "old_text": "x".repeat(1_000_000)},
    ]);
    let answer = server.post("/v1/memories/operations", operations);
    let statuses = column(&answer.body["results"], "status");
    assert_eq!(
        statuses,
        ["done", "done", "done", "no_match"],
        "{:#}",
        answer.body
    );
}
