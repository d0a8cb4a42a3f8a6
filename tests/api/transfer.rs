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
fn an_export_put_into_an_empty_store_exports_the_same_bytes() {
    let server = server_with_everything();
    let before = export(&server);
    for kind in ["topic", "entity_pair", "synonyms"] {
        assert!(before.contains(&format!("\"kind\":\"{kind}\"")), "{kind}");
    }

    let fresh = TestServer::start();
    let lines: Vec<Value> = before
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let memories = lines.iter().filter(|line| line["id"].is_string()).count();
    let first = import(&fresh, &lines);
    assert!(export(&fresh) == before, "{}", export(&fresh));
    let second = import(&fresh, &lines);
    assert!(
        export(&fresh) == before,
        "a second import changed something"
    );

    assert_eq!(first["created"], memories);
    assert_eq!(first["restored"], lines.len() - memories);
    assert_eq!(first["refused"], json!([]), "{first:#}");
    assert_eq!(second["unchanged"], memories, "{second:#}");
    for path in [
        "/v1/topics?limit=100&is_primary=true",
        "/v1/topics?period=weekly&limit=100&is_primary=true",
        "/v1/attention?limit=100&is_primary=true",
        "/v1/entities/redis/related?is_primary=true",
        "/v1/entities/redis/timeline?is_primary=true",
        "/v1/synonyms",
        "/v1/stats?is_primary=true",
    ] {
        assert_eq!(fresh.get(path).body, server.get(path).body, "{path}");
    }
}

#[test]
fn the_command_line_brings_the_same_bytes_back() {
    let server = server_with_everything();
    let fresh = TestServer::start();

    let exported = server.cli(&["export"]);
    let imported = fresh.cli_with_input(
        &["import", "--format", "ndjson", "-"],
        exported.stdout.as_bytes(),
    );

    assert_eq!(
        (exported.code, imported.code),
        (0, 0),
        "{}",
        imported.stderr
    );
    assert!(
        fresh.cli(&["export"]).stdout == exported.stdout,
        "{}",
        imported.stdout
    );
}

#[test]
fn an_agents_export_holds_its_own_counters_alone() {
    let server = server_with_everything();
    let exported = server.get("/v1/export?agent_id=alpha");
    let lines: Vec<Value> = crate::answers::lines(&exported);
    for line in &lines {
        let own = line["agent_id"] == "alpha";
        if line["id"].is_string() {
            assert_eq!(line["counted"], own, "{line:#}");
        } else {
            assert!(own || line["kind"] == "synonyms", "{line:#}");
        }
    }
    assert!(lines.iter().any(|line| line["kind"] == "topic"));
}

#[test]
fn lines_that_are_refused_are_counted_and_the_first_thousand_told() {
    let server = TestServer::start();
    let body = "x\n".repeat(3_000);
    let answer = server.post_raw("/v1/import", Some("application/x-ndjson"), body.as_bytes());
    assert_eq!(answer.body["refused_total"], 3_000);
    assert_eq!(answer.body["refused"].as_array().unwrap().len(), 1_000);
}

/// Feedback, links, every state, counters, synonyms; Chinese, emoji, long entries; several agents and
/// namespaces.
fn server_with_everything() -> TestServer {
    let server = TestServer::start();
    let kept = server.add(json!({"content": "小明 likes 🎉 parties", "tags": ["a b"], "pinned": true, "metadata": {"z": 1.1, "a": [null]}}));
    let long = format!("{}数据库🎉 in Redis and Docker", "word 长 ".repeat(9_000));
    server.add(json!({"content": long, "session": "monday", "turn": 2, "created_at": "2025-03-04T05:06:07.891234Z"}));
    server.add(
        json!({"content": "Redis and Docker run in London", "agent_id": "alpha", "shared": true}),
    );
    server.add(
        json!({"content": "Redis and Kafka!!! I LOVE IT", "agent_id": "alpha", "document": "d.md"}),
    );
    server.add(json!({"content": "小明 likes 🎉 parties", "created_at": "2026-05-30T00:00:00Z"}));
    let paris = server.add(json!({"content": "User lives in Paris", "category": "fact", "source": "chat", "entry_type": "note"}));
    server.add(json!({"content": "User lives in Berlin", "supersedes": paris}));
    server.add(json!({"content": "The pool is open", "invalid_at": "2026-01-01T00:00:00Z"}));
    let trashed = server
        .add(json!({"content": "a note for the bin", "agent_id": "alpha", "namespace": "other"}));
    let corrected = server.add(json!({"content": "the moon is made of cheese"}));
    server.set_now("2026-06-02T09:00:00.123Z");
    // Its counters stay those of what it said first.
    server.patch(
        &format!("/v1/memories/{kept}?is_primary=true"),
        json!({"content": "小明 likes 🎉 concerts"}),
    );
    server.post(
        "/v1/feedback",
        json!({"id": kept, "useful": true, "is_primary": true}),
    );
    server.post(
        "/v1/feedback",
        json!({"id": paris, "useful": false, "is_primary": true}),
    );
    server.delete(&format!(
        "/v1/memories/{trashed}?is_primary=true&namespace=other"
    ));
    server.post(
        "/v1/corrections",
        json!({"ids": [corrected], "is_primary": true}),
    );
    server.put(
        "/v1/synonyms/k8s",
        json!({"terms": ["kubernetes", "容器编排"]}),
    );
    server.put(
        "/v1/synonyms/car?namespace=other",
        json!({"terms": ["auto"]}),
    );
    server
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
