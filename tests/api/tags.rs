//! Tags filter exactly, whatever characters they hold, and feedback reaches
//! exactly the memory that it names.

use serde_json::json;

use crate::answers::{
    assert_problem, assert_rejects_field, column, contents, hit, ids, list, number, sorted,
};
use crate::support::{TestServer, encode};
use crate::unrelated::UNRELATED;

#[test]
fn several_tags_in_a_filter_mean_any_of_them() {
    let server = server_with_tagged_alphas();

    let body = server.search(json!({"query": "alpha", "tag_filter": ["work", "home"]}));
    assert_eq!(sorted(contents(&body)), ["alpha database", "alpha garden"]);

    let answer = server.get("/v1/search?q=alpha&tag_filter=work,home&is_primary=true");
    assert_eq!(
        sorted(contents(&answer.body)),
        ["alpha database", "alpha garden"]
    );
}

#[test]
fn tag_match_all_wants_every_tag() {
    let server = server_with_tagged_alphas();
    server.add(json!({"content": "alpha notebook", "tags": ["work", "home"]}));

    let body = server
        .search(json!({"query": "alpha", "tag_filter": ["work", "home"], "tag_match": "all"}));

    assert_eq!(contents(&body), ["alpha notebook"]);
}

#[test]
fn a_tag_filter_guards_every_way_to_match() {
    let server = server_with_tagged_alphas();
    server.add(json!({"content": "The MySQL dump is on the NAS", "tags": ["home"]}));

    // By content, by entity, by the tag's own name.
    for (query, expected) in [
        ("alpha", vec!["alpha database"]),
        ("MySQL", vec![]),
        ("home", vec![]),
    ] {
        let body = server.search(json!({"query": query, "tag_filter": ["work"]}));
        assert_eq!(contents(&body), expected, "search for {query}");
        let body = server.prefetch(json!({"query": query, "tag_filter": ["home"]}));
        assert!(
            !contents(&body).contains(&"alpha database".to_owned()),
            "prefetch of {query}"
        );
    }
}

#[test]
fn every_tag_can_be_filtered_by() {
    let tags = [
        "k8s-prod",
        "ns:x",
        "my project",
        "hello:42",
        "a;b",
        "c,d",
        "main-brain",
        "wells fargo, n.a.",
        "c",
        "a",
        "hello",
        "brain",
        "项目",
    ];
    let server = TestServer::start();
    for (number, tag) in tags.iter().enumerate() {
        server.add(json!({"content": format!("inventory drawer {number}"), "tags": [tag]}));
    }

    for (number, tag) in tags.iter().enumerate() {
        let body = server.search(json!({"query": "inventory", "tag_filter": [tag], "top_k": 20}));
        assert_eq!(
            contents(&body),
            [format!("inventory drawer {number}")],
            "tag {tag}"
        );
    }
}

#[test]
fn a_tag_with_punctuation_filters_lists_and_the_command_line() {
    let server = TestServer::start();
    server.add(json!({"content": "inventory drawer one", "tags": ["hello:42"]}));
    server.add(json!({"content": "inventory drawer two", "tags": ["hello"]}));

    let listed = server.get(&format!(
        "/v1/memories?tag={}&is_primary=true",
        encode("hello:42")
    ));
    assert_eq!(
        column(&listed.body["items"], "content"),
        ["inventory drawer one"]
    );

    let output = server.cli(&["search", "inventory", "--tag", "hello:42", "--json"]);
    let body = serde_json::from_str(&output.stdout).expect("--json prints JSON");
    assert_eq!(contents(&body), ["inventory drawer one"]);
}

#[test]
fn query_words_that_are_tags_rank_below_content() {
    let server = server_with_tagged_pets();
    server.add(json!({"content": "The phone number of the front desk is 4471", "tags": ["user"]}));

    let body = server.search(json!({"query": "user phone number", "min_score": 0}));

    let hits = list(&body["results"]);
    assert_eq!(
        hits[0]["content"],
        "The phone number of the front desk is 4471"
    );
    for other in &hits[1..] {
        assert!(
            number(&other["score"]) < number(&hits[0]["score"]) / 2.0,
            "{other:#}"
        );
    }
}

