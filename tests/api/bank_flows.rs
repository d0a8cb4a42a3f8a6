//! What coding agents do with banks, call by call: oh-my-pi's first turn, its writes, and its three ways
//! to keep projects apart. Times are limits that it has.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::answers::{column, list, sorted};
use crate::support::TestServer;

/// The agent gives up on the mental models of its first turn after this time.
const FIRST_TURN: Duration = Duration::from_millis(1_500);

fn batch(project: Option<&str>) -> Value {
    let tags: Vec<String> = project
        .iter()
        .map(|name| format!("project:{name}"))
        .collect();
    let items: Vec<Value> = (0..16)
        .map(|number| {
            json!({
                "content": format!("Build step {number} of {} needs {number} minutes", project.unwrap_or("everything")),
                "metadata": {"session_id": "s1"}, "tags": tags, "context": "coding session",
            })
        })
        .collect();
    json!({"items": items, "async": true})
}

fn ok(answer: crate::support::Answer) -> Value {
    assert_eq!(answer.status, 200, "{:#}", answer.body);
    answer.body
}

#[test]
fn the_flow_of_oh_my_pi() {
    let server = TestServer::start();
    let bank = "/v1/default/banks/omp";
    ok(server.put(
        bank,
        json!({"mission": "Remember how the project is built", "retain_mission": "decisions"}),
    ));
    let retained = ok(server.post(&format!("{bank}/memories"), batch(Some("keel"))));
    assert_eq!(
        (&retained["items_count"], &retained["async"]),
        (&json!(16), &json!(true))
    );
    let operation = retained["operation_id"].as_str().unwrap();
    assert_eq!(
        ok(server.get(&format!("{bank}/operations/{operation}")))["status"],
        "completed"
    );

    for number in 0..8 {
        let model = json!({"id": format!("model-{number}"), "name": "Build", "source_query": format!("build step {number}"), "trigger": {"mode": "full", "refresh_after_consolidation": true}});
        ok(server.post(&format!("{bank}/mental-models"), model));
    }
    let started = Instant::now();
    let models = ok(server.get(&format!("{bank}/mental-models?detail=content&limit=1000")));
    assert!(started.elapsed() < FIRST_TURN, "{:?}", started.elapsed());
    assert_eq!(list(&models["items"]).len(), 8);
    assert!(
        column(&models["items"], "content")
            .iter()
            .all(|content| content.contains("Build step"))
    );

    let recall = json!({"query": "how long does build step 7 take?", "types": ["world", "experience"], "budget": "mid", "max_tokens": 1024, "tags": ["project:keel"], "tags_match": "any"});
    let found = ok(server.post(&format!("{bank}/memories/recall"), recall));
    assert_eq!(
        found["results"][0]["text"],
        "Build step 7 of keel needs 7 minutes"
    );

    let session = format!("{bank}/documents/session-1");
    assert_eq!(server.get(&session).status, 404);
    let whole = |text: &str, mode: &str| json!({"items": [{"content": text, "document_id": "session-1", "update_mode": mode, "tags": ["project:keel"]}], "async": false});
    let memories = format!("{bank}/memories");
    ok(server.post(
        &memories,
        whole("[role: user]\nUse cargo\n[user:end]", "replace"),
    ));
    ok(server.post(
        &memories,
        whole("[role: user]\nUse cargo nextest\n[user:end]", "replace"),
    ));
    assert_eq!(
        ok(server.get(&session))["original_text"],
        "[role: user]\nUse cargo nextest\n[user:end]"
    );
    ok(server.post(
        &memories,
        whole("[role: user]\nAnd clippy\n[user:end]", "append"),
    ));
    ok(server.post(
        &memories,
        whole("[role: user]\nAnd clippy\n[user:end]", "append"),
    ));
    let held = ok(server.get(&session));
    assert_eq!(held["memory_unit_count"], 2, "{held:#}");
    assert!(
        held["original_text"]
            .as_str()
            .unwrap()
            .ends_with("And clippy\n[user:end]")
    );
}

