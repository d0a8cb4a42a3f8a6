//! A running service follows its configuration, and a copy of the example starts one.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use reqwest::blocking::Client;
use serde_json::{Value, json};

use super::Home;

const EXAMPLE: &str = include_str!("../../../config.example.json");
/// Generous: a slow machine is no failure.
const PATIENCE: Duration = Duration::from_secs(60);

/// The real binary, serving.
struct Service {
    child: Child,
    url: String,
    first_line: String,
    client: Client,
}

impl Service {
    fn start(home: &Home) -> Service {
        let mut child = home
            .command(&["serve", "--listen", "127.0.0.1:0"])
            .env("KEEPSAKE_CONFIG", home.path().join("config.json"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first_line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut first_line)
            .unwrap();
        let url = first_line
            .split_whitespace()
            .find(|word| word.starts_with("http://"));
        drop(rustls::crypto::ring::default_provider().install_default());
        Service {
            url: url.unwrap().to_owned(),
            child,
            first_line,
            client: Client::builder()
                .timeout(PATIENCE)
                .no_proxy()
                .build()
                .unwrap(),
        }
    }

    fn get(&self, path: &str) -> Value {
        self.client
            .get(format!("{}{path}", self.url))
            .send()
            .unwrap()
            .json()
            .unwrap()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let sent = self
            .client
            .post(format!("{}{path}", self.url))
            .json(body)
            .send()
            .unwrap();
        assert!(sent.status().is_success(), "{}", sent.status());
        sent.json().unwrap()
    }

    fn begin_session(&self) -> Value {
        self.post("/v1/sessions", &json!({"session_id": "s"}))
    }

    /// Waits until the service says so.
    fn wait_for(&self, path: &str, what: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let answer = self.get(path);
            if what(&answer) {
                return answer;
            }
            assert!(begun.elapsed() < PATIENCE, "{answer:#}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends it; its log.
    fn stop(mut self) -> String {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut log = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut log)
            .unwrap();
        log
    }
}

fn results(answer: &Value) -> usize {
    answer["results"].as_array().unwrap().len()
}

#[test]
fn a_copy_of_the_example_starts_the_embedded_store() {
    let home = Home::new();
    home.write("config.json", EXAMPLE);
    let service = Service::start(&home);
    assert!(
        service.first_line.contains("(store: embedded, "),
        "{}",
        service.first_line
    );
    assert_eq!(service.get("/readyz")["reasons"], json!([]));
    let log = service.stop();
    assert!(!log.contains("WARN"), "{log}");
}

#[test]
fn a_new_key_is_asked_for_and_a_revoked_one_opens_nothing() {
    let home = Home::new();
    let file = home.write("config.json", "{}");
    let service = Service::start(&home);
    let run = |args: &[&str]| {
        let mut command = home.command(args);
        command.env("KEEPSAKE_CONFIG", &file);
        super::run(command, b"")
    };
    let status = |key: &str| {
        let request = service.client.get(format!("{}/v1/stats", service.url));
        request.bearer_auth(key).send().unwrap().status().as_u16()
    };
    let wait = |key: &str, wanted: u16| {
        let begun = Instant::now();
        while status(key) != wanted {
            assert!(begun.elapsed() < PATIENCE, "{wanted}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let make = |name: &str| {
        let made = run(&["key", "create", name]);
        assert_eq!(made.code, 0, "{}", made.stderr);
        made.stdout.lines().next().unwrap().to_owned()
    };
    assert_eq!(status("none is needed"), 200);
    let (laptop, phone) = (make("laptop"), make("phone"));
    wait("no key", 401);
    wait(&phone, 200);
    assert_eq!(status(&laptop), 200);
    assert_eq!(run(&["key", "revoke", "laptop"]).code, 0);
    wait(&laptop, 401);
    assert_eq!(status(&phone), 200);
    // The command line presents what its environment holds, and says what is missing.
    let stats = |key: &str| {
        let mut command = home.command(&["--url", &service.url, "stats"]);
        command.env("KEEPSAKE_API_KEY", key);
        super::run(command, b"")
    };
    assert_eq!(stats(&phone).code, 0);
    let refused = stats(&laptop);
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains("KEEPSAKE_API_KEY"),
        "{}",
        refused.stderr
    );
    let log = service.stop();
    assert!(!log.contains(&laptop) && !log.contains(&phone), "{log}");
}

#[test]
fn a_change_is_in_use_within_a_second_and_a_broken_edit_under_load_changes_nothing() {
    let home = Home::new();
    home.write("config.json", r#"{"top_k": 2}"#);
    let service = Service::start(&home);
    for number in 0..6 {
        let content = format!("The lighthouse number {number} opens in April");
        service.post("/v1/memories", &json!({"content": content}));
    }
    let (stop, wrong, answered) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let search = "/v1/search?q=lighthouse&min_score=0";
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let found = results(&service.get(search));
                    answered.fetch_add(1, Ordering::Relaxed);
                    wrong.fetch_add(u64::from(found != 2), Ordering::Relaxed);
                }
            });
        }
        for broken in [r#"{"top_k": "four"}"#, r#"{"top_k": 4"#, ""] {
            home.write("config.json", broken);
            let answer = service.wait_for("/readyz", |answer| answer["reasons"] != json!([]));
            assert_eq!(answer["ready"], true, "{answer:#}");
            let reason = answer["reasons"][0].as_str().unwrap();
            assert!(reason.starts_with("configuration: `"), "{reason}");
            assert!(reason.contains("config.json`, line 1"), "{reason}");
            home.write("config.json", r#"{"top_k": 2}"#);
            service.wait_for("/readyz", |answer| answer["reasons"] == json!([]));
        }
        stop.store(true, Ordering::Relaxed);
    });
    let answered = answered.load(Ordering::Relaxed);
    assert!(answered > 20, "only {answered} requests were running");
    assert_eq!(wrong.load(Ordering::Relaxed), 0, "of {answered} requests");

    home.write("config.json", r#"{"top_k": 4}"#);
    service.wait_for(search, |answer| results(answer) == 4);

    let log = service.stop();
    assert!(
        log.contains("cannot be used, the former one stays in use"),
        "{log}"
    );
    assert!(
        log.contains(r#"`top_k` is `"four"`, allowed is a whole number from 1 to 1000"#),
        "{log}"
    );
}

#[test]
fn a_session_that_begins_sees_the_newest_settings_and_one_state_of_them() {
    let home = Home::new();
    let states = [
        r#"{"top_k": 2, "tag_filter": "two"}"#,
        r#"{"top_k": 3, "tag_filter": "three"}"#,
    ];
    home.write("config.json", states[0]);
    let service = Service::start(&home);
    assert_eq!(service.begin_session()["reloaded"], false);
    for round in 1..20 {
        home.write("config.json", states[round % 2]);
        let settings = service.begin_session()["settings"].clone();
        let expected = [(2, "two"), (3, "three")][round % 2];
        assert_eq!(
            (&settings["top_k"], &settings["tag_filter"]),
            (&json!(expected.0), &json!([expected.1]))
        );
    }
    service.stop();
}

#[test]
fn a_change_that_needs_a_restart_says_so() {
    let home = Home::new();
    home.write("config.json", "{}");
    let service = Service::start(&home);
    home.write(
        "config.json",
        r#"{"data_dir": "/nowhere", "store": "embedded"}"#,
    );
    let answer = service.wait_for("/readyz", |answer| answer["reasons"] != json!([]));
    assert_eq!(answer["ready"], true);
    assert_eq!(
        answer["reasons"],
        json!(["configuration: `store` changed: restart to use it"]),
        "the environment says where the data is"
    );
    service.stop();
}
