//! Who sees what, and what an id or its beginning stands for.

use super::samples::*;
use crate::memory::{Edit, Memory, NewMemory, State};
use crate::query::Plan;
use crate::scope::Scope;
use crate::store::{Edited, ListFilters, Resolved, Stats, Store};

/// Those to whom a private memory of agent alpha is absent.
fn strangers() -> [Scope; 3] {
    let nobody = Scope {
        primary: false,
        ..Scope::owner()
    };
    [agent("beta"), nobody, elsewhere()]
}

async fn private(store: &dyn Store) -> Memory {
    let new = NewMemory {
        id: id("secret0000000000"),
        ..naming("alpha keeps a secret in Redis", &["Redis", "Vault"])
    };
    create(store, &agent("alpha"), new).await
}

pub(crate) async fn what_another_owns_is_absent_to_read(store: &dyn Store) {
    let secret = private(store).await;
    let filters = ListFilters::default();
    let plan = Plan {
        neighbours: true,
        ..plan("secret")
    };
    for scope in strangers() {
        assert_eq!(store.get(&scope, &secret.id).await.unwrap(), None);
        for reference in ["secret0000000000", "memory:frag:secret0000000000", "secret"] {
            let resolved = store.resolve(&scope, reference).await.unwrap();
            assert_eq!(resolved, Resolved::None);
        }
        let listed = store.list(&scope, &filters, None, 10, day(0)).await;
        assert_eq!(listed.unwrap(), []);
        let retrieved = store.retrieve(&scope, &plan, day(0)).await.unwrap();
        assert_eq!(retrieved.candidates, []);
        assert!(!retrieved.hidden, "not even that something is hidden");
        let timeline = store.entity_timeline(&scope, "Redis", 10, day(0)).await;
        assert_eq!(timeline.unwrap(), []);
        let stats = store.stats(&scope, day(0)).await.unwrap();
        assert_eq!(stats, Stats::default());
        let related = store.related_entities(&scope, "Redis", 10, 0).await;
        assert_eq!(related.unwrap(), [] as [(String, u64); 0]);
        let topics = store.topics(&scope, None).await.unwrap();
        assert_eq!(topics, []);
    }
}

pub(crate) async fn what_another_owns_cannot_be_changed(store: &dyn Store) {
    let secret = private(store).await;
    let before = Everything::of(store).await;
    let edit = Edit {
        shared: Some(true),
        ..Edit::default()
    };
    for scope in strangers() {
        let edited = store.edit(&scope, &secret.id, edit.clone(), day(1)).await;
        assert_eq!(edited.unwrap(), Edited::NotFound);
        let trashed = store.trash(&scope, &secret.id, day(1)).await;
        assert_eq!(trashed.unwrap(), None);
        let restored = store.restore(&scope, &secret.id, day(1)).await;
        assert_eq!(restored.unwrap(), None);
        assert!(!store.purge(&scope, &secret.id).await.unwrap());
        let feedback = store.give_feedback(&scope, &secret.id, 1.0, day(1)).await;
        assert_eq!(feedback.unwrap(), None);
        for wrong in [true, false] {
            let corrected = store.correct(&scope, &secret.id, wrong, day(1)).await;
            assert_eq!(corrected.unwrap(), None);
        }
    }
    assert_eq!(Everything::of(store).await, before);
}

pub(crate) async fn a_shared_memory_is_seen_by_all_of_its_namespace(store: &dyn Store) {
    let memory = create(store, &agent("alpha"), shared(told("lunch at noon"))).await;
    for scope in [agent("alpha"), agent("beta"), Scope::owner()] {
        assert_eq!(get(store, &scope, &memory.id).await, memory);
        assert_eq!(find(store, &scope, &plan("lunch")).await, ["lunch at noon"]);
    }
    assert_eq!(store.get(&elsewhere(), &memory.id).await.unwrap(), None);
    let beta = agent("beta");
    let feedback = store.give_feedback(&beta, &memory.id, 1.0, day(0)).await;
    assert_eq!(feedback.unwrap(), Some(1.0));
}

pub(crate) async fn a_primary_agent_sees_all_of_its_namespace_and_no_other(store: &dyn Store) {
    create(store, &agent("alpha"), told_on(-1, "alpha's port")).await;
    create(store, &agent("beta"), told_on(-2, "beta's port")).await;
    create(store, &Scope::owner(), told_on(-3, "nobody's port")).await;
    create(store, &elsewhere(), told_on(-4, "a port elsewhere")).await;
    let primary = Scope {
        primary: true,
        ..agent("gamma")
    };
    let filters = ListFilters::default();
    let listed = store.list(&primary, &filters, None, 10, day(0)).await;
    assert_eq!(
        contents(&listed.unwrap()),
        ["alpha's port", "beta's port", "nobody's port"]
    );
    assert_eq!(find(store, &primary, &plan("port")).await.len(), 3);
    assert_eq!(
        find(store, &elsewhere(), &plan("port")).await,
        ["a port elsewhere"]
    );
}

