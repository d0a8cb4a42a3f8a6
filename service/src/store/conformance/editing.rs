//! Changing a memory: edits, trash, feedback, corrections.

use serde_json::json;

use super::samples::*;
use crate::memory::{Edit, Memory, NewMemory, State};
use crate::query::Filters;
use crate::scope::Scope;
use crate::store::{Added, Edited, ListFilters, Store};

pub(crate) async fn an_edit_changes_what_it_names_and_nothing_else(store: &dyn Store) {
    let owner = Scope::owner();
    let mut new = tagged("tabs", &["style"]);
    new.details.category = Some("rule".into());
    new.details.source = Some("cli".into());
    let before = create(store, &owner, new).await;
    let edit = Edit {
        tags: Some(strings(&["Editor"])),
        category: Some(None),
        entry_type: Some(Some("note".into())),
        pinned: Some(true),
        metadata: json!({"seen": true}).as_object().cloned(),
        ..Edit::default()
    };
    let after = done(store.edit(&owner, &before.id, edit, day(2)).await.unwrap());
    let mut expected = before.clone();
    expected.details.tags = strings(&["Editor"]);
    expected.details.category = None;
    expected.details.entry_type = Some("note".into());
    expected.details.pinned = true;
    expected.details.metadata = json!({"seen": true}).as_object().unwrap().clone();
    expected.updated_at = day(2);
    assert_eq!(after, expected);
    assert_eq!(get(store, &owner, &before.id).await, expected);
}

pub(crate) async fn an_edited_content_is_found_by_its_new_words_alone(store: &dyn Store) {
    let owner = Scope::owner();
    let before = create(store, &owner, told("lives in Paris")).await;
    let after = rewrite(store, &before, "lives in Berlin").await;
    assert_eq!(after.content, "lives in Berlin");
    assert_eq!(after.analysis, analysed("lives in Berlin"));
    assert_eq!(after.told_at(), before.told_at(), "an edit renews nothing");
    assert_eq!(search(store, "Paris").await, [""; 0]);
    assert_eq!(search(store, "Berlin").await, ["lives in Berlin"]);
}

pub(crate) async fn an_edited_memory_is_known_by_its_new_content(store: &dyn Store) {
    let owner = Scope::owner();
    let memory = create(store, &owner, told("lives in Paris")).await;
    rewrite(store, &memory, "lives in Berlin").await;
    let again = add(store, &owner, told("lives in Berlin")).await;
    assert!(matches!(again, Added::Reinforced { memory: same, .. } if same.id == memory.id));
    create(store, &owner, told("lives in Paris")).await;
}

pub(crate) async fn an_edit_to_the_content_of_another_memory_is_refused(store: &dyn Store) {
    let owner = Scope::owner();
    let paris = create(store, &owner, told("lives in Paris")).await;
    let berlin = create(store, &owner, told("lives in Berlin")).await;
    store.trash(&owner, &paris.id, day(0)).await.unwrap();
    let before = Everything::of(store).await;
    let edit = Edit {
        pinned: Some(true),
        ..content_of("lives in Paris")
    };
    let edited = store.edit(&owner, &berlin.id, edit, day(1)).await;
    assert_eq!(edited.unwrap(), Edited::SameAs(paris.id));
    assert_eq!(Everything::of(store).await, before);
}

pub(crate) async fn an_edit_may_take_the_content_that_another_agent_has(store: &dyn Store) {
    create(store, &agent("alpha"), told("lives in Paris")).await;
    let beta = agent("beta");
    let berlin = create(store, &beta, told("lives in Berlin")).await;
    let edit = content_of("lives in Paris");
    done(store.edit(&beta, &berlin.id, edit, day(1)).await.unwrap());
}

pub(crate) async fn an_edit_to_its_own_content_is_done(store: &dyn Store) {
    let owner = Scope::owner();
    let memory = create(store, &owner, told("lives in Paris")).await;
    let same = rewrite(store, &memory, "lives in Paris").await;
    assert_eq!((same.id, same.mentions), (memory.id, 1));
}

