//! Synonyms and the domain dictionary, found in what was stored.

use serde_json::{Value, json};

use super::support::TestServer;

fn job(server: &TestServer, name: &str) -> Value {
    let done = server.post(&format!("/v1/maintenance/{name}"), json!({}));
    assert_eq!(done.status, 200, "{:#}", done.body);
    done.body
}

fn tell(server: &TestServer, contents: impl Iterator<Item = String>) {
    let items: Vec<Value> = contents
        .map(|content| json!({"content": content, "is_primary": true}))
        .collect();
    for chunk in items.chunks(1_000) {
        let stored = server.post("/v1/memories/batch", Value::from(chunk.to_vec()));
        assert_eq!(stored.status, 200);
    }
}

fn synonyms(server: &TestServer) -> Value {
    server.get("/v1/synonyms").body["synonyms"].clone()
}

const SERVICES: [&str; 12] = [
    "billing", "search", "mail", "login", "report", "export", "image", "video", "queue", "audit",
    "quota", "invoice",
];

/// Two words that stand in the same contexts and never together, among much else.
fn contexts(server: &TestServer) {
    let places = [
        "staging cluster",
        "northern region",
        "test bench",
        "customer site",
    ];
    tell(
        server,
        (0..48).map(|number| {
            let (verb, service) = (["deploy", "release"][number % 2], SERVICES[number / 2 % 12]);
            let place = places[number / 2 % 4];
            format!(
                "we {verb} the {service} service to the {place} with the pipeline, case {number}"
            )
        }),
    );
    tell(
        server,
        (0..120).map(|number| {
            format!(
                "shelf {number} holds {} of the old harbour master",
                ["ropes", "lamps", "maps", "flags"][number % 4]
            )
        }),
    );
}

#[test]
fn words_that_merely_stand_together_are_no_synonyms() {
    let server = TestServer::start();
    tell(
        &server,
        (0..12).map(|number| format!("User prefers tea with breakfast number {number}")),
    );
    job(&server, "synonyms");
    assert_eq!(synonyms(&server), json!({}));
    tell(
        &server,
        (0..200).map(|number| {
            format!(
                "crate {number} is stored behind the {} door",
                ["blue", "green", "red"][number % 3]
            )
        }),
    );
    job(&server, "synonyms");
    let found = synonyms(&server);
    for word in [
        "user",
        "prefers",
        "tea",
        "breakfast",
        "number",
        "crate",
        "stored",
        "door",
    ] {
        assert_eq!(found[word], Value::Null, "{found:#}");
    }
}

#[test]
fn words_of_the_same_contexts_are_found_in_both_directions_and_used() {
    let server = TestServer::start();
    contexts(&server);
    let done = job(&server, "synonyms");
    let found = synonyms(&server);
    assert_eq!(
        found["deploy"],
        json!({"terms": ["release"], "origin": "found"}),
        "{done:#}"
    );
    assert_eq!(
        found["release"],
        json!({"terms": ["deploy"], "origin": "found"})
    );
    server.add(json!({"content": "release notes are kept in the wiki"}));
    let answer = server.search(json!({"query": "deploy wiki notes", "mode": "lexical"}));
    let by: Vec<&Value> = answer["results"][0]["found_by"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    assert!(by.iter().any(|by| by["kind"] == "synonym"), "{answer:#}");
}

#[test]
fn what_is_found_depends_on_the_memories_alone() {
    let (one, other) = (TestServer::start(), TestServer::start());
    contexts(&one);
    contexts(&other);
    job(&one, "synonyms");
    job(&other, "synonyms");
    assert_eq!(synonyms(&one), synonyms(&other));
    let again = job(&one, "synonyms");
    assert_eq!(again["changed"], 0, "{again:#}");
    for (term, entry) in synonyms(&one).as_object().unwrap() {
        for synonym in entry["terms"].as_array().unwrap() {
            let back = &synonyms(&one)[synonym.as_str().unwrap()]["terms"];
            assert!(back.as_array().unwrap().contains(&json!(term)), "{term}");
        }
    }
}

#[test]
fn entries_made_by_hand_win_and_found_ones_can_be_removed() {
    let server = TestServer::start();
    contexts(&server);
    server.put("/v1/synonyms/deploy", json!({"terms": ["ship"]}));
    job(&server, "synonyms");
    let found = synonyms(&server);
    assert_eq!(
        found["deploy"],
        json!({"terms": ["ship"], "origin": "manual"})
    );
    assert_eq!(found["release"], Value::Null);
    server.delete("/v1/synonyms/deploy");
    job(&server, "synonyms");
    assert_eq!(synonyms(&server)["deploy"]["origin"], "found");
    server.delete("/v1/synonyms/deploy");
    assert_eq!(synonyms(&server)["deploy"], Value::Null);
}

#[test]
fn a_word_that_the_segmenter_does_not_know_is_learnt_and_nothing_is_lost() {
    let server = TestServer::start();
    let early = server.add(json!({"content": "灵犀引擎的说明在书架上"}));
    tell(
        &server,
        (0..8).map(|number| format!("第{number}次会议讨论灵犀引擎的计划")),
    );
    let before = server.found("灵犀引擎");
    let done = job(&server, "dictionary");
    let words: Vec<&str> = done["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["id"].as_str().unwrap())
        .collect();
    assert!(words.contains(&"灵犀引擎"), "{done:#}");
    assert_eq!(done["version"], 1);
    let found = server.search(json!({"query": "灵犀引擎", "top_k": 20}));
    let ids: Vec<&Value> = found["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| &hit["id"])
        .collect();
    assert!(ids.contains(&&json!(early)), "{found:#}");
    assert!(!before.is_empty());
    let again = job(&server, "dictionary");
    assert_eq!(
        (&again["changed"], &again["version"]),
        (&json!(0), &json!(1))
    );
}
