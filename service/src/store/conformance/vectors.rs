//! Promises of `VectorStore` and of retrieving by vector.

use super::samples::*;
use crate::memory::{Edit, MemoryId, NewMemory, content_hash};
use crate::query::{Filters, Plan, VectorQuery};
use crate::scope::Scope;
use crate::store::{LateVector, Store};
use crate::vector::{ModelId, NewVector};

fn model() -> ModelId {
    ModelId::new("compass", 2)
}

fn other_model() -> ModelId {
    ModelId::new("sextant", 2)
}

/// A memory whose vector points so many degrees to the left of east.
fn towards(degrees: f32, content: &str) -> NewMemory {
    NewMemory {
        vector: Some(vector(degrees)),
        ..told(content)
    }
}

fn vector(degrees: f32) -> NewVector {
    NewVector {
        model: model(),
        values: direction(degrees),
    }
}

fn direction(degrees: f32) -> Vec<f32> {
    vec![degrees.to_radians().cos(), degrees.to_radians().sin()]
}

/// A plan that looks east, and for these words.
fn east(words: &str) -> Plan {
    Plan {
        vector: Some(VectorQuery {
            model: model(),
            values: vec![1.0, 0.0].into(),
        }),
        ..plan(words)
    }
}

fn late(id: &MemoryId, content: &str, values: Vec<f32>) -> LateVector {
    LateVector {
        id: id.clone(),
        content_hash: content_hash(content),
        values,
    }
}

/// The cosines of what a plan finds, by content.
async fn cosines(store: &dyn Store, plan: &Plan) -> Vec<(String, Option<f64>)> {
    let retrieved = store.retrieve(&Scope::owner(), plan, day(0)).await.unwrap();
    let found = retrieved.candidates.into_iter();
    found
        .map(|candidate| (candidate.memory.content.clone(), candidate.cosine))
        .collect()
}

pub(crate) async fn the_nearest_by_cosine_are_found_without_a_word_in_common(store: &dyn Store) {
    let owner = Scope::owner();
    for (degrees, content) in [(60.0, "north-east"), (5.0, "east"), (175.0, "west")] {
        create(store, &owner, towards(degrees, content)).await;
    }
    let found = cosines(store, &east("")).await;
    let names: Vec<&str> = found.iter().map(|(content, _)| content.as_str()).collect();
    assert_eq!(names, ["east", "north-east"], "behind is no candidate");
    for ((_, cosine), degrees) in found.iter().zip([5.0_f64, 60.0]) {
        assert!((cosine.unwrap() - degrees.to_radians().cos()).abs() < 0.01);
    }
}

pub(crate) async fn words_and_vectors_each_fill_their_pool(store: &dyn Store) {
    let owner = Scope::owner();
    create(store, &owner, towards(170.0, "a port in the west")).await;
    create(store, &owner, towards(10.0, "a hill")).await;
    create(store, &owner, towards(20.0, "a lake")).await;
    let narrow = Plan {
        pool: 1,
        ..east("port")
    };
    let found = cosines(store, &narrow).await;
    let names: Vec<&str> = found.iter().map(|(content, _)| content.as_str()).collect();
    assert_eq!(names, ["a port in the west", "a hill"]);
    assert!(
        found[0].1.unwrap() < 0.0,
        "a candidate by its words has its cosine, too"
    );
}

pub(crate) async fn equal_cosines_come_the_newest_first_then_by_id(store: &dyn Store) {
    let owner = Scope::owner();
    for (number, name, content) in [(0, "b", "old b"), (0, "a", "old a"), (1, "c", "new")] {
        let new = NewMemory {
            id: id(name),
            created_at: day(number),
            ..towards(30.0, content)
        };
        create(store, &owner, new).await;
    }
    let found = find(store, &owner, &east("")).await;
    assert_eq!(found, ["new", "old a", "old b"]);
}

pub(crate) async fn vectors_of_another_model_are_never_compared(store: &dyn Store) {
    let owner = Scope::owner();
    let mut other = towards(0.0, "seen through a sextant");
    other.vector = Some(NewVector {
        model: other_model(),
        values: direction(0.0),
    });
    create(store, &owner, other).await;
    create(store, &owner, told("never looked at")).await;
    assert_eq!(find(store, &owner, &east("")).await, Vec::<String>::new());
    let found = cosines(store, &east("sextant looked")).await;
    assert_eq!(found.len(), 2);
    assert!(
        found.iter().all(|(_, cosine)| cosine.is_none()),
        "{found:?}"
    );
}

