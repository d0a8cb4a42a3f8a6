//! A real server, and stores on it.

use std::future::Future;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use keepsake::analysis::{Analyser, Ingredients};
use keepsake::app::App;
use keepsake::clock::Clock;
use keepsake::config::{Settings, StoreChoice};
use keepsake::embedding::Choice;
use keepsake::read::{self, Request};
use keepsake::scope::Scope;
use keepsake::store::redis::RedisStore;
use keepsake::store::redis::adoption::Adoption;
use keepsake::store::redis::options::RedisOptions;
use keepsake::write::{self, Draft, Stored};

/// Waiting longer than this is a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

pub(crate) fn project(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// A server that stops when it is dropped.
pub(crate) struct Server {
    script: Child,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start(arguments: &[&str]) -> Server {
        let mut script = Command::new(project("tests/redis/server"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = script.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        assert!(line.contains("://"), "the server did not start: `{line}`");
        let url = line.trim().to_owned();
        Server { script, url }
    }

    pub(crate) fn socket(&self) -> &str {
        self.url.trim_start_matches("redis+unix://")
    }

    /// A connection that looks at what the store does.
    pub(crate) fn raw(&self) -> redis::Connection {
        redis::Client::open(self.url.as_str())
            .unwrap()
            .get_connection()
            .unwrap()
    }

    /// Runs one command, words separated by spaces.
    pub(crate) fn run(&self, words: &str) -> redis::Value {
        self.run_words(&words.split(' ').collect::<Vec<_>>())
    }

    pub(crate) fn run_words(&self, words: &[&str]) -> redis::Value {
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        command.query(&mut self.raw()).unwrap()
    }

    /// The number of the server's process.
    pub(crate) fn process(&self) -> String {
        let info: String = redis::cmd("INFO")
            .arg("server")
            .query(&mut self.raw())
            .unwrap();
        let line = info
            .lines()
            .find_map(|line| line.strip_prefix("process_id:"));
        line.unwrap().trim().to_owned()
    }

    pub(crate) fn signal(process: &str, signal: &str) {
        let done = Command::new("kill")
            .args([signal, process])
            .status()
            .unwrap();
        assert!(done.success());
    }

    /// What the Python Keepsake does on this server; the lines that it prints.
    pub(crate) fn python(&self, arguments: &[&str]) -> Vec<String> {
        let output = Command::new(project("target/redis/venv/bin/python"))
            .arg(project("tests/redis/python_keepsake.py"))
            .arg(self.socket())
            .args(arguments)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) fn options(&self) -> RedisOptions {
        RedisOptions::new(&self.url)
    }

    /// A service's parts on this server, which finds by words alone.
    pub(crate) fn app(&self) -> App {
        self.app_with(Choice::None)
    }

    /// The same with the built-in embedding model.
    pub(crate) fn app_with_model(&self) -> App {
        self.app_with(Settings::default().embedder)
    }

    fn app_with(&self, embedder: Choice) -> App {
        let settings = Settings {
            store: StoreChoice::Redis(self.options()),
            embedder,
            ..Settings::default()
        };
        App::open(settings, Clock::System).unwrap()
    }

    /// A store without work in the background.
    pub(crate) fn quiet_store(&self) -> RedisStore {
        RedisStore::new(&self.options(), adoption()).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.script.stdin.take());
        let _ = self.script.wait();
    }
}

pub(crate) fn adoption() -> Adoption {
    Adoption {
        analyser: Analyser::new("", Ingredients::default()),
        attention: (2.0, 1.5),
    }
}

pub(crate) fn now() -> DateTime<Utc> {
    Clock::System.now()
}

pub(crate) async fn add(app: &App, content: &str) -> Result<Stored, keepsake::error::Error> {
    let draft = Draft {
        content: content.to_owned(),
        ..Draft::default()
    };
    write::add(app, &Scope::owner(), draft, now()).await
}

/// The contents that a search finds, best first.
pub(crate) async fn search(app: &App, query: &str) -> Result<Vec<String>, keepsake::error::Error> {
    let request = Request {
        query: query.to_owned(),
        top_k: 10,
        min_score: Some(0.0),
        ..Request::default()
    };
    let answer = read::search(app, &Scope::owner(), &request, now()).await?;
    let content = |hit: keepsake::ranking::Hit| hit.memory.content.clone();
    Ok(answer.hits.into_iter().map(content).collect())
}

/// Waits until something holds.
pub(crate) async fn eventually<F: Future<Output = bool>>(what: &str, holds: impl Fn() -> F) {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < PATIENCE, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