pub(crate) async fn an_edit_without_an_end_revives_what_expired_or_was_superseded(
    store: &dyn Store,
) {
    let owner = Scope::owner();
    let mut new = told("closed today");
    new.details.invalid_at = Some(day(-1));
    let expired = create(store, &owner, new).await;
    let superseded = create(store, &owner, told("port 6379")).await;
    let newer = NewMemory {
        supersedes: Some(superseded.id.clone()),
        ..told("port 6380")
    };
    create(store, &owner, newer).await;
    for memory in [expired, superseded] {
        let edit = Edit {
            invalid_at: Some(None),
            ..Edit::default()
        };
        let edited = store.edit(&owner, &memory.id, edit, day(0)).await.unwrap();
        let revived = done(edited);
        assert_eq!(revived.state(day(0)), State::Active);
        assert_eq!(revived.details.invalid_at, None);
        assert_eq!(revived.fate.superseded_by, None);
        assert_eq!(search(store, &memory.content).await[0], memory.content);
    }
}

pub(crate) async fn an_edit_of_the_end_hides_a_memory_from_then_on(store: &dyn Store) {
    let owner = Scope::owner();
    let memory = create(store, &owner, told("closed today")).await;
    let edit = Edit {
        invalid_at: Some(Some(day(1))),
        ..Edit::default()
    };
    let memory = done(store.edit(&owner, &memory.id, edit, day(0)).await.unwrap());
    assert_eq!(memory.state(day(0)), State::Active);
    for (now, count) in [(0, 1), (1, 0)] {
        let retrieved = store.retrieve(&owner, &plan("closed"), day(now)).await;
        assert_eq!(retrieved.unwrap().candidates.len(), count, "day {now}");
    }
}

pub(crate) async fn a_trashed_memory_is_out_of_sight_until_it_is_restored(store: &dyn Store) {
    let owner = Scope::owner();
    let memory = create(store, &owner, told("old port")).await;
    let trashed = store.trash(&owner, &memory.id, day(1)).await.unwrap();
    let trashed = trashed.unwrap();
    assert_eq!(trashed.state(day(1)), State::Trashed);
    assert_eq!(trashed.fate.trashed_at, Some(day(1)));
    assert_eq!(get(store, &owner, &memory.id).await, trashed);
    let listed = store
        .list(&owner, &ListFilters::default(), None, 10, day(1))
        .await;
    assert_eq!(listed.unwrap(), []);
    assert_eq!(search(store, "port").await, [""; 0]);

    let restored = store.restore(&owner, &memory.id, day(2)).await.unwrap();
    let restored = restored.unwrap();
    assert_eq!(restored.state(day(2)), State::Active);
    assert_eq!(restored.told_at(), memory.told_at());
    assert_eq!(search(store, "port").await, ["old port"]);
}

pub(crate) async fn a_memory_in_the_trash_stays_there_as_it_is(store: &dyn Store) {
    let owner = Scope::owner();
    let memory = create(store, &owner, told("old port")).await;
    let first = store.trash(&owner, &memory.id, day(1)).await.unwrap();
    let second = store.trash(&owner, &memory.id, day(2)).await.unwrap();
    assert_eq!(
        second.and_then(|memory| memory.fate.trashed_at),
        Some(day(1))
    );
    assert_eq!(first.unwrap().state(day(2)), State::Trashed);
}

pub(crate) async fn a_consumed_memory_can_be_restored(store: &dyn Store) {
    let owner = Scope::owner();
    let mut source = exported("source0000000000", "likes tea");
    source.fate.consumed_by = Some(id("merged0000000000"));
    store
        .import(vec![put_back(source.clone(), 1.0)])
        .await
        .unwrap();
    let restored = store.restore(&owner, &source.id, day(1)).await.unwrap();
    let restored = restored.unwrap();
    assert_eq!(restored.state(day(1)), State::Active);
    assert_eq!(restored.fate.consumed_by, None);
    assert_eq!(search(store, "tea").await, ["likes tea"]);
}

