//! Adding: what is new, what was there before in which state, and what is another memory.

use serde_json::json;

use super::samples::*;
use crate::memory::{Details, MemoryId, NewMemory, Place, State};
use crate::scope::Scope;
use crate::store::{Added, Store};

pub(crate) async fn a_new_memory_is_there_at_once_as_it_was_told(store: &dyn Store) {
    let details = Details {
        tags: strings(&["Lang", "with, comma"]),
        shared: true,
        category: Some("fact".into()),
        source: Some("cli".into()),
        entry_type: Some("note".into()),
        invalid_at: Some(day(30)),
        pinned: true,
        metadata: json!({"b": [1, 2.5, null], "a": {"深": "☃"}})
            .as_object()
            .unwrap()
            .clone(),
    };
    let new = NewMemory {
        details: details.clone(),
        place: Place {
            session: Some("s 1".into()),
            turn: Some(-3),
            document: Some("notes/a.md".into()),
        },
        ..told_on(-7, "Rust 1.95 is great!!! 数据库\u{0}\n\"quoted\" 🎉")
    };
    let memory = create(store, &agent("alpha"), new.clone()).await;
    assert_eq!(get(store, &agent("alpha"), &new.id).await, memory);
    assert_eq!(memory.id, new.id);
    assert_eq!(memory.content, new.content);
    assert_eq!(memory.details, details);
    assert_eq!(memory.place, new.place);
    assert_eq!(memory.analysis, new.analysis);
    assert_eq!(memory.agent.as_deref(), Some("alpha"));
    assert_eq!((memory.created_at, memory.updated_at), (day(-7), day(0)));
    assert_eq!(memory.reinforced_at, None);
    assert_eq!((memory.mentions, memory.level), (1, 0));
    assert_eq!(memory.state(day(0)), State::Active);
}

pub(crate) async fn the_same_content_again_is_reinforced_not_doubled(store: &dyn Store) {
    let owner = Scope::owner();
    let first = create(store, &owner, told("tabs, not spaces")).await;
    let again = add_on(store, &owner, 5, told_on(4, "tabs, not spaces")).await;
    let (memory, revived) = reinforced(again);
    assert_eq!(memory.id, first.id);
    assert_eq!(revived, None);
    assert_eq!(memory.mentions, 2);
    assert_eq!((memory.created_at, memory.updated_at), (day(0), day(5)));
    assert_eq!(memory.reinforced_at, Some(day(4)));
    assert_eq!(everything(store).await, [memory]);
}

pub(crate) async fn an_old_telling_told_again_late_makes_no_memory_older(store: &dyn Store) {
    let owner = Scope::owner();
    create(store, &owner, told("tabs, not spaces")).await;
    for (about, last_told) in [(-90, 0), (5, 5), (2, 5), (6, 6)] {
        let again = told_on(about, "tabs, not spaces");
        let (memory, _) = reinforced(add_on(store, &owner, 9, again).await);
        assert_eq!(memory.told_at(), day(last_told), "told about day {about}");
        assert_eq!((memory.created_at, memory.updated_at), (day(0), day(9)));
    }
}

pub(crate) async fn reinforcing_merges_tags_and_keeps_feedback(store: &dyn Store) {
    let owner = Scope::owner();
    let first = create(store, &owner, tagged("tabs", &["style", "Editor"])).await;
    let feedback = store.give_feedback(&owner, &first.id, 1.0, day(1)).await;
    assert_eq!(feedback.unwrap(), Some(1.0));
    let again = tagged("tabs", &["editor", "style", "team"]);
    let (memory, _) = reinforced(add_on(store, &owner, 2, again).await);
    let mut tags = memory.details.tags.clone();
    tags.sort();
    assert_eq!(tags, strings(&["Editor", "editor", "style", "team"]));
    assert!((memory.feedback - 1.0).abs() < 1e-12);
    assert_eq!(get(store, &owner, &first.id).await, memory);
}

pub(crate) async fn an_expired_memory_told_again_is_revived(store: &dyn Store) {
    let owner = Scope::owner();
    let mut new = told("the office is closed");
    new.details.invalid_at = Some(day(1));
    create(store, &owner, new).await;
    let again = add_on(store, &owner, 2, told("the office is closed")).await;
    let (memory, revived) = reinforced(again);
    assert_eq!(revived, Some(State::Expired));
    assert_eq!(memory.state(day(100)), State::Active);
    assert_eq!(memory.mentions, 2);
}

pub(crate) async fn a_superseded_memory_told_again_is_revived(store: &dyn Store) {
    let owner = Scope::owner();
    let old = create(store, &owner, told("port 6379")).await;
    create(store, &owner, replacing(&old.id, "port 6380")).await;
    let (memory, revived) = reinforced(add_on(store, &owner, 1, told("port 6379")).await);
    assert_eq!(revived, Some(State::Superseded));
    assert_eq!(memory.fate.superseded_by, None);
    assert_eq!(memory.state(day(1)), State::Active);
}

