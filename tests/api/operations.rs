//! `POST /v1/memories/operations`: what a plugin's spool holds, in order, each once.

use serde_json::{Value, json};

use crate::answers::{assert_problem, column, list, text};
use crate::support::{Answer, TestServer};

fn operate(server: &TestServer, operations: &Value) -> Answer {
    server.post("/v1/memories/operations?agent_id=alpha", operations.clone())
}

fn statuses(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.status, 200, "{:#}", answer.body);
    column(&answer.body["results"], "status")
}

/// The contents of the agent's memories in a state.
fn contents_in(server: &TestServer, state: &str) -> Vec<String> {
    let listed = server.get(&format!("/v1/memories?agent_id=alpha&state={state}"));
    let mut contents = column(&listed.body["items"], "content");
    contents.sort();
    contents
}

#[test]
fn a_spool_is_done_in_order() {
    let server = TestServer::start();
    let answer = operate(
        &server,
        &json!([
            {"op_id": "1", "op": "add", "content": "User lives in Paris", "source": "hermes_builtin", "origin": "model"},
            {"op_id": "2", "op": "replace", "old_text": "in Paris", "content": "User lives in Berlin", "source": "hermes_builtin"},
            {"op_id": "3", "op": "add", "content": "User likes tea"},
            {"op_id": "4", "op": "remove", "old_text": "likes tea", "content": ""},
            {"op_id": "5", "op": "remove", "old_text": "never said"},
        ]),
    );
    assert_eq!(
        statuses(&answer),
        ["done", "done", "done", "done", "no_match"]
    );
    assert_eq!(
        column(&answer.body["results"], "op_id"),
        ["1", "2", "3", "4", "5"]
    );
    assert_eq!(contents_in(&server, "active"), ["User lives in Berlin"]);
    assert_eq!(contents_in(&server, "superseded"), ["User lives in Paris"]);
    assert_eq!(contents_in(&server, "trashed"), ["User likes tea"]);

    let removed = text(&answer.body["results"][3]["id"]);
    let path = format!("/v1/memories/{removed}/restore?agent_id=alpha");
    assert_eq!(server.post(&path, json!({})).status, 200);
    assert_eq!(contents_in(&server, "active").len(), 2);
}

#[test]
fn a_spool_sent_again_is_answered_from_memory_also_after_a_restart() {
    let server = TestServer::start();
    let spool = json!([
        {"op_id": "1", "op": "add", "content": "User lives in Paris"},
        {"op_id": "2", "op": "replace", "old_text": "Paris", "content": "User lives in Berlin"},
        {"op_id": "3", "op": "remove", "old_text": "unknown"},
    ]);
    let first = operate(&server, &spool);
    let before = server.get("/v1/export?is_primary=true").body;

    let again = operate(&server, &spool);
    assert_eq!(statuses(&again), ["repeated", "repeated", "no_match"]);
    for index in [0, 1] {
        let id = |answer: &Answer| text(&answer.body["results"][index]["id"]);
        assert_eq!(id(&again), id(&first));
    }
    let server = server.restart();
    assert_eq!(
        statuses(&operate(&server, &spool)),
        ["repeated", "repeated", "no_match"]
    );
    assert_eq!(server.get("/v1/export?is_primary=true").body, before);

    server.set_now("2026-06-02T12:00:01Z");
    assert_eq!(
        statuses(&operate(&server, &spool))[0],
        "done",
        "a day later"
    );
}

#[test]
fn an_operation_that_is_wrong_is_told_and_stops_no_other() {
    let server = TestServer::start();
    let answer = operate(
        &server,
        &json!([
            {"op_id": "1", "op": "add", "content": "kept"},
            {"op_id": "2", "op": "add", "content": "  "},
            {"op_id": "3", "op": "change", "content": "x"},
            {"op": "add", "content": "x"},
            {"op_id": " ", "op": "add", "content": "x"},
            {"op_id": "6", "op": "replace", "old_text": "", "content": "x"},
            {"op_id": "7", "op": "replace", "content": "x"},
            {"op_id": "8", "op": "replace", "old_text": "kept", "content": "\n"},
            {"op_id": "9", "op": "add", "old_text": "kept", "content": "x"},
            {"op_id": "10", "op": "add", "content": "x", "colour": "red"},
            {"op_id": "11", "op": "remove", "old_text": " \t"},
            {"op_id": "12", "op": "add", "content": "x", "supersedes": "aaaaaaaaaaaaaaaa"},
            {"op_id": "13", "op": "replace", "old_text": "kept", "content": "x", "supersedes": "aaaaaaaaaaaaaaaa"},
            "no object",
            {"op_id": "15", "op": "add", "content": "kept, too"},
        ]),
    );
    let results = list(&answer.body["results"]);
    for (index, result) in results.iter().enumerate() {
        let done = index == 0 || index == 14;
        assert_eq!(
            result["status"],
            if done { "done" } else { "invalid" },
            "{result:#}"
        );
        assert_eq!(result["problem"].is_object(), !done, "{result:#}");
        assert_eq!(result["id"].is_string(), done, "{result:#}");
    }
    assert_eq!(results[3]["op_id"], Value::Null);
    assert_eq!(contents_in(&server, "active"), ["kept", "kept, too"]);

    // Nothing was done, so the name is free for the operation put right.
    let mended = json!([{"op_id": "2", "op": "add", "content": "mended"}]);
    assert_eq!(statuses(&operate(&server, &mended)), ["done"]);
}