#[test]
fn mental_models_follow_what_is_written() {
    let server = TestServer::start();
    let bank = "/v1/default/banks/omp";
    let model = json!({"id": "deploys", "name": "Deploys", "source_query": "when are deploys?"});
    ok(server.post(&format!("{bank}/mental-models"), model));
    server.set_now("2026-06-01T13:00:00Z");
    ok(server.post(
        &format!("{bank}/memories"),
        json!({"items": [{"content": "Deploys are on Fridays"}]}),
    ));
    let listed = ok(server.get(&format!("{bank}/mental-models?detail=metadata")));
    assert_eq!(listed["items"][0]["is_stale"], true);
    let listed = ok(server.get(&format!("{bank}/mental-models?detail=content")));
    assert_eq!(listed["items"][0]["content"], "- Deploys are on Fridays");
    assert_eq!(listed["items"][0]["is_stale"], false);
}

/// One bank for all, a bank for each project, and one bank in which projects are tags.
#[test]
fn projects_are_kept_apart_as_each_mode_says() {
    let server = TestServer::start();
    let found = |bank: &str, fields: Value| {
        let mut fields = fields;
        fields["query"] = json!("which port does the server listen on?");
        let body = ok(server.post(&format!("/v1/default/banks/{bank}/memories/recall"), fields));
        sorted(column(&body["results"], "text"))
    };
    let tell = |bank: &str, text: &str, tags: Value| {
        let body = json!({"items": [{"content": text, "tags": tags}], "async": true});
        ok(server.post(&format!("/v1/default/banks/{bank}/memories"), body));
    };
    let (keel, mast) = (
        "The keel server listens on port 1",
        "The mast server listens on port 2",
    );
    let common = "Every server listens on localhost";

    tell("global", keel, json!([]));
    tell("global", mast, json!([]));
    assert_eq!(found("global", json!({})), [keel, mast]);

    tell("omp::keel", keel, json!([]));
    tell("omp::mast", mast, json!([]));
    assert_eq!(found("omp%3A%3Akeel", json!({})), [keel]);
    assert_eq!(found("omp::mast", json!({})), [mast]);

    tell("tagged", keel, json!(["project:keel"]));
    tell("tagged", mast, json!(["project:mast"]));
    tell("tagged", common, json!([]));
    let of_keel = |how: &str| {
        found(
            "tagged",
            json!({"tags": ["project:keel"], "tags_match": how}),
        )
    };
    assert_eq!(of_keel("any"), [common, keel]);
    assert_eq!(of_keel("any_strict"), [keel]);
    assert_eq!(found("tagged", json!({})), [common, keel, mast]);
}

#[test]
fn an_export_takes_banks_and_documents_along_in_their_order() {
    let server = TestServer::start();
    let bank = "/v1/default/banks/team";
    ok(server.put(bank, json!({"mission": "Remember the harbour project"})));
    for (id, content) in [
        ("plan", "The quay is built in May"),
        ("Folder/note", "Ann leads it"),
    ] {
        let item = json!({"content": content, "document_id": id});
        ok(server.post(&format!("{bank}/memories"), json!({"items": [item]})));
    }
    let model = json!({"id": "state", "name": "State", "source_query": "What is built?"});
    ok(server.post(&format!("{bank}/mental-models"), model));
    let export = |server: &TestServer| {
        let lines = server.get("/v1/export?is_primary=true").body;
        lines.as_str().expect("lines").to_owned()
    };
    let lines = export(&server);
    let elsewhere = TestServer::start();
    let kind = Some("application/x-ndjson");
    let report = elsewhere.post_raw("/v1/import", kind, lines.as_bytes());
    assert_eq!(report.body["refused"], json!([]), "{:#}", report.body);
    assert_eq!(export(&elsewhere), lines);
    for path in [
        "/documents",
        "/documents/Folder%2Fnote",
        "/profile",
        "/mental-models?detail=full",
    ] {
        let path = format!("{bank}{path}");
        assert_eq!(ok(elsewhere.get(&path)), ok(server.get(&path)), "{path}");
    }
    elsewhere.post_raw("/v1/import", kind, lines.as_bytes());
    assert_eq!(export(&elsewhere), lines, "twice is once");
}
