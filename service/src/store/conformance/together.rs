//! Many at once: the workflow lock, simultaneous writes, reads while others write.

use chrono::{DateTime, Utc};
use futures_util::future::{join, join_all};

use super::samples::*;
use crate::query::Plan;
use crate::scope::Scope;
use crate::store::{Added, Store};

pub(crate) async fn while_the_lock_holds_nothing_is_searched(store: &dyn Store) {
    let owner = Scope::owner();
    create(store, &owner, told("port")).await;
    store.set_lock(day(2)).await.unwrap();
    for (now, locked) in [(0, true), (1, true), (2, false), (3, false)] {
        let lock = locked.then_some(Some(day(2)));
        assert_eq!(store.lock(day(now)).await.unwrap(), lock, "day {now}");
        let retrieved = store.retrieve(&owner, &plan("port"), day(now)).await;
        let retrieved = retrieved.unwrap();
        assert_eq!(retrieved.lock, lock, "day {now}");
        assert_eq!(retrieved.candidates.is_empty(), locked, "day {now}");
    }
}

pub(crate) async fn a_lock_can_be_moved_and_cleared(store: &dyn Store) {
    let locked_until =
        async |now: i64| -> Option<Option<DateTime<Utc>>> { store.lock(day(now)).await.unwrap() };
    assert_eq!(locked_until(0).await, None);
    store.clear_lock().await.unwrap();
    store.set_lock(day(9)).await.unwrap();
    store.set_lock(day(2)).await.unwrap();
    assert_eq!(locked_until(1).await, Some(Some(day(2))));
    store.clear_lock().await.unwrap();
    assert_eq!(locked_until(1).await, None);
    store.check().await.unwrap();
}

pub(crate) async fn the_same_told_by_many_at_once_is_one_memory(store: &dyn Store) {
    let owner = Scope::owner();
    let tellings = (0..16).map(|_| add(store, &owner, told("all at once")));
    let added = join_all(tellings).await;
    let created = |added: &&Added| matches!(added, Added::Created(_));
    assert_eq!(added.iter().filter(created).count(), 1);
    let memories = everything(store).await;
    assert_eq!((memories.len(), memories[0].mentions), (1, 16));
}

pub(crate) async fn each_writer_among_many_finds_what_it_wrote(store: &dyn Store) {
    let owner = Scope::owner();
    let write_and_find = async |number: usize| {
        let content = format!("port number{number}");
        create(store, &owner, told(&content)).await;
        assert_eq!(search(store, &format!("number{number}")).await, [content]);
    };
    join_all((0..32).map(write_and_find)).await;
}

pub(crate) async fn what_is_retrieved_is_of_one_moment_while_others_write(store: &dyn Store) {
    let owner = Scope::owner();
    let all = Plan {
        pool: 1000,
        ..plan("port")
    };
    let write = async |number: usize| {
        let memory = create(store, &owner, told(&format!("port {number}"))).await;
        for _ in 0..100 {
            store.trash(&owner, &memory.id, day(0)).await.unwrap();
            store.restore(&owner, &memory.id, day(0)).await.unwrap();
        }
    };
    let read = async |_: usize| {
        for _ in 0..500 {
            let retrieved = store.retrieve(&owner, &all, day(0)).await.unwrap();
            let found = retrieved.candidates.len() as u64;
            assert_eq!(retrieved.statistics.document_frequencies, [found]);
        }
    };
    let writers = join_all((0..4).map(write));
    let readers = join_all((0..8).map(read));
    join(writers, readers).await;
}