#[test]
fn a_tag_that_every_memory_has_injects_nothing() {
    let server = server_with_tagged_pets();

    let body = server.prefetch(json!({"query": "user phone number"}));

    assert_eq!(body["context"], "", "{body:#}");
}

#[test]
fn a_tag_that_merely_contains_corrected_hides_nothing() {
    let server = TestServer::start();
    let id = server
        .add(json!({"content": "Chapter two is about whales", "tags": ["uncorrected-draft"]}));

    let body = server.search(json!({"query": "whales"}));

    assert!(number(&hit(&body, &id)["score"]) > 0.0);
}

#[test]
fn the_crowd_under_another_tag_does_not_use_up_the_window() {
    let server = TestServer::start();
    for ticket in 1..=120 {
        server.add(
            json!({"content": format!("lighthouse tour ticket {ticket}"), "tags": ["archive"]}),
        );
    }
    server.add(json!({"content": "The lighthouse tour starts at the pier beside the fish market", "tags": ["plan"]}));

    let body =
        server.search(json!({"query": "lighthouse tour", "tag_filter": ["plan"], "min_score": 0}));

    assert_eq!(
        contents(&body),
        ["The lighthouse tour starts at the pier beside the fish market"]
    );
}

#[test]
fn tags_that_name_an_agent_are_reserved() {
    let server = TestServer::start();

    let answer = server.post(
        "/v1/memories",
        json!({"content": "The sauna is booked", "tags": ["agent:alpha"]}),
    );

    assert_rejects_field(&answer, "tags");
}

#[test]
fn feedback_takes_the_id_that_search_shows() {
    let server = TestServer::start();
    server.add(json!({"content": "The sauna is booked on Fridays"}));
    let id = ids(&server.search(json!({"query": "sauna"}))).remove(0);

    let answer = server.post(
        "/v1/feedback",
        json!({"id": id, "useful": true, "is_primary": true}),
    );

    assert_eq!(answer.status, 200, "body: {:#}", answer.body);
    assert_eq!(answer.body["id"], json!(id));
    assert!((number(&answer.body["feedback"]) - 1.0).abs() < 1e-9);
}

#[test]
fn the_prefetched_block_shows_the_id_that_feedback_takes() {
    let server = TestServer::start();
    let id = server.add(json!({"content": "Proton Bridge IMAP credentials are in the vault"}));

    let context = server.prefetch(json!({"query": "proton bridge"}))["context"].to_string();

    assert!(context.contains(&id), "{context}");
    let output = server.cli(&["feedback", &id, "useful"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
}

#[test]
fn feedback_on_an_unknown_id_is_refused_and_writes_nothing() {
    let server = TestServer::start();
    server.add(json!({"content": "The sauna is booked on Fridays"}));

    for id in ["doesnotexist", "memory:frag:doesnotexist"] {
        assert_problem(
            &server.post(
                "/v1/feedback",
                json!({"id": id, "useful": true, "is_primary": true}),
            ),
            404,
        );
    }
    let foreign = json!({"id": "someapp:user:1", "useful": false, "is_primary": true});
    let status = server.post("/v1/feedback", foreign).status;
    assert!(matches!(status, 404 | 422), "a foreign key: {status}");
    assert_eq!(server.cli(&["feedback", "doesnotexist", "useful"]).code, 1);

    let listed = server.get("/v1/memories?is_primary=true");
    assert_eq!(
        column(&listed.body["items"], "content"),
        ["The sauna is booked on Fridays"]
    );
}

fn server_with_tagged_alphas() -> TestServer {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    for (content, tag) in [
        ("alpha database", "work"),
        ("alpha garden", "home"),
        ("alpha centauri", "sky"),
        ("alpha romeo", "car"),
    ] {
        server.add(json!({"content": content, "tags": [tag]}));
    }
    server
}

fn server_with_tagged_pets() -> TestServer {
    let server = TestServer::start();
    for content in [
        "Cats sleep most of the afternoon",
        "Dogs chase the postman",
        "Oranges arrived from Valencia",
    ] {
        server.add(json!({"content": content, "tags": ["user"]}));
    }
    server
}
