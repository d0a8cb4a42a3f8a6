//! Maintenance: leases, revisions, marks beside the memories.

use super::samples::*;
use crate::memory::{Memory, State};
use crate::scope::Scope;
use crate::store::{Change, Edited, Revision, Store, Synonyms};

async fn lease(store: &dyn Store, name: &str, holder: &str) -> bool {
    store
        .take_lease(name, holder, day(1), day(0))
        .await
        .unwrap()
}

async fn revise(store: &dyn Store, revision: Revision) -> bool {
    store.revise(vec![revision]).await.unwrap() == [true]
}

fn trashed(memory: &Memory) -> Memory {
    let mut after = memory.clone();
    after.fate.trashed_at = Some(day(1));
    after
}

async fn unchecked(store: &dyn Store) -> Vec<String> {
    let found = store.unchecked(None, 100).await.unwrap();
    found.into_iter().map(|memory| memory.content).collect()
}

pub(crate) async fn a_lease_has_one_holder_until_it_is_given_back(store: &dyn Store) {
    assert!(lease(store, "dedup", "one").await);
    assert!(lease(store, "dedup", "one").await, "renewed");
    assert!(!lease(store, "dedup", "two").await);
    assert!(lease(store, "forget", "two").await, "another name");
    store.release_lease("dedup", "two").await.unwrap();
    assert!(!lease(store, "dedup", "two").await);
    store.release_lease("dedup", "one").await.unwrap();
    assert!(lease(store, "dedup", "two").await);
}

pub(crate) async fn a_revision_changes_memories_and_their_statistics_together(store: &dyn Store) {
    let owner = Scope::owner();
    let one = create(store, &owner, told("red apples")).await;
    let two = create(store, &owner, told("green apples")).await;
    let three = create(store, &owner, told("blue plums")).await;
    let mut sum = exported("sum", "apples in two colours");
    sum.level = 1;
    sum.sources = vec![one.id.clone(), two.id.clone()];
    let mut consumed = one.clone();
    consumed.fate.consumed_by = Some(sum.id.clone());
    let revision = vec![
        Change::create(sum.clone()),
        Change::replace(one.clone(), consumed.clone()),
        Change::replace(two.clone(), trashed(&two)),
        Change::purge(three.clone()),
    ];
    assert!(revise(store, revision).await);
    assert_eq!(get(store, &owner, &sum.id).await, sum);
    assert_eq!(get(store, &owner, &one.id).await, consumed);
    assert_eq!(
        get(store, &owner, &two.id).await.state(day(1)),
        State::Trashed
    );
    assert_eq!(store.get(&owner, &three.id).await.unwrap(), None);
    assert_eq!(search(store, "apples").await, ["apples in two colours"]);
    let (_, statistics) = statistics(store, &owner).await;
    assert_eq!(statistics.memories, 2);
}

pub(crate) async fn a_revision_of_what_changed_meanwhile_changes_nothing(store: &dyn Store) {
    let owner = Scope::owner();
    let one = create(store, &owner, told("red apples")).await;
    let two = create(store, &owner, told("green apples")).await;
    store
        .give_feedback(&owner, &two.id, 1.0, day(1))
        .await
        .unwrap();
    let stale = vec![
        Change::replace(one.clone(), trashed(&one)),
        Change::replace(two.clone(), trashed(&two)),
    ];
    let fresh = vec![Change::replace(one.clone(), trashed(&one))];
    let done = store.revise(vec![stale, fresh]).await.unwrap();
    assert_eq!(done, [false, true]);
    assert_eq!(search(store, "apples").await, ["green apples"]);
}

pub(crate) async fn a_revision_makes_no_second_memory_of_a_content_or_an_id(store: &dyn Store) {
    let owner = Scope::owner();
    let one = create(store, &owner, told("red apples")).await;
    let twin = exported("another", "red apples");
    assert!(!revise(store, vec![Change::create(twin)]).await);
    let taken = exported(one.id.as_str(), "blue plums");
    assert!(!revise(store, vec![Change::create(taken)]).await);
    assert_eq!(everything(store).await, [one]);
}

pub(crate) async fn a_superseded_memory_is_revived_by_restoring_it(store: &dyn Store) {
    let owner = Scope::owner();
    let one = create(store, &owner, told("port 6379")).await;
    let mut after = one.clone();
    after.fate.superseded_by = Some(id("newer"));
    after.details.invalid_at = Some(day(1));
    assert!(revise(store, vec![Change::replace(one.clone(), after)]).await);
    assert_eq!(
        get(store, &owner, &one.id).await.state(day(1)),
        State::Superseded
    );
    let restored = store.restore(&owner, &one.id, day(2)).await.unwrap();
    let expected = Memory {
        updated_at: day(2),
        ..one
    };
    assert_eq!(restored, Some(expected));
}

pub(crate) async fn when_a_memory_was_last_retrieved_is_kept_beside_it(store: &dyn Store) {
    let owner = Scope::owner();
    let one = create(store, &owner, told("red apples")).await;
    let two = create(store, &owner, told("green apples")).await;
    let note = |number| vec![(one.id.clone(), day(number)), (id("gone"), day(number))];
    store.note_retrieved(note(3)).await.unwrap();
    store.note_retrieved(note(2)).await.unwrap();
    let ids = [two.id.clone(), one.id.clone(), id("gone")];
    let last = store.last_retrieved(&ids).await.unwrap();
    assert_eq!(last, [None, Some(day(3)), None]);
    assert_eq!(get(store, &owner, &one.id).await, one, "unchanged");
}

pub(crate) async fn a_content_is_checked_once(store: &dyn Store) {
    let owner = Scope::owner();
    let one = create(store, &owner, told("red apples")).await;
    let two = create(store, &elsewhere(), told("green apples")).await;
    assert_eq!(unchecked(store).await, ["red apples", "green apples"]);
    let behind = store.unchecked(Some(&one.id), 5).await.unwrap();
    assert_eq!(behind, std::slice::from_ref(&two));
    let both = vec![one.id.clone(), two.id.clone(), id("gone")];
    store.mark_checked(both).await.unwrap();
    assert_eq!(unchecked(store).await, [""; 0]);
    let edit = crate::memory::Edit {
        content: Some(("pears".to_owned(), analysed("pears"))),
        ..crate::memory::Edit::default()
    };
    let edited = store.edit(&owner, &one.id, edit, day(1)).await.unwrap();
    assert!(matches!(edited, Edited::Done(_)));
    store
        .give_feedback(&elsewhere(), &two.id, 1.0, day(1))
        .await
        .unwrap();
    assert_eq!(unchecked(store).await, ["pears"]);
}

pub(crate) async fn found_synonyms_leave_those_made_by_hand(store: &dyn Store) {
    let found = |terms: &[&str]| Synonyms {
        term: "deploy".to_owned(),
        terms: strings(terms),
        manual: false,
    };
    let by_hand = Synonyms {
        manual: true,
        ..found(&["ship"])
    };
    let set = |synonyms| store.set_synonyms("default", synonyms);
    set(found(&["release"])).await.unwrap();
    set(by_hand.clone()).await.unwrap();
    set(found(&["roll"])).await.unwrap();
    set(found(&[])).await.unwrap();
    assert_eq!(store.synonyms("default").await.unwrap(), [by_hand]);
}
