//! One real service for a test: a socket on a free port, a fresh store, a clock set by hand.
//!
//! The store is a folder, or with `KEEPSAKE_TEST_STORE=redis` a part of a Redis that all tests of the
//! process share.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use chrono::{DateTime, Utc};
use keepsake::app::App;
use keepsake::clock::Clock;
use keepsake::config::{Settings, StoreChoice};
use keepsake::embedding::Choice;
use keepsake::store::redis::options::RedisOptions;
use reqwest::blocking::{Client, RequestBuilder};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use serde_json::Value;
use tokio::sync::oneshot;

/// The time of every service until a test moves it.
const START: &str = "2026-06-01T12:00:00Z";
/// Generous: a slow machine is no failure.
const TIMEOUT: Duration = Duration::from_secs(120);

/// What a client of the tools for models must accept.
const MCP_ANSWERS: &str = "application/json, text/event-stream";

/// The real service on 127.0.0.1 in a fresh data folder.
pub(crate) struct TestServer {
    url: String,
    client: Client,
    now: Arc<Mutex<DateTime<Utc>>>,
    /// What requests present.
    key: Mutex<Option<String>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
    folder: Option<tempfile::TempDir>,
}

/// Where a service with this data folder keeps its memories.
#[expect(
    clippy::disallowed_methods,
    reason = "which store is tested is said by whoever runs the tests"
)]
fn store(folder: &Path) -> StoreChoice {
    match std::env::var("KEEPSAKE_TEST_STORE").as_deref() {
        Ok("redis") => StoreChoice::Redis(RedisOptions {
            prefix: format!("{}:", folder.display()),
            timeout: TIMEOUT,
            ..RedisOptions::new(redis_url())
        }),
        _ => StoreChoice::Embedded,
    }
}

/// The address of the Redis, which ends with the process.
fn redis_url() -> &'static str {
    static SERVER: OnceLock<(Child, String)> = OnceLock::new();
    let (_, url) = SERVER.get_or_init(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/redis/server");
        let mut server = Command::new(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = server.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        (server, line.trim().to_owned())
    });
    url
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The JSON of the body; a body that is no JSON as one text.
    pub(crate) body: Value,
    pub(crate) headers: HeaderMap,
}