pub(crate) async fn an_id_or_key_stands_for_its_memory_in_any_state(store: &dyn Store) {
    let owner = Scope::owner();
    // The Python Keepsake had short ids and ones with a time.
    for name in ["ab12", "0123456789abcdef", "0123456789abcdef:1700000000"] {
        let new = NewMemory {
            id: id(name),
            ..told(name)
        };
        let memory = create(store, &owner, new).await;
        store.trash(&owner, &memory.id, day(0)).await.unwrap();
        for reference in [name.to_owned(), format!("memory:frag:{name}")] {
            let resolved = store.resolve(&owner, &reference).await.unwrap();
            assert_eq!(resolved, Resolved::One(id(name)), "{reference}");
        }
    }
}

pub(crate) async fn a_prefix_of_six_characters_stands_for_the_one_memory_that_has_it(
    store: &dyn Store,
) {
    let owner = Scope::owner();
    for name in ["abcdef1111111111", "abcdeg2222222222", "数据库数据库33"] {
        let new = NewMemory {
            id: id(name),
            ..told(name)
        };
        create(store, &owner, new).await;
    }
    for (reference, name) in [
        ("abcdef", Some("abcdef1111111111")),
        ("memory:frag:abcdeg222", Some("abcdeg2222222222")),
        ("数据库数据库", Some("数据库数据库33")),
        ("abcde", None),
        ("memory:frag:abcde", None),
        ("数据库", None),
        ("", None),
        ("abcdeh", None),
        ("abcd_f", None),
        ("abcd%1111", None),
        ("ABCDEF", None),
        ("abcdef11111111112", None),
    ] {
        let resolved = store.resolve(&owner, reference).await.unwrap();
        let expected = name.map_or(Resolved::None, |name| Resolved::One(id(name)));
        assert_eq!(resolved, expected, "{reference}");
    }
}

pub(crate) async fn an_ambiguous_prefix_lists_at_most_five_ids_in_order(store: &dyn Store) {
    let owner = Scope::owner();
    for number in [6, 3, 1, 5, 2, 4] {
        let new = NewMemory {
            id: id(&format!("abcdef{number}")),
            ..told(&format!("note {number}"))
        };
        create(store, &owner, new).await;
    }
    let five = (1..=5)
        .map(|number| id(&format!("abcdef{number}")))
        .collect();
    let resolved = store.resolve(&owner, "abcdef").await.unwrap();
    assert_eq!(resolved, Resolved::Ambiguous(five));
}

pub(crate) async fn an_id_that_is_the_prefix_of_another_stands_for_itself(store: &dyn Store) {
    let owner = Scope::owner();
    for name in ["abcdef11", "abcdef1122"] {
        let new = NewMemory {
            id: id(name),
            ..told(name)
        };
        create(store, &owner, new).await;
    }
    let resolved = store.resolve(&owner, "abcdef11").await.unwrap();
    assert_eq!(resolved, Resolved::One(id("abcdef11")));
}

pub(crate) async fn a_prefix_is_not_ambiguous_by_what_the_scope_does_not_see(store: &dyn Store) {
    for (scope, name) in [(agent("alpha"), "abcdef11"), (agent("beta"), "abcdef22")] {
        let new = NewMemory {
            id: id(name),
            ..told(name)
        };
        create(store, &scope, new).await;
    }
    let resolved = store.resolve(&agent("beta"), "abcdef").await.unwrap();
    assert_eq!(resolved, Resolved::One(id("abcdef22")));
}

pub(crate) async fn states_are_counted_for_the_scope_alone(store: &dyn Store) {
    let alpha = agent("alpha");
    create(store, &agent("beta"), told("beta's own")).await;
    create(store, &agent("beta"), shared(told("for all"))).await;
    let trashed = create(store, &alpha, told("trashed")).await;
    store.trash(&alpha, &trashed.id, day(0)).await.unwrap();
    let wrong = create(store, &alpha, told("wrong")).await;
    store
        .correct(&alpha, &wrong.id, true, day(0))
        .await
        .unwrap();
    let mut passing = told("passing");
    passing.details.invalid_at = Some(day(1));
    let older = create(store, &alpha, passing).await;
    let newer = NewMemory {
        supersedes: Some(create(store, &alpha, told("older")).await.id),
        ..told("newer")
    };
    create(store, &alpha, newer).await;
    let mut merged = exported("merged0000000000", "merged");
    merged.agent = Some("alpha".into());
    merged.fate.consumed_by = Some(older.id);
    store.import(vec![put_back(merged, 1.0)]).await.unwrap();

    for (now, counts) in [(0, [3, 0, 1, 1, 1, 1]), (1, [2, 1, 1, 1, 1, 1])] {
        let stats = store.stats(&alpha, day(now)).await.unwrap();
        assert_eq!(stats.by_state, counts, "in the order of {:?}", State::ALL);
    }
}
