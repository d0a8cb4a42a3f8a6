//! Who sees what: an agent its own and the shared memories, a primary agent
//! all of its namespace, nobody more.

use serde_json::{Value, json};

use crate::answers::{assert_problem, contents, list, sorted, text};
use crate::support::TestServer;

#[test]
fn an_agent_finds_its_own_and_shared_memories_and_nobody_elses() {
    let server = TestServer::start();
    store_as(
        &server,
        "main-brain",
        json!({"content": "The harbour crane manual is in cabinet nine"}),
    );
    store_as(
        &server,
        "research-2",
        json!({"content": "The harbour pilot retires soon"}),
    );
    store_as(
        &server,
        "research-2",
        json!({"content": "The harbour gate code is pinned up", "shared": true}),
    );

    assert_eq!(
        sorted(found_as(&server, "main-brain", "harbour")),
        [
            "The harbour crane manual is in cabinet nine",
            "The harbour gate code is pinned up"
        ]
    );
}

#[test]
fn the_tag_shared_shares_as_the_field_does() {
    let server = TestServer::start();
    store_as(
        &server,
        "alpha",
        json!({"content": "The sauna is booked", "tags": ["shared"]}),
    );

    assert_eq!(found_as(&server, "beta", "sauna"), ["The sauna is booked"]);
}

#[test]
fn the_same_text_of_two_agents_is_two_memories() {
    let server = TestServer::start();
    let wifi = json!({"content": "The wifi code is 1234"});
    let of_alpha = store_as(&server, "alpha", wifi.clone());
    let of_beta = store_as(&server, "beta", wifi);

    assert_ne!(of_alpha, of_beta);
    assert_eq!(
        found_as(&server, "alpha", "wifi code"),
        ["The wifi code is 1234"]
    );
    assert_eq!(
        found_as(&server, "beta", "wifi code"),
        ["The wifi code is 1234"]
    );
}

#[test]
fn the_same_text_in_two_namespaces_is_two_memories() {
    let server = TestServer::start();
    let home = server.add(json!({"content": "The wifi code is 1234", "namespace": "home"}));
    let office = server.add(json!({"content": "The wifi code is 1234", "namespace": "office"}));

    assert_ne!(home, office);
    for namespace in ["home", "office"] {
        let body = server.search(json!({"query": "wifi code", "namespace": namespace}));
        assert_eq!(contents(&body), ["The wifi code is 1234"], "in {namespace}");
    }
}

#[test]
fn a_primary_agent_finds_the_memories_of_all_agents() {
    let server = TestServer::start();
    store_as(
        &server,
        "alpha",
        json!({"content": "The harbour crane manual is in cabinet nine"}),
    );
    store_as(
        &server,
        "beta",
        json!({"content": "The harbour pilot retires soon"}),
    );

    let body = server.search(json!({"query": "harbour", "agent_id": "alpha", "is_primary": true}));

    assert_eq!(
        sorted(contents(&body)),
        [
            "The harbour crane manual is in cabinet nine",
            "The harbour pilot retires soon"
        ]
    );
}

#[test]
fn a_reader_without_agent_finds_what_is_shared_or_nobodys() {
    let server = TestServer::start();
    store_as(
        &server,
        "alpha",
        json!({"content": "The harbour crane manual is in cabinet nine"}),
    );
    store_as(
        &server,
        "alpha",
        json!({"content": "The harbour gate code is pinned up", "shared": true}),
    );
    server.add(json!({"content": "The harbour café opens at noon"}));

    let body = server.search(json!({"query": "harbour", "is_primary": false}));

    assert_eq!(
        sorted(contents(&body)),
        [
            "The harbour café opens at noon",
            "The harbour gate code is pinned up"
        ]
    );
}

#[test]
fn the_crowd_of_another_agent_does_not_use_up_the_window() {
    let server = TestServer::start();
    for ticket in 1..=25 {
        store_as(
            &server,
            "beta",
            json!({"content": format!("lighthouse tour ticket {ticket}")}),
        );
    }
    store_as(
        &server,
        "alpha",
        json!({"content": "The lighthouse tour starts at the pier beside the old fish market"}),
    );

    let body = server.search(json!({
        "query": "lighthouse tour", "agent_id": "alpha", "is_primary": false, "min_score": 0,
    }));
    assert_eq!(
        contents(&body),
        ["The lighthouse tour starts at the pier beside the old fish market"]
    );
}

