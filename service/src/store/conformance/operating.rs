//! Operations that are done once however often they are asked for, kept answers, bulk deletion.

use chrono::TimeDelta;

use super::samples::*;
use crate::memory::{MemoryId, NewMemory, State};
use crate::scope::Scope;
use crate::store::operation::REMEMBERED;
use crate::store::{
    Added, Deleted, Effect, KeptAnswer, ListFilters, Operated, Operation, Step, Store, Target,
};

fn adding(key: &str, new: NewMemory) -> Operation {
    operation(key, Step::Add(new))
}

fn replacing(key: &str, old_text: &str, new: NewMemory) -> Operation {
    operation(key, Step::Replace(target(old_text), new))
}

fn removing(key: &str, old_text: &str) -> Operation {
    operation(key, Step::Remove(target(old_text)))
}

fn operation(key: &str, step: Step) -> Operation {
    let key = key.to_owned();
    Operation { key, step }
}

fn target(old_text: &str) -> Target {
    Target {
        old_text: old_text.to_owned(),
        source: None,
    }
}

async fn one(store: &dyn Store, scope: &Scope, operation: Operation) -> Operated {
    at(store, scope, 0, operation).await
}

async fn at(store: &dyn Store, scope: &Scope, number: i64, operation: Operation) -> Operated {
    let operated = store.operate(scope, vec![operation], day(number)).await;
    let mut operated = operated.unwrap();
    assert_eq!(operated.len(), 1);
    operated.remove(0)
}

fn id_of(operated: &Operated) -> MemoryId {
    match operated {
        Operated::Added(Added::Created(memory) | Added::Reinforced { memory, .. }) => {
            memory.id.clone()
        }
        Operated::Removed(id) => id.clone(),
        Operated::Repeated(effect) => effect.id.clone(),
        other => panic!("nothing was done: {other:?}"),
    }
}

async fn state(store: &dyn Store, id: &MemoryId) -> State {
    get(store, &Scope::owner(), id).await.state(day(0))
}

pub(crate) async fn operations_are_done_in_order(store: &dyn Store) {
    let owner = Scope::owner();
    let spool = vec![
        adding("1", told("User lives in Paris")),
        replacing("2", "lives in Paris", told("User lives in Berlin")),
        adding("3", told("User likes tea")),
        removing("4", "likes tea"),
    ];
    let operated = store.operate(&owner, spool, day(0)).await.unwrap();
    let ids: Vec<MemoryId> = operated.iter().map(id_of).collect();
    for (id, expected) in [
        (&ids[0], State::Superseded),
        (&ids[1], State::Active),
        (&ids[2], State::Trashed),
    ] {
        assert_eq!(state(store, id).await, expected);
    }
    assert_eq!(ids[3], ids[2]);
    let paris = get(store, &owner, &ids[0]).await;
    assert_eq!(paris.fate.superseded_by, Some(ids[1].clone()));
    assert_eq!(search(store, "lives").await, ["User lives in Berlin"]);
    let restored = store.restore(&owner, &ids[2], day(1)).await.unwrap();
    assert_eq!(restored.unwrap().content, "User likes tea");
}

pub(crate) async fn an_operation_asked_for_again_is_told_and_not_done_again(store: &dyn Store) {
    let owner = Scope::owner();
    let spool = || {
        vec![
            adding("a", told("User likes tea")),
            adding("b", told("User likes tea")),
            replacing("c", "likes", told("User loves tea")),
            adding("d", told("a note")),
            removing("e", "a note"),
            adding("a", told("something else under the name of another")),
        ]
    };
    let first = store.operate(&owner, spool(), day(0)).await.unwrap();
    let before = Everything::of(store).await;
    let again = store.operate(&owner, spool(), day(0)).await.unwrap();
    assert_eq!(Everything::of(store).await, before);
    let effect = |index: usize, reinforced: bool| {
        Operated::Repeated(Effect {
            id: id_of(&first[index]),
            reinforced,
            revived: None,
        })
    };
    let expected = [
        effect(0, false),
        effect(1, true),
        effect(2, false),
        effect(3, false),
        effect(4, false),
        effect(0, false),
    ];
    assert_eq!(again, expected);
    assert_eq!(first[5], expected[5]);
}

pub(crate) async fn an_operation_is_remembered_for_a_day(store: &dyn Store) {
    let owner = Scope::owner();
    let add = |now| store.operate(&owner, vec![adding("a", told("tea"))], now);
    add(day(0)).await.unwrap();
    let just_before = day(0) + REMEMBERED - TimeDelta::milliseconds(1);
    let repeated = add(just_before).await.unwrap();
    assert!(matches!(repeated[0], Operated::Repeated(_)), "{repeated:?}");
    let again = add(day(0) + REMEMBERED).await.unwrap();
    assert!(
        matches!(again[0], Operated::Added(Added::Reinforced { .. })),
        "{again:?}"
    );
}

