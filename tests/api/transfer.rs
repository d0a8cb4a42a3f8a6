//! Export and import: everything, without loss.

use serde_json::{Value, json};

use crate::answers::{column, text};
use crate::support::{Answer, TestServer};

fn import(server: &TestServer, lines: &[Value]) -> Value {
    let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let answer = server.post_raw("/v1/import", Some("application/x-ndjson"), body.as_bytes());
    assert_eq!(answer.status, 200, "{:#}", answer.body);
    answer.body
}

fn export(server: &TestServer) -> String {
    let answer: Answer = server.get("/v1/export?is_primary=true");
    assert_eq!(answer.status, 200);
    // One line alone is JSON by itself.
    answer
        .body
        .as_str()
        .map_or_else(|| format!("{}\n", answer.body), str::to_owned)
}

#[test]
fn an_export_put_into_an_empty_store_exports_the_same() {
    let server = TestServer::start();
    let kept = server.add(json!({"content": "小明 likes 🎉 parties", "tags": ["a b"], "pinned": true, "metadata": {"z": 1, "a": [null]}}));
    let trashed = server
        .add(json!({"content": "a note for the bin", "agent_id": "alpha", "namespace": "other"}));
    server.post(
        "/v1/feedback",
        json!({"id": kept, "useful": true, "is_primary": true}),
    );
    server.delete(&format!(
        "/v1/memories/{trashed}?is_primary=true&namespace=other"
    ));
    let corrected = server.add(json!({"content": "the moon is made of cheese"}));
    server.post(
        "/v1/corrections",
        json!({"ids": [corrected], "is_primary": true}),
    );
    let before = export(&server);

    let fresh = TestServer::start();
    let lines: Vec<Value> = before
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let first = import(&fresh, &lines);
    let second = import(&fresh, &lines);

    assert_eq!(export(&fresh), before);
    assert_eq!(
        (&first["created"], &first["refused"]),
        (&json!(3), &json!([])),
        "{first:#}"
    );
    assert_eq!(second["unchanged"], 3, "{second:#}");
}

#[test]
fn a_consumed_memory_is_hidden_beside_its_summary() {
    let server = TestServer::start();
    import(
        &server,
        &[
            json!({"id": "summary", "content": "Marta swims at the harbour every week", "level": 1, "links": {"sources": ["source"]}}),
            json!({"id": "source", "content": "Marta went swimming at the harbour", "links": {"consumed_by": "summary"}}),
        ],
    );

    let found =
        server.search(json!({"query": "Marta harbour", "include_expired": true, "min_score": 0}));

    assert_eq!(column(&found["results"], "id"), ["summary"], "{found:#}");
    let source = server.get("/v1/memories/source?is_primary=true").body;
    assert_eq!(text(&source["state"]), "consumed");
    server.post("/v1/memories/source/restore", json!({"is_primary": true}));
    assert_eq!(server.found("Marta harbour").len(), 2);
}

#[test]
fn the_beginning_of_several_ids_is_ambiguous() {
    let server = TestServer::start();
    import(
        &server,
        &[
            json!({"id": "abcdefg1", "content": "one"}),
            json!({"id": "abcdefg2", "content": "two"}),
        ],
    );

    let answer = server.get("/v1/memories/abcdef?is_primary=true");

    assert_eq!(answer.status, 409, "{:#}", answer.body);
    for id in ["abcdefg1", "abcdefg2"] {
        assert!(
            text(&answer.body["detail"]).contains(id),
            "{:#}",
            answer.body
        );
    }
    assert_eq!(server.get("/v1/memories/abcde?is_primary=true").status, 404);
}

#[test]
fn a_line_that_is_wrong_is_told_and_spoils_no_other() {
    let server = TestServer::start();
    let answer = import(
        &server,
        &[
            json!({"id": "good1", "content": "kept"}),
            json!({"id": "has space", "content": "x"}),
            json!({"id": "blank1", "content": " "}),
            json!({"id": "odd1", "content": "x", "colour": "red"}),
            json!("no object"),
            json!({"id": "good2", "content": "kept too"}),
        ],
    );

    let lines: Vec<&Value> = answer["refused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|refused| &refused["line"])
        .collect();
    assert_eq!(
        lines,
        [&json!(2), &json!(3), &json!(4), &json!(5)],
        "{answer:#}"
    );
    assert_eq!(answer["created"], 2);
}
