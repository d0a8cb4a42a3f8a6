//! The order of an answer: word relevance first, moved by the six factors.

use serde_json::json;

use crate::answers::{contents, hit, ids, list, number};
use crate::support::TestServer;
use crate::unrelated::UNRELATED;

#[test]
fn a_score_is_the_product_of_the_six_factors() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let liked = server.add(json!({"content": "WOW!!! The greenhouse is wonderful!!!", "created_at": "2026-02-01T00:00:00Z"}));
    server.add(json!({"content": "The greenhouse needs new glass panes", "created_at": "2024-02-01T00:00:00Z"}));
    server.add(json!({"content": "She hates how the greenhouse smells"}));
    server.post(
        "/v1/feedback",
        json!({"id": liked, "useful": true, "is_primary": true}),
    );

    let body =
        server.search(json!({"query": "greenhouse glass", "mode": "lexical", "min_score": 0}));

    assert_eq!(list(&body["results"]).len(), 3, "{body:#}");
    for hit in list(&body["results"]) {
        let product: f64 = [
            "similarity",
            "decay",
            "emotion",
            "feedback",
            "hot_topic",
            "attention",
        ]
        .iter()
        .map(|factor| number(&hit["factors"][factor]))
        .product();
        assert!((product - number(&hit["score"])).abs() < 1e-6, "{hit:#}");
    }
}

#[test]
fn results_come_best_score_first() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add_all(&[
        "The greenhouse needs new glass panes",
        "A greenhouse warms seedlings",
        "Glass panes of the greenhouse were cleaned with vinegar",
    ]);

    let body = server.search(json!({"query": "greenhouse glass panes"}));

    let scores: Vec<f64> = list(&body["results"])
        .iter()
        .map(|hit| number(&hit["score"]))
        .collect();
    assert!(
        scores.is_sorted_by(|better, worse| better >= worse),
        "{scores:?}"
    );
}

#[test]
fn more_matching_words_score_higher() {
    let server = TestServer::start_lexical();
    server.add_all(&UNRELATED);
    server.add_all(&[
        "zircon marble granite basalt",
        "zircon obsidian slate pumice",
        "zircon obsidian feldspar quartz",
    ]);

    let body = server.search(json!({"query": "zircon obsidian feldspar", "min_score": 0}));

    assert_eq!(
        contents(&body),
        [
            "zircon obsidian feldspar quartz",
            "zircon obsidian slate pumice",
            "zircon marble granite basalt"
        ]
    );
    let scores: Vec<f64> = list(&body["results"])
        .iter()
        .map(|hit| number(&hit["score"]))
        .collect();
    assert!(scores[0] > scores[1] && scores[1] > scores[2], "{scores:?}");
}

#[test]
fn a_rare_word_weighs_more_than_a_common_one() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    for room in ["attic", "cellar", "pantry", "study", "porch"] {
        server.add(json!({"content": format!("lamp {room} bulb")}));
    }
    server.add(json!({"content": "zircon ring box"}));

    let body = server.search(json!({"query": "lamp zircon", "mode": "lexical"}));

    assert_eq!(contents(&body)[0], "zircon ring box");
}

#[test]
fn of_two_equal_matches_the_shorter_memory_leads() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add_all(&[
        "The zircon came up once while we were talking about holidays, trains, dinner, \
         the neighbours, their hedge, a broken umbrella and the price of firewood",
        "zircon ring box",
    ]);

    let body = server.search(json!({"query": "zircon", "mode": "lexical"}));

    assert_eq!(contents(&body)[0], "zircon ring box");
}

#[test]
fn bad_feedback_sinks_a_memory() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add_all(&["Anna prefers Rust projects", "Boris prefers Rust projects"]);
    let first = ids(&server.search(json!({"query": "prefers Rust projects"}))).remove(0);
    for _ in 0..5 {
        server.post(
            "/v1/feedback",
            json!({"id": first, "useful": false, "is_primary": true}),
        );
    }

    let after = server.search(json!({"query": "prefers Rust projects"}));

    assert_eq!(ids(&after)[1], first, "{after:#}");
}

#[test]
fn a_corrected_memory_never_appears() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let id = server.add(json!({"content": "The capital of France is Lyon"}));
    let answer = server.post("/v1/corrections", json!({"ids": [id], "is_primary": true}));
    assert_eq!(answer.body["corrected"], 1, "{:#}", answer.body);

    let bodies = [
        server.search(json!({"query": "capital of France"})),
        server.search(json!({"query": "capital of France", "min_score": 0, "top_k": 100, "include_expired": true})),
        server.prefetch(json!({"query": "capital of France Lyon"})),
    ];

    for body in bodies {
        assert!(!ids(&body).contains(&id), "{body:#}");
    }
}

#[test]
fn an_undone_correction_shows_the_memory_again() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let id = server.add(json!({"content": "The capital of Australia is Canberra"}));
    server.post("/v1/corrections", json!({"ids": [id], "is_primary": true}));

    let answer = server.delete(&format!("/v1/corrections/{id}?is_primary=true"));

    assert_eq!(answer.status, 200, "{:#}", answer.body);
    assert_eq!(
        server.found("Canberra"),
        ["The capital of Australia is Canberra"]
    );
}

#[test]
fn relevance_beats_all_boosts_together() {
    let server = TestServer::start();
    for rule in 1..=48 {
        server.add(json!({"content": format!("house rule {rule} concerns the laundry"), "created_at": "2025-12-01T00:00:00Z"}));
    }
    server.add(json!({
        "content": "The notary keeps the spare passport of the house owner",
        "created_at": "2025-06-01T00:00:00Z",
    }));
    let loud = server.add(
        json!({"content": "WOW!!! Such a super wonderful party in this house!!! We love it!!!"}),
    );
    for _ in 0..3 {
        server.post(
            "/v1/feedback",
            json!({"id": loud, "useful": true, "is_primary": true}),
        );
    }

    let query = "which notary keeps the spare passport of the house";
    for body in [
        server.search(json!({"query": query})),
        server.prefetch(json!({"query": query})),
    ] {
        assert_eq!(
            contents(&body)[0],
            "The notary keeps the spare passport of the house owner"
        );
    }
}

#[test]
fn a_memory_of_two_years_ago_is_still_first() {
    let server = TestServer::start();
    server.add(json!({"content": "passport number is in the blue folder", "created_at": "2024-06-01T00:00:00Z"}));
    for day in 0..100 {
        server.add(json!({"content": format!("lunch order {day} was a soup and a blue drink")}));
    }

    assert_eq!(
        server.found("where is my passport")[0],
        "passport number is in the blue folder"
    );
}

#[test]
fn a_memory_from_the_future_has_age_zero() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let id = server
        .add(json!({"content": "The comet passes again", "created_at": "2099-01-01T00:00:00Z"}));

    let body = server.search(json!({"query": "comet"}));

    let decay = number(&hit(&body, &id)["factors"]["decay"]);
    assert!((decay - 1.0).abs() < 1e-9, "decay {decay}");
}

#[test]
fn a_search_repeated_gives_the_same_order() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    for shelf in 1..=20 {
        server.add(json!({"content": format!("copper kettle on shelf {shelf}")}));
    }
    let search =
        || ids(&server.search(json!({"query": "copper kettle", "top_k": 20, "min_score": 0})));

    let first = search();

    assert_eq!(first.len(), 20);
    for _ in 0..5 {
        assert_eq!(search(), first);
    }
}