pub(crate) async fn what_found_no_match_stays_so_though_one_comes_later(store: &dyn Store) {
    let owner = Scope::owner();
    let replace = || replacing("1", "Paris", told("User lives in Berlin"));
    assert_eq!(one(store, &owner, replace()).await, Operated::NoMatch);
    create(store, &owner, told("User lives in Paris")).await;
    assert_eq!(one(store, &owner, replace()).await, Operated::NoMatch);
    let remove = || removing("2", "User");
    create(store, &owner, told("User likes tea")).await;
    assert_eq!(one(store, &owner, remove()).await, Operated::Ambiguous);
    store
        .operate(&owner, vec![removing("3", "tea")], day(0))
        .await
        .unwrap();
    assert_eq!(one(store, &owner, remove()).await, Operated::Ambiguous);
    assert_eq!(search(store, "User").await, ["User lives in Paris"]);
}

pub(crate) async fn what_was_refused_is_not_remembered(store: &dyn Store) {
    let owner = Scope::owner();
    let wrong = create(store, &owner, told("the moon is made of cheese")).await;
    store
        .correct(&owner, &wrong.id, true, day(0))
        .await
        .unwrap();
    let add = || adding("1", told("the moon is made of cheese"));
    let refused = Operated::Added(Added::Corrected(wrong.id.clone()));
    assert_eq!(one(store, &owner, add()).await, refused);
    store
        .correct(&owner, &wrong.id, false, day(0))
        .await
        .unwrap();
    let done = one(store, &owner, add()).await;
    assert_eq!(id_of(&done), wrong.id);
    assert!(matches!(done, Operated::Added(Added::Reinforced { .. })));
}

pub(crate) async fn names_of_operations_belong_to_an_agent_of_a_namespace(store: &dyn Store) {
    let primary_alpha = Scope {
        primary: true,
        ..agent("alpha")
    };
    for scope in [Scope::owner(), agent("alpha"), agent("beta"), elsewhere()] {
        let done = one(store, &scope, adding("1", told("tea"))).await;
        assert!(
            matches!(done, Operated::Added(Added::Created(_))),
            "{scope:?}"
        );
    }
    let same = one(store, &primary_alpha, adding("1", told("tea"))).await;
    assert!(matches!(same, Operated::Repeated(_)));
}

pub(crate) async fn no_operation_touches_the_memory_of_another_agent(store: &dyn Store) {
    let alphas = create(store, &agent("alpha"), shared(told("we live in Paris"))).await;
    let betas = create(store, &agent("beta"), told("I live in Paris, too")).await;
    create(store, &elsewhere(), told("Paris elsewhere")).await;
    for scope in [Scope::owner(), agent("gamma")] {
        let replaced = one(store, &scope, replacing("1", "Paris", told("Berlin"))).await;
        assert_eq!(replaced, Operated::NoMatch, "{scope:?}");
        let removed = one(store, &scope, removing("2", "Paris")).await;
        assert_eq!(removed, Operated::NoMatch, "{scope:?}");
    }
    let primary_beta = Scope {
        primary: true,
        ..agent("beta")
    };
    let removed = one(store, &primary_beta, removing("3", "Paris")).await;
    assert_eq!(removed, Operated::Removed(betas.id));
    assert_eq!(state(store, &alphas.id).await, State::Active);
}

pub(crate) async fn old_text_is_compared_to_the_last_character(store: &dyn Store) {
    let owner = Scope::owner();
    let long = format!("{}汤姆喜欢喝茶\u{0}100%_\u{1f375}'\"\\", "x".repeat(60_000));
    let memory = create(store, &owner, told(&long)).await;
    create(store, &owner, told("something else")).await;
    for (key, old_text) in [
        "喜欢喝咖啡",
        "100%%",
        "100_",
        "1__%",
        "喝茶100",
        "X",
        "喜欢\u{0}",
        "\u{1f376}",
    ]
    .iter()
    .enumerate()
    {
        let removed = one(store, &owner, removing(&format!("no {key}"), old_text)).await;
        assert_eq!(removed, Operated::NoMatch, "{old_text}");
    }
    for (key, old_text) in [
        "喜欢喝茶",
        "\u{0}100%_",
        "\u{1f375}'\"\\",
        "xx",
        &long,
        "喝茶\u{0}1",
    ]
    .iter()
    .enumerate()
    {
        let removed = one(store, &owner, removing(&format!("yes {key}"), old_text)).await;
        assert_eq!(
            removed,
            Operated::Removed(memory.id.clone()),
            "{old_text:.30}"
        );
        store.restore(&owner, &memory.id, day(0)).await.unwrap();
    }
}

