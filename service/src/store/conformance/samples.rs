//! Memories, scopes and plans to test with, and short ways to ask a store.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use chrono::{DateTime, TimeDelta, Utc};

use crate::analysis::terms::Term;
use crate::analysis::{Analyser, Analysis, Ingredients};
use crate::memory::{Details, Fate, Memory, MemoryId, NewMemory, Place};
use crate::query::{Filters, Plan, QueryTerm, Statistics, Via};
use crate::scope::{DEFAULT_NAMESPACE, Scope};
use crate::signals::Topic;
use crate::store::{Added, Import, Store};

/// A day at nine in the morning; day 0 is Monday, 2 March 2026, when the tests take place.
pub(crate) fn day(number: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_772_442_000, 0).unwrap() + TimeDelta::days(number)
}

/// An agent of the default namespace that is not primary.
pub(crate) fn agent(name: &str) -> Scope {
    Scope {
        namespace: DEFAULT_NAMESPACE.to_owned(),
        agent: Some(name.to_owned()),
        primary: false,
    }
}

/// The owner of another namespace.
pub(crate) fn elsewhere() -> Scope {
    Scope {
        namespace: "elsewhere".to_owned(),
        ..Scope::owner()
    }
}

pub(crate) fn id(text: &str) -> MemoryId {
    MemoryId::new(text)
}

pub(crate) fn analysed(text: &str) -> Analysis {
    static ANALYSER: LazyLock<Analyser> =
        LazyLock::new(|| Analyser::new("", Ingredients::default()));
    ANALYSER.content(text)
}

/// A memory about day 0 under an id of its own.
pub(crate) fn told(content: &str) -> NewMemory {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NewMemory {
        id: id(&format!("test{:012}", NEXT.fetch_add(1, Ordering::Relaxed))),
        content: content.to_owned(),
        place: Place::default(),
        details: Details::default(),
        created_at: day(0),
        analysis: analysed(content),
        vector: None,
        attention: 1.0,
        supersedes: None,
        force: false,
    }
}

pub(crate) fn told_on(number: i64, content: &str) -> NewMemory {
    NewMemory {
        created_at: day(number),
        ..told(content)
    }
}

pub(crate) fn tagged(content: &str, tags: &[&str]) -> NewMemory {
    let mut memory = told(content);
    memory.details.tags = strings(tags);
    memory
}

/// A turn of a conversation.
pub(crate) fn said(session: &str, turn: i64, content: &str) -> NewMemory {
    NewMemory {
        place: Place {
            session: Some(session.to_owned()),
            turn: Some(turn),
            document: None,
        },
        ..told(content)
    }
}

/// A memory that names these entities and no others.
pub(crate) fn naming(content: &str, entities: &[&str]) -> NewMemory {
    let mut memory = told(content);
    memory.analysis.entities = strings(entities);
    memory
}

/// A memory with these keywords and no others.
pub(crate) fn about(content: &str, keywords: &[&str]) -> NewMemory {
    let mut memory = told(content);
    memory.analysis.keywords = strings(keywords);
    memory
}

pub(crate) fn shared(mut memory: NewMemory) -> NewMemory {
    memory.details.shared = true;
    memory
}

/// A memory of the owner as an export holds it.
pub(crate) fn exported(name: &str, content: &str) -> Memory {
    Memory {
        id: id(name),
        content: content.to_owned(),
        namespace: DEFAULT_NAMESPACE.to_owned(),
        agent: None,
        place: Place::default(),
        details: Details::default(),
        created_at: day(0),
        updated_at: day(0),
        reinforced_at: None,
        fate: Fate::default(),
        mentions: 1,
        feedback: 0.0,
        level: 0,
        sources: vec![],
        analysis: analysed(content),
    }
}

/// The import of a memory whose keywords gain so much attention if it is new.
pub(crate) fn put_back(memory: Memory, attention: f64) -> Import {
    Import {
        memory,
        vector: None,
        attention: Some(attention),
    }
}

/// A plan that looks for the terms of these words, each as telling as the other.
pub(crate) fn plan(words: &str) -> Plan {
    let analysis = analysed(words);
    plan_of(analysis.terms.iter().map(|(term, _)| term))
}