pub(crate) async fn a_trashed_memory_told_again_is_revived(store: &dyn Store) {
    let owner = Scope::owner();
    let old = create(store, &owner, told("port 6379")).await;
    store.trash(&owner, &old.id, day(0)).await.unwrap();
    let (memory, revived) = reinforced(add_on(store, &owner, 1, told("port 6379")).await);
    assert_eq!(revived, Some(State::Trashed));
    assert_eq!(memory.state(day(1)), State::Active);
    assert_eq!(search(store, "port 6379").await, ["port 6379"]);
}

pub(crate) async fn a_consumed_memory_stays_hidden_and_strengthens_what_it_went_into(
    store: &dyn Store,
) {
    let owner = Scope::owner();
    let mut source = exported("source0000000000", "likes tea in the morning");
    let mut merged = exported("merged0000000000", "likes tea, also green tea");
    source.fate.consumed_by = Some(merged.id.clone());
    merged.level = 1;
    merged.sources = vec![source.id.clone()];
    let imported = vec![put_back(source.clone(), 1.0), put_back(merged.clone(), 1.0)];
    store.import(imported).await.unwrap();

    let again = add_on(store, &owner, 3, told_on(3, "likes tea in the morning")).await;
    let (memory, revived) = reinforced(again);
    assert_eq!((&memory.id, revived), (&source.id, None));
    assert_eq!(memory.state(day(3)), State::Consumed);
    assert_eq!((memory.mentions, memory.told_at()), (2, day(3)));
    let merged = get(store, &owner, &merged.id).await;
    assert_eq!((merged.mentions, merged.told_at()), (2, day(3)));
    assert_eq!(merged.updated_at, day(3));
    assert_eq!(search(store, "morning").await, [""; 0]);
}

pub(crate) async fn a_consumed_memory_told_again_comes_out_of_the_trash_still_consumed(
    store: &dyn Store,
) {
    let owner = Scope::owner();
    let mut source = exported("source0000000000", "likes tea");
    source.fate.consumed_by = Some(id("merged0000000000"));
    source.fate.trashed_at = Some(day(0));
    store
        .import(vec![put_back(source.clone(), 1.0)])
        .await
        .unwrap();
    let (memory, _) = reinforced(add_on(store, &owner, 1, told("likes tea")).await);
    assert_eq!(memory.state(day(1)), State::Consumed);
    assert_eq!(memory.fate.trashed_at, None);
}

pub(crate) async fn a_corrected_memory_told_again_stays_corrected_and_nothing_is_written(
    store: &dyn Store,
) {
    let owner = Scope::owner();
    let wrong = create(store, &owner, told("Paris is in Italy")).await;
    store
        .correct(&owner, &wrong.id, true, day(0))
        .await
        .unwrap();
    let before = Everything::of(store).await;
    let again = add_on(store, &owner, 1, tagged("Paris is in Italy", &["geo"])).await;
    assert_eq!(again, Added::Corrected(wrong.id));
    assert_eq!(Everything::of(store).await, before);
}

pub(crate) async fn force_brings_a_corrected_memory_back(store: &dyn Store) {
    let owner = Scope::owner();
    let wrong = create(store, &owner, told("Paris is in Texas")).await;
    store
        .correct(&owner, &wrong.id, true, day(0))
        .await
        .unwrap();
    let again = NewMemory {
        force: true,
        ..told("Paris is in Texas")
    };
    let (memory, _) = reinforced(add_on(store, &owner, 1, again).await);
    assert_eq!((&memory.id, memory.mentions), (&wrong.id, 2));
    assert_eq!(memory.state(day(1)), State::Active);
    assert_eq!(search(store, "Texas").await, ["Paris is in Texas"]);
}

pub(crate) async fn equal_texts_of_two_agents_are_two_memories(store: &dyn Store) {
    let scopes = [agent("alpha"), agent("beta"), Scope::owner(), elsewhere()];
    for scope in &scopes {
        create(store, scope, told("the wifi code is 1234")).await;
    }
    assert_eq!(everything(store).await.len(), scopes.len());
    for scope in &scopes {
        let (memory, _) = reinforced(add(store, scope, told("the wifi code is 1234")).await);
        assert_eq!(
            (&memory.namespace, &memory.agent),
            (&scope.namespace, &scope.agent)
        );
    }
}

pub(crate) async fn equal_texts_at_two_places_are_two_memories(store: &dyn Store) {
    let owner = Scope::owner();
    let in_document = |document: &str| NewMemory {
        place: Place {
            document: Some(document.into()),
            ..Place::default()
        },
        ..told("yes, please")
    };
    let places = || {
        vec![
            told("yes, please"),
            said("one", 1, "yes, please"),
            said("one", 2, "yes, please"),
            said("two", 1, "yes, please"),
            in_document("one"),
            in_document("two"),
        ]
    };
    for new in places() {
        create(store, &owner, new).await;
    }
    for new in places() {
        let (memory, _) = reinforced(add(store, &owner, new.clone()).await);
        assert_eq!((memory.place, memory.mentions), (new.place, 2));
    }
}

