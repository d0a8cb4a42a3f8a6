//! A client's spool is replayed after the service was killed in the middle: nothing is done twice,
//! nothing is lost, the order holds.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Service, client};

const ROUNDS: u64 = 25;
/// Operations that are sent together, as the plugin does.
const TOGETHER: usize = 16;

/// Facts that are added, then replaced, then every third removed.
fn spool(round: u64) -> Vec<Value> {
    let mut operations = Vec::new();
    for fact in 0..40 {
        let name = format!("round {round} fact {fact}");
        let op_id = |step: &str| format!("{name} {step}");
        operations
            .push(json!({"op_id": op_id("add"), "op": "add", "content": format!("{name} is old")}));
        operations.push(json!({"op_id": op_id("replace"), "op": "replace", "old_text": format!("{name} is old"), "content": format!("{name} is new")}));
        if fact % 3 == 0 {
            operations.push(json!({"op_id": op_id("remove"), "op": "remove", "old_text": format!("{name} is new")}));
            operations.push(
                json!({"op_id": op_id("again"), "op": "add", "content": format!("{name} is back")}),
            );
        }
    }
    operations
}

/// Sends the spool from its beginning or from where it was acknowledged; how far that is now.
fn send(url: &str, spool: &[Value], from: usize) -> usize {
    let client = client();
    let mut acknowledged = from;
    while acknowledged < spool.len() {
        let until = spool.len().min(acknowledged + TOGETHER);
        let part = &spool[acknowledged..until];
        let sent = client
            .post(format!("{url}/v1/memories/operations?agent_id=alpha"))
            .json(part)
            .send();
        let Ok(answer) = sent.and_then(|answer| answer.error_for_status()?.json::<Value>()) else {
            return acknowledged;
        };
        for result in answer["results"].as_array().unwrap() {
            assert!(
                result["status"] == "done" || result["status"] == "repeated",
                "{result:#}"
            );
        }
        acknowledged = until;
    }
    acknowledged
}

#[test]
fn a_spool_replayed_after_a_kill_is_done_once_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = fastrand::Rng::with_seed(5);
    let mut interrupted = 0;
    for round in 0..ROUNDS {
        let spool = spool(round);
        let mut service = Service::start(folder.path());
        let acknowledged = std::thread::scope(|scope| {
            let (url, spool) = (service.url.clone(), &spool);
            let sender = scope.spawn(move || send(&url, spool, 0));
            // The moment of the kill is the point of the test, not a wait for something.
            std::thread::sleep(Duration::from_millis(random.u64(5..120)));
            service.child.kill().unwrap();
            service.child.wait().unwrap();
            sender.join().unwrap()
        });
        interrupted += usize::from(acknowledged < spool.len());

        let service = Service::start(folder.path());
        // A client that lost its mark sends everything again.
        let from = if random.bool() { 0 } else { acknowledged };
        assert_eq!(send(&service.url, &spool, from), spool.len());
        check(&service, round);
        service.kill();
    }
    assert!(
        interrupted > ROUNDS as usize / 2,
        "{interrupted} were interrupted"
    );
}

/// Each fact is there once, as it was last told.
fn check(service: &Service, round: u64) {
    let export = client()
        .get(format!("{}/v1/export?agent_id=alpha", service.url))
        .send()
        .unwrap()
        .text()
        .unwrap();
    let mut states: Vec<(String, String)> = export
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["id"].is_string())
        .map(|memory| {
            let content = memory["content"].as_str().unwrap().to_owned();
            assert_eq!(memory["mentions"], 1, "{content}");
            (content, memory["state"].as_str().unwrap().to_owned())
        })
        .filter(|(content, _)| content.starts_with(&format!("round {round} ")))
        .collect();
    states.sort();
    let mut expected = Vec::new();
    for fact in 0..40 {
        let name = format!("round {round} fact {fact}");
        let removed = fact % 3 == 0;
        expected.push((format!("{name} is old"), "superseded".to_owned()));
        let newer = if removed { "trashed" } else { "active" };
        expected.push((format!("{name} is new"), newer.to_owned()));
        if removed {
            expected.push((format!("{name} is back"), "active".to_owned()));
        }
    }
    expected.sort();
    assert_eq!(states, expected, "round {round}");
}
