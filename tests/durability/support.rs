//! The real binary as a process, and short ways to use it.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use reqwest::blocking::{Client, Response};
use serde_json::{Value, json};

/// The service as a process of its own; killed at the end.
pub(crate) struct Service {
    pub child: Child,
    pub url: String,
    pub client: Client,
}

impl Drop for Service {
    fn drop(&mut self) {
        // Gone already if it was killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Service {
    pub(crate) fn start(folder: &Path) -> Service {
        Service::try_start(folder).unwrap_or_else(|said| panic!("it does not start: {said}"))
    }

    /// Starts it, or tells what it said when it would not.
    pub(crate) fn try_start(folder: &Path) -> Result<Service, String> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_keepsake"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(folder)
            .env("HOME", folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let Some(url) = line
            .split_whitespace()
            .find(|word| word.starts_with("http://"))
        else {
            let mut said = String::new();
            stderr.read_to_string(&mut said).unwrap();
            assert_eq!(child.wait().unwrap().code(), Some(1), "{said}");
            return Err(said);
        };
        // Read on, so that the service never waits for a reader.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        Ok(Service {
            child,
            url: url.to_owned(),
            client: client(),
        })
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop and waits until it has.
    pub(crate) fn stop(mut self) {
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .unwrap()
                .success()
        );
        assert!(self.child.wait().unwrap().success());
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        self.client
            .get(format!("{}{path}", self.url))
            .send()
            .unwrap()
    }

    pub(crate) fn add(&self, content: &str) -> Response {
        let body = json!({"content": content, "is_primary": true});
        let url = format!("{}/v1/memories", self.url);
        self.client.post(url).json(&body).send().unwrap()
    }

    /// Stores many memories at once.
    pub(crate) fn add_all(&self, contents: impl Iterator<Item = String>) {
        let lines: Vec<String> = contents
            .map(|content| json!({"content": content}).to_string())
            .collect();
        let answer = self
            .client
            .post(format!("{}/v1/memories/batch?is_primary=true", self.url))
            .header("content-type", "application/x-ndjson")
            .body(lines.join("\n"))
            .send()
            .unwrap();
        assert_eq!(answer.status(), 200);
        answer.bytes().unwrap();
    }

    /// The hits of a search.
    pub(crate) fn search(&self, query: &str) -> Vec<Value> {
        let body = json!({"query": query, "is_primary": true});
        let url = format!("{}/v1/search", self.url);
        let answer = self.client.post(url).json(&body).send().unwrap();
        assert_eq!(answer.status(), 200, "{query}");
        let answer: Value = answer.json().unwrap();
        answer["results"].as_array().unwrap().clone()
    }
}

pub(crate) fn client() -> Client {
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::builder()
        .timeout(Duration::from_secs(60))
        .no_proxy()
        .build()
        .unwrap()
}

/// Waits until something holds.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < Duration::from_secs(60), "never: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
