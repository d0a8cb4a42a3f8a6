//! Embedding services, well-behaved and not: meaning may be lost for a while, a memory never.

use std::time::{Duration, Instant};

use keepsake::embedding::Choice;
use serde_json::{Value, json};

use crate::answers::list;
use crate::support::TestServer;
use crate::vector_service::{Manner, VectorService};

/// Generous: a slow machine is no failure.
const LONG: Duration = Duration::from_secs(60);

fn served_by(service: &VectorService) -> TestServer {
    let choice = service.choice("words");
    TestServer::start_with(|settings| {
        settings.embedder = choice;
    })
}

/// Asks again until the embedder's part of `/readyz` says this.
fn wait_until(server: &TestServer, state: &str) -> Value {
    let since = Instant::now();
    loop {
        let ready = server.get("/readyz").body;
        if ready["embedder"]["state"] == state {
            return ready;
        }
        assert!(since.elapsed() < LONG, "{ready:#}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// How many memories have no vector of the current model.
fn missing(server: &TestServer) -> i64 {
    let counted = server.post("/v1/maintenance/backfill", json!({"dry_run": true}));
    assert_eq!(counted.status, 200, "{:#}", counted.body);
    counted.body["without_vector"].as_i64().unwrap()
}

/// Waits until no memory lacks its vector.
fn settle(server: &TestServer) {
    let since = Instant::now();
    while missing(server) > 0 {
        assert!(since.elapsed() < 2 * LONG, "the vectors did not follow");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_service_that_is_named_gives_meaning() {
    let service = VectorService::start(Manner::Good);
    let server = served_by(&service);
    wait_until(&server, "ready");
    server.add_all(&["the car is in the garage", "tomatoes ripen in August"]);
    settle(&server);
    let found = server.search(json!({"query": "automobile"}));
    assert_eq!(found["mode"], "hybrid");
    assert_eq!(found["results"][0]["content"], "the car is in the garage");
    assert_eq!(found["results"][0]["found_by"][0]["kind"], "vector");
    assert!(
        service
            .seen()
            .keys
            .iter()
            .all(|key| key == "Bearer secret-key")
    );
}

#[test]
fn the_same_text_is_asked_once() {
    let service = VectorService::start(Manner::Good);
    let server = served_by(&service);
    wait_until(&server, "ready");
    server.add_all(&["the car is in the garage"]);
    settle(&server);
    service.seen();
    for _ in 0..3 {
        server.search(json!({"query": "automobile"}));
    }
    assert_eq!(service.seen().texts, ["automobile"]);
}

#[test]
fn many_memories_go_in_batches() {
    let service = VectorService::start(Manner::Good);
    let server = served_by(&service);
    wait_until(&server, "ready");
    service.seen();
    let items: Vec<Value> = (0..150)
        .map(|number| json!({"content": format!("memory number {number}"), "is_primary": true}))
        .collect();
    assert_eq!(server.post("/v1/memories/batch", json!(items)).status, 200);
    let batches = service.seen().batches;
    assert!(batches.iter().sum::<usize>() >= 150, "{batches:?}");
    assert!(
        batches[0] == 64 && batches.iter().all(|batch| *batch <= 64),
        "{batches:?}"
    );
}

#[test]
fn a_useless_answer_costs_the_meaning_and_is_named() {
    for (manner, named) in [
        (Manner::NotNumbers, "empty, zero or not finite"),
        (Manner::Zero, "empty, zero or not finite"),
        (Manner::Empty, "empty, zero or not finite"),
        (Manner::Short, "vectors for"),
        (Manner::Garbage, "cannot be read"),
        (Manner::Refuses, "status 401"),
    ] {
        let service = VectorService::start(manner);
        let server = served_by(&service);
        server.add_all(&["the car is in the garage"]);
        let found = server.search(json!({"query": "car"}));
        assert_eq!(found["mode"], "lexical", "{manner:?}");
        assert_eq!(list(&found["results"]).len(), 1, "{manner:?}");
        assert!(
            found["degraded"][0]
                .as_str()
                .unwrap()
                .starts_with("lexical only"),
            "{manner:?} {found:#}"
        );
        let ready = wait_until(&server, "failing");
        assert_eq!(ready["ready"], true, "words find without it");
        assert!(
            ready["reasons"][0].as_str().unwrap().contains(named),
            "{manner:?} {ready:#}"
        );
    }
}

#[test]
fn a_vector_of_another_size_is_refused_and_words_go_on() {
    let service = VectorService::start(Manner::Good);
    let server = served_by(&service);
    wait_until(&server, "ready");
    server.add_all(&["the car is in the garage"]);
    settle(&server);
    service.become_(Manner::Dimension(100));
    let found = server.search(json!({"query": "garage"}));
    assert_eq!(found["mode"], "lexical");
    assert_eq!(found["results"][0]["content"], "the car is in the garage");
    let degraded = found["degraded"][0].as_str().unwrap();
    assert!(
        degraded.contains("100 numbers instead of 256"),
        "{degraded}"
    );
}

#[test]
fn meaning_alone_that_cannot_be_had_is_an_error_with_a_time_to_try_again() {
    let service = VectorService::start(Manner::Refuses);
    let server = served_by(&service);
    let answer = server.post(
        "/v1/search",
        json!({"query": "car", "mode": "vector", "is_primary": true}),
    );
    assert_eq!(answer.status, 503, "{:#}", answer.body);
    assert!(answer.headers.contains_key("retry-after"));
}

#[test]
fn a_write_does_not_wait_for_a_slow_embedder_and_its_vector_follows() {
    let service = VectorService::start(Manner::Good);
    let server = served_by(&service);
    wait_until(&server, "ready");
    service.become_(Manner::Slow);
    let since = Instant::now();
    server.add_all(&["the car is in the garage", "tomatoes ripen in August"]);
    let found = server.search(json!({"query": "garage"}));
    assert!(
        since.elapsed() < Duration::from_secs(20),
        "the second write did not wait again"
    );
    assert_eq!(found["results"][0]["content"], "the car is in the garage");
    assert_eq!(missing(&server), 2);
    service.become_(Manner::Good);
    settle(&server);
    let found = server.search(json!({"query": "automobile", "mode": "vector"}));
    assert_eq!(found["results"][0]["content"], "the car is in the garage");
}

#[test]
fn a_busy_service_is_asked_again_when_it_says() {
    let service = VectorService::start(Manner::Busy(1));
    let server = served_by(&service);
    wait_until(&server, "ready");
    service.become_(Manner::Fails(1));
    server.add_all(&["the car is in the garage"]);
    settle(&server);
}

#[test]
fn another_model_of_the_same_size_is_never_compared_with_the_old_one() {
    let service = VectorService::start(Manner::Good);
    let server = served_by(&service);
    wait_until(&server, "ready");
    let contents: Vec<String> = (0..50)
        .map(|number| format!("the car number {number}"))
        .collect();
    server.add_all(&contents.iter().map(String::as_str).collect::<Vec<_>>());
    settle(&server);
    service.become_(Manner::Refuses);
    let (old, new) = (service.choice("words"), service.choice("other"));
    let server = server.restart_with(|settings| settings.embedder = new);
    let found = server.search(json!({"query": "car number 7"}));
    assert_eq!(
        (&found["mode"], found["results"][0]["content"].as_str()),
        (&json!("lexical"), Some("the car number 7"))
    );
    service.become_(Manner::Good);
    wait_until(&server, "ready");
    assert_eq!(missing(&server), 0);
    assert_eq!(
        server.search(json!({"query": "automobile"}))["mode"],
        "hybrid"
    );
    service.seen();
    let server = server.restart_with(|settings| settings.embedder = old);
    wait_until(&server, "ready");
    assert_eq!(missing(&server), 0);
    let asked = service.seen().texts;
    assert!(
        !asked.iter().any(|text| text.starts_with("the car")),
        "switching back asks for no memory again"
    );
}

#[test]
fn another_dimension_loses_nothing() {
    let service = VectorService::start(Manner::Good);
    let server = served_by(&service);
    wait_until(&server, "ready");
    server.add_all(&["the car is in the garage"]);
    service.become_(Manner::Dimension(100));
    let other = service.choice("smaller");
    let server = server.restart_with(|settings| settings.embedder = other);
    wait_until(&server, "ready");
    let found = server.search(json!({"query": "automobile", "mode": "vector"}));
    assert_eq!(found["results"][0]["content"], "the car is in the garage");
    let server = server.restart_with(|settings| settings.embedder = Choice::None);
    assert_eq!(server.found("garage"), ["the car is in the garage"]);
}

#[test]
fn without_an_embedder_words_alone_find_and_meaning_is_refused() {
    let server = TestServer::start_with(|settings| {
        settings.embedder = Choice::None;
    });
    server.add_all(&["the car is in the garage"]);
    assert_eq!(server.search(json!({"query": "garage"}))["mode"], "lexical");
    for mode in ["vector", "hybrid"] {
        let fields = json!({"query": "garage", "mode": mode});
        let answer = server.post("/v1/search", fields);
        assert_eq!(answer.status, 422, "{:#}", answer.body);
        assert_eq!(answer.body["errors"][0]["field"], "mode");
    }
}

#[test]
fn reindex_gives_every_memory_its_vector_and_tells_the_counts() {
    let folder = tempfile::tempdir().unwrap();
    let keepsake = |embedder: &str, args: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_keepsake"))
            .args(args)
            .arg("--data-dir")
            .arg(folder.path())
            .env("KEEPSAKE_EMBEDDER", embedder)
            .env("HOME", "/nonexistent")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    keepsake("none", &["add", "the car is in the garage"]);
    keepsake("none", &["add", "tomatoes ripen in August"]);
    let told = keepsake("builtin", &["reindex"]);
    assert!(told.contains("now 2 have one and 0 have none"), "{told}");
    let again = keepsake("builtin", &["reindex"]);
    assert!(again.contains("0 memories had no vector"), "{again}");
}
