//! The real binary as a process, and what it costs.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use reqwest::blocking::Client;
use serde_json::{Value, json};

pub(crate) struct Service {
    child: Child,
    pub(crate) url: String,
    client: Client,
    /// From its start to its first answer that it is ready.
    pub(crate) ready_after: Duration,
}

impl Drop for Service {
    fn drop(&mut self) {
        // Gone already if it was stopped.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Service {
    pub(crate) fn start(folder: &Path) -> Service {
        let began = Instant::now();
        let mut child = Command::new(env!("CARGO_BIN_EXE_keepsake"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(folder)
            .env("HOME", folder)
            .env("KEEPSAKE_LOG", "warn")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the service starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("piped");
        BufReader::new(stdout)
            .read_line(&mut line)
            .expect("it says where it listens");
        let url = line
            .split_whitespace()
            .find(|word| word.starts_with("http://"))
            .expect("an address")
            .to_owned();
        let client = Client::builder()
            .no_proxy()
            .timeout(Duration::from_mins(10))
            .build()
            .expect("a client");
        let mut service = Service {
            child,
            url,
            client,
            ready_after: Duration::ZERO,
        };
        while !service
            .client
            .get(format!("{}/readyz", service.url))
            .send()
            .is_ok_and(|answer| answer.status().is_success())
        {
            std::thread::sleep(Duration::from_millis(2));
        }
        service.ready_after = began.elapsed();
        service
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        let answer = self
            .client
            .post(format!("{}{path}", self.url))
            .json(body)
            .send()
            .expect("an answer");
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
        answer.json().expect("JSON")
    }

    /// Stores a memory and returns how long that took.
    pub(crate) fn add(&self, content: &str) -> Duration {
        let began = Instant::now();
        self.post(
            "/v1/memories",
            &json!({"content": content, "is_primary": true}),
        );
        began.elapsed()
    }

    /// Searches as it is done unless asked otherwise, and returns how long that took, and how many
    /// were found.
    pub(crate) fn search(&self, query: &str) -> (Duration, usize) {
        self.search_by("auto", query)
    }

    /// Searches in a mode.
    pub(crate) fn search_by(&self, mode: &str, query: &str) -> (Duration, usize) {
        let began = Instant::now();
        let answer = self.post(
            "/v1/search",
            &json!({"query": query, "is_primary": true, "mode": mode}),
        );
        (
            began.elapsed(),
            answer["results"].as_array().map_or(0, Vec::len),
        )
    }

    /// Imports lines of NDJSON.
    pub(crate) fn import(&self, lines: String) {
        let answer = self
            .client
            .post(format!("{}/v1/memories/batch?is_primary=true", self.url))
            .header("content-type", "application/x-ndjson")
            .body(lines)
            .send()
            .expect("an answer");
        assert!(answer.status().is_success(), "{}", answer.status());
        answer.bytes().expect("all of it");
    }

    /// Resident memory in MiB, now.
    pub(crate) fn resident(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))
            .unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes: f64 = line
            .and_then(|line| line.split_whitespace().next()?.parse().ok())
            .unwrap_or(f64::NAN);
        kilobytes / 1024.0
    }

    /// Asks it to stop and waits until it has.
    pub(crate) fn stop(mut self) {
        let id = self.child.id().to_string();
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .expect("kill");
        self.child.wait().expect("it stops");
    }
}
