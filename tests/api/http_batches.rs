//! Many memories at once: batches, and export and import without loss.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::answers::{assert_problem, column, lines, list, text};
use crate::support::TestServer;

const NDJSON: Option<&str> = Some("application/x-ndjson");

#[test]
fn one_bad_item_of_a_batch_spoils_no_other() {
    let server = TestServer::start();
    let known = server.add(json!({"content": "The pool is open"}));

    let answer = server.post(
        "/v1/memories/batch?is_primary=true",
        json!([
            {"content": "The gym is open"},
            {"content": "   "},
            {"content": "The pool is open"},
            {"content": "The spa is open", "colour": "blue"},
            {"content": "The bar is open", "agent_id": "alpha"},
        ]),
    );

    assert_eq!(answer.status, 200, "{:#}", answer.body);
    let results = list(&answer.body["results"]);
    assert_eq!(results.len(), 5);
    for (index, (result, status)) in results.iter().zip([201, 422, 200, 422, 201]).enumerate() {
        assert_eq!(result["index"], index, "{result:#}");
        assert_eq!(result["status"], status, "{result:#}");
        assert_eq!(result["problem"].is_object(), status == 422, "{result:#}");
        assert_eq!(result["id"].is_string(), status != 422, "{result:#}");
    }
    assert_eq!(results[0]["reinforced"], false);
    assert_eq!(results[2]["reinforced"], true);
    assert_eq!(results[2]["id"], json!(known));
    let stored = column(
        &server.get("/v1/memories?is_primary=true").body["items"],
        "content",
    );
    assert_eq!(stored.len(), 3, "{stored:?}");
}

#[test]
fn an_item_of_a_batch_has_its_own_scope() {
    let server = TestServer::start();
    server.post(
        "/v1/memories/batch",
        json!([
            {"content": "The zircon ring is insured", "agent_id": "alpha"},
            {"content": "A zircon brooch was lost", "agent_id": "beta"},
        ]),
    );

    let body = server.search(json!({"query": "zircon", "agent_id": "alpha", "is_primary": false}));

    assert_eq!(
        column(&body["results"], "content"),
        ["The zircon ring is insured"]
    );
}

#[test]
fn a_batch_that_is_no_list_is_refused() {
    let server = TestServer::start();

    assert_problem(
        &server.post("/v1/memories/batch", json!({"content": "The pool is open"})),
        422,
    );
    assert_problem(
        &server.post_raw("/v1/memories/batch", Some("application/json"), b"[{]"),
        400,
    );
    assert_problem(
        &server.post_raw("/v1/memories/batch", Some("text/csv"), b"a,b"),
        415,
    );
}

#[test]
fn an_empty_batch_is_an_empty_answer() {
    let server = TestServer::start();

    let answer = server.post("/v1/memories/batch", json!([]));

    assert_eq!((answer.status, answer.body), (200, json!({"results": []})));
}

#[test]
fn lines_are_stored_as_they_come_and_bad_ones_told() {
    let server = TestServer::start();
    let body = "{\"content\": \"The gym is open\"}\n\n{\"content\": \r\n   \n{\"content\": \" \"}\n{\"content\": \"The pool is open\"}";

    let answer = server.post_raw(
        "/v1/memories/batch?is_primary=true",
        NDJSON,
        body.as_bytes(),
    );

    assert_eq!(answer.status, 200, "{:#}", answer.body);
    let statuses: Vec<_> = lines(&answer)
        .iter()
        .map(|line| line["status"].clone())
        .collect();
    assert_eq!(statuses, [201, 400, 422, 201]);
    let stored = column(
        &server.get("/v1/memories?is_primary=true").body["items"],
        "content",
    );
    assert_eq!(stored.len(), 2, "{stored:?}");
}

#[test]
fn lines_may_be_more_than_a_thousand() {
    let server = TestServer::start();
    let mut body = String::new();
    for number in 0..1_200 {
        writeln!(body, "{}", json!({"content": format!("parcel {number}")}))
            .expect("a string takes all");
    }

    let answer = server.post_raw(
        "/v1/memories/batch?is_primary=true",
        NDJSON,
        body.as_bytes(),
    );

    let results = lines(&answer);
    assert_eq!(results.len(), 1_200);
    assert!(
        results.iter().all(|line| line["status"] == 201),
        "{:#}",
        results[0]
    );
}

