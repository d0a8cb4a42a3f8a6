//! Deduplication as a job: what it merges, what it leaves, and that it can be undone.

use serde_json::{Value, json};

use super::support::TestServer;

fn tell(server: &TestServer, day: u32, mut fields: Value) -> String {
    fields["created_at"] = json!(format!("2026-05-{day:02}T08:00:00Z"));
    server.add(fields)
}

fn dedup(server: &TestServer) -> Value {
    let done = server.post("/v1/maintenance/dedup", json!({}));
    assert_eq!(done.status, 200, "{:#}", done.body);
    done.body
}

fn memory(server: &TestServer, id: &str) -> Value {
    server
        .get(&format!("/v1/memories/{id}?is_primary=true"))
        .body
}

/// What became of an older and a newer text: the action, if any.
fn pair(older: &str, newer: &str) -> Option<String> {
    let server = TestServer::start();
    tell(&server, 1, json!({"content": older}));
    tell(&server, 2, json!({"content": newer}));
    let done = dedup(&server);
    let action = done["items"][0]["action"].as_str();
    action.map(str::to_owned)
}

#[test]
fn near_duplicates_become_one_that_takes_over_what_the_older_had() {
    let server = TestServer::start();
    let older = tell(
        &server,
        1,
        json!({"content": "User prefers dark mode in the editor", "tags": ["ui"]}),
    );
    server.post(
        "/v1/feedback",
        json!({"id": older, "useful": true, "is_primary": true}),
    );
    let newer = tell(
        &server,
        2,
        json!({"content": "User prefers dark mode in the editor.", "tags": ["editor"]}),
    );
    let done = dedup(&server);
    assert_eq!(done["changed"], 1, "{done:#}");
    let (older, newer) = (memory(&server, &older), memory(&server, &newer));
    assert_eq!(older["state"], "superseded");
    assert_eq!(older["links"]["superseded_by"], newer["id"]);
    assert_eq!(newer["tags"], json!(["editor", "ui"]));
    assert_eq!(
        (&newer["mentions"], &newer["feedback"]),
        (&json!(2), &json!(1.0))
    );
    assert_eq!(dedup(&server)["examined"], 0, "each is checked once");
}

#[test]
fn equivalent_observations_are_one_in_what_is_brought_to_mind() {
    let server = TestServer::start();
    for (day, content) in ["User likes tea", "The user likes tea.", "user likes TEA"]
        .iter()
        .enumerate()
    {
        tell(&server, day as u32 + 1, json!({"content": content}));
    }
    dedup(&server);
    let listed = server.get("/v1/memories?is_primary=true&state=active");
    assert_eq!(listed.body["items"].as_array().unwrap().len(), 1);
    assert_eq!(listed.body["items"][0]["mentions"], 3);
}

#[test]
fn what_was_merged_comes_back_as_it_was() {
    let server = TestServer::start();
    let older = tell(
        &server,
        1,
        json!({"content": "User is allergic to peanuts", "tags": ["health"]}),
    );
    tell(
        &server,
        2,
        json!({"content": "User is allergic to peanuts!"}),
    );
    let before = memory(&server, &older);
    dedup(&server);
    assert_eq!(memory(&server, &older)["state"], "superseded");
    assert_eq!(server.cli(&["restore", &older]).code, 0);
    let mut after = memory(&server, &older);
    after["updated_at"] = before["updated_at"].clone();
    assert_eq!(after, before);
    dedup(&server);
    assert_eq!(memory(&server, &older)["state"], "active", "and stays");
}

#[test]
fn opposite_facts_are_never_merged() {
    for (older, newer) in [
        ("小明喜欢猫", "小明不喜欢猫"),
        ("Ming likes cats", "Ming does not like cats"),
        ("The cache is enabled", "The cache is disabled"),
    ] {
        assert_eq!(pair(older, newer), None, "{older} | {newer}");
    }
}

#[test]
fn a_new_value_takes_the_place_of_the_old_one_and_says_so() {
    for (older, newer) in [
        ("Redis listens on port 6379", "Redis listens on port 6380"),
        ("Redis的端口是6379", "Redis的端口是6380"),
    ] {
        let action = pair(older, newer);
        assert_eq!(action.as_deref(), Some("new_value"), "{older} | {newer}");
    }
}

#[test]
fn texts_with_marks_of_a_query_language_are_compared() {
    for (older, newer) in [
        (
            "The build uses 50% of the disk (50% free)",
            "The build uses 50% of the disk, 50% free",
        ),
        ("磁盘用了50%，还剩50%", "磁盘用了50%，还剩50%。"),
        (
            "C:\\Users\\bob has {json: true} => [x]",
            "C:\\Users\\bob has {json: true} => [x].",
        ),
    ] {
        let action = pair(older, newer);
        assert_eq!(action.as_deref(), Some("supersede"), "{older} | {newer}");
    }
}

#[test]
fn memories_of_two_agents_or_namespaces_are_never_merged() {
    let server = TestServer::start();
    let scopes = [
        json!({"agent_id": "alpha"}),
        json!({"agent_id": "beta"}),
        json!({"agent_id": "alpha", "namespace": "other"}),
        json!({"agent_id": "alpha", "shared": true}),
    ];
    for (day, fields) in scopes.into_iter().enumerate() {
        let mut fields = fields;
        fields["content"] = json!(format!(
            "The wifi code of the cabin is on the fridge{}",
            ".".repeat(day)
        ));
        tell(&server, day as u32 + 1, fields);
    }
    let done = dedup(&server);
    assert_eq!(
        (&done["examined"], &done["changed"]),
        (&json!(4), &json!(0)),
        "{done:#}"
    );
}

#[test]
fn turns_of_a_conversation_and_parts_of_a_document_are_left_alone() {
    let server = TestServer::start();
    for (day, place) in [
        json!({"session": "monday", "turn": 1}),
        json!({"session": "monday", "turn": 2}),
        json!({"document": "manual"}),
    ]
    .into_iter()
    .enumerate()
    {
        let mut fields = place;
        fields["content"] = json!("Let us deploy the billing service");
        tell(&server, day as u32 + 1, fields);
    }
    assert_eq!(dedup(&server)["changed"], 0);
}

#[test]
fn a_dry_run_tells_and_changes_nothing() {
    let server = TestServer::start();
    let older = tell(&server, 1, json!({"content": "User likes tea"}));
    tell(&server, 2, json!({"content": "User likes tea."}));
    let told = server
        .post("/v1/maintenance/dedup", json!({"dry_run": true}))
        .body;
    assert_eq!(
        (&told["changed"], &told["planned"]),
        (&json!(0), &json!(1)),
        "{told:#}"
    );
    assert_eq!(memory(&server, &older)["state"], "active");
    assert_eq!(dedup(&server)["changed"], 1);
}