pub(crate) async fn only_active_memories_of_the_source_are_looked_through(store: &dyn Store) {
    let owner = Scope::owner();
    let from = |source: &str, content: &str| {
        let mut new = told(content);
        new.details.source = Some(source.to_owned());
        new
    };
    create(store, &owner, from("hermes", "Paris by hermes")).await;
    let mine = create(store, &owner, from("person", "Paris by a person")).await;
    let gone = create(store, &owner, from("person", "Paris in the trash")).await;
    store.trash(&owner, &gone.id, day(0)).await.unwrap();
    let mut old = from("person", "Paris long ago");
    old.details.invalid_at = Some(day(-1));
    create(store, &owner, old).await;
    assert_eq!(
        one(store, &owner, removing("1", "Paris")).await,
        Operated::Ambiguous
    );
    let remove = operation(
        "2",
        Step::Remove(Target {
            source: Some("person".to_owned()),
            ..target("Paris")
        }),
    );
    assert_eq!(one(store, &owner, remove).await, Operated::Removed(mine.id));
}

pub(crate) async fn a_replacement_that_is_there_already_takes_the_place(store: &dyn Store) {
    let owner = Scope::owner();
    let paris = create(store, &owner, told("User lives in Paris")).await;
    let berlin = create(store, &owner, told("User lives in Berlin")).await;
    let replace = replacing("1", "Paris", told("User lives in Berlin"));
    assert_eq!(id_of(&one(store, &owner, replace).await), berlin.id);
    assert_eq!(state(store, &paris.id).await, State::Superseded);
    assert_eq!(search(store, "lives").await, ["User lives in Berlin"]);
    let itself = replacing("2", "Berlin", told("User lives in Berlin"));
    assert_eq!(id_of(&one(store, &owner, itself).await), berlin.id);
    assert_eq!(state(store, &berlin.id).await, State::Active);
}

pub(crate) async fn an_answer_is_kept_for_a_day(store: &dyn Store) {
    let answer = KeptAnswer {
        fingerprint: "abc".to_owned(),
        status: 201,
        content_type: "application/json".to_owned(),
        body: "{\"id\": \"数\u{1f375}\\u0000\"}".to_owned(),
    };
    let key = "/v1/memories it's a \"key\"";
    assert_eq!(store.answer(key, day(0)).await.unwrap(), None);
    store
        .keep_answer(key, answer.clone(), day(0))
        .await
        .unwrap();
    let just_before = day(0) + REMEMBERED - TimeDelta::milliseconds(1);
    assert_eq!(
        store.answer(key, just_before).await.unwrap(),
        Some(answer.clone())
    );
    assert_eq!(store.answer("another", day(0)).await.unwrap(), None);
    let later = day(0) + REMEMBERED;
    assert_eq!(store.answer(key, later).await.unwrap(), None);
    let newer = KeptAnswer {
        status: 200,
        ..answer
    };
    store.keep_answer(key, newer.clone(), later).await.unwrap();
    assert_eq!(store.answer(key, later).await.unwrap(), Some(newer));
}

pub(crate) async fn everything_that_filters_name_is_deleted_if_it_is_so_many(store: &dyn Store) {
    let owner = Scope::owner();
    for number in 0..300 {
        create(
            store,
            &owner,
            tagged(&format!("draft {number}"), &["draft"]),
        )
        .await;
    }
    create(store, &owner, tagged("kept", &["final"])).await;
    create(store, &elsewhere(), tagged("elsewhere", &["draft"])).await;
    let drafts = ListFilters {
        tag: Some("draft".to_owned()),
        ..ListFilters::default()
    };
    let delete = |filters: ListFilters, expected, purge| async move {
        let scope = Scope::owner();
        let deleted = store.delete_all(&scope, &filters, expected, purge, day(1));
        deleted.await.unwrap()
    };
    let before = Everything::of(store).await;
    for wrong in [0, 299, 301] {
        let refused = delete(drafts.clone(), wrong, true).await;
        assert_eq!(refused, Deleted::Differs(300));
    }
    assert_eq!(Everything::of(store).await, before);
    assert_eq!(delete(drafts.clone(), 300, false).await, Deleted::Done);
    assert_eq!(search(store, "draft").await, [""; 0]);
    assert_eq!(delete(drafts.clone(), 0, false).await, Deleted::Done);
    let trashed = ListFilters {
        state: Some(State::Trashed),
        ..drafts
    };
    assert_eq!(delete(trashed.clone(), 300, false).await, Deleted::Done);
    assert_eq!(delete(trashed, 300, true).await, Deleted::Done);
    let left = everything(store).await;
    let mut left = contents(&left);
    left.sort_unstable();
    assert_eq!(left, ["elsewhere", "kept"]);
}

pub(crate) async fn an_agent_deletes_only_what_it_sees(store: &dyn Store) {
    for scope in [agent("alpha"), agent("beta"), elsewhere()] {
        create(store, &scope, tagged("a draft", &["draft"])).await;
    }
    let drafts = ListFilters {
        tag: Some("draft".to_owned()),
        ..ListFilters::default()
    };
    let deleted = store
        .delete_all(&agent("alpha"), &drafts, 3, true, day(0))
        .await;
    assert_eq!(deleted.unwrap(), Deleted::Differs(1));
    let deleted = store
        .delete_all(&agent("alpha"), &drafts, 1, true, day(0))
        .await;
    assert_eq!(deleted.unwrap(), Deleted::Done);
    assert_eq!(everything(store).await.len(), 2);
}