pub(crate) async fn filters_and_scope_admit_before_the_nearest_are_cut(store: &dyn Store) {
    let owner = Scope::owner();
    for number in 0..5_i64 {
        for (scope, name) in [
            (agent("alpha"), "near"),
            (elsewhere(), "elsewhere"),
            (agent("beta"), "private"),
        ] {
            let near = NewMemory {
                created_at: day(number - 9),
                ..towards(0.0, &format!("{name} {number}"))
            };
            create(store, &scope, near).await;
        }
    }
    let mut wanted = tagged("far but wanted", &["wanted"]);
    wanted.vector = Some(vector(80.0));
    create(store, &agent("alpha"), wanted).await;
    let filters = Filters {
        tags: strings(&["wanted"]),
        ..Filters::default()
    };
    let narrow = Plan {
        pool: 1,
        filters,
        ..east("")
    };
    assert_eq!(find(store, &owner, &narrow).await, ["far but wanted"]);
    let own = Plan {
        pool: 1,
        ..east("")
    };
    assert_eq!(find(store, &agent("alpha"), &own).await, ["near 4"]);
    assert_eq!(find(store, &elsewhere(), &own).await, ["elsewhere 4"]);
}

pub(crate) async fn the_turns_around_a_near_memory_come_along(store: &dyn Store) {
    let owner = Scope::owner();
    let mut near = said("s", 5, "near");
    near.vector = Some(vector(10.0));
    create(store, &owner, near).await;
    create(store, &owner, said("s", 6, "the turn after")).await;
    create(store, &owner, said("s", 9, "much later")).await;
    let plan = Plan {
        neighbours: true,
        ..east("")
    };
    assert_eq!(find(store, &owner, &plan).await, ["near", "the turn after"]);
}

pub(crate) async fn what_has_no_direction_is_never_stored(store: &dyn Store) {
    let owner = Scope::owner();
    for (number, values) in [
        vec![0.0, 0.0],
        vec![f32::NAN, 1.0],
        vec![f32::INFINITY, 1.0],
        vec![1.0],
        vec![1.0, 0.0, 0.0],
    ]
    .into_iter()
    .enumerate()
    {
        let content = format!("memory {number}");
        let mut new = told(&content);
        new.vector = Some(NewVector {
            model: model(),
            values: values.clone(),
        });
        let memory = create(store, &owner, new).await;
        let vectors = vec![late(&memory.id, &content, values)];
        assert_eq!(store.put_vectors(&model(), vectors).await.unwrap(), 0);
    }
    assert_eq!(find(store, &owner, &east("")).await, Vec::<String>::new());
    assert_eq!(store.vector_counts(&model()).await.unwrap(), (0, 5));
}

pub(crate) async fn vectors_are_kept_at_unit_length(store: &dyn Store) {
    let mut new = told("far out");
    new.vector = Some(NewVector {
        model: model(),
        values: vec![0.0003, 0.0004],
    });
    create(store, &Scope::owner(), new).await;
    let found = cosines(store, &east("")).await;
    assert!((found[0].1.unwrap() - 0.6).abs() < 0.01, "{found:?}");
}

pub(crate) async fn a_vector_may_follow_its_memory(store: &dyn Store) {
    let owner = Scope::owner();
    let memory = create(store, &owner, told("first without")).await;
    assert_eq!(find(store, &owner, &east("")).await, Vec::<String>::new());
    let vectors = vec![late(&memory.id, "first without", direction(90.0))];
    assert_eq!(store.put_vectors(&model(), vectors).await.unwrap(), 1);
    let vectors = vec![late(&memory.id, "first without", direction(10.0))];
    assert_eq!(store.put_vectors(&model(), vectors).await.unwrap(), 1);
    assert_eq!(find(store, &owner, &east("")).await, ["first without"]);
    let unchanged = get(store, &owner, &memory.id).await;
    assert_eq!(unchanged, memory, "the memory itself is what it was");
}

pub(crate) async fn a_vector_of_a_content_that_is_gone_is_left_out(store: &dyn Store) {
    let owner = Scope::owner();
    let edited = create(store, &owner, told("before")).await;
    let edit = Edit {
        content: Some(("after".to_owned(), analysed("after"))),
        ..Edit::default()
    };
    store.edit(&owner, &edited.id, edit, day(0)).await.unwrap();
    let purged = create(store, &owner, told("purged")).await;
    store.purge(&owner, &purged.id).await.unwrap();
    let vectors = vec![
        late(&edited.id, "before", direction(0.0)),
        late(&purged.id, "purged", direction(0.0)),
    ];
    assert_eq!(store.put_vectors(&model(), vectors).await.unwrap(), 0);
    assert_eq!(find(store, &owner, &east("")).await, Vec::<String>::new());
}

