//! What is old and nobody valued, felt or found is forgotten, with reasons, and can be restored.

use serde_json::{Value, json};

use super::support::TestServer;

/// A memory of 400 days ago; the service's time is 1 June 2026.
fn old(server: &TestServer, mut fields: Value) -> String {
    fields["created_at"] = json!("2025-04-27T12:00:00Z");
    server.add(fields)
}

/// A service whose attention is elsewhere, on ten young memories.
fn busy() -> TestServer {
    let server = TestServer::start();
    for number in 0..5 {
        for topics in [
            "harbour pilot vessel ledger tide",
            "orchestra violin rehearsal score conductor",
        ] {
            server.add(json!({"content": format!("{topics} {number}")}));
        }
    }
    server
}

fn forget(server: &TestServer, fields: Value) -> Value {
    let done = server.post("/v1/maintenance/forget", fields);
    assert_eq!(done.status, 200, "{:#}", done.body);
    done.body
}

fn forget_now(server: &TestServer) -> Value {
    forget(server, json!({"dry_run": false}))
}

fn state(server: &TestServer, id: &str) -> String {
    let memory = server.get(&format!("/v1/memories/{id}?is_primary=true"));
    match memory.status {
        404 => "gone".to_owned(),
        _ => memory.body["state"].as_str().unwrap().to_owned(),
    }
}

#[test]
fn an_old_memory_that_nobody_valued_goes_to_the_trash_whatever_its_source() {
    let server = busy();
    for source in ["hermes_agent", "cli"] {
        let content = format!("the shelf in the {source} corner is made of oak");
        let id = old(&server, json!({"content": content, "source": source}));
        let done = forget_now(&server);
        assert_eq!(done["changed"], 1, "{done:#}");
        let item = &done["items"][0];
        assert_eq!(
            (&item["id"], &item["action"]),
            (&json!(id), &json!("forget"))
        );
        assert_eq!(item["reasons"][0], "400 days old");
        assert_eq!(state(&server, &id), "trashed");
    }
}

#[test]
fn by_default_it_only_tells_what_it_would_forget_and_why_the_rest_stays() {
    let server = busy();
    let id = old(&server, json!({"content": "the shelf is made of oak"}));
    server.add(json!({"content": "the lamp is made of brass"}));
    let done = forget(&server, json!({}));
    assert_eq!(done["dry_run"], true);
    assert_eq!((&done["changed"], &done["planned"]), (&json!(0), &json!(1)));
    assert_eq!(done["items"][0]["id"], json!(id));
    assert_eq!(done["kept"], json!({"young": 11}));
    assert_eq!(state(&server, &id), "active");
}

#[test]
fn what_somebody_valued_felt_or_pinned_stays() {
    let server = busy();
    let feelings = [
        "I am so incredibly happy about the new house!!!",
        "what a terrible, horrible, disgusting disappointment",
    ];
    let mut ids: Vec<String> = feelings
        .iter()
        .map(|content| old(&server, json!({"content": content})))
        .collect();
    ids.push(old(
        &server,
        json!({"content": "the shelf is made of oak", "pinned": true}),
    ));
    let useful = old(&server, json!({"content": "the lamp is made of brass"}));
    server.post(
        "/v1/feedback",
        json!({"id": useful, "useful": true, "is_primary": true}),
    );
    ids.push(useful);
    let done = forget_now(&server);
    assert_eq!(done["changed"], 0, "{done:#}");
    let kept = json!({"emotion": 2, "pinned": 1, "positive feedback": 1, "young": 10});
    assert_eq!(done["kept"], kept);
    assert!(ids.iter().all(|id| state(&server, id) == "active"));
}

#[test]
fn ordinary_words_with_strong_characters_inside_do_not_keep_a_memory() {
    let server = busy();
    let id = old(&server, json!({"content": "我的老师去超市买特价米"}));
    forget_now(&server);
    assert_eq!(state(&server, &id), "trashed");
}

#[test]
fn what_was_found_lately_stays() {
    let server = busy();
    let id = old(
        &server,
        json!({"content": "the passport is in the blue folder"}),
    );
    assert_eq!(server.found("where is my passport").len(), 1);
    let done = forget_now(&server);
    assert_eq!(
        done["kept"],
        json!({"retrieved": 1, "young": 10}),
        "{done:#}"
    );
    server.set_now("2026-08-01T12:00:00Z");
    forget_now(&server);
    assert_eq!(state(&server, &id), "trashed");
}

