//! Importing what was exported: by id, never twice, never over something newer.

use serde_json::json;

use super::samples::*;
use crate::memory::{Details, Fate, Memory, NewMemory, Place};
use crate::scope::Scope;
use crate::signals::Topic;
use crate::store::{Added, Imported, Store};

pub(crate) async fn an_import_puts_a_memory_back_as_it_was(store: &dyn Store) {
    let memory = full("imported00000000");
    assert_eq!(import(store, &memory).await, Imported::Created);
    assert_eq!(get(store, &Scope::owner(), &memory.id).await, memory);
    assert_eq!(everything(store).await.len(), 1);
    assert_eq!(search(store, "coffee").await, [memory.content]);
}

pub(crate) async fn an_import_of_what_is_there_never_reinforces(store: &dyn Store) {
    let memory = create(store, &Scope::owner(), told("likes tea")).await;
    let before = Everything::of(store).await;
    assert_eq!(import(store, &memory).await, Imported::Unchanged);
    assert_eq!(Everything::of(store).await, before);
}

pub(crate) async fn only_a_newer_version_overwrites(store: &dyn Store) {
    let version = |number: i64, content: &str| Memory {
        updated_at: day(number),
        ..exported("imported00000000", content)
    };
    for (number, content, outcome, kept) in [
        (5, "first", Imported::Created, "first"),
        (4, "older", Imported::Unchanged, "first"),
        (5, "as old", Imported::Unchanged, "first"),
        (6, "newer", Imported::Updated, "newer"),
        (5, "older again", Imported::Unchanged, "newer"),
    ] {
        assert_eq!(import(store, &version(number, content)).await, outcome);
        let there = everything(store).await;
        assert_eq!(contents(&there), [kept]);
        assert_eq!(there[0].mentions, 1);
        assert_eq!(
            search(store, content).await.len(),
            usize::from(content == kept)
        );
    }
}

pub(crate) async fn a_newer_version_changes_every_field(store: &dyn Store) {
    let older = exported("imported00000000", "likes tea");
    let newer = Memory {
        agent: None,
        updated_at: day(3),
        ..full("imported00000000")
    };
    import(store, &older).await;
    assert_eq!(import(store, &newer).await, Imported::Updated);
    assert_eq!(everything(store).await, [newer]);
}

pub(crate) async fn an_id_that_belongs_to_someone_else_is_refused(store: &dyn Store) {
    let alpha = agent("alpha");
    let memory = create(store, &alpha, told("alpha's tea")).await;
    let before = Everything::of(store).await;
    for (namespace, owner) in [
        ("default", None),
        ("default", Some("beta")),
        ("elsewhere", Some("alpha")),
    ] {
        let foreign = Memory {
            namespace: namespace.to_owned(),
            agent: owner.map(str::to_owned),
            content: "not alpha's tea".to_owned(),
            updated_at: day(9),
            ..memory.clone()
        };
        let outcome = import(store, &foreign).await;
        assert!(matches!(outcome, Imported::Refused(_)), "{outcome:?}");
    }
    assert_eq!(Everything::of(store).await, before);
}

pub(crate) async fn a_content_that_another_memory_has_is_refused(store: &dyn Store) {
    let owner = Scope::owner();
    let tea = create(store, &owner, told("likes tea")).await;
    let coffee = create(store, &owner, told("likes coffee")).await;
    let before = Everything::of(store).await;
    let another_id = exported("imported00000000", "likes tea");
    let another_content = Memory {
        content: tea.content,
        updated_at: day(9),
        ..coffee
    };
    for memory in [another_id, another_content] {
        let outcome = import(store, &memory).await;
        assert!(matches!(outcome, Imported::Refused(_)), "{outcome:?}");
    }
    assert_eq!(Everything::of(store).await, before);
    let elsewhere = Memory {
        namespace: "elsewhere".to_owned(),
        ..exported("imported00000000", "likes tea")
    };
    assert_eq!(import(store, &elsewhere).await, Imported::Created);
}

pub(crate) async fn each_of_a_batch_is_imported_for_itself_in_order(store: &dyn Store) {
    let newer = Memory {
        updated_at: day(1),
        ..exported("one", "the first, edited")
    };
    let batch = [
        exported("one", "the first"),
        exported("two", "the first"),
        newer,
        exported("two", "the second"),
        exported("one", "the first"),
    ];
    let batch = batch.map(|memory| put_back(memory, 1.0)).to_vec();
    let outcomes = store.import(batch).await.unwrap();
    assert!(matches!(outcomes[1], Imported::Refused(_)), "{outcomes:?}");
    let others = [outcomes[0], outcomes[2], outcomes[3], outcomes[4]];
    use Imported::{Created, Unchanged, Updated};
    assert_eq!(others, [Created, Updated, Created, Unchanged]);
    let there = everything(store).await;
    assert_eq!(contents(&there), ["the first, edited", "the second"]);
    assert_eq!(store.import(vec![]).await.unwrap(), []);
}

