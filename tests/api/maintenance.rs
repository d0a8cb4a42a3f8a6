//! Jobs in general: their answers, one at a time, undone by restoring.

use std::collections::BTreeMap;

use keepsake::app::App;
use keepsake::clock::Clock;
use keepsake::config::Settings;
use keepsake::maintenance::{Job, Options, run, silent};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::support::TestServer;

fn job(server: &TestServer, name: &str, fields: Value) -> Value {
    let done = server.post(&format!("/v1/maintenance/{name}"), fields);
    assert_eq!(done.status, 200, "{name}: {:#}", done.body);
    done.body
}

#[test]
fn the_last_answer_of_each_job_is_kept() {
    let server = TestServer::start();
    let before = server.get("/v1/maintenance").body;
    for name in [
        "consolidate",
        "forget",
        "dedup",
        "synonyms",
        "dictionary",
        "backfill",
    ] {
        assert_eq!(before["jobs"][name], Value::Null, "{name}");
        let done = job(&server, name, json!({}));
        assert_eq!(done["job"], name);
        assert_eq!(done["started_at"], "2026-06-01T12:00:00Z");
        assert_eq!(server.get("/v1/maintenance").body["jobs"][name], done);
    }
    let server = server.restart();
    assert_eq!(
        server.get("/v1/maintenance").body["jobs"]["forget"]["dry_run"],
        true
    );
}

#[test]
fn a_job_needs_no_body_and_refuses_a_wrong_one() {
    let server = TestServer::start();
    let bare = server.request("POST", "/v1/maintenance/dedup");
    assert_eq!(bare.status, 200, "{:#}", bare.body);
    for (body, field) in [
        (json!({"dry_run": "yes"}), "dry_run"),
        (json!({"limit": -1}), "limit"),
        (json!({"since": "yesterday"}), "since"),
        (json!({"forget": true}), "forget"),
    ] {
        let answer = server.post("/v1/maintenance/dedup", body);
        assert_eq!(answer.status, 422, "{:#}", answer.body);
        assert_eq!(answer.body["errors"][0]["field"], field);
    }
    assert_eq!(server.post("/v1/maintenance/tidy", json!({})).status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_running_elsewhere_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        data_dir: folder.path().to_owned(),
        ..Settings::default()
    };
    let now = "2026-06-01T12:00:00Z".parse().unwrap();
    let app = App::open(settings.clone(), Clock::fixed(now)).unwrap();
    let held = keepsake::maintenance::lease::Lease::take(&app, Job::Dedup)
        .await
        .unwrap();
    let other = App::open(settings, Clock::fixed(now)).unwrap();
    for app in [&app, &other] {
        let refused = run(app, Job::Dedup, Options::default(), silent()).await;
        let message = refused.unwrap_err().to_string();
        assert_eq!(message, "`dedup` is running already");
    }
    run(&other, Job::Forget, Options::default(), silent())
        .await
        .unwrap();
    held.give_back().await;
    run(&other, Job::Dedup, Options::default(), silent())
        .await
        .unwrap();
}

/// Contents and what a person gave them, by id, without what a restoration changes.
fn originals(server: &TestServer) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for state in ["active", "trashed", "consumed", "superseded"] {
        let path = format!("/v1/memories?is_primary=true&limit=100&state={state}");
        for memory in server.get(&path).body["items"].as_array().unwrap() {
            if memory["entry_type"] == "consolidated" {
                continue;
            }
            let mut kept = json!({"state": memory["state"]});
            for field in ["content", "created_at", "category", "metadata", "session"] {
                kept[field] = memory[field].clone();
            }
            found.insert(memory["id"].as_str().unwrap().to_owned(), kept);
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn restoring_undoes_any_sequence_of_jobs(
        texts in prop::collection::vec(("[a-e]", 0usize..6, 0i64..60), 2..12),
        jobs in prop::collection::vec(0usize..6, 1..6),
    ) {
        let server = TestServer::start_lexical();
        const FRAMES: [&str; 6] = [
            "the lighthouse keeper of island {} likes green tea",
            "The lighthouse keeper of island {} likes green tea!",
            "keeper of the lighthouse on island {}: likes tea, green",
            "the port of island {} is 6379",
            "the port of island {} is 6380",
            "  岛{}的守塔人喜欢喝绿茶\n",
        ];
        for (name, frame, days) in &texts {
            let created = "2026-05-31T00:00:00Z".parse::<chrono::DateTime<chrono::Utc>>().unwrap()
                - chrono::TimeDelta::days(*days);
            server.add(json!({
                "content": FRAMES[*frame].replace("{}", name), "category": name,
                "created_at": created.to_rfc3339(), "metadata": {"days": days},
            }));
        }
        let before = originals(&server);
        for number in jobs {
            let job_name = ["consolidate", "forget", "dedup", "synonyms", "dictionary", "backfill"][number];
            job(&server, job_name, json!({"dry_run": false, "extractive": true}));
        }
        for (id, memory) in originals(&server) {
            if memory["state"] != "active" {
                let path = format!("/v1/memories/{id}/restore?is_primary=true");
                prop_assert_eq!(server.request("POST", &path).status, 200);
            }
        }
        prop_assert_eq!(originals(&server), before);
    }
}