#[test]
fn when_memories_were_found_outlives_the_service() {
    let server = busy();
    let id = old(
        &server,
        json!({"content": "the passport is in the blue folder"}),
    );
    server.found("where is my passport");
    let server = server.restart();
    forget_now(&server);
    assert_eq!(state(&server, &id), "active");
}

#[test]
fn what_gets_much_attention_stays() {
    let server = busy();
    for number in 0..9 {
        server.add(json!({"content": format!("greenhouse irrigation plan {number}")}));
    }
    let id = old(
        &server,
        json!({"content": "greenhouse irrigation was planned with Tom"}),
    );
    let done = forget_now(&server);
    assert_eq!(
        done["kept"],
        json!({"attention": 1, "young": 19}),
        "{done:#}"
    );
    assert_eq!(state(&server, &id), "active");
}

#[test]
fn an_age_that_nobody_knows_is_no_reason() {
    let server = busy();
    let id = server
        .add(json!({"content": "the shelf is made of oak", "created_at": "1970-01-01T00:00:00Z"}));
    let done = forget_now(&server);
    assert_eq!(done["kept"], json!({"unknown age": 1, "young": 10}));
    assert_eq!(state(&server, &id), "active");
}

#[test]
fn what_is_hidden_already_is_left_as_it_is() {
    let server = busy();
    let expired = old(
        &server,
        json!({"content": "the shelf is made of oak", "invalid_at": "2025-05-01T00:00:00Z"}),
    );
    let corrected = old(&server, json!({"content": "the lamp is made of brass"}));
    server.post(
        "/v1/corrections",
        json!({"ids": [corrected], "is_primary": true}),
    );
    let done = forget_now(&server);
    assert_eq!(
        (&done["examined"], &done["changed"]),
        (&json!(10), &json!(0)),
        "the others alone were looked at"
    );
    assert_eq!(state(&server, &expired), "expired");
    assert_eq!(state(&server, &corrected), "corrected");
}

#[test]
fn what_was_restored_is_not_forgotten_again_at_once() {
    let server = busy();
    let id = old(&server, json!({"content": "the shelf is made of oak"}));
    forget_now(&server);
    assert_eq!(server.cli(&["restore", &id]).code, 0);
    forget_now(&server);
    assert_eq!(state(&server, &id), "active");
}

#[test]
fn the_trash_is_emptied_after_its_days() {
    let server = busy();
    let id = old(&server, json!({"content": "the shelf is made of oak"}));
    forget_now(&server);
    server.set_now("2026-06-30T12:00:00Z");
    forget_now(&server);
    assert_eq!(state(&server, &id), "trashed");
    server.set_now("2026-07-01T12:00:00Z");
    let done = forget_now(&server);
    assert_eq!(done["items"][0]["action"], "purge", "{done:#}");
    assert_eq!(state(&server, &id), "gone");
}

#[test]
fn a_limit_and_a_time_bound_what_is_forgotten() {
    let server = busy();
    for number in 0..3 {
        old(
            &server,
            json!({"content": format!("shelf {number} is made of oak")}),
        );
    }
    let done = forget(
        &server,
        json!({"dry_run": false, "since": "2025-05-01T00:00:00Z"}),
    );
    assert_eq!(done["changed"], 0);
    let done = forget(&server, json!({"dry_run": false, "limit": 2}));
    assert_eq!(done["changed"], 2);
    assert_eq!(forget_now(&server)["changed"], 1);
}

#[test]
fn nothing_with_feedback_or_attention_goes_from_a_store_of_three_years() {
    let server = busy();
    let items: Vec<Value> = (0..300)
        .map(|number| {
            let (year, month) = (2023 + number / 120, 1 + number % 12);
            json!({
                "content": format!("crate {number} holds {} of the harbour", ["ropes", "lamps", "charts"][number % 3]),
                "created_at": format!("{year}-{month:02}-11T08:00:00Z"), "is_primary": true,
            })
        })
        .collect();
    let stored = server.post("/v1/memories/batch", Value::from(items));
    let ids: Vec<String> = stored.body["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["id"].as_str().unwrap().to_owned())
        .collect();
    for id in ids.iter().step_by(10) {
        server.post(
            "/v1/feedback",
            json!({"id": id, "useful": true, "is_primary": true}),
        );
    }
    let told = forget(&server, json!({"dry_run": true}));
    let done = forget_now(&server);
    assert_eq!(told["planned"], done["changed"]);
    for id in ids.iter().step_by(10) {
        assert_eq!(state(&server, id), "active");
    }
}