pub(crate) async fn keywords_gain_attention_once_when_the_memory_is_new(store: &dyn Store) {
    let owner = Scope::owner();
    let mut memory = exported("imported00000000", "likes tea");
    memory.analysis.keywords = strings(&["tea"]);
    memory.created_at = day(-7);
    memory.mentions = 5;
    for updated in 0..3 {
        memory.updated_at = day(updated);
        store
            .import(vec![put_back(memory.clone(), 1.5)])
            .await
            .unwrap();
        let expected = Topic {
            name: "tea".to_owned(),
            mentions: 1.0,
            attention: 1.5,
            last_mention: day(-7).date_naive(),
        };
        assert_eq!(topics(store, &owner).await, [expected]);
    }
}

pub(crate) async fn an_imported_memory_is_known_by_its_content_and_entities(store: &dyn Store) {
    let owner = Scope::owner();
    let mut memory = exported("imported00000000", "Redis and Docker");
    memory.analysis.entities = strings(&["Redis", "Docker"]);
    import(store, &memory).await;
    let again = add(store, &owner, told("Redis and Docker")).await;
    assert!(matches!(again, Added::Reinforced { memory: same, .. } if same.id == memory.id));
    let timeline = store.entity_timeline(&owner, "docker", 10, day(0)).await;
    assert_eq!(timeline.unwrap()[0].id, memory.id);
    let related = store.related_entities(&owner, "docker", 10, 1).await;
    assert_eq!(related.unwrap()[0].0, "Redis");
}

pub(crate) async fn an_export_imported_into_a_second_store_is_the_same(
    store: &dyn Store,
    second: &dyn Store,
) {
    let owner = Scope::owner();
    let old = create(store, &owner, tagged("port 6379", &["net"])).await;
    let newer = NewMemory {
        supersedes: Some(old.id),
        ..told("port 6380")
    };
    let newer = create(store, &owner, newer).await;
    add_on(store, &owner, 3, told_on(2, "port 6380")).await;
    let feedback = store.give_feedback(&owner, &newer.id, -2.0, day(4)).await;
    feedback.unwrap();
    create(store, &agent("alpha"), said("s", 1, "喜欢喝茶!!!")).await;
    create(store, &elsewhere(), told("somewhere else")).await;
    let trashed = create(store, &owner, told("rubbish")).await;
    store.trash(&owner, &trashed.id, day(1)).await.unwrap();
    import(store, &full("imported00000000")).await;

    let exported = everything(store).await;
    assert_eq!(everything(second).await, []);
    let imported = exported.iter().map(|memory| put_back(memory.clone(), 1.0));
    let outcomes = second.import(imported.collect()).await.unwrap();
    assert_eq!(outcomes, vec![Imported::Created; exported.len()]);
    assert_eq!(everything(second).await, exported);
    for scope in [owner, elsewhere()] {
        let (one, other) = (
            statistics(store, &scope).await,
            statistics(second, &scope).await,
        );
        assert_eq!(one, other);
    }
}

async fn import(store: &dyn Store, memory: &Memory) -> Imported {
    let outcomes = store
        .import(vec![put_back(memory.clone(), 1.0)])
        .await
        .unwrap();
    assert_eq!(outcomes.len(), 1);
    outcomes[0]
}

/// A memory with something in every field; active on day 0.
fn full(name: &str) -> Memory {
    Memory {
        agent: Some("alpha".to_owned()),
        place: Place {
            session: Some("s".to_owned()),
            turn: Some(7),
            document: Some("d.md".to_owned()),
        },
        details: Details {
            tags: strings(&["Net", "a,b"]),
            shared: true,
            category: Some("fact".to_owned()),
            source: Some("import".to_owned()),
            entry_type: Some("note".to_owned()),
            invalid_at: Some(day(50)),
            pinned: true,
            metadata: json!({"n": 1.25, "深": ["x", null]})
                .as_object()
                .unwrap()
                .clone(),
        },
        created_at: day(-9),
        updated_at: day(-3),
        reinforced_at: Some(day(-4)),
        fate: Fate::default(),
        mentions: 12,
        feedback: -1.5,
        level: 2,
        sources: vec![id("source1"), id("source2")],
        ..exported(name, "I LOVE coffee!!! 咖啡")
    }
}
