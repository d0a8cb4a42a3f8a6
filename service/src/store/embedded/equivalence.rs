//! Whatever is in the index, in the tail or in neither, the answers are those of a scan over all
//! memories: ids, order, scores and cosines to the last digit, for any filters, at any time.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};

use super::EmbeddedStore;
use crate::analysis::terms::Frequencies;
use crate::memory::{Edit, Memory, MemoryId, NewMemory};
use crate::query::{Plan, Retrieved, Statistics, admits};
use crate::ranking::bm25::Scorer;
use crate::ranking::fusion::NEIGHBOUR_REACH;
use crate::scope::Scope;
use crate::store::conformance::dice::{Dice, TAGS, model, values, vector};
use crate::store::conformance::samples::{analysed, day};
use crate::store::{MemoryStore, Retriever, ScanStore};
use crate::vector::{Direction, Probe, length};

/// All memories of a store with the terms that an index holds of them.
struct Everything(Vec<(Memory, Frequencies)>);

impl Everything {
    async fn of(store: &EmbeddedStore) -> Everything {
        let mut all: Vec<(Memory, Frequencies)> = Vec::new();
        loop {
            let after: Option<MemoryId> = all.last().map(|(memory, _)| memory.id.clone());
            let page = store.scan(after.as_ref(), 1000).await.unwrap();
            if page.is_empty() {
                return Everything(all);
            }
            all.extend(page.into_iter().map(|memory| {
                let terms = memory.indexed_terms();
                (memory, terms)
            }));
        }
    }

    fn statistics(&self, scope: &Scope, plan: &Plan) -> Statistics {
        let counted = || {
            self.0.iter().filter(|(memory, _)| {
                memory.namespace == scope.namespace && memory.fate.trashed_at.is_none()
            })
        };
        let memories = counted().count() as u64;
        let length: u64 = counted()
            .map(|(memory, _)| u64::from(memory.analysis.length))
            .sum();
        Statistics {
            memories,
            mean_length: if memories == 0 {
                0.0
            } else {
                length as f64 / memories as f64
            },
            document_frequencies: plan
                .terms
                .iter()
                .map(|term| {
                    counted()
                        .filter(|(_, terms)| terms.contains(&term.term))
                        .count() as u64
                })
                .collect(),
        }
    }

    /// Ids with their scores: the pool in order, then its neighbours in any order.
    fn answer(&self, scope: &Scope, plan: &Plan, now: DateTime<Utc>) -> Answer {
        let statistics = self.statistics(scope, plan);
        let scorer = Scorer::new(plan, &statistics);
        let score = |memory: &Memory, terms: &Frequencies| {
            let frequencies: Vec<u32> = plan
                .terms
                .iter()
                .map(|term| terms.get(&term.term))
                .collect();
            scorer.score(&frequencies, memory.analysis.length)
        };
        let admitted: Vec<&(Memory, Frequencies)> = self
            .0
            .iter()
            .filter(|(memory, _)| admits(scope, &plan.filters, memory, now))
            .collect();
        let mut pool: Vec<(f64, &Memory)> = admitted
            .iter()
            .map(|(memory, terms)| (score(memory, terms), memory))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        pool.sort_by(|(score, one), (other_score, other)| {
            let better = other_score.total_cmp(score);
            better.then_with(|| one.tie(other))
        });
        pool.truncate(plan.pool);
        let mut near: Vec<(f64, &Memory, &Frequencies)> = admitted
            .iter()
            .filter_map(|(memory, terms)| Some((cosine(memory, plan)?, memory, terms)))
            .filter(|(cosine, _, _)| *cosine > 0.0)
            .collect();
        near.sort_by(|(cosine, one, _), (other_cosine, other, _)| {
            let nearer = other_cosine.total_cmp(cosine);
            nearer.then_with(|| one.tie(other))
        });
        near.truncate(plan.pool);
        let by_words: HashSet<&MemoryId> = pool.iter().map(|(_, memory)| &memory.id).collect();
        near.retain(|(_, memory, _)| !by_words.contains(&memory.id));
        pool.extend(
            near.iter()
                .map(|(_, memory, terms)| (score(memory, terms), *memory)),
        );
        let chosen: HashSet<&MemoryId> = pool.iter().map(|(_, memory)| &memory.id).collect();
        let turn = |memory: &Memory| {
            Some((
                memory.agent.clone(),
                memory.place.session.clone()?,
                memory.place.turn?,
            ))
        };
        let mut turns: HashMap<_, Vec<&(Memory, Frequencies)>> = HashMap::new();
        for held in &admitted {
            if let Some(turn) = turn(&held.0) {
                turns.entry(turn).or_default().push(held);
            }
        }
        let mut neighbours = HashMap::new();
        for (agent, session, at) in pool.iter().filter_map(|(_, memory)| turn(memory)) {
            for distance in -NEIGHBOUR_REACH..=NEIGHBOUR_REACH {
                let there = turns.get(&(agent.clone(), session.clone(), at + distance));
                for (memory, terms) in there.into_iter().flatten() {
                    if plan.neighbours && !chosen.contains(&memory.id) {
                        let found = (score(memory, terms), cosine(memory, plan));
                        neighbours.insert(memory.id.to_string(), found);
                    }
                }
            }
        }
        Answer {
            statistics,
            pool: pool
                .into_iter()
                .map(|(score, memory)| (memory.id.to_string(), (score, cosine(memory, plan))))
                .collect(),
            neighbours,
        }
    }
}