#[test]
fn the_id_of_another_agents_memory_is_not_found() {
    let server = TestServer::start();
    let id = store_as(
        &server,
        "alpha",
        json!({"content": "The vault opens with a brass key"}),
    );
    let path = format!("/v1/memories/{id}");
    let as_beta = "agent_id=beta&is_primary=false";

    assert_problem(&server.get(&format!("{path}?{as_beta}")), 404);
    assert_problem(
        &server.patch(&format!("{path}?{as_beta}"), json!({"pinned": true})),
        404,
    );
    assert_problem(&server.delete(&format!("{path}?{as_beta}")), 404);
    assert_problem(&server.delete(&format!("{path}?{as_beta}&purge=true")), 404);
    let feedback = json!({"id": id, "useful": true, "agent_id": "beta", "is_primary": false});
    assert_problem(&server.post("/v1/feedback", feedback), 404);

    assert_eq!(
        found_as(&server, "alpha", "brass key"),
        ["The vault opens with a brass key"]
    );
}

#[test]
fn another_agents_memory_cannot_be_corrected_away() {
    let server = TestServer::start();
    let id = store_as(
        &server,
        "alpha",
        json!({"content": "The vault opens with a brass key"}),
    );

    let answer = server.post(
        "/v1/corrections",
        json!({"ids": [id], "agent_id": "beta", "is_primary": false}),
    );

    assert_eq!(answer.status, 200, "body: {:#}", answer.body);
    assert_eq!(answer.body["corrected"], 0);
    assert_eq!(answer.body["unknown"], json!([id]));
    assert_eq!(
        found_as(&server, "alpha", "brass key"),
        ["The vault opens with a brass key"]
    );
}

#[test]
fn an_explanation_tells_nothing_of_another_agents_memory() {
    let server = TestServer::start();
    let id = store_as(
        &server,
        "alpha",
        json!({"content": "The vault opens with a brass key"}),
    );

    let body = server.search(
        json!({"query": "brass key", "explain": id, "agent_id": "beta", "is_primary": false}),
    );

    assert_eq!(body["explanation"]["reason"], "not_found");
    assert!(!body.to_string().contains("vault"), "{body:#}");
}

#[test]
fn the_command_line_reads_as_the_agent_that_it_names() {
    let server = TestServer::start();
    store_as(
        &server,
        "alpha",
        json!({"content": "The harbour crane manual is in cabinet nine"}),
    );
    store_as(
        &server,
        "beta",
        json!({"content": "The harbour pilot retires soon"}),
    );

    let output = server.cli(&["search", "harbour", "--agent", "alpha", "--json"]);

    assert_eq!(output.code, 0, "{}", output.stderr);
    let body: Value = serde_json::from_str(&output.stdout).expect("--json prints JSON");
    assert_eq!(
        contents(&body),
        ["The harbour crane manual is in cabinet nine"]
    );
}

#[test]
fn the_command_line_without_agent_owns_the_store() {
    let server = TestServer::start();
    store_as(
        &server,
        "alpha",
        json!({"content": "The harbour crane manual is in cabinet nine"}),
    );

    let output = server.cli(&["search", "harbour", "--json"]);

    assert_eq!(output.code, 0, "{}", output.stderr);
    let body: Value = serde_json::from_str(&output.stdout).expect("--json prints JSON");
    assert_eq!(list(&body["results"]).len(), 1, "{body:#}");
}

/// Stores `fields` as this agent, which is not primary; the id.
fn store_as(server: &TestServer, agent: &str, mut fields: Value) -> String {
    fields["agent_id"] = json!(agent);
    fields["is_primary"] = json!(false);
    let answer = server.post("/v1/memories", fields);
    assert_eq!(answer.status, 201, "body: {:#}", answer.body);
    text(&answer.body["id"])
}

/// What this agent, not primary, finds.
fn found_as(server: &TestServer, agent: &str, query: &str) -> Vec<String> {
    contents(&server.search(json!({"query": query, "agent_id": agent, "is_primary": false})))
}