#[test]
fn several_matches_are_ambiguous_and_nothing_is_done() {
    let server = TestServer::start();
    operate(
        &server,
        &json!([
            {"op_id": "1", "op": "add", "content": "User lives in Paris"},
            {"op_id": "2", "op": "add", "content": "Anna lives in Paris", "source": "chat"},
        ]),
    );
    let answer = operate(
        &server,
        &json!([
            {"op_id": "3", "op": "remove", "old_text": "Paris"},
            {"op_id": "4", "op": "replace", "old_text": "Paris", "content": "Berlin"},
            {"op_id": "5", "op": "replace", "old_text": "Paris", "content": "Anna moved", "source": "chat"},
        ]),
    );
    assert_eq!(statuses(&answer), ["ambiguous", "ambiguous", "done"]);
    assert_eq!(
        contents_in(&server, "active"),
        ["Anna moved", "User lives in Paris"]
    );
}

#[test]
fn old_text_never_reaches_the_memory_of_another_agent() {
    let server = TestServer::start();
    for fields in [
        json!({"content": "beta lives in Paris", "agent_id": "beta", "shared": true}),
        json!({"content": "nobody lives in Paris"}),
        json!({"content": "Paris elsewhere", "agent_id": "alpha", "namespace": "elsewhere"}),
    ] {
        assert_eq!(server.post("/v1/memories", fields).status, 201);
    }
    for scope in [
        json!({"agent_id": "alpha"}),
        json!({"agent_id": "alpha", "is_primary": true}),
    ] {
        for (number, op) in ["remove", "replace"].iter().enumerate() {
            let mut operation = scope.clone();
            operation["op_id"] = json!(format!("{number} {scope}"));
            operation["op"] = json!(op);
            operation["old_text"] = json!("Paris");
            operation["content"] = json!("gone");
            let answer = server.post("/v1/memories/operations", json!([operation]));
            assert_eq!(statuses(&answer), ["no_match"]);
        }
    }
    let listed = server.get("/v1/memories?is_primary=true&state=active");
    assert_eq!(list(&listed.body["items"]).len(), 2);
}

#[test]
fn an_operation_has_its_own_scope() {
    let server = TestServer::start();
    let answer = server.post(
        "/v1/memories/operations?namespace=team",
        json!([
            {"op_id": "1", "op": "add", "content": "alpha's tea", "agent_id": "alpha"},
            {"op_id": "1", "op": "add", "content": "beta's tea", "agent_id": "beta"},
            {"op_id": "2", "op": "remove", "old_text": "tea", "agent_id": "alpha"},
        ]),
    );
    assert_eq!(statuses(&answer), ["done", "done", "done"]);
    let left = server
        .get("/v1/memories?namespace=team&is_primary=true")
        .body;
    assert_eq!(column(&left["items"], "content"), ["beta's tea"]);
}

#[test]
fn long_and_chinese_texts_are_replaced_exactly() {
    let server = TestServer::start();
    let long = format!(
        "{}用户住在巴黎🎉{}",
        "长".repeat(20_000),
        "文".repeat(20_000)
    );
    let answer = operate(
        &server,
        &json!([
            {"op_id": "1", "op": "add", "content": long},
            {"op_id": "2", "op": "remove", "old_text": "用户住在柏林"},
            {"op_id": "3", "op": "remove", "old_text": "%巴_"},
            {"op_id": "4", "op": "replace", "old_text": "巴黎🎉", "content": "用户住在柏林"},
            {"op_id": "5", "op": "add", "content": "tmp"},
            {"op_id": "6", "op": "replace", "old_text": "用户住在柏林", "content": long},
        ]),
    );
    assert_eq!(
        statuses(&answer),
        ["done", "no_match", "no_match", "done", "done", "done"]
    );
    assert_eq!(contents_in(&server, "active"), ["tmp".to_owned(), long]);
}

#[test]
fn more_than_a_thousand_operations_or_no_list_are_refused() {
    let server = TestServer::start();
    let operations: Vec<Value> = (0..1_001)
        .map(|number| json!({"op_id": number.to_string(), "op": "remove", "old_text": "x"}))
        .collect();
    assert_problem(&operate(&server, &json!(operations)), 413);
    assert_problem(&operate(&server, &json!({"op_id": "1"})), 422);
    assert_eq!(
        statuses(&operate(&server, &json!(operations[..1_000]))).len(),
        1_000
    );
    assert_eq!(statuses(&operate(&server, &json!([]))).len(), 0);
}