/// The cosine of a memory's vector and the plan's, if both have one.
fn cosine(memory: &Memory, plan: &Plan) -> Option<f64> {
    let query = plan.vector.as_ref()?;
    let direction = Direction::of(&model(), values(&memory.content))?;
    let probe = Probe::new(&query.values);
    let mut product = [0];
    probe.products(direction.steps(), &mut product);
    Some(probe.cosine(product[0], length(direction.steps())))
}

/// BM25 and cosine.
type Found = (f64, Option<f64>);

#[derive(Debug, PartialEq)]
struct Answer {
    statistics: Statistics,
    pool: Vec<(String, Found)>,
    neighbours: HashMap<String, Found>,
}

impl Answer {
    fn of(retrieved: &Retrieved, plan: &Plan) -> Answer {
        let scorer = Scorer::new(plan, &retrieved.statistics);
        let scored = |own: bool| {
            retrieved
                .candidates
                .iter()
                .filter(move |candidate| candidate.retrieved == own)
                .map(|candidate| {
                    let length = candidate.memory.analysis.length;
                    let score = scorer.score(&candidate.frequencies, length);
                    (candidate.memory.id.to_string(), (score, candidate.cosine))
                })
        };
        Answer {
            statistics: retrieved.statistics.clone(),
            pool: scored(true).collect(),
            neighbours: scored(false).collect(),
        }
    }
}

async fn add(store: &EmbeddedStore, dice: &mut Dice, number: usize) {
    let mut left = number;
    while left > 0 {
        let scope = Scope {
            primary: true,
            ..dice.scope()
        };
        let memories: Vec<NewMemory> = (0..left.min(250)).map(|_| dice.memory()).collect();
        left -= memories.len();
        store.add(&scope, memories, day(0)).await.unwrap();
    }
}

/// Changes memories in every way there is.
async fn change(store: &EmbeddedStore, dice: &mut Dice, number: usize) {
    let all = Everything::of(store).await;
    for _ in 0..number {
        let (memory, _) = &all.0[dice.0.usize(..all.0.len())];
        let scope = Scope {
            namespace: memory.namespace.clone(),
            ..Scope::owner()
        };
        let (id, now) = (&memory.id, day(1));
        match dice.0.u8(..8) {
            0 => drop(store.trash(&scope, id, now).await.unwrap()),
            1 => drop(store.restore(&scope, id, now).await.unwrap()),
            2 => drop(store.purge(&scope, id).await.unwrap()),
            3 => drop(store.give_feedback(&scope, id, 1.0, now).await.unwrap()),
            4 => drop(store.correct(&scope, id, dice.0.bool(), now).await.unwrap()),
            5 => {
                let text = dice.text();
                let edit = Edit {
                    content: Some((text.clone(), analysed(&text))),
                    vector: vector(&text),
                    ..Edit::default()
                };
                drop(store.edit(&scope, id, edit, now).await.unwrap());
            }
            6 => {
                let edit = Edit {
                    tags: Some(vec![dice.one(&TAGS).to_owned()]),
                    category: Some(None),
                    ..Edit::default()
                };
                drop(store.edit(&scope, id, edit, now).await.unwrap());
            }
            _ => add(store, dice, 1).await,
        }
    }
}

/// Asks random questions and compares.
async fn compare(store: &EmbeddedStore, dice: &mut Dice, questions: usize, when: &str) {
    let all = Everything::of(store).await;
    for _ in 0..questions {
        let (scope, plan) = (dice.scope(), dice.plan());
        let now = day(0) + TimeDelta::hours(dice.0.i64(0..48));
        let retrieved = store.retrieve(&scope, &plan, now).await.unwrap();
        let (found, expected) = (
            Answer::of(&retrieved, &plan),
            all.answer(&scope, &plan, now),
        );
        assert_eq!(found, expected, "{when}: {scope:?} {plan:?}");
    }
}

/// Waits until the index covers everything.
async fn indexed(store: &EmbeddedStore) {
    store.want_index();
    let since = Instant::now();
    loop {
        let state = store.index_state().await.unwrap();
        if state.is_current() {
            return;
        }
        assert!(since.elapsed() < Duration::from_mins(2), "{state:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_index_answers_as_a_scan_does_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(folder.path()).unwrap();
    let mut dice = Dice(fastrand::Rng::with_seed(7));

    add(&store, &mut dice, 1000).await;
    compare(&store, &mut dice, 100, "with few memories").await;
    add(&store, &mut dice, 9000).await;
    compare(&store, &mut dice, 50, "while it is indexed").await;
    indexed(&store).await;
    compare(&store, &mut dice, 200, "all of it indexed").await;

    change(&store, &mut dice, 600).await;
    compare(&store, &mut dice, 150, "with a tail of changes").await;
    store.want_index();
    compare(&store, &mut dice, 50, "while changes are indexed").await;
    indexed(&store).await;
    compare(&store, &mut dice, 150, "with changes indexed").await;

    store.reindex().await.unwrap();
    compare(&store, &mut dice, 50, "while it is made anew").await;
    indexed(&store).await;
    compare(&store, &mut dice, 100, "made anew").await;

    drop(store);
    let store = EmbeddedStore::open(folder.path()).unwrap();
    compare(&store, &mut dice, 50, "opened again").await;
    drop(store);
    std::fs::remove_dir_all(folder.path().join("index")).unwrap();
    let store = EmbeddedStore::open(folder.path()).unwrap();
    compare(&store, &mut dice, 50, "opened without an index").await;
    indexed(&store).await;
    change(&store, &mut dice, 100).await;
    compare(&store, &mut dice, 50, "after all").await;
}
