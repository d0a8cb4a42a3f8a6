//! The statistics that BM25 works with: after any writes they are those of the memories there are.

use std::collections::BTreeMap;

use super::samples::*;
use crate::analysis::terms::Term;
use crate::memory::{Edit, Memory, MemoryId, NewMemory};
use crate::query::Statistics;
use crate::scope::Scope;
use crate::store::Store;

/// Writes between two comparisons, and comparisons.
const WRITES: usize = 12;
const ROUNDS: usize = 30;

pub(crate) async fn statistics_stay_those_of_the_memories_after_any_writes(store: &dyn Store) {
    let mut random = fastrand::Rng::with_seed(42);
    let mut seen: Vec<Memory> = vec![];
    for round in 0..ROUNDS {
        for step in 0..WRITES {
            let now = i64::try_from(round * WRITES + step).unwrap();
            write(store, &mut random, &seen, now).await;
        }
        seen.extend(everything(store).await);
        for scope in [Scope::owner(), elsewhere()] {
            check(store, &scope).await;
        }
    }
    let memories = everything(store).await;
    assert!(memories.len() > 10, "the writes must leave something");
}

pub(crate) async fn statistics_leave_out_the_trash_and_other_namespaces(store: &dyn Store) {
    let owner = Scope::owner();
    create(store, &owner, told("port of Redis")).await;
    create(store, &agent("alpha"), told("alpha's port is not mine")).await;
    create(store, &elsewhere(), told("a port elsewhere")).await;
    let trashed = create(store, &owner, told("a port that is trashed")).await;
    store.trash(&owner, &trashed.id, day(0)).await.unwrap();
    let plan = plan("port");
    let retrieved = store.retrieve(&owner, &plan, day(0)).await.unwrap();
    assert_eq!(retrieved.statistics.memories, 2);
    assert_eq!(retrieved.statistics.document_frequencies, [2]);
    let nowhere = Scope {
        namespace: "nowhere".into(),
        ..Scope::owner()
    };
    let retrieved = store.retrieve(&nowhere, &plan, day(0)).await.unwrap();
    let nothing = Statistics {
        document_frequencies: vec![0],
        ..Statistics::default()
    };
    assert_eq!(retrieved.statistics, nothing);
}

/// Compares the statistics of a namespace with those counted from its memories.
async fn check(store: &dyn Store, scope: &Scope) {
    let (plan, found) = statistics(store, scope).await;
    let counted = everything(store)
        .await
        .into_iter()
        .filter(|memory| memory.namespace == scope.namespace && memory.fate.trashed_at.is_none());
    let counted: Vec<Memory> = counted.collect();
    let mut frequencies: BTreeMap<Term, u64> = BTreeMap::new();
    for memory in &counted {
        for (term, _) in memory.indexed_terms().iter() {
            *frequencies.entry(term.clone()).or_default() += 1;
        }
    }
    assert_eq!(found.memories, counted.len() as u64);
    for (term, found) in plan.terms.iter().zip(&found.document_frequencies) {
        let expected = frequencies.get(&term.term).copied().unwrap_or(0);
        assert_eq!(*found, expected, "{}", term.term);
    }
    let length: u64 = counted
        .iter()
        .map(|memory| u64::from(memory.analysis.length))
        .sum();
    let mean = length as f64 / (counted.len() as f64).max(1.0);
    assert!((found.mean_length - mean).abs() < 1e-9, "{found:?}");
}

/// One write of any kind, refused ones included.
async fn write(store: &dyn Store, random: &mut fastrand::Rng, seen: &[Memory], now: i64) {
    let scopes = [Scope::owner(), agent("alpha"), elsewhere()];
    let scope = &scopes[random.usize(0..scopes.len())];
    let there = everything(store).await;
    let chosen = random.choice(&there).map(|memory| memory.id.clone());
    let chosen = chosen.unwrap_or_else(|| id("nothing yet"));
    let now = day(now);
    match random.usize(0..12) {
        0..=3 => {
            let batch = (0..3).map(|_| new(random, &there)).collect();
            store.add(scope, batch, now).await.map(drop).unwrap();
        }
        4 | 5 => {
            let edit = edit(random);
            store
                .edit(scope, &chosen, edit, now)
                .await
                .map(drop)
                .unwrap();
        }
        6 => store.trash(scope, &chosen, now).await.map(drop).unwrap(),
        7 => store.restore(scope, &chosen, now).await.map(drop).unwrap(),
        8 => store.purge(scope, &chosen).await.map(drop).unwrap(),
        9 => {
            let wrong = random.bool();
            let corrected = store.correct(scope, &chosen, wrong, now).await;
            corrected.map(drop).unwrap();
        }
        10 => {
            let feedback = store.give_feedback(scope, &chosen, 1.0, now).await;
            feedback.map(drop).unwrap();
        }
        _ => {
            let mut batch = vec![];
            for _ in 0..3 {
                if let Some(mut memory) = exported_before(random, seen) {
                    if random.bool() {
                        memory.updated_at = now;
                    }
                    batch.push(put_back(memory, 0.5));
                }
            }
            store.import(batch).await.map(drop).unwrap();
        }
    }
}

fn text(random: &mut fastrand::Rng) -> String {
    const WORDS: [&str; 9] = [
        "port",
        "Redis",
        "数据库",
        "tea",
        "not",
        "v1.2",
        "London",
        "tabs",
        "喜欢",
    ];
    let count = random.usize(1..4);
    let words: Vec<&str> = (0..count).map(|_| WORDS[random.usize(0..9)]).collect();
    words.join(" ")
}

fn tags(random: &mut fastrand::Rng) -> Vec<String> {
    let tags = ["net", "Home", "work"].into_iter();
    tags.filter(|_| random.bool()).map(str::to_owned).collect()
}

fn new(random: &mut fastrand::Rng, there: &[Memory]) -> NewMemory {
    let some_id = |random: &mut fastrand::Rng| -> Option<MemoryId> {
        random.choice(there).map(|memory| memory.id.clone())
    };
    let mut new = told_on(-random.i64(0..40), &text(random));
    new.details.tags = tags(random);
    new.force = random.bool();
    if random.u8(0..4) == 0 {
        new.supersedes = some_id(random);
    }
    if random.u8(0..8) == 0 {
        new.id = some_id(random).unwrap_or(new.id);
    }
    new
}

fn edit(random: &mut fastrand::Rng) -> Edit {
    let content = text(random);
    let analysis = analysed(&content);
    Edit {
        content: random.bool().then_some((content, analysis)),
        tags: random.bool().then(|| tags(random)),
        invalid_at: random.bool().then_some(None),
        ..Edit::default()
    }
}

/// A memory as it once was, or with another content or day.
fn exported_before(random: &mut fastrand::Rng, seen: &[Memory]) -> Option<Memory> {
    let mut memory = random.choice(seen)?.clone();
    match random.u8(0..3) {
        0 => {
            memory.content = text(random);
            memory.analysis = analysed(&memory.content);
        }
        1 => memory.created_at = day(-random.i64(0..40)),
        _ => {}
    }
    Some(memory)
}