pub(crate) fn plan_of(terms: impl IntoIterator<Item = Term>) -> Plan {
    let query_term = |term: Term| QueryTerm {
        detail: term.to_string(),
        term,
        weight: 1.0,
        via: Via::Own,
        by_length: true,
    };
    Plan {
        terms: terms.into_iter().map(query_term).collect(),
        vector: None,
        claims: vec![],
        filters: Filters::default(),
        pool: 100,
        neighbours: false,
    }
}

pub(crate) fn filtered(words: &str, filters: Filters) -> Plan {
    Plan {
        filters,
        ..plan(words)
    }
}

pub(crate) fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

pub(crate) fn contents(memories: &[Memory]) -> Vec<&str> {
    memories
        .iter()
        .map(|memory| memory.content.as_str())
        .collect()
}

/// Adds one memory on day 0; what became of it.
pub(crate) async fn add(store: &dyn Store, scope: &Scope, new: NewMemory) -> Added {
    add_on(store, scope, 0, new).await
}

/// Adds one memory on a day; what became of it.
pub(crate) async fn add_on(store: &dyn Store, scope: &Scope, number: i64, new: NewMemory) -> Added {
    let mut added = store.add(scope, vec![new], day(number)).await.unwrap();
    assert_eq!(added.len(), 1);
    added.remove(0)
}

/// Adds one memory that is not there yet, on day 0.
pub(crate) async fn create(store: &dyn Store, scope: &Scope, new: NewMemory) -> Memory {
    match add(store, scope, new).await {
        Added::Created(memory) => memory,
        other => panic!("not created: {other:?}"),
    }
}

/// The memory as it is stored.
pub(crate) async fn get(store: &dyn Store, scope: &Scope, id: &MemoryId) -> Memory {
    store.get(scope, id).await.unwrap().expect("a memory")
}

/// Every memory of the store.
pub(crate) async fn everything(store: &dyn Store) -> Vec<Memory> {
    store.scan(None, 100_000).await.unwrap()
}

/// The contents that a plan of these words finds for the owner on day 0.
pub(crate) async fn search(store: &dyn Store, words: &str) -> Vec<String> {
    find(store, &Scope::owner(), &plan(words)).await
}

/// The contents that a plan finds on day 0, the store's order.
pub(crate) async fn find(store: &dyn Store, scope: &Scope, plan: &Plan) -> Vec<String> {
    let retrieved = store.retrieve(scope, plan, day(0)).await.unwrap();
    let content = |candidate: crate::query::Candidate| candidate.memory.content.clone();
    retrieved.candidates.into_iter().map(content).collect()
}

/// The statistics of a namespace for the terms of all its memories and for one that none holds.
pub(crate) async fn statistics(store: &dyn Store, scope: &Scope) -> (Plan, Statistics) {
    let held = everything(store).await;
    let terms = held.iter().flat_map(|memory| {
        let terms = memory.indexed_terms();
        terms
            .iter()
            .map(|(term, _)| term.clone())
            .collect::<Vec<_>>()
    });
    let mut terms: Vec<Term> = terms.collect();
    terms.push(Term::from_encoded("s_held_by_none"));
    terms.sort();
    terms.dedup();
    let plan = plan_of(terms);
    let retrieved = store.retrieve(scope, &plan, day(0)).await.unwrap();
    (plan, retrieved.statistics)
}

/// The topics of a scope by name.
pub(crate) async fn topics(store: &dyn Store, scope: &Scope) -> Vec<Topic> {
    let mut topics = store.topics(scope, None).await.unwrap();
    topics.sort_by(|left, right| left.name.cmp(&right.name));
    topics
}

/// What a write that is refused must leave as it was: memories, statistics, counters.
#[derive(Debug, PartialEq)]
pub(crate) struct Everything {
    memories: Vec<Memory>,
    statistics: (Plan, Statistics),
    topics: Vec<Topic>,
    pairs: Vec<(String, u64)>,
}

impl Everything {
    pub(crate) async fn of(store: &dyn Store) -> Everything {
        let owner = Scope::owner();
        let memories = everything(store).await;
        let mut pairs = vec![];
        for entity in memories.iter().flat_map(|memory| &memory.analysis.entities) {
            let related = store.related_entities(&owner, entity, 100, 0).await;
            pairs.extend(related.unwrap());
        }
        Everything {
            statistics: statistics(store, &owner).await,
            topics: topics(store, &owner).await,
            pairs,
            memories,
        }
    }
}