pub(crate) async fn a_corrected_memory_comes_out_of_the_trash_corrected(store: &dyn Store) {
    let owner = Scope::owner();
    let memory = create(store, &owner, told("Paris is in Italy")).await;
    store
        .correct(&owner, &memory.id, true, day(0))
        .await
        .unwrap();
    store.trash(&owner, &memory.id, day(0)).await.unwrap();
    let restored = store.restore(&owner, &memory.id, day(0)).await.unwrap();
    assert_eq!(restored.unwrap().state(day(0)), State::Corrected);
}

pub(crate) async fn a_purged_memory_is_gone_for_good(store: &dyn Store) {
    let owner = Scope::owner();
    for trashed_before in [true, false] {
        let memory = create(store, &owner, told("old port")).await;
        if trashed_before {
            store.trash(&owner, &memory.id, day(0)).await.unwrap();
        }
        assert!(store.purge(&owner, &memory.id).await.unwrap());
        assert!(!store.purge(&owner, &memory.id).await.unwrap(), "once only");
        assert_eq!(store.get(&owner, &memory.id).await.unwrap(), None);
        assert_eq!(everything(store).await, []);
        assert_eq!(search(store, "port").await, [""; 0]);
        let restored = store.restore(&owner, &memory.id, day(0)).await;
        assert_eq!(restored.unwrap(), None);
    }
}

pub(crate) async fn feedback_adds_up_and_renews_nothing(store: &dyn Store) {
    let owner = Scope::owner();
    let memory = create(store, &owner, told("old port")).await;
    for (change, sum) in [(1.0, 1.0), (-2.0, -1.0), (-2.0, -3.0), (1.0, -2.0)] {
        let feedback = store.give_feedback(&owner, &memory.id, change, day(3));
        assert_eq!(feedback.await.unwrap(), Some(sum));
    }
    let after = get(store, &owner, &memory.id).await;
    assert!((after.feedback + 2.0).abs() < 1e-12);
    assert_eq!(after.told_at(), memory.told_at());
    assert_eq!((after.mentions, after.content), (1, memory.content));
    let retrieved = store.retrieve(&owner, &plan("port"), day(3)).await.unwrap();
    assert!((retrieved.candidates[0].memory.feedback + 2.0).abs() < 1e-12);
}

pub(crate) async fn a_corrected_memory_is_never_found_until_that_is_taken_back(store: &dyn Store) {
    let owner = Scope::owner();
    let memory = create(store, &owner, told("Paris is in Italy")).await;
    let wrong = store
        .correct(&owner, &memory.id, true, day(1))
        .await
        .unwrap();
    let wrong = wrong.unwrap();
    assert_eq!(wrong.state(day(1)), State::Corrected);
    assert_eq!(wrong.fate.corrected_at, Some(day(1)));
    for include_expired in [false, true] {
        let filters = Filters {
            include_expired,
            ..Filters::default()
        };
        let found = find(store, &owner, &filtered("Paris", filters)).await;
        assert_eq!(found, [""; 0]);
    }
    let right = store.correct(&owner, &memory.id, false, day(2)).await;
    assert_eq!(right.unwrap().unwrap().state(day(2)), State::Active);
    assert_eq!(search(store, "Paris").await, ["Paris is in Italy"]);
}

fn content_of(content: &str) -> Edit {
    Edit {
        content: Some((content.to_owned(), analysed(content))),
        ..Edit::default()
    }
}

async fn rewrite(store: &dyn Store, memory: &Memory, content: &str) -> Memory {
    let owner = Scope::owner();
    let edited = store.edit(&owner, &memory.id, content_of(content), day(1));
    done(edited.await.unwrap())
}

fn done(edited: Edited) -> Memory {
    match edited {
        Edited::Done(memory) => memory,
        other => panic!("not done: {other:?}"),
    }
}
