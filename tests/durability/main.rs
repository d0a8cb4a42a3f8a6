//! The service is killed in the middle of writes, again and again: nothing acknowledged is missing.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod memory;
mod spool;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use reqwest::blocking::Client;
use serde_json::{Value, json};

const ROUNDS: u64 = 50;
const WRITERS: u64 = 4;

/// The real binary as a process of its own.
struct Service {
    child: Child,
    url: String,
}

impl Service {
    fn start(folder: &Path) -> Service {
        let mut child = Command::new(env!("CARGO_BIN_EXE_keepsake"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(folder)
            .env("HOME", folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line
            .split_whitespace()
            .find(|word| word.starts_with("http://"))
            .unwrap()
            .to_owned();
        Service { child, url }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn client() -> Client {
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::builder()
        .timeout(Duration::from_secs(60))
        .no_proxy()
        .build()
        .unwrap()
}

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
        let content = format!("round {round} writer {writer} note {number} about the lighthouse");
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
        all.append(&mut fresh);
        let stop = AtomicBool::new(false);
        let (begun, first) = channel();
        fresh = std::thread::scope(|scope| {
            let (url, stop) = (service.url.as_str(), &stop);
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    let begun = begun.clone();
                    scope.spawn(move || write(url, round, writer, stop, &begun))
                })
                .collect();
            first.recv().unwrap();
            // The moment of the kill is the point of the test, not a wait for something.
            std::thread::sleep(Duration::from_millis(random.u64(5..80)));
            let mut child = service.child;
            child.kill().unwrap();
            child.wait().unwrap();
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
    let found = client
        .post(format!("{}/v1/search", service.url))
        .json(&json!({"query": "lighthouse", "is_primary": true}))
        .send()
        .unwrap();
    assert_eq!(
        found.json::<Value>().unwrap()["results"]
            .as_array()
            .unwrap()
            .len(),
        5
    );
    service.kill();
}