pub(crate) async fn a_new_content_drops_the_vectors_of_the_old_one(store: &dyn Store) {
    let owner = Scope::owner();
    let memory = create(store, &owner, towards(0.0, "before")).await;
    let tags = Edit {
        tags: Some(strings(&["kept"])),
        ..Edit::default()
    };
    store.edit(&owner, &memory.id, tags, day(0)).await.unwrap();
    assert_eq!(find(store, &owner, &east("")).await, ["before"]);
    let content = Edit {
        content: Some(("after".to_owned(), analysed("after"))),
        ..Edit::default()
    };
    store
        .edit(&owner, &memory.id, content, day(0))
        .await
        .unwrap();
    assert_eq!(find(store, &owner, &east("")).await, Vec::<String>::new());
    let with_vector = Edit {
        content: Some(("again".to_owned(), analysed("again"))),
        vector: Some(vector(0.0)),
        ..Edit::default()
    };
    store
        .edit(&owner, &memory.id, with_vector, day(0))
        .await
        .unwrap();
    assert_eq!(find(store, &owner, &east("")).await, ["again"]);
}

pub(crate) async fn an_import_brings_its_vector_and_drops_those_of_an_older_content(
    store: &dyn Store,
) {
    let owner = Scope::owner();
    let mut import = put_back(exported("one", "first"), 0.0);
    import.vector = Some(vector(0.0));
    store.import(vec![import]).await.unwrap();
    assert_eq!(find(store, &owner, &east("")).await, ["first"]);
    let mut newer = exported("one", "second");
    newer.updated_at = day(1);
    store.import(vec![put_back(newer, 0.0)]).await.unwrap();
    assert_eq!(find(store, &owner, &east("")).await, Vec::<String>::new());
}

pub(crate) async fn what_is_told_again_gets_the_vector_that_it_lacks(store: &dyn Store) {
    let owner = Scope::owner();
    create(store, &owner, told("told twice")).await;
    add(store, &owner, towards(0.0, "told twice")).await;
    assert_eq!(find(store, &owner, &east("")).await, ["told twice"]);
}

pub(crate) async fn memories_without_a_vector_are_listed_once_in_the_order_of_ids(
    store: &dyn Store,
) {
    let owner = Scope::owner();
    let with_id = |name: &str, new: NewMemory| NewMemory {
        id: id(name),
        ..new
    };
    create(store, &owner, with_id("d", told("late"))).await;
    create(store, &elsewhere(), with_id("a", told("elsewhere"))).await;
    create(store, &owner, with_id("b", towards(0.0, "has one"))).await;
    let trashed = create(store, &owner, with_id("c", told("rubbish"))).await;
    store.trash(&owner, &trashed.id, day(0)).await.unwrap();
    let first = store.without_vector(&model(), None, 1).await.unwrap();
    assert_eq!(first, [(id("a"), "elsewhere".to_owned())]);
    let rest = store.without_vector(&model(), Some(&first[0].0), 10).await;
    assert_eq!(rest.unwrap(), [(id("d"), "late".to_owned())]);
    assert_eq!(store.vector_counts(&model()).await.unwrap(), (1, 2));
    assert_eq!(store.vector_counts(&other_model()).await.unwrap(), (0, 3));
}

pub(crate) async fn a_content_of_which_the_model_makes_nothing_is_not_asked_for_again(
    store: &dyn Store,
) {
    let memory = create(store, &Scope::owner(), told("🙂")).await;
    let nothing = vec![late(&memory.id, "🙂", vec![])];
    assert_eq!(store.put_vectors(&model(), nothing).await.unwrap(), 1);
    assert_eq!(store.without_vector(&model(), None, 10).await.unwrap(), []);
    assert_eq!(store.vector_counts(&model()).await.unwrap(), (1, 0));
    let found = cosines(store, &east("")).await;
    assert_eq!(found, [], "and it is near nothing");
}

pub(crate) async fn a_purged_memory_leaves_no_vector(store: &dyn Store) {
    let owner = Scope::owner();
    let memory = create(store, &owner, towards(0.0, "gone")).await;
    store.purge(&owner, &memory.id).await.unwrap();
    assert_eq!(find(store, &owner, &east("")).await, Vec::<String>::new());
    assert_eq!(store.vector_counts(&model()).await.unwrap(), (0, 0));
}
