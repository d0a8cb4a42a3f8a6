//! Bounded, but alive: the least and the most that each factor may do, all
//! else equal, with the default configuration (retrieval.md, section 6).
//!
//! Numbers make the memories here differ: they are terms, but neither keywords
//! nor topics, and two texts whose numbers differ are never "the same entry".

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::answers::{hit, ids, list, number};
use crate::support::TestServer;
use crate::unrelated::UNRELATED;

const NOW: &str = "2026-06-01T12:00:00Z";
const SIXTY_DAYS_AGO: &str = "2026-04-02T12:00:00Z";
const FOUR_HUNDRED_DAYS_AGO: &str = "2025-04-27T12:00:00Z";

#[test]
fn similarity_falls_as_a_memory_grows() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    add_ladder(&server, |_| NOW);

    let body = lexical(&server, "copper kettle");

    let similarities: Vec<_> = list(&body["results"])
        .iter()
        .map(|hit| number(&hit["factors"]["similarity"]))
        .collect();
    assert_eq!(similarities.len(), 16);
    assert!(
        similarities.is_sorted_by(|more, less| more > less),
        "{similarities:?}"
    );
}

#[test]
fn one_useful_lifts_a_memory_over_its_equal() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add_all(&["copper kettle on shelf 41", "copper kettle on shelf 72"]);
    let second = ids(&lexical(&server, "copper kettle")).remove(1);

    feedback(&server, &second, true);

    assert_eq!(ids(&lexical(&server, "copper kettle"))[0], second);
}

#[test]
fn one_useful_lifts_a_memory_over_five_per_cent_more_similarity() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    add_ladder(&server, |_| NOW);
    let chosen = lowest_within(&lexical(&server, "copper kettle"), 1.05);

    feedback(&server, &chosen, true);

    assert_eq!(ids(&lexical(&server, "copper kettle"))[0], chosen);
}

#[test]
fn one_useless_drops_a_memory_under_fifteen_per_cent_less_similarity() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    add_ladder(&server, |_| NOW);
    let before = lexical(&server, "copper kettle");
    let best = ids(&before).remove(0);
    let rival = lowest_within(&before, 1.0 / 0.85);

    feedback(&server, &best, false);

    let after = ids(&lexical(&server, "copper kettle"));
    assert!(place(&after, &rival) < place(&after, &best));
}

#[test]
fn of_two_equal_memories_the_newer_leads() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let older =
        server.add(json!({"content": "copper kettle on shelf 41", "created_at": SIXTY_DAYS_AGO}));
    let newer = server.add(json!({"content": "copper kettle on shelf 72", "created_at": NOW}));

    let body = lexical(&server, "copper kettle");

    assert!(score(&body, &newer) > score(&body, &older), "{body:#}");
    assert!(
        factor(&body, &newer, "decay") > factor(&body, &older, "decay"),
        "{body:#}"
    );
}

#[test]
fn an_old_memory_with_thirty_per_cent_more_similarity_stays_first() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let ladder = add_ladder(&server, |step| {
        if step == 0 {
            FOUR_HUNDRED_DAYS_AGO
        } else {
            NOW
        }
    });
    let old = &ladder[0];

    let body = lexical(&server, "copper kettle");

    let limit = factor(&body, old, "similarity") / 1.3;
    let weaker: Vec<_> = ladder
        .iter()
        .filter(|id| factor(&body, id, "similarity") <= limit)
        .collect();
    assert!(!weaker.is_empty(), "the ladder is too short: {body:#}");
    for id in weaker {
        assert!(score(&body, old) > score(&body, id), "{:#}", hit(&body, id));
    }
}

#[test]
fn an_excited_memory_beats_an_equal_calm_one() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let calm = server.add(json!({"content": "The copper kettle on shelf 41 is ready."}));
    let excited = server.add(json!({"content": "The copper kettle on shelf 72 is ready!!!"}));

    let body = lexical(&server, "copper kettle");

    assert!(
        factor(&body, &excited, "emotion") > factor(&body, &calm, "emotion"),
        "{body:#}"
    );
    assert!(score(&body, &excited) > score(&body, &calm), "{body:#}");
}

#[test]
fn a_hot_topic_moves_a_memory_by_at_least_one_per_cent() {
    let server = server_with_ten_hot_topics();
    let hot = server.add(json!({"content": "copper kettle 41 marathon"}));
    let cold = server.add(json!({"content": "copper kettle 72 hallway"}));

    let body = once(&server, "copper kettle", |body| {
        factor(body, &hot, "hot_topic") > 1.0
    });

    let ratio = factor(&body, &hot, "hot_topic") / factor(&body, &cold, "hot_topic");
    assert!(ratio >= 1.01, "{body:#}");
}