pub(crate) async fn contents_are_compared_to_the_last_character(store: &dyn Store) {
    let owner = Scope::owner();
    for content in ["Tabs", "tabs", "tabs ", "tabs.", "ｔabs"] {
        create(store, &owner, told(content)).await;
    }
}

pub(crate) async fn a_newer_memory_takes_the_place_of_the_one_that_it_supersedes(
    store: &dyn Store,
) {
    let owner = Scope::owner();
    let old = create(store, &owner, told_on(-5, "port 6379")).await;
    let newer = create(store, &owner, replacing(&old.id, "port 6380")).await;
    let old = get(store, &owner, &old.id).await;
    assert_eq!(old.state(day(0)), State::Superseded);
    assert_eq!(old.fate.superseded_by, Some(newer.id));
    assert_eq!(old.details.invalid_at, Some(day(0)));
    assert_eq!(search(store, "port").await, ["port 6380"]);
}

pub(crate) async fn a_memory_that_supersedes_itself_is_only_reinforced(store: &dyn Store) {
    let owner = Scope::owner();
    let old = create(store, &owner, told("port 6379")).await;
    let (memory, _) = reinforced(add(store, &owner, replacing(&old.id, "port 6379")).await);
    assert_eq!(memory.state(day(0)), State::Active);
    assert_eq!(get(store, &owner, &old.id).await, memory);
}

pub(crate) async fn nothing_is_written_if_what_to_supersede_is_not_seen(store: &dyn Store) {
    let private = create(store, &agent("alpha"), told("alpha's port is 6379")).await;
    let reinforced_if_written = create(store, &agent("beta"), told("port 6380")).await;
    let before = Everything::of(store).await;
    for missing in [private.id, id("nowhere000000000")] {
        for content in [&reinforced_if_written.content, "a new port"] {
            let added = add(store, &agent("beta"), replacing(&missing, content)).await;
            assert_eq!(added, Added::NothingToSupersede(missing.clone()));
        }
    }
    assert_eq!(Everything::of(store).await, before);
}

pub(crate) async fn nothing_is_written_under_an_id_that_is_taken(store: &dyn Store) {
    let owner = Scope::owner();
    let taken = create(store, &agent("alpha"), told("alpha's secret")).await;
    let old = create(store, &owner, told("the old port")).await;
    let before = Everything::of(store).await;
    let new = NewMemory {
        id: taken.id,
        ..replacing(&old.id, "the new port")
    };
    assert_eq!(add_on(store, &owner, 1, new).await, Added::IdTaken);
    assert_eq!(Everything::of(store).await, before);
}

pub(crate) async fn each_memory_of_a_batch_has_its_own_outcome_in_order(store: &dyn Store) {
    let owner = Scope::owner();
    let wrong = create(store, &owner, told("Paris is in Italy")).await;
    store
        .correct(&owner, &wrong.id, true, day(0))
        .await
        .unwrap();
    let first = told("tabs");
    let same_id = NewMemory {
        id: first.id.clone(),
        ..told("spaces")
    };
    let batch = vec![
        first.clone(),
        told("Paris is in Italy"),
        told("tabs"),
        same_id,
        replacing(&id("nowhere000000000"), "neither"),
        told("both"),
    ];
    let added = store.add(&owner, batch, day(0)).await.unwrap();
    assert!(matches!(&added[0], Added::Created(memory) if memory.id == first.id));
    assert_eq!(added[1], Added::Corrected(wrong.id));
    assert!(matches!(&added[2], Added::Reinforced { memory, .. } if memory.id == first.id));
    assert_eq!(added[3], Added::IdTaken);
    assert!(matches!(added[4], Added::NothingToSupersede(_)));
    assert!(matches!(&added[5], Added::Created(memory) if memory.content == "both"));
    assert_eq!(added.len(), 6);
    assert_eq!(everything(store).await.len(), 3);
}

pub(crate) async fn an_empty_batch_adds_nothing(store: &dyn Store) {
    let added = store.add(&Scope::owner(), vec![], day(0)).await.unwrap();
    assert_eq!(added, []);
    assert_eq!(everything(store).await, []);
}

fn reinforced(added: Added) -> (crate::memory::Memory, Option<State>) {
    match added {
        Added::Reinforced { memory, revived } => (memory, revived),
        other => panic!("not reinforced: {other:?}"),
    }
}

fn replacing(older: &MemoryId, content: &str) -> NewMemory {
    NewMemory {
        supersedes: Some(older.clone()),
        ..told(content)
    }
}
