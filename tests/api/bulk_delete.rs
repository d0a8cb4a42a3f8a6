//! `DELETE /v1/memories?…`: what filters name, if it is as many as the client thinks.

use serde_json::json;

use crate::answers::{assert_problem, assert_rejects_field, list};
use crate::support::TestServer;

fn server_with_drafts() -> TestServer {
    let server = TestServer::start();
    for number in 0..5 {
        server.add(json!({"content": format!("draft {number}"), "tags": ["draft"]}));
    }
    server.add(json!({"content": "final", "tags": ["final"]}));
    server
}

fn count(server: &TestServer, filters: &str) -> usize {
    let listed = server.get(&format!("/v1/memories?is_primary=true&limit=100&{filters}"));
    list(&listed.body["items"]).len()
}

#[test]
fn what_filters_name_goes_to_the_trash_or_for_good() {
    let server = server_with_drafts();
    let delete = |query: &str| server.delete(&format!("/v1/memories?is_primary=true&{query}"));

    let trashed = delete("tag=draft&confirm=5");
    assert_eq!((trashed.status, trashed.body), (200, json!({"trashed": 5})));
    assert_eq!(
        (count(&server, ""), count(&server, "state=trashed")),
        (1, 5)
    );
    let purged = delete("state=trashed&confirm=5&purge=true");
    assert_eq!((purged.status, purged.body), (200, json!({"purged": 5})));
    assert_eq!(
        (count(&server, ""), count(&server, "state=trashed")),
        (1, 0)
    );
}

#[test]
fn a_wrong_count_tells_the_right_one_and_deletes_nothing() {
    let server = server_with_drafts();
    for confirm in [0, 4, 6] {
        let path = format!("/v1/memories?is_primary=true&tag=draft&confirm={confirm}");
        let answer = server.delete(&path);
        assert_problem(&answer, 409);
        assert_eq!(answer.body["count"], 5, "{:#}", answer.body);
    }
    assert_eq!(count(&server, "tag=draft"), 5);
}

#[test]
fn a_filter_and_a_count_are_needed() {
    let server = server_with_drafts();
    for (query, field) in [
        ("confirm=6", "filters"),
        ("", "filters"),
        ("tag=draft", "confirm"),
        ("tag=draft&confirm=five", "confirm"),
        ("tag=draft&confirm=-1", "confirm"),
        ("tag=draft&confirm=5&limit=3", "limit"),
        ("tag=draft&confirm=5&colour=red", "colour"),
        ("state=lost&confirm=0", "state"),
    ] {
        let answer = server.delete(&format!("/v1/memories?is_primary=true&{query}"));
        assert_rejects_field(&answer, field);
    }
    assert_rejects_field(&server.get("/v1/memories?confirm=5"), "confirm");
    assert_eq!(count(&server, ""), 6);
}

#[test]
fn an_agent_deletes_only_what_it_sees() {
    let server = server_with_drafts();
    let fields = json!({"content": "alpha's draft", "tags": ["draft"], "agent_id": "alpha"});
    server.post("/v1/memories", fields);
    let answer = server.delete("/v1/memories?agent_id=alpha&tag=draft&confirm=6");
    assert_eq!(answer.body["count"], 1, "{:#}", answer.body);
    let answer = server.delete("/v1/memories?agent_id=alpha&tag=draft&confirm=1&purge=true");
    assert_eq!(answer.body, json!({"purged": 1}));
    assert_eq!(count(&server, "tag=draft"), 5);
}
