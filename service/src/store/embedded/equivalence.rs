//! Whatever is in the index, in the tail or in neither, the answers are those of a scan over all
//! memories: ids, order and scores to the last digit, for any filters, at any time.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};

use super::EmbeddedStore;
use crate::analysis::terms::Frequencies;
use crate::analysis::{entity_term, tag_term};
use crate::memory::{Edit, Memory, MemoryId, NewMemory};
use crate::query::{Filters, Plan, QueryTerm, Retrieved, Statistics, Via, admits};
use crate::ranking::bm25::Scorer;
use crate::ranking::fusion::NEIGHBOUR_REACH;
use crate::scope::Scope;
use crate::store::conformance::samples::{agent, analysed, day, elsewhere, plan_of, said, told};
use crate::store::{MemoryStore, Retriever, ScanStore};

const WORDS: [&str; 40] = [
    "server",
    "port",
    "deploy",
    "cable",
    "harbour",
    "project",
    "budget",
    "meeting",
    "Alice",
    "Bob",
    "garden",
    "music",
    "train",
    "ticket",
    "report",
    "invoice",
    "coffee",
    "kernel",
    "node.js",
    "C++",
    "数据库",
    "会议",
    "北京",
    "音乐",
    "项目",
    "预算",
    "上海",
    "火车票",
    "花园",
    "咖啡",
    "lighthouse",
    "database",
    "weather",
    "doctor",
    "school",
    "football",
    "painting",
    "river",
    "mountain",
    "🎉",
];
const TAGS: [&str; 4] = ["work", "home", "Tag with Case", "标签"];
const CATEGORIES: [&str; 3] = ["fact", "preference", "事实"];

/// Random memories, edits and queries from one seed.
struct Dice(fastrand::Rng);

impl Dice {
    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.0.usize(..of.len())]
    }

    /// Rare and everyday words: the first ones come often.
    fn text(&mut self) -> String {
        let length = self.0.usize(2..14);
        let word = |dice: &mut Dice| {
            let most = dice.0.usize(1..=WORDS.len());
            WORDS[dice.0.usize(..most)]
        };
        (0..length)
            .map(|_| word(self))
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn maybe<T>(&mut self, value: impl FnOnce(&mut Dice) -> T) -> Option<T> {
        self.0.bool().then(|| value(self))
    }

    fn memory(&mut self) -> NewMemory {
        let text = self.text();
        let mut memory = if self.0.u8(..3) == 0 {
            let session = format!("session {}", self.0.u8(..40));
            said(&session, self.0.i64(0..60), &text)
        } else {
            told(&text)
        };
        // Days, so that many memories are of the same time and tie.
        memory.created_at = day(self.0.i64(-30..1));
        memory.details.shared = self.0.u8(..5) == 0;
        memory.details.category = self.maybe(|dice| dice.one(&CATEGORIES).to_owned());
        memory.details.source = self.maybe(|dice| dice.one(&["chat", "mail"]).to_owned());
        memory.details.invalid_at = (self.0.u8(..6) == 0).then(|| day(self.0.i64(-5..5)));
        let tags: HashSet<&str> = (0..self.0.usize(..3)).map(|_| self.one(&TAGS)).collect();
        memory.details.tags = tags.into_iter().map(str::to_owned).collect();
        memory
    }

    fn scope(&mut self) -> Scope {
        match self.0.u8(..6) {
            0..=2 => Scope::owner(),
            3 => agent("alpha"),
            4 => agent("beta"),
            _ => elsewhere(),
        }
    }

    fn filters(&mut self) -> Filters {
        let some_day = |dice: &mut Dice| day(dice.0.i64(-30..2));
        Filters {
            tags: (0..self.0.usize(..3).saturating_sub(self.0.usize(..2)))
                .map(|_| self.one(&TAGS).to_owned())
                .collect(),
            all_tags: self.0.bool(),
            category: self.maybe(|dice| dice.one(&["fact", "事实", "absent"]).to_owned()),
            source: self.maybe(|dice| dice.one(&["chat", "mail"]).to_owned()),
            session: (self.0.u8(..8) == 0).then(|| format!("session {}", self.0.u8(..45))),
            created_after: self.maybe(some_day),
            created_before: self.maybe(some_day),
            as_of: self.maybe(some_day),
            include_expired: self.0.bool(),
        }
    }

    fn plan(&mut self) -> Plan {
        let words = self.text();
        let analysis = analysed(&words);
        let mut plan = plan_of(analysis.terms.iter().map(|(term, _)| term.clone()));
        for term in &mut plan.terms {
            term.weight = f64::from(self.0.u8(1..20)) / 10.0;
            term.via = if self.0.bool() {
                Via::Own
            } else {
                Via::Synonym
            };
        }
        let beside = [tag_term(self.one(&TAGS)), entity_term("Alice")];
        let known: HashSet<_> = plan.terms.iter().map(|term| term.term.clone()).collect();
        plan.terms.extend(
            beside
                .into_iter()
                .filter(|term| !known.contains(term))
                .map(|term| QueryTerm {
                    detail: term.to_string(),
                    term,
                    weight: 0.1,
                    via: Via::Tag,
                    by_length: false,
                }),
        );
        // Half of the questions without any filter, half with any of them.
        plan.filters = self.maybe(Dice::filters).unwrap_or_default();
        plan.pool = [1, 5, 20, 100][self.0.usize(..4)];
        plan.neighbours = self.0.bool();
        plan
    }
}

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
            other_score
                .total_cmp(score)
                .then(other.created_at.cmp(&one.created_at))
                .then_with(|| one.id.cmp(&other.id))
        });
        pool.truncate(plan.pool);
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
                        neighbours.insert(memory.id.to_string(), score(memory, terms));
                    }
                }
            }
        }
        Answer {
            statistics,
            pool: pool
                .into_iter()
                .map(|(score, memory)| (memory.id.to_string(), score))
                .collect(),
            neighbours,
        }
    }
}

#[derive(Debug, PartialEq)]
struct Answer {
    statistics: Statistics,
    pool: Vec<(String, f64)>,
    neighbours: HashMap<String, f64>,
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
                    (candidate.memory.id.to_string(), score)
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
