//! Candidates for a query: which, in what order, and what comes along.

use super::samples::*;
use crate::memory::{Memory, NewMemory};
use crate::query::{Filters, Plan};
use crate::ranking::bm25::Scorer;
use crate::scope::Scope;
use crate::store::Store;

pub(crate) async fn what_was_just_written_is_found_and_what_was_deleted_is_not(store: &dyn Store) {
    let owner = Scope::owner();
    for round in 0..5 {
        let content = format!("port {round}");
        let memory = create(store, &owner, told(&content)).await;
        assert_eq!(search(store, "port").await, [content]);
        store.purge(&owner, &memory.id).await.unwrap();
        assert_eq!(search(store, "port").await, [""; 0]);
    }
}

pub(crate) async fn nothing_is_found_where_nothing_matches(store: &dyn Store) {
    let owner = Scope::owner();
    let empty = store.retrieve(&owner, &plan("port"), day(0)).await.unwrap();
    assert_eq!(
        (empty.candidates, empty.hidden, empty.lock),
        (vec![], false, None)
    );
    assert_eq!(empty.statistics.memories, 0);
    create(store, &owner, told("something else")).await;
    let other = store.retrieve(&owner, &plan("port"), day(0)).await.unwrap();
    assert_eq!((other.candidates, other.hidden), (vec![], false));
    assert_eq!(other.statistics.memories, 1);
    let none = store.retrieve(&owner, &plan(""), day(0)).await.unwrap();
    assert_eq!(none.candidates, [], "a plan without terms");
}

pub(crate) async fn the_pool_is_the_best_by_bm25_then_the_newest_then_by_id(store: &dyn Store) {
    let owner = Scope::owner();
    let mut random = fastrand::Rng::with_seed(7);
    let words = ["port", "redis", "docker", "server", "backup", "note"];
    let batch = (0..80).map(|number| {
        let count = random.usize(1..9);
        let text: Vec<&str> = (0..count).map(|_| words[random.usize(0..6)]).collect();
        told_on(-(number % 5), &format!("{} n{number}", text.join(" ")))
    });
    let batch: Vec<NewMemory> = batch.collect();
    store.add(&owner, batch, day(0)).await.unwrap();
    for pool in [1, 10, 100] {
        let plan = Plan {
            pool,
            ..plan("port redis backup")
        };
        let retrieved = store.retrieve(&owner, &plan, day(0)).await.unwrap();
        let scorer = Scorer::new(&plan, &retrieved.statistics);
        let mut scored: Vec<(f64, Memory)> = everything(store)
            .await
            .into_iter()
            .map(|memory| {
                let frequencies = frequencies(&plan, &memory);
                (scorer.score(&frequencies, memory.analysis.length), memory)
            })
            .filter(|(score, _)| *score > 0.0)
            .collect();
        scored.sort_by(|(score, memory), (other_score, other)| {
            other_score
                .total_cmp(score)
                .then(other.created_at.cmp(&memory.created_at))
                .then_with(|| memory.id.cmp(&other.id))
        });
        scored.truncate(pool);
        let found = retrieved.candidates.iter();
        let found: Vec<&Memory> = found.map(|candidate| &*candidate.memory).collect();
        let best: Vec<&Memory> = scored.iter().map(|(_, memory)| memory).collect();
        assert_eq!(found, best, "a pool of {pool}");
        for candidate in &retrieved.candidates {
            let expected = frequencies(&plan, &candidate.memory);
            assert_eq!(candidate.frequencies, expected);
            assert!(candidate.retrieved);
        }
    }
}

pub(crate) async fn the_turns_around_a_match_come_along(store: &dyn Store) {
    let owner = Scope::owner();
    for turn in 1..=9 {
        let content = if turn == 5 { "the port" } else { "aha" };
        create(store, &owner, said("s", turn, &format!("{content} {turn}"))).await;
    }
    create(store, &owner, said("another", 4, "aha of another")).await;
    create(store, &owner, said("s", 5, "also said")).await;
    let plan = Plan {
        neighbours: true,
        ..plan("port")
    };
    let retrieved = store.retrieve(&owner, &plan, day(0)).await.unwrap();
    let mut found: Vec<(&str, bool)> = retrieved
        .candidates
        .iter()
        .map(|candidate| (candidate.memory.content.as_str(), candidate.retrieved))
        .collect();
    assert_eq!(
        found[0],
        ("the port 5", true),
        "those of the pool come first"
    );
    found.retain(|(content, _)| *content != "also said");
    found.sort_unstable();
    let beside = ["aha 3", "aha 4", "aha 6", "aha 7"].map(|content| (content, false));
    assert_eq!(found[..4], beside);
    assert_eq!(found[4..], [("the port 5", true)]);
    assert_eq!(
        find(store, &owner, &plan_alone(&plan)).await,
        ["the port 5"]
    );
}

