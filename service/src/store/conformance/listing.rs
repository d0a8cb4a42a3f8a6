//! Going through memories in order: lists with cursors and filters, scans.

use super::samples::*;
use crate::memory::{Memory, NewMemory, Place, State};
use crate::scope::Scope;
use crate::store::{Cursor, ListFilters, Store};

pub(crate) async fn a_list_has_the_newest_created_first_then_by_id(store: &dyn Store) {
    let owner = Scope::owner();
    for (name, days) in [("b", 0), ("d", -1), ("a", 0), ("c", 1), ("e", -40)] {
        let new = NewMemory {
            id: id(name),
            ..told_on(days, name)
        };
        create(store, &owner, new).await;
    }
    // Told again: reinforced today, but not created today.
    add(store, &owner, told("e")).await;
    for (limit, expected) in [
        (100, &["c", "a", "b", "d", "e"][..]),
        (2, &["c", "a"]),
        (0, &[]),
    ] {
        let listed = store
            .list(&owner, &ListFilters::default(), None, limit, day(0))
            .await;
        assert_eq!(contents(&listed.unwrap()), expected);
    }
}

pub(crate) async fn pages_hold_each_memory_once_however_many_are_of_one_moment(store: &dyn Store) {
    let owner = Scope::owner();
    for number in 0..17 {
        create(
            store,
            &owner,
            told_on(number / 7, &format!("note {number}")),
        )
        .await;
    }
    let filters = ListFilters::default();
    let whole = store
        .list(&owner, &filters, None, 100, day(9))
        .await
        .unwrap();
    assert_eq!(whole.len(), 17);
    for size in [1, 2, 5, 16, 17, 18] {
        let mut paged: Vec<Memory> = vec![];
        loop {
            let cursor = paged.last().map(|last| Cursor {
                created_at: last.created_at,
                id: last.id.clone(),
            });
            let page = store.list(&owner, &filters, cursor.as_ref(), size, day(9));
            let page = page.await.unwrap();
            assert!(page.len() <= size);
            if page.is_empty() {
                break;
            }
            paged.extend(page);
        }
        assert_eq!(paged, whole, "pages of {size}");
    }
}

pub(crate) async fn a_cursor_goes_on_though_its_memory_is_gone(store: &dyn Store) {
    let owner = Scope::owner();
    for number in 0..3 {
        create(store, &owner, told_on(-number, &format!("note {number}"))).await;
    }
    let filters = ListFilters::default();
    let first = store.list(&owner, &filters, None, 2, day(0)).await.unwrap();
    store.purge(&owner, &first[1].id).await.unwrap();
    create(store, &owner, told_on(5, "newer than the cursor")).await;
    let cursor = Cursor {
        created_at: first[1].created_at,
        id: first[1].id.clone(),
    };
    let second = store.list(&owner, &filters, Some(&cursor), 2, day(0)).await;
    assert_eq!(contents(&second.unwrap()), ["note 2"]);
}

