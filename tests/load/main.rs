//! What the service does under a load that does not wait for it.
//!
//! `cargo bench --bench load [-- --memories N --seconds S --rate R --clients 1,8,32]` starts the real
//! service on a store of its own (with `KEEPSAKE_REDIS_URL`, on that Redis) and prints tab-separated
//! lines, one for each number of clients. Requests fall due at a steady rate, one write to ten reads,
//! whether or not those before them were answered, and a request's time counts from when it was due:
//! a service that stalls is not spared the requests that it kept waiting. Ends with 1 if a request
//! failed, or if the service's memory grew by more than a busy one's should.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a report")]

#[path = "../speed/corpus.rs"]
#[expect(dead_code, reason = "shared with the benchmarks of speed")]
mod corpus;
#[path = "../speed/service.rs"]
#[expect(dead_code, reason = "shared with the benchmarks of speed")]
mod service;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clap::Parser;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use corpus::Corpus;
use service::Service;

/// One request in so many is a write.
const WRITE_EVERY: u64 = 11;
/// Different questions and texts, taken in turns.
const DIFFERENT: usize = 500;
/// Lines sent together when the store is filled.
const CHUNK: usize = 5_000;
/// How much more memory than after the warm-up is no leak: what was written meanwhile, and what an
/// allocator keeps.
const GROWTH: f64 = 1.1;
const GROWTH_MIB: f64 = 16.0;

/// What is asked of the service.
#[derive(Debug, Parser)]
struct Load {
    /// Memories in the store before it begins
    #[arg(long, default_value_t = 2_000)]
    memories: usize,
    /// Seconds for each number of clients
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Requests that fall due each second
    #[arg(long, default_value_t = 50)]
    rate: u64,
    /// How many requests may be under way at once, one number after the other
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8, 32])]
    clients: Vec<usize>,
    /// What `cargo bench` adds
    #[arg(long, hide = true)]
    bench: bool,
}

/// What became of the requests of one client, or of all.
#[derive(Default)]
struct Outcome {
    /// From the first that was due to the last answer.
    took: Duration,
    reads: Vec<Duration>,
    writes: Vec<Duration>,
    errors: Vec<String>,
}

/// The requests, made before the clock starts.
struct Requests {
    url: String,
    client: reqwest::Client,
    questions: Vec<Value>,
    texts: Vec<Value>,
}

fn main() -> ExitCode {
    drop(rustls::crypto::ring::default_provider().install_default());
    let load = Load::parse();
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let mut corpus = Corpus::new(5);
    for at in (0..load.memories).step_by(CHUNK) {
        let count = CHUNK.min(load.memories - at);
        let lines = (0..count).map(|_| format!("{}\n", json!({"content": corpus.text()})));
        service.import(lines.collect());
    }
    let in_scope = |name: &str, text: String| json!({name: text, "is_primary": true});
    let questions = (0..DIFFERENT).map(|_| in_scope("query", corpus.everyday_question()));
    let questions = questions.collect();
    let texts = (0..DIFFERENT).map(|_| in_scope("content", corpus.text()));
    let requests = Arc::new(Requests {
        url: service.url.clone(),
        client: reqwest::Client::builder()
            .no_proxy()
            .timeout(Duration::from_mins(1))
            .build()
            .expect("a client"),
        questions,
        texts: texts.collect(),
    });
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    println!(
        "clients\trequests\ta second\tread p50\tp95\tp99\twrite p50\tp95\tp99\terrors\tMiB before\tafter"
    );
    // Everything that is made on first use is there, and counts as what the service needs.
    runtime.block_on(run(&requests, 8, load.rate, load.seconds.div_ceil(4)));
    let mut sound = true;
    for clients in &load.clients {
        let before = service.resident();
        let outcome = runtime.block_on(run(&requests, *clients, load.rate, load.seconds));
        let after = service.resident();
        sound &= report(*clients, outcome, before, after);
    }
    if sound {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Sends what falls due within some seconds, so many requests at once at most.
async fn run(requests: &Arc<Requests>, clients: usize, rate: u64, seconds: u64) -> Outcome {
    let (start, next) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    let mut running = JoinSet::new();
    for _ in 0..clients {
        let (requests, next) = (requests.clone(), next.clone());
        running.spawn(async move {
            let mut outcome = Outcome::default();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= rate * seconds {
                    outcome.took = start.elapsed();
                    return outcome;
                }
                let due = start + Duration::from_secs(1) * number as u32 / rate as u32;
                tokio::time::sleep_until(due).await;
                let failed = requests.send(number).await.err();
                let times = if number.is_multiple_of(WRITE_EVERY) {
                    &mut outcome.writes
                } else {
                    &mut outcome.reads
                };
                times.push(due.elapsed());
                outcome.errors.extend(failed);
            }
        });
    }
    running
        .join_all()
        .await
        .into_iter()
        .fold(Outcome::default(), |mut all, one| {
            all.took = all.took.max(one.took);
            all.reads.extend(one.reads);
            all.writes.extend(one.writes);
            all.errors.extend(one.errors);
            all
        })
}

impl Requests {
    /// Sends the request of a number, and reads its answer to the end.
    async fn send(&self, number: u64) -> Result<(), String> {
        let (path, bodies) = if number.is_multiple_of(WRITE_EVERY) {
            ("/v1/memories", &self.texts)
        } else {
            ("/v1/search", &self.questions)
        };
        let body = &bodies[number as usize % bodies.len()];
        let sent = self.client.post(format!("{}{path}", self.url)).json(body);
        let answer = sent
            .send()
            .await
            .map_err(|error| format!("{path}: {error}"))?;
        let status = answer.status();
        let text = answer.text().await.map_err(|error| error.to_string())?;
        if status.is_success() {
            Ok(())
        } else {
            Err(format!("{path}: {status} {text}"))
        }
    }
}

/// Prints a line; whether all is as it should be.
fn report(clients: usize, mut outcome: Outcome, before: f64, after: f64) -> bool {
    let requests = outcome.reads.len() + outcome.writes.len();
    println!(
        "{clients}\t{requests}\t{:.0}\t{}\t{}\t{}\t{before:.0}\t{after:.0}",
        requests as f64 / outcome.took.as_secs_f64(),
        percentiles(&mut outcome.reads),
        percentiles(&mut outcome.writes),
        outcome.errors.len(),
    );
    for error in outcome.errors.iter().take(5) {
        eprintln!("failed: {error}");
    }
    let grew = after > before * GROWTH + GROWTH_MIB;
    if grew {
        eprintln!("with {clients} clients memory grew from {before:.0} to {after:.0} MiB");
    }
    outcome.errors.is_empty() && !grew
}

/// The median and the slowest of 95 and of 99 in a hundred, in milliseconds.
fn percentiles(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |percent: usize| {
        let time = times.get(times.len() * percent / 100);
        time.map_or(f64::NAN, Duration::as_secs_f64) * 1000.0
    };
    format!("{:.1} ms\t{:.1} ms\t{:.1} ms", at(50), at(95), at(99))
}