pub(crate) async fn no_neighbour_comes_along_that_filters_or_scope_refuse(store: &dyn Store) {
    let alpha = agent("alpha");
    create(store, &alpha, tagged_turn(5, "the port", &["net"])).await;
    create(store, &alpha, tagged_turn(4, "welcome", &["net"])).await;
    create(store, &alpha, tagged_turn(6, "without the tag", &[])).await;
    let trashed = create(store, &alpha, tagged_turn(7, "trashed", &["net"])).await;
    store.trash(&alpha, &trashed.id, day(0)).await.unwrap();
    let mut ended = tagged_turn(3, "ended", &["net"]);
    ended.details.invalid_at = Some(day(-1));
    create(store, &alpha, ended).await;
    let foreign = shared(tagged_turn(6, "of another agent", &["net"]));
    create(store, &agent("beta"), foreign).await;
    let filters = Filters {
        tags: strings(&["net"]),
        ..Filters::default()
    };
    let plan = Plan {
        neighbours: true,
        ..filtered("port", filters)
    };
    for scope in [alpha, Scope::owner()] {
        let found = find(store, &scope, &plan).await;
        assert_eq!(found, ["the port", "welcome"]);
    }
}

pub(crate) async fn a_shared_match_brings_no_private_neighbour_along(store: &dyn Store) {
    let alpha = agent("alpha");
    create(store, &alpha, shared(said("s", 1, "the port"))).await;
    create(store, &alpha, said("s", 2, "alpha's secret")).await;
    let plan = Plan {
        neighbours: true,
        ..plan("port")
    };
    assert_eq!(find(store, &agent("beta"), &plan).await, ["the port"]);
    assert_eq!(find(store, &alpha, &plan).await.len(), 2);
}

pub(crate) async fn turns_at_the_ends_of_the_number_range_have_neighbours_too(store: &dyn Store) {
    let owner = Scope::owner();
    for turn in [i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX] {
        create(store, &owner, said("s", turn, &format!("port {turn}"))).await;
    }
    let plan = Plan {
        neighbours: true,
        pool: 1,
        ..plan("port")
    };
    assert_eq!(find(store, &owner, &plan).await.len(), 2);
}

pub(crate) async fn what_was_changed_many_times_is_found_once_as_it_is_now(store: &dyn Store) {
    let owner = Scope::owner();
    let contents: Vec<String> = (0..300)
        .map(|number| format!("port number{number}"))
        .collect();
    let all = Plan {
        pool: 1000,
        ..plan("port")
    };
    for round in 1..=9 {
        let batch = contents.iter().map(|content| told(content)).collect();
        store.add(&owner, batch, day(0)).await.unwrap();
        let retrieved = store.retrieve(&owner, &all, day(0)).await.unwrap();
        assert_eq!(retrieved.candidates.len(), contents.len());
        for candidate in retrieved.candidates {
            assert_eq!(candidate.memory.mentions, round);
            assert_eq!(candidate.frequencies, [1]);
        }
    }
    for content in ["port number0", "port number299"] {
        let word = content.trim_start_matches("port ");
        assert_eq!(search(store, word).await, [content]);
    }
}

fn plan_alone(plan: &Plan) -> Plan {
    Plan {
        neighbours: false,
        ..plan.clone()
    }
}

fn frequencies(plan: &Plan, memory: &Memory) -> Vec<u32> {
    let held = memory.indexed_terms();
    plan.terms.iter().map(|term| held.get(&term.term)).collect()
}

fn tagged_turn(turn: i64, content: &str, tags: &[&str]) -> NewMemory {
    NewMemory {
        place: said("s", turn, content).place,
        ..tagged(content, tags)
    }
}