/// What a command printed.
pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl TestServer {
    pub(crate) fn start() -> TestServer {
        TestServer::start_with(|_| {})
    }

    /// With other settings than the defaults.
    pub(crate) fn start_with(change: impl FnOnce(&mut Settings)) -> TestServer {
        TestServer::start_in(tempfile::tempdir().unwrap(), change)
    }

    /// That searches by words alone.
    pub(crate) fn start_lexical() -> TestServer {
        TestServer::start_with(|settings| settings.embedder = Choice::None)
    }

    /// In a data folder that may hold something.
    pub(crate) fn start_in(
        folder: tempfile::TempDir,
        change: impl FnOnce(&mut Settings),
    ) -> TestServer {
        TestServer::open(folder, START.parse().unwrap(), change)
    }

    /// Ends and starts again with the same data and time.
    pub(crate) fn restart(self) -> TestServer {
        self.restart_with(|_| {})
    }

    /// Ends and starts again with the same data and time, and other settings than the defaults.
    pub(crate) fn restart_with(mut self, change: impl FnOnce(&mut Settings)) -> TestServer {
        self.end();
        let now = *self.now.lock().unwrap();
        TestServer::open(self.folder.take().unwrap(), now, change)
    }

    fn open(
        folder: tempfile::TempDir,
        now: DateTime<Utc>,
        change: impl FnOnce(&mut Settings),
    ) -> TestServer {
        let now = Arc::new(Mutex::new(now));
        let mut settings = Settings {
            data_dir: folder.path().to_owned(),
            store: store(folder.path()),
            signals_max_age: Duration::ZERO,
            skip_patterns: skip_patterns(),
            ..Settings::default()
        };
        change(&mut settings);
        let app = App::open(settings, Clock::Fixed(now.clone())).unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let shutdown = async { drop(stopped.await) };
                keepsake::http::serve(listener, app, shutdown)
                    .await
                    .unwrap();
            });
        });
        drop(rustls::crypto::ring::default_provider().install_default());
        let client = Client::builder()
            .timeout(TIMEOUT)
            .no_proxy()
            .pool_max_idle_per_host(0)
            .build()
            .unwrap();
        TestServer {
            url,
            client,
            now,
            key: Mutex::default(),
            stop: Some(stop),
            thread: Some(thread),
            folder: Some(folder),
        }
    }

    /// The folder with its data.
    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.as_ref().unwrap().path()
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Moves the service's clock.
    pub(crate) fn set_now(&self, rfc3339: &str) {
        *self.now.lock().unwrap() = rfc3339.parse().unwrap();
    }

    /// What requests present as their API key from now on.
    pub(crate) fn use_key(&self, key: Option<&str>) {
        *self.key.lock().unwrap() = key.map(str::to_owned);
    }

    pub(crate) fn get(&self, path_and_query: &str) -> Answer {
        self.request("GET", path_and_query)
    }

    pub(crate) fn post(&self, path: &str, body: Value) -> Answer {
        self.send("POST", path, &body)
    }

    /// Any body; a service that refuses it early still gets its answer read.
    pub(crate) fn post_raw(&self, path: &str, content_type: Option<&str>, body: &[u8]) -> Answer {
        let mut request = self.to("POST", path).body(body.to_vec());
        if let Some(content_type) = content_type {
            request = request.header(CONTENT_TYPE, content_type);
        }
        answer(request)
    }

    /// Any body with any method.
    pub(crate) fn send_raw(&self, method: &str, path: &str, kind: &str, body: &[u8]) -> Answer {
        let request = self.to(method, path).header(CONTENT_TYPE, kind);
        answer(request.body(body.to_vec()))
    }

    /// A message to the tools for models, from a page of this origin.
    pub(crate) fn post_from(&self, origin: &str, path: &str, body: &Value) -> Answer {
        let request = self.to("POST", path);
        answer(
            request
                .header("origin", origin)
                .header(ACCEPT, MCP_ANSWERS)
                .json(body),
        )
    }

    /// Any body under an `Idempotency-Key`.
    pub(crate) fn post_once(
        &self,
        path: &str,
        key: &str,
        content_type: &str,
        body: &str,
    ) -> Answer {
        let request = self.to("POST", path);
        answer(
            request
                .header(CONTENT_TYPE, content_type)
                .header("idempotency-key", key)
                .body(body.to_owned()),
        )
    }

    pub(crate) fn put(&self, path: &str, body: Value) -> Answer {
        self.send("PUT", path, &body)
    }

    pub(crate) fn patch(&self, path: &str, body: Value) -> Answer {
        self.send("PATCH", path, &body)
    }

    pub(crate) fn delete(&self, path_and_query: &str) -> Answer {
        self.request("DELETE", path_and_query)
    }

    /// Any method, without a body.
    pub(crate) fn request(&self, method: &str, path: &str) -> Answer {
        answer(self.to(method, path))
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        answer(self.to(method, path).header(ACCEPT, MCP_ANSWERS).json(body))
    }

    /// An empty request that presents the key in use.
    fn to(&self, method: &str, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.url);
        let request = self.client.request(method.parse().unwrap(), url);
        match self.key.lock().unwrap().as_ref() {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// Stores a memory as a primary writer without agent; its id.
    pub(crate) fn add(&self, mut fields: Value) -> String {
        let object = fields.as_object_mut().unwrap();
        object.entry("is_primary").or_insert(Value::Bool(true));
        let answer = self.post("/v1/memories", fields);
        assert!(
            matches!(answer.status, 200 | 201),
            "{} {:#}",
            answer.status,
            answer.body
        );
        answer.body["id"].as_str().unwrap().to_owned()
    }

    /// Stores plain texts; their ids in order.
    pub(crate) fn add_all(&self, contents: &[&str]) -> Vec<String> {
        contents
            .iter()
            .map(|content| self.add(serde_json::json!({"content": content})))
            .collect()
    }

    /// The contents that a primary reader finds, best first.
    pub(crate) fn found(&self, query: &str) -> Vec<String> {
        let body = self.search(serde_json::json!({"query": query}));
        body["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| hit["content"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Searches as a primary reader unless the fields say otherwise; the whole answer.
    pub(crate) fn search(&self, fields: Value) -> Value {
        self.read("/v1/search", fields)
    }

    /// Prefetches, likewise.
    pub(crate) fn prefetch(&self, fields: Value) -> Value {
        self.read("/v1/prefetch", fields)
    }

    fn read(&self, path: &str, mut fields: Value) -> Value {
        fields
            .as_object_mut()
            .unwrap()
            .entry("is_primary")
            .or_insert(Value::Bool(true));
        let answer = self.post(path, fields);
        assert_eq!(answer.status, 200, "{:#}", answer.body);
        answer.body
    }

    /// The real binary, working through this service.
    pub(crate) fn cli(&self, args: &[&str]) -> Output {
        self.cli_with_input(args, b"")
    }

    pub(crate) fn cli_with_input(&self, args: &[&str], stdin: &[u8]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_keepsake"));
        command
            .args(["--url", &self.url])
            .args(args)
            .env("HOME", "/nonexistent");
        crate::cli::run(command, stdin)
    }
}

impl TestServer {
    fn end(&mut self) {
        if let Some(stop) = self.stop.take() {
            // A service that has ended already needs no word.
            let _ = stop.send(());
        }
        drop(self.thread.take().map(std::thread::JoinHandle::join));
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.end();
        if let Some(StoreChoice::Redis(options)) = self.folder.as_ref().map(|it| store(it.path())) {
            // The next index is made by looking through all keys of the server.
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let erased = runtime
                .unwrap()
                .block_on(keepsake::store::redis::erase::erase(&options));
            drop(erased);
        }
    }
}

fn answer(request: RequestBuilder) -> Answer {
    let response = request.send().unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let bytes = response.bytes().unwrap();
    let body = serde_json::from_slice(&bytes)
        .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&bytes)));
    Answer {
        status,
        body,
        headers,
    }
}

/// The patterns that the project ships.
fn skip_patterns() -> std::collections::HashSet<String> {
    let lines = keepsake::config::EXAMPLE_SKIP_PATTERNS.lines();
    lines
        .filter(|line| !line.starts_with('#'))
        .map(keepsake::read::gates::pattern)
        .collect()
}

/// Percent-encodes for a query string or a segment of a path.
pub(crate) fn encode(text: &str) -> String {
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| {
            if unreserved(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}
