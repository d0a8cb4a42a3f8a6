//! What is wrong with a request is said in one way: a problem with the right
//! status that names the field.

use serde_json::{Value, json};

use crate::answers::{assert_problem, assert_rejects_field};
use crate::support::TestServer;

/// Routes that take a JSON body, with a body that is fine.
fn bodies() -> [(&'static str, &'static str, Value); 6] {
    [
        (
            "POST",
            "/v1/memories",
            json!({"content": "The pool is open"}),
        ),
        ("POST", "/v1/search", json!({"query": "pool"})),
        ("POST", "/v1/prefetch", json!({"query": "pool"})),
        (
            "POST",
            "/v1/feedback",
            json!({"id": "aaaaaaaaaaaaaaaa", "useful": true}),
        ),
        (
            "POST",
            "/v1/corrections",
            json!({"ids": ["aaaaaaaaaaaaaaaa"]}),
        ),
        ("PUT", "/v1/lock", json!({"ttl_seconds": 60})),
    ]
}

#[test]
fn an_unknown_field_is_refused_by_its_name() {
    let server = TestServer::start();
    for (method, path, mut body) in bodies() {
        body["colour"] = json!("blue");
        let answer = if method == "PUT" {
            server.put(path, body)
        } else {
            server.post(path, body)
        };
        assert_rejects_field(&answer, "colour");
    }
    let id = server.add(json!({"content": "The pool is open"}));
    let answer = server.patch(
        &format!("/v1/memories/{id}?is_primary=true"),
        json!({"colour": "blue"}),
    );
    assert_rejects_field(&answer, "colour");
}

#[test]
fn an_unknown_parameter_is_refused_by_its_name() {
    let server = TestServer::start();
    for path in [
        "/v1/search?q=pool&colour=blue",
        "/v1/memories?colour=blue",
        "/v1/topics?colour=blue",
    ] {
        assert_rejects_field(&server.get(path), "colour");
    }
}

#[test]
fn prefetch_takes_no_mode_explain_or_min_score() {
    let server = TestServer::start();
    for (field, value) in [
        ("mode", json!("lexical")),
        ("explain", json!("aaaaaaaaaaaaaaaa")),
        ("min_score", json!(0)),
    ] {
        let mut body = json!({"query": "pool"});
        body[field] = value;
        assert_rejects_field(&server.post("/v1/prefetch", body), field);
    }
}

#[test]
fn malformed_json_is_400() {
    let server = TestServer::start();
    for (method, path, _) in bodies() {
        if method == "POST" {
            for body in ["{\"query\": ", "", "{'query': 'pool'}", "{} {}"] {
                assert_problem(
                    &server.post_raw(path, Some("application/json"), body.as_bytes()),
                    400,
                );
            }
        }
    }
}

#[test]
fn bytes_that_are_no_text_are_400() {
    let server = TestServer::start();

    let answer = server.post_raw(
        "/v1/memories",
        Some("application/json"),
        b"{\"content\": \"caf\xe9\"}",
    );

    assert_problem(&answer, 400);
}

#[test]
fn a_wrong_or_missing_content_type_is_415() {
    let server = TestServer::start();
    for (method, path, body) in bodies() {
        if method == "POST" {
            for content_type in [
                Some("text/plain"),
                Some("application/x-www-form-urlencoded"),
                None,
            ] {
                assert_problem(
                    &server.post_raw(path, content_type, body.to_string().as_bytes()),
                    415,
                );
            }
        }
    }
}

#[test]
fn a_content_type_may_name_its_charset() {
    let server = TestServer::start();

    let answer = server.post_raw(
        "/v1/search",
        Some("application/json; charset=utf-8"),
        br#"{"query": "pool"}"#,
    );

    assert_eq!(answer.status, 200, "{:#}", answer.body);
}

#[test]
fn a_method_that_a_path_does_not_know_is_405() {
    let server = TestServer::start();
    for (method, path) in [
        ("DELETE", "/v1/search"),
        ("PUT", "/v1/memories"),
        ("GET", "/v1/prefetch"),
        ("GET", "/v1/feedback"),
        ("POST", "/v1/topics"),
        ("POST", "/healthz"),
    ] {
        assert_problem(&server.request(method, path), 405);
    }
}

#[test]
fn an_unknown_path_or_id_is_404() {
    let server = TestServer::start();
    let unknown = "/v1/memories/aaaaaaaaaaaaaaaa";

    assert_problem(&server.get("/v1/nowhere"), 404);
    assert_problem(&server.get(unknown), 404);
    assert_problem(&server.patch(unknown, json!({"pinned": true})), 404);
    assert_problem(&server.delete(unknown), 404);
    assert_problem(&server.delete(&format!("{unknown}?purge=true")), 404);
    assert_problem(&server.post(&format!("{unknown}/restore"), json!({})), 404);
}

