//! How well duplicates are told from what only looks like one: the labelled pairs of
//! `tests/data/duplicates/pairs.tsv`, each stored in a namespace of its own, through the real job.
//!
//! `cargo test --release --test api pairs -- --nocapture` prints what was found of each kind.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use super::support::TestServer;

const PAIRS: &str = include_str!("../data/duplicates/pairs.tsv");

struct Pair {
    kind: &'static str,
    language: &'static str,
    older: &'static str,
    newer: &'static str,
}

fn pairs() -> Vec<Pair> {
    let lines = PAIRS.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines
        .map(|line| {
            let columns: Vec<&str> = line.split('\t').collect();
            let [kind, language, _, older, newer] = columns.try_into().unwrap();
            Pair {
                kind,
                language,
                older,
                newer,
            }
        })
        .collect()
}

/// What the job is to do with a pair of a kind.
fn expected(kind: &str) -> Option<&'static str> {
    match kind {
        "paraphrase" | "surface" => Some("supersede"),
        "new_value" => Some("new_value"),
        _ => None,
    }
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "what was found of each kind is read by people, with --nocapture"
)]
fn duplicates_are_told_from_what_only_looks_like_one() {
    let server = TestServer::start();
    let pairs = pairs();
    let mut items: Vec<Value> = Vec::new();
    for (number, pair) in pairs.iter().enumerate() {
        for (content, day) in [(pair.older, 1), (pair.newer, 2)] {
            items.push(json!({
                "content": content, "namespace": format!("pair{number}"), "is_primary": true,
                "created_at": format!("2026-05-0{day}T08:00:00Z"),
            }));
        }
    }
    let mut ids: HashMap<String, usize> = HashMap::new();
    for chunk in items.chunks(500) {
        let answer = server.post("/v1/memories/batch", Value::from(chunk.to_vec()));
        for result in answer.body["results"].as_array().unwrap() {
            let id = result["id"].as_str().unwrap().to_owned();
            let number = ids.len() / 2;
            ids.insert(id, number);
        }
    }
    let done = server.post("/v1/maintenance/dedup", json!({}));
    assert_eq!(done.status, 200, "{:#}", done.body);
    let mut found: HashMap<usize, &str> = HashMap::new();
    for item in done.body["items"].as_array().unwrap() {
        let number = ids[item["id"].as_str().unwrap()];
        found.insert(number, item["action"].as_str().unwrap());
    }
    let (mut right, mut wrong) = (0, 0);
    let mut table: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    for (number, pair) in pairs.iter().enumerate() {
        let (got, wanted) = (found.get(&number).copied(), expected(pair.kind));
        let row = table.entry((pair.kind, pair.language)).or_default();
        row.1 += 1;
        row.0 += usize::from(got == wanted);
        match got {
            Some(_) if got == wanted => right += 1,
            Some(_) => wrong += 1,
            None => {}
        }
        if got != wanted {
            println!("{} {got:?}: {} | {}", pair.kind, pair.older, pair.newer);
        }
    }
    for ((kind, language), (right, all)) in &table {
        println!("{kind} {language}: {right} of {all} as labelled");
    }
    let precision = f64::from(right) / f64::from(right + wrong);
    let of = |kind: &str| {
        let rows = table.iter().filter(|((one, _), _)| *one == kind);
        rows.fold((0, 0), |sum, (_, row)| (sum.0 + row.0, sum.1 + row.1))
    };
    let (merged, paraphrases) = of("paraphrase");
    let recall = merged as f64 / paraphrases as f64;
    println!("precision {precision:.4}, recall of paraphrases {recall:.3}");
    assert!(precision >= 0.99, "precision {precision:.4}");
    assert!(recall >= 0.7, "recall of paraphrases {recall:.3}");
}
