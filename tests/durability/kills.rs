//! The service is killed in the middle of writes, again and again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Service, client};

const ROUNDS: u64 = 100;
const WRITERS: u64 = 4;

/// Writes until told to stop or cut off; what was acknowledged.
fn write(
    url: &str,
    round: u64,
    writer: u64,
    stop: &AtomicBool,
    begun: &Sender<()>,
) -> Vec<(String, String)> {
    let client = client();
    let mut acknowledged = Vec::new();
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let content = format!("r{round}w{writer}n{number} is a note about the lighthouse");
        let body = json!({"content": content, "is_primary": true});
        let Ok(answer) = client.post(format!("{url}/v1/memories")).json(&body).send() else {
            break;
        };
        if answer.status() != 201 {
            break;
        }
        let Ok(memory) = answer.json::<Value>() else {
            break;
        };
        acknowledged.push((memory["id"].as_str().unwrap().to_owned(), content));
        // Nobody listens after the first.
        let _ = begun.send(());
    }
    acknowledged
}

#[test]
fn nothing_acknowledged_is_lost_when_the_service_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let client = client();
    let mut random = fastrand::Rng::with_seed(11);
    let mut all: Vec<(String, String)> = Vec::new();
    let mut fresh: Vec<(String, String)> = Vec::new();
    for round in 0..ROUNDS {
        let service = Service::start(folder.path());
        for (id, content) in &fresh {
            let memory: Value = client
                .get(format!("{}/v1/memories/{id}?is_primary=true", service.url))
                .send()
                .unwrap()
                .json()
                .unwrap();
            assert_eq!(memory["content"], *content, "round {round}: {id}");
        }
        // The index has caught up by itself: the newest write is found by the one word of its own.
        if let Some((id, content)) = fresh.last() {
            let word = content.split_whitespace().next().unwrap();
            let found = service.search(word);
            assert_eq!(found[0]["id"], **id, "round {round}: {content}");
        }
        all.append(&mut fresh);
        let stop = AtomicBool::new(false);
        let (begun, first) = channel();
        let url = service.url.clone();
        fresh = std::thread::scope(|scope| {
            let (url, stop) = (url.as_str(), &stop);
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    let begun = begun.clone();
                    scope.spawn(move || write(url, round, writer, stop, &begun))
                })
                .collect();
            first.recv().unwrap();
            // The moment of the kill is the point of the test, not a wait for something.
            std::thread::sleep(Duration::from_millis(random.u64(5..80)));
            service.kill();
            stop.store(true, Ordering::Relaxed);
            writers
                .into_iter()
                .flat_map(|writer| writer.join().unwrap())
                .collect()
        });
    }
    all.append(&mut fresh);
    assert!(
        all.len() > 100,
        "only {} writes were acknowledged",
        all.len()
    );

    let service = Service::start(folder.path());
    let stats: Value = client
        .get(format!("{}/v1/stats?is_primary=true", service.url))
        .send()
        .unwrap()
        .json()
        .unwrap();
    let stored = stats["memories"]["active"].as_u64().unwrap();
    // A write may have been stored whose answer was cut off.
    assert!(
        stored >= all.len() as u64 && stored <= all.len() as u64 + ROUNDS * WRITERS,
        "{stored} stored, {} acknowledged",
        all.len()
    );
    assert_eq!(service.search("lighthouse").len(), 5);
    service.kill();
}