#[test]
fn a_wrong_value_in_a_body_is_422_and_named() {
    let server = TestServer::start();
    for (path, field, value) in [
        ("/v1/memories", "content", json!(7)),
        ("/v1/memories", "tags", json!("work")),
        ("/v1/memories", "tags", json!([1])),
        ("/v1/memories", "shared", json!("yes")),
        ("/v1/memories", "turn", json!("three")),
        ("/v1/memories", "created_at", json!("yesterday")),
        ("/v1/memories", "invalid_at", json!("never")),
        ("/v1/memories", "origin", json!("robot")),
        ("/v1/memories", "metadata", json!([])),
        ("/v1/search", "query", json!(["pool"])),
        ("/v1/search", "top_k", json!("five")),
        ("/v1/search", "top_k", json!(0)),
        ("/v1/search", "top_k", json!(-1)),
        ("/v1/search", "top_k", json!(1_001)),
        ("/v1/search", "mode", json!("magic")),
        ("/v1/search", "tag_filter", json!({"any": "work"})),
        ("/v1/search", "tag_match", json!("some")),
        ("/v1/search", "created_after", json!("2026-13-01T00:00:00Z")),
        ("/v1/search", "min_score", json!("low")),
        ("/v1/prefetch", "top_k", json!(1_001)),
        ("/v1/feedback", "useful", json!("very")),
        ("/v1/corrections", "ids", json!("aaaaaaaaaaaaaaaa")),
    ] {
        let (_, _, mut body) = bodies()
            .into_iter()
            .find(|row| row.1 == path)
            .expect("a known path");
        body[field] = value;
        assert_rejects_field(&server.post(path, body), field);
    }
}

#[test]
fn a_wrong_value_in_a_query_string_is_422_and_named() {
    let server = TestServer::start();
    for (path, field) in [
        ("/v1/search?q=pool&top_k=five", "top_k"),
        ("/v1/search?q=pool&top_k=0", "top_k"),
        ("/v1/search?q=pool&top_k=1001", "top_k"),
        ("/v1/search?q=pool&is_primary=maybe", "is_primary"),
        ("/v1/memories?limit=0", "limit"),
        ("/v1/memories?limit=101", "limit"),
        ("/v1/memories?state=lost", "state"),
        ("/v1/memories?cursor=no-such-cursor", "cursor"),
        ("/v1/topics?period=yearly", "period"),
        ("/v1/topics?limit=101", "limit"),
        ("/v1/attention?limit=101", "limit"),
    ] {
        assert_rejects_field(&server.get(path), field);
    }
}

#[test]
fn the_largest_values_are_taken_and_one_more_is_not() {
    let server = TestServer::start();
    let search = |query: String| {
        server.post(
            "/v1/search",
            json!({"query": query, "top_k": 1_000, "is_primary": true}),
        )
    };
    let add = |content: String| {
        server.post(
            "/v1/memories",
            json!({"content": content, "is_primary": true}),
        )
    };

    // Characters, not bytes.
    assert_eq!(search("鱼".repeat(32_768)).status, 200);
    assert_rejects_field(&search("鱼".repeat(32_769)), "query");
    assert_eq!(add("鱼".repeat(65_536)).status, 201);
    assert_rejects_field(&add("鱼".repeat(65_537)), "content");
}

#[test]
fn a_body_over_sixteen_mebibytes_is_413() {
    let server = TestServer::start();
    let body = json!({"content": "x".repeat(16 * 1024 * 1024 + 1)}).to_string();

    assert_problem(
        &server.post_raw("/v1/memories", Some("application/json"), body.as_bytes()),
        413,
    );
}

#[test]
fn a_batch_of_more_than_a_thousand_is_413() {
    let server = TestServer::start();
    let items = |count: usize| {
        json!(
            (0..count)
                .map(|number| json!({"content": format!("parcel {number}")}))
                .collect::<Vec<_>>()
        )
    };

    assert_eq!(
        server
            .post("/v1/memories/batch?is_primary=true", items(1_000))
            .status,
        200
    );
    assert_problem(
        &server.post("/v1/memories/batch?is_primary=true", items(1_001)),
        413,
    );
}

#[test]
fn a_failed_command_says_so_on_standard_error() {
    let server = TestServer::start();

    let unknown = server.cli(&["show", "aaaaaaaaaaaaaaaa"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (1, ""));
    assert!(!unknown.stderr.is_empty());
    assert_eq!(server.cli(&["add", "   "]).code, 1);
    assert_eq!(server.cli(&["search"]).code, 2);
    assert_eq!(server.cli(&["serch", "pool"]).code, 2);
}
