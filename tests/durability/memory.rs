//! A long import needs no memory for its length: what has arrived is stored before more is read. Nor
//! does a service that is asked to stop wait for its end.

use std::io::Write;
use std::time::{Duration, Instant};

use reqwest::blocking::Body;
use serde_json::{Value, json};

use crate::support::{Service, client, eventually};

const ENTRIES: usize = 40_000;
/// Most memory that the service may ever have had, in bytes.
const MOST: u64 = 200 << 20;

/// NDJSON made while it is sent.
struct Lines {
    padding: String,
    next: usize,
    line: Vec<u8>,
    sent: usize,
}

impl std::io::Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.sent == self.line.len() && self.next < ENTRIES {
            let (number, padding) = (self.next, &self.padding);
            let line = json!({"id": format!("imported{number:08}"), "content": format!("entry {number} {padding}")});
            self.line = format!("{line}\n").into_bytes();
            (self.next, self.sent) = (number + 1, 0);
        }
        let length = buffer.len().min(self.line.len() - self.sent);
        buffer[..length].copy_from_slice(&self.line[self.sent..self.sent + length]);
        self.sent += length;
        Ok(length)
    }
}

#[test]
fn an_import_of_any_length_fits_into_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path());
    let lines = Lines {
        padding: "word ".repeat(500),
        next: 0,
        line: Vec::new(),
        sent: 0,
    };
    let answer = client()
        .post(format!("{}/v1/import", service.url))
        .header("content-type", "application/x-ndjson")
        .timeout(Duration::from_secs(900))
        .body(Body::new(lines))
        .send()
        .unwrap();
    let answer: Value = answer.json().unwrap();
    assert_eq!(answer["created"], ENTRIES, "{answer:#}");
    if let Some(peak) = peak_memory(service.child.id()) {
        assert!(peak < MOST, "the service had {} MiB", peak >> 20);
    }
    service.kill();
}

/// NDJSON that goes on for as long as somebody reads, with a pause after each line.
struct Endless(usize);

impl std::io::Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        std::thread::sleep(Duration::from_millis(20));
        let line =
            json!({"id": format!("endless{:08}", self.0), "content": format!("entry {}", self.0)});
        self.0 += 1;
        (&mut *buffer).write_all(format!("{line}\n").as_bytes())?;
        Ok(line.to_string().len() + 1)
    }
}

#[test]
fn a_service_asked_to_stop_does_not_wait_for_an_import_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path());
    let url = format!("{}/v1/import", service.url);
    let import = std::thread::spawn(move || {
        let sent = client()
            .post(url)
            .header("content-type", "application/x-ndjson")
            .body(Body::new(Endless(0)));
        sent.send().is_ok()
    });
    eventually("some of it is stored", || {
        let stats: Value = service.get("/v1/stats?is_primary=true").json().unwrap();
        stats["memories"]["total"].as_u64() > Some(0)
    });
    let asked = Instant::now();
    service.stop();
    assert!(asked.elapsed() < Duration::from_secs(30));
    assert!(
        !import.join().unwrap(),
        "an import that was broken off has no answer"
    );
    let service = Service::start(folder.path());
    let stats: Value = service.get("/v1/stats?is_primary=true").json().unwrap();
    assert!(stats["memories"]["total"].as_u64() > Some(0), "{stats}");
}

/// The most memory that a process ever had, in bytes, where the system tells it.
fn peak_memory(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1_024)
}