pub(crate) async fn each_filter_of_a_list_compares_exactly(store: &dyn Store) {
    let owner = Scope::owner();
    let mut full = tagged("full", &["Style", "a,b", "100%"]);
    full.details.category = Some("Rule".into());
    full.details.source = Some("cli".into());
    full.details.entry_type = Some("note".into());
    full.place = Place {
        session: Some("s".into()),
        turn: Some(1),
        document: Some("d.md".into()),
    };
    create(store, &owner, full).await;
    create(store, &owner, told("plain")).await;
    let with = |set: fn(&mut ListFilters, Option<String>), value: &str| {
        let mut filters = ListFilters::default();
        set(&mut filters, Some(value.to_owned()));
        filters
    };
    for (set, there, absent) in [
        (
            (|filters, value| filters.tag = value) as fn(&mut ListFilters, Option<String>),
            &["Style", "a,b", "100%"][..],
            &["style", "a", "b", "Styl", "%", "100_", ""][..],
        ),
        (
            |filters, value| filters.category = value,
            &["Rule"],
            &["rule", "Rul", ""],
        ),
        (
            |filters, value| filters.source = value,
            &["cli"],
            &["CLI", "cl%"],
        ),
        (
            |filters, value| filters.entry_type = value,
            &["note"],
            &["notes"],
        ),
        (
            |filters, value| filters.session = value,
            &["s"],
            &["S", "t"],
        ),
        (
            |filters, value| filters.document = value,
            &["d.md"],
            &["d_md"],
        ),
    ] {
        for value in there {
            let filters = with(set, value);
            let listed = store.list(&owner, &filters, None, 10, day(0)).await;
            assert_eq!(contents(&listed.unwrap()), ["full"], "{value}");
        }
        for value in absent {
            let filters = with(set, value);
            let listed = store.list(&owner, &filters, None, 10, day(0)).await;
            assert_eq!(contents(&listed.unwrap()), [""; 0], "{value}");
        }
    }
    let both = ListFilters {
        tag: Some("Style".into()),
        category: Some("another".into()),
        ..ListFilters::default()
    };
    let listed = store.list(&owner, &both, None, 10, day(0)).await.unwrap();
    assert_eq!(listed, [], "filters must all hold");
}

pub(crate) async fn a_list_shows_every_state_but_trashed_or_the_one_asked_for(store: &dyn Store) {
    let owner = Scope::owner();
    let memories = one_in_each_state();
    let imported = memories.iter().map(|memory| put_back(memory.clone(), 0.0));
    store.import(imported.collect()).await.unwrap();
    for state in State::ALL {
        let filters = ListFilters {
            state: Some(state),
            ..ListFilters::default()
        };
        let listed = store.list(&owner, &filters, None, 10, day(0)).await;
        assert_eq!(contents(&listed.unwrap()), [state.as_str()]);
    }
    let filters = ListFilters::default();
    let listed = store.list(&owner, &filters, None, 10, day(0)).await;
    assert_eq!(
        contents(&listed.unwrap()),
        ["active", "expired", "consumed", "superseded", "corrected"]
    );
}

pub(crate) async fn a_scan_has_everything_in_the_order_of_ids(store: &dyn Store) {
    let imported = one_in_each_state()
        .into_iter()
        .map(|memory| put_back(memory, 0.0));
    store.import(imported.collect()).await.unwrap();
    for (scope, name) in [
        (agent("alpha"), "B-upper"),
        (elsewhere(), "a-elsewhere"),
        (Scope::owner(), "数据"),
        (Scope::owner(), "z"),
    ] {
        let new = NewMemory {
            id: id(name),
            ..told(name)
        };
        create(store, &scope, new).await;
    }
    let whole = everything(store).await;
    assert_eq!(whole.len(), 10);
    assert!(whole.is_sorted_by(|one, next| one.id < next.id));
    for size in [1, 3, 10] {
        let mut paged: Vec<Memory> = vec![];
        loop {
            let after = paged.last().map(|last| last.id.clone());
            let page = store.scan(after.as_ref(), size).await.unwrap();
            assert!(page.len() <= size);
            if page.is_empty() {
                break;
            }
            paged.extend(page);
        }
        assert_eq!(paged, whole, "pages of {size}");
    }
}

/// A memory of the owner in each state on day 0, named after it.
fn one_in_each_state() -> Vec<Memory> {
    let in_state = |(index, state): (usize, &State)| {
        let mut memory = exported(&format!("state{index}"), state.as_str());
        match state {
            State::Active => {}
            State::Expired => memory.details.invalid_at = Some(day(0)),
            State::Consumed => memory.fate.consumed_by = Some(id("merged")),
            State::Superseded => memory.fate.superseded_by = Some(id("newer")),
            State::Corrected => memory.fate.corrected_at = Some(day(0)),
            State::Trashed => memory.fate.trashed_at = Some(day(0)),
        }
        memory
    };
    State::ALL.iter().enumerate().map(in_state).collect()
}
