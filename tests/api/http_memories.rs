//! One memory's life: read, edited, thrown away, restored, listed.

use serde_json::{Value, json};

use crate::answers::{assert_problem, column, list, text};
use crate::support::{Answer, TestServer};
use crate::unrelated::UNRELATED;

#[test]
fn a_memory_is_found_by_id_key_and_prefix() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let id = server.add(json!({"content": "The pool is open"}));

    for name in [
        id.clone(),
        format!("memory:frag:{id}"),
        id[..6].to_owned(),
        id[..11].to_owned(),
    ] {
        assert_eq!(
            server.get(&format!("/v1/memories/{name}")).body["id"],
            json!(id),
            "{name}"
        );
        let feedback = server.post(
            "/v1/feedback",
            json!({"id": name, "useful": true, "is_primary": true}),
        );
        assert_eq!(feedback.body["id"], json!(id), "{name}");
        let shown = server.cli(&["show", &name, "--json"]);
        assert!(shown.stdout.contains(&id), "{name}: {}", shown.stderr);
    }
}

#[test]
fn a_prefix_of_five_characters_is_no_name() {
    let server = TestServer::start();
    let id = server.add(json!({"content": "The pool is open"}));

    let status = server.get(&format!("/v1/memories/{}", &id[..5])).status;

    assert!(matches!(status, 404 | 422), "{status}");
}

#[test]
fn an_edited_memory_is_found_by_its_new_words_only() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let id = server.add(json!({"content": "The zircon ring is insured"}));

    let answer = patch(
        &server,
        &id,
        json!({"content": "The feldspar ring is insured"}),
    );

    assert_eq!(answer.status, 200, "{:#}", answer.body);
    assert_eq!(server.found("feldspar"), ["The feldspar ring is insured"]);
    assert_eq!(server.found("zircon"), [""; 0]);
}

#[test]
fn an_edit_changes_what_it_names_and_nothing_else() {
    let server = TestServer::start();
    let id =
        server.add(json!({"content": "The pool is open", "tags": ["spa"], "category": "places"}));
    let before = server.get(&format!("/v1/memories/{id}")).body;

    patch(
        &server,
        &id,
        json!({"tags": ["sport"], "pinned": true, "metadata": {"page": 3}}),
    );

    let after = server.get(&format!("/v1/memories/{id}")).body;
    assert_eq!(after["tags"], json!(["sport"]));
    assert_eq!(after["pinned"], true);
    assert_eq!(after["metadata"], json!({"page": 3}));
    for field in [
        "id",
        "content",
        "category",
        "created_at",
        "mentions",
        "feedback",
        "state",
        "shared",
    ] {
        assert_eq!(after[field], before[field], "{field}");
    }
}

#[test]
fn an_edit_that_unshares_hides_a_memory_from_others() {
    let server = TestServer::start();
    let added = server.post(
        "/v1/memories",
        json!({"content": "The zircon ring is insured", "agent_id": "alpha", "shared": true}),
    );
    let id = text(&added.body["id"]);
    let as_beta =
        || server.search(json!({"query": "zircon", "agent_id": "beta", "is_primary": false}));
    assert_eq!(list(&as_beta()["results"]).len(), 1);

    patch(&server, &id, json!({"shared": false}));

    assert_eq!(as_beta()["results"], json!([]));
}

#[test]
fn an_edit_to_another_memorys_content_is_409() {
    let server = TestServer::start();
    server.add(json!({"content": "The pool is open"}));
    let id = server.add(json!({"content": "The pool is closed"}));

    assert_problem(
        &patch(&server, &id, json!({"content": "The pool is open"})),
        409,
    );

    assert_eq!(
        server.get(&format!("/v1/memories/{id}")).body["content"],
        "The pool is closed"
    );
}

#[test]
fn an_invalid_at_in_the_past_hides_a_memory() {
    let server = TestServer::start();
    let id = server.add(json!({"content": "The zircon ring is insured"}));

    let answer = patch(&server, &id, json!({"invalid_at": "2026-05-31T00:00:00Z"}));

    assert_eq!(answer.body["state"], "expired", "{:#}", answer.body);
    assert_eq!(server.found("zircon"), [""; 0]);
}

#[test]
fn a_deleted_memory_goes_to_the_trash_and_comes_back() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let id = server.add(json!({"content": "The zircon ring is insured"}));

    let deleted = server.delete(&format!("/v1/memories/{id}?is_primary=true"));
    assert_eq!(
        (deleted.status, &deleted.body["state"]),
        (200, &json!("trashed"))
    );
    assert_eq!(server.found("zircon"), [""; 0]);
    assert_eq!(
        listed(&server, "state=trashed"),
        ["The zircon ring is insured"]
    );

    let restored = server.post(
        &format!("/v1/memories/{id}/restore"),
        json!({"is_primary": true}),
    );
    assert_eq!(
        (restored.status, &restored.body["state"]),
        (200, &json!("active"))
    );
    assert_eq!(server.found("zircon"), ["The zircon ring is insured"]);
}

#[test]
fn a_purged_memory_is_gone_for_good() {
    let server = TestServer::start();
    let id = server.add(json!({"content": "The zircon ring is insured"}));

    let purged = server.delete(&format!("/v1/memories/{id}?purge=true&is_primary=true"));

    assert_eq!((purged.status, purged.body), (200, json!({"purged": 1})));
    assert_problem(&server.get(&format!("/v1/memories/{id}")), 404);
    assert_eq!(server.found("zircon"), [""; 0]);
    assert_eq!(listed(&server, "state=trashed"), [""; 0]);
    // The same text is a new memory, not an old one revived.
    assert_eq!(
        server
            .post(
                "/v1/memories",
                json!({"content": "The zircon ring is insured", "is_primary": true})
            )
            .status,
        201
    );
}

#[test]
fn the_command_line_deletes_and_restores() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let id = server.add(json!({"content": "The zircon ring is insured"}));

    assert_eq!(server.cli(&["delete", &id]).code, 0);
    assert_eq!(server.found("zircon"), [""; 0]);
    assert_eq!(server.cli(&["restore", &id]).code, 0);
    assert_eq!(server.found("zircon"), ["The zircon ring is insured"]);
}

fn patch(server: &TestServer, id: &str, fields: Value) -> Answer {
    server.patch(&format!("/v1/memories/{id}?is_primary=true"), fields)
}

/// The contents of a list with this filter.
fn listed(server: &TestServer, filter: &str) -> Vec<String> {
    let answer = server.get(&format!("/v1/memories?is_primary=true&{filter}"));
    assert_eq!(answer.status, 200, "{filter}: {:#}", answer.body);
    column(&answer.body["items"], "content")
}