#[test]
fn hot_topics_and_attention_move_a_memory_by_at_most_twenty_per_cent() {
    let server = server_with_ten_hot_topics();
    let hot = server.add(json!({
        "content": "kettle marathon training shoes stretching hydration violin orchestra rehearsal concert sonata",
    }));

    let body = once(&server, "kettle", |body| {
        factor(body, &hot, "hot_topic") > 1.0
    });

    let moved = factor(&body, &hot, "hot_topic") * factor(&body, &hot, "attention");
    assert!((1.0..=1.2 + 1e-9).contains(&moved), "{body:#}");
}

#[test]
fn feedback_is_reported_as_its_formula_says() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let id = server.add(json!({"content": "copper kettle on shelf 41"}));

    // Useful adds 1, useless takes 2; the boost is full at 3, the penalty at -3.
    for (useful, expected) in [
        (true, 1.1),
        (true, 1.2),
        (true, 1.3),
        (true, 1.3),
        (false, 1.2),
        (false, 1.0),
        (false, 1.0 - 0.5 * 2.0 / 3.0),
        (false, 0.5),
    ] {
        feedback(&server, &id, useful);
        let feedback = factor(&lexical(&server, "copper kettle"), &id, "feedback");
        assert!(
            (feedback - expected).abs() < 1e-6,
            "{feedback} where {expected} was expected"
        );
    }
}

#[test]
fn neither_feedback_nor_an_edit_makes_a_memory_young() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let id =
        server.add(json!({"content": "copper kettle on shelf 41", "created_at": SIXTY_DAYS_AGO}));
    let before = factor(&lexical(&server, "copper kettle"), &id, "decay");

    feedback(&server, &id, true);
    server.patch(
        &format!("/v1/memories/{id}?is_primary=true"),
        json!({"tags": ["kitchen"]}),
    );

    let after = factor(&lexical(&server, "copper kettle"), &id, "decay");
    assert!(
        before < 1.0 && (after - before).abs() < 1e-9,
        "{before} became {after}"
    );
}

/// Memories with the same words and ever more numbers behind them: each is a
/// little less similar to the words than the one before.
fn add_ladder(server: &TestServer, created_at: impl Fn(usize) -> &'static str) -> Vec<String> {
    // Three equal digits in a row could read as excitement.
    let mut numbers = (30_123..)
        .map(|number| number.to_string())
        .filter(|number| {
            !number
                .as_bytes()
                .windows(3)
                .any(|digits| digits[0] == digits[1] && digits[1] == digits[2])
        });
    (0..16)
        .map(|step| {
            let tail: Vec<_> = numbers.by_ref().take(16 + 2 * step).collect();
            let content = format!("copper kettle shelf pantry drawer {}", tail.join(" "));
            server.add(json!({"content": content, "created_at": created_at(step)}))
        })
        .collect()
}

/// The least similar memory that the best one exceeds by at most this ratio.
fn lowest_within(body: &Value, ratio: f64) -> String {
    let ids = ids(body);
    let best = factor(body, &ids[0], "similarity");
    let lowest = ids
        .iter()
        .skip(1)
        .filter(|id| best <= ratio * factor(body, id, "similarity"))
        .min_by(|a, b| factor(body, a, "similarity").total_cmp(&factor(body, b, "similarity")));
    lowest
        .unwrap_or_else(|| panic!("no memory is within {ratio}: {body:#}"))
        .clone()
}

/// Ten topics that were mentioned more often today than anything else.
fn server_with_ten_hot_topics() -> TestServer {
    let server = TestServer::start();
    for number in 1..=6 {
        server.add(
            json!({"content": format!("marathon training shoes stretching hydration {number}")}),
        );
        server
            .add(json!({"content": format!("violin orchestra rehearsal concert sonata {number}")}));
    }
    server
}

/// The answer once the service knows its topics, which it promises within a second.
fn once(server: &TestServer, query: &str, known: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let body = lexical(server, query);
        if known(&body) {
            return body;
        }
        assert!(
            Instant::now() < deadline,
            "not within five seconds: {body:#}"
        );
    }
}

fn lexical(server: &TestServer, query: &str) -> Value {
    server.search(json!({"query": query, "mode": "lexical", "top_k": 50, "min_score": 0}))
}

fn feedback(server: &TestServer, id: &str, useful: bool) {
    let answer = server.post(
        "/v1/feedback",
        json!({"id": id, "useful": useful, "is_primary": true}),
    );
    assert_eq!(answer.status, 200, "{:#}", answer.body);
}

fn factor(body: &Value, id: &str, name: &str) -> f64 {
    number(&hit(body, id)["factors"][name])
}

fn score(body: &Value, id: &str) -> f64 {
    number(&hit(body, id)["score"])
}

fn place(ids: &[String], id: &str) -> usize {
    ids.iter()
        .position(|other| other == id)
        .expect("the memory is in the answer")
}
