//! Found by meaning, with the model that is built in.

use serde_json::{Value, json};

use crate::answers::list;
use crate::support::TestServer;
use crate::unrelated::UNRELATED;

fn kinds(hit: &Value) -> Vec<&str> {
    list(&hit["found_by"])
        .iter()
        .map(|found| found["kind"].as_str().unwrap())
        .collect()
}

#[test]
fn a_question_finds_its_answer_in_the_other_language_and_in_other_words() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add_all(&[
        "部署流程：先运行 make build，然后 kubectl apply",
        "调试 JWT token 过期",
        "The doctor said that grandmother must not eat peanuts",
    ]);
    for (query, content) in [
        (
            "how to deploy the application",
            "部署流程：先运行 make build，然后 kubectl apply",
        ),
        (
            "祖母不能吃什么东西",
            "The doctor said that grandmother must not eat peanuts",
        ),
        (
            "what must granny avoid eating",
            "The doctor said that grandmother must not eat peanuts",
        ),
    ] {
        let found = server.search(json!({"query": query}));
        let first = &found["results"][0];
        assert_eq!(first["content"], content, "{query}");
        assert!(kinds(first).contains(&"vector"), "{query} {first:#}");
        assert_eq!(found["mode"], "hybrid");
    }
}

#[test]
fn modes_say_what_counts() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add_all(&["The lorry broke down on the motorway"]);
    let query = "truck breakdown on the highway";
    let words = server.search(json!({"query": query, "mode": "lexical"}));
    assert_eq!(
        (list(&words["results"]).len(), &words["mode"]),
        (0, &json!("lexical"))
    );
    for mode in ["vector", "hybrid", "auto"] {
        let found = server.search(json!({"query": query, "mode": mode}));
        let first = &found["results"][0];
        assert_eq!(first["content"], "The lorry broke down on the motorway");
        assert_eq!(kinds(first), ["vector"], "{mode}");
    }
    let alone = server.search(json!({"query": "lorry motorway", "mode": "vector"}));
    assert_eq!(kinds(&alone["results"][0]), ["vector"]);
    assert_eq!(alone["mode"], "vector");
}

#[test]
fn what_the_model_knows_nothing_of_is_searched_by_words() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add_all(&["🎉", "서버는 부산에 있다", "..."]);
    for (query, first) in [("🎉", "🎉"), ("부산", "서버는 부산에 있다")] {
        let found = server.search(json!({"query": query}));
        assert_eq!(found["results"][0]["content"], first);
        assert_eq!(found["mode"], "lexical", "{query} has no vector");
    }
    let unrelated =
        server.search(json!({"query": "winter tyres", "mode": "vector", "min_score": 0}));
    let contents: Vec<&Value> = list(&unrelated["results"])
        .iter()
        .map(|hit| &hit["content"])
        .collect();
    assert!(!contents.contains(&&json!("🎉")) && !contents.contains(&&json!("...")));
}

#[test]
fn an_edited_memory_means_what_it_says_now() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let id = server.add(json!({"content": "The lorry broke down on the motorway"}));
    let edited = server.patch(
        &format!("/v1/memories/{id}"),
        json!({"content": "Grandmother must not eat peanuts", "is_primary": true}),
    );
    assert_eq!(edited.status, 200, "{:#}", edited.body);
    let found = server.search(json!({"query": "nut allergy", "mode": "vector"}));
    assert_eq!(found["results"][0]["id"], id.as_str());
    let former = server.search(json!({"query": "truck breakdown", "mode": "vector"}));
    assert!(
        list(&former["results"])
            .iter()
            .all(|hit| hit["id"] != id.as_str())
    );
}

#[test]
fn found_by_words_and_meaning_is_never_below_found_by_one() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add_all(&["The lorry broke down on the motorway", "A lorry"]);
    let found = server.search(json!({"query": "lorry broke down"}));
    let first = &found["results"][0];
    assert_eq!(first["content"], "The lorry broke down on the motorway");
    assert!(kinds(first).contains(&"vector") && kinds(first).contains(&"term"));
}

#[test]
fn the_score_is_still_the_product_of_its_factors() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let found = server.search(json!({"query": "frost and seedlings", "min_score": 0}));
    for hit in list(&found["results"]) {
        let factors = hit["factors"].as_object().unwrap();
        let product: f64 = factors
            .values()
            .map(|factor| factor.as_f64().unwrap())
            .product();
        assert!((product - hit["score"].as_f64().unwrap()).abs() < 1e-9);
        assert!((0.0..=1.0).contains(&factors["similarity"].as_f64().unwrap()));
    }
}

#[test]
fn the_nearest_are_sought_among_what_tags_and_agents_allow() {
    let server = TestServer::start();
    for number in 0..120 {
        server.add(json!({"content": format!("The lorry broke down on motorway {number}"), "agent_id": "beta"}));
    }
    server
        .add(json!({"content": "A van with a flat tyre", "tags": ["wanted"], "agent_id": "alpha"}));
    let query = json!({"query": "truck breakdown", "mode": "vector", "min_score": 0});
    for (field, value) in [
        ("tag_filter", json!(["wanted"])),
        ("agent_id", json!("alpha")),
    ] {
        let mut fields = query.clone();
        fields[field] = value;
        if field == "agent_id" {
            fields["is_primary"] = json!(false);
        }
        let found = server.search(fields);
        assert_eq!(list(&found["results"]).len(), 1, "{field} {found:#}");
        assert_eq!(found["results"][0]["content"], "A van with a flat tyre");
    }
}
