//! Counters and synonyms, out for an export and back.

use super::samples::*;
use crate::scope::Scope;
use crate::store::{Counter, Import, Store, Synonyms};

async fn counters(store: &dyn Store, size: usize) -> Vec<Counter> {
    let mut all: Vec<Counter> = vec![];
    loop {
        let page = store.scan_counters(all.last(), size).await.unwrap();
        assert!(page.len() <= size);
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

async fn tell(store: &dyn Store) {
    for scope in [Scope::owner(), agent("alpha"), elsewhere()] {
        create(store, &scope, naming("one", &["Redis", "Docker", "Lua"])).await;
        create(store, &scope, about("tea and 咖啡", &["tea", "咖啡"])).await;
        add_on(store, &scope, 3, about("tea and 咖啡", &["tea", "咖啡"])).await;
        let synonyms = Synonyms {
            term: "k8s".to_owned(),
            terms: strings(&["kubernetes"]),
            manual: scope.agent.is_none(),
        };
        store
            .set_synonyms(&scope.namespace, synonyms)
            .await
            .unwrap();
    }
}

pub(crate) async fn a_scan_of_counters_has_each_once(store: &dyn Store) {
    tell(store).await;
    let whole = counters(store, 1_000).await;
    let synonyms = whole.iter().filter(|counter| counter.agent().is_none());
    assert_eq!(synonyms.count(), 2);
    for (index, counter) in whole.iter().enumerate() {
        assert!(!whole[..index].contains(counter), "{counter:?} twice");
    }
    for size in [1, 2, 7] {
        assert_eq!(counters(store, size).await, whole, "pages of {size}");
    }
}

pub(crate) async fn counters_restored_into_a_second_store_are_the_same(
    store: &dyn Store,
    second: &dyn Store,
) {
    tell(store).await;
    let scanned = counters(store, 1_000).await;
    for _ in 0..2 {
        second.restore_counters(scanned.clone()).await.unwrap();
        assert_eq!(counters(second, 1_000).await, scanned);
    }
    for scope in [Scope::owner(), agent("alpha"), elsewhere()] {
        assert_eq!(topics(second, &scope).await, topics(store, &scope).await);
        assert_eq!(
            second
                .related_entities(&scope, "redis", 9, 1)
                .await
                .unwrap(),
            store.related_entities(&scope, "redis", 9, 1).await.unwrap()
        );
        assert_eq!(
            second.synonyms(&scope.namespace).await.unwrap(),
            store.synonyms(&scope.namespace).await.unwrap()
        );
    }
}

pub(crate) async fn a_counter_that_is_there_keeps_the_larger_number(store: &dyn Store) {
    let owner = Scope::owner();
    let counter = |mentions: f64, attention: f64| Counter::Topic {
        namespace: owner.namespace.clone(),
        agent: None,
        day: day(0).date_naive(),
        topic: "tea".to_owned(),
        mentions,
        attention,
    };
    let pair = |memories: u64| Counter::Pair {
        namespace: owner.namespace.clone(),
        agent: None,
        entity: "redis".to_owned(),
        other: "docker".to_owned(),
        name: "Docker".to_owned(),
        memories,
    };
    for (topic, together, expected) in [
        ((2.0, 3.0), 2, (2.0, 3.0, 2)),
        ((1.0, 4.0), 1, (2.0, 4.0, 2)),
        ((5.0, 1.0), 7, (5.0, 4.0, 7)),
    ] {
        let version = store.signals_version().await.unwrap();
        let restored = vec![counter(topic.0, topic.1), pair(together)];
        store.restore_counters(restored).await.unwrap();
        assert_ne!(store.signals_version().await.unwrap(), version);
        let found = &topics(store, &owner).await[0];
        let related = store.related_entities(&owner, "redis", 9, 1).await.unwrap();
        assert!((found.mentions - expected.0).abs() < 1e-9, "{found:?}");
        assert!((found.attention - expected.1).abs() < 1e-9, "{found:?}");
        assert_eq!(related, [("Docker".to_owned(), expected.2)]);
    }
}

pub(crate) async fn a_memory_whose_counters_are_restored_counts_nothing(store: &dyn Store) {
    let owner = Scope::owner();
    let mut memory = exported("imported00000000", "likes tea");
    memory.analysis.keywords = strings(&["tea"]);
    memory.analysis.entities = strings(&["Redis", "Docker"]);
    store
        .import(vec![Import {
            attention: None,
            ..put_back(memory, 0.0)
        }])
        .await
        .unwrap();
    assert_eq!(counters(store, 10).await, []);
    assert_eq!(search(store, "tea").await, ["likes tea"]);
    let timeline = store.entity_timeline(&owner, "redis", 9, day(0)).await;
    assert_eq!(timeline.unwrap().len(), 1);
}