#[test]
fn an_export_imported_elsewhere_loses_nothing() {
    let (server, ids) = server_with_history();
    let elsewhere = TestServer::start();

    let report = import(&elsewhere, &export(&server));

    assert_eq!(report["refused"], json!([]), "{report:#}");
    for id in ids {
        let path = format!("/v1/memories/{id}?is_primary=true");
        assert_eq!(elsewhere.get(&path).body, server.get(&path).body);
    }
}

#[test]
fn an_import_repeated_changes_nothing() {
    let (server, ids) = server_with_history();
    let memories = || {
        ids.iter()
            .map(|id| {
                server
                    .get(&format!("/v1/memories/{id}?is_primary=true"))
                    .body
            })
            .collect::<Vec<_>>()
    };
    let topics = || server.get("/v1/topics?is_primary=true").body;
    let before = (memories(), topics());

    let report = import(&server, &export(&server));

    assert_eq!(report["created"], 0, "{report:#}");
    assert_eq!(report["updated"], 0, "{report:#}");
    assert_eq!((memories(), topics()), before);
}

#[test]
fn an_older_export_overwrites_no_newer_edit() {
    let (server, ids) = server_with_history();
    let old = export(&server);
    server.set_now("2026-06-02T12:00:00Z");
    server.patch(
        &format!("/v1/memories/{}?is_primary=true", ids[0]),
        json!({"content": "The zircon ring was sold"}),
    );

    import(&server, &old);

    let memory = server
        .get(&format!("/v1/memories/{}?is_primary=true", ids[0]))
        .body;
    assert_eq!(memory["content"], "The zircon ring was sold");
}

#[test]
fn an_import_tells_which_line_it_refused() {
    let (server, _) = server_with_history();
    let elsewhere = TestServer::start();
    let broken = format!("{}this is no JSON\n", export(&server));

    let report = import(&elsewhere, &broken);

    assert_eq!(list(&report["refused"]).len(), 1, "{report:#}");
    assert!(report["refused"][0]["line"].is_u64(), "{report:#}");
    assert!(!report["refused"][0]["problem"].is_null(), "{report:#}");
    assert_eq!(elsewhere.found("zircon"), ["The zircon ring is insured"]);
}

#[test]
fn the_command_line_exports_what_it_imports() {
    let (server, ids) = server_with_history();
    let elsewhere = TestServer::start();

    let exported = server.cli(&["export"]);
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    let report = import(&elsewhere, &exported.stdout);

    assert_eq!(report["refused"], json!([]), "{report:#}");
    let path = format!("/v1/memories/{}?is_primary=true", ids[0]);
    assert_eq!(elsewhere.get(&path).body, server.get(&path).body);
}

/// A server whose memories have been reinforced, rated, edited, corrected and expired.
fn server_with_history() -> (TestServer, Vec<String>) {
    let server = TestServer::start();
    let ids = vec![
        server.add(json!({"content": "The zircon ring is insured", "tags": ["a,b", "ü"], "metadata": {"page": 1}})),
        server.add(json!({"content": "王小明喜欢乒乓球\n第二行", "session": "monday", "turn": 2, "pinned": true})),
        server.add(json!({"content": "The pool is open", "invalid_at": "2026-01-01T00:00:00Z"})),
        server.add(json!({"content": "The capital of France is Lyon", "created_at": "2025-03-04T05:06:07Z"})),
        text(&server.post("/v1/memories", json!({"content": "The gym is open", "agent_id": "alpha"})).body["id"]),
    ];
    server.add(json!({"content": "The zircon ring is insured"}));
    server.post(
        "/v1/feedback",
        json!({"id": ids[0], "useful": true, "is_primary": true}),
    );
    server.post(
        "/v1/corrections",
        json!({"ids": [ids[3]], "is_primary": true}),
    );
    (server, ids)
}

/// Everything, as NDJSON.
fn export(server: &TestServer) -> String {
    let answer = server.get("/v1/export?is_primary=true");
    assert_eq!(answer.status, 200, "{:#}", answer.body);
    lines(&answer)
        .iter()
        .map(|line| format!("{line}\n"))
        .collect()
}

fn import(server: &TestServer, body: &str) -> Value {
    let answer = server.post_raw("/v1/import?is_primary=true", NDJSON, body.as_bytes());
    assert_eq!(answer.status, 200, "{:#}", answer.body);
    answer.body
}
