//! Counters by scope: topics, attention, entities that occur together, timelines, synonyms.

use super::samples::*;
use crate::memory::{Edit, NewMemory, State};
use crate::scope::Scope;
use crate::signals::Topic;
use crate::store::{Store, Synonyms};

pub(crate) async fn topics_count_each_telling_on_the_day_that_it_is_about(store: &dyn Store) {
    let owner = Scope::owner();
    let tea = |number: i64, attention: f64| NewMemory {
        created_at: day(number),
        attention,
        ..about("tea or coffee", &["tea", "coffee"])
    };
    create(store, &owner, tea(-3, 1.0)).await;
    add(store, &owner, tea(-1, 0.5)).await;
    add(store, &owner, tea(-2, 0.25)).await;
    create(store, &owner, about("more tea", &["tea"])).await;
    for (since, coffee, tea) in [
        (None, Some((3.0, 1.75, -1)), Some((4.0, 2.75, 0))),
        (Some(-3), Some((3.0, 1.75, -1)), Some((4.0, 2.75, 0))),
        (Some(-2), Some((2.0, 0.75, -1)), Some((3.0, 1.75, 0))),
        (Some(-1), Some((1.0, 0.5, -1)), Some((2.0, 1.5, 0))),
        (Some(0), None, Some((1.0, 1.0, 0))),
        (Some(1), None, None),
    ] {
        let since = since.map(|number| day(number).date_naive());
        let mut topics = store.topics(&owner, since).await.unwrap();
        topics.sort_by(|left, right| left.name.cmp(&right.name));
        let expected: Vec<Topic> = [("coffee", coffee), ("tea", tea)]
            .into_iter()
            .filter_map(|(name, counters)| Some(topic(name, counters?)))
            .collect();
        assert_eq!(topics, expected, "since {since:?}");
    }
}

pub(crate) async fn an_edit_the_trash_and_feedback_are_no_telling(store: &dyn Store) {
    let owner = Scope::owner();
    let memory = create(store, &owner, about("more tea", &["tea"])).await;
    let before = topics(store, &owner).await;
    let edit = Edit {
        pinned: Some(true),
        ..Edit::default()
    };
    store.edit(&owner, &memory.id, edit, day(1)).await.unwrap();
    let feedback = store.give_feedback(&owner, &memory.id, 1.0, day(1)).await;
    feedback.unwrap();
    store.trash(&owner, &memory.id, day(1)).await.unwrap();
    store.restore(&owner, &memory.id, day(1)).await.unwrap();
    assert_eq!(topics(store, &owner).await, before);
}

pub(crate) async fn a_primary_scope_reads_the_union_and_any_other_its_own_topics(
    store: &dyn Store,
) {
    create(store, &agent("alpha"), about("alpha's tea", &["tea"])).await;
    let beta = NewMemory {
        created_at: day(1),
        ..about("beta's tea", &["tea"])
    };
    create(store, &agent("beta"), shared(beta)).await;
    create(store, &Scope::owner(), about("tea, too", &["tea"])).await;
    create(store, &elsewhere(), about("tea elsewhere", &["tea"])).await;
    let primary_alpha = Scope {
        primary: true,
        ..agent("alpha")
    };
    let nobody = Scope {
        primary: false,
        ..Scope::owner()
    };
    for (scope, expected) in [
        (agent("alpha"), Some((1.0, 1.0, 0))),
        (agent("beta"), Some((1.0, 1.0, 1))),
        (nobody, Some((1.0, 1.0, 0))),
        (elsewhere(), Some((1.0, 1.0, 0))),
        (agent("gamma"), None),
        (Scope::owner(), Some((3.0, 3.0, 1))),
        (primary_alpha, Some((3.0, 3.0, 1))),
    ] {
        let expected: Vec<Topic> = expected
            .map(|counters| topic("tea", counters))
            .into_iter()
            .collect();
        assert_eq!(topics(store, &scope).await, expected, "{scope:?}");
        let since = store.topics(&scope, Some(day(0).date_naive())).await;
        assert_eq!(since.unwrap(), expected, "{scope:?}");
    }
}

pub(crate) async fn related_entities_come_by_how_often_then_by_name(store: &dyn Store) {
    let owner = Scope::owner();
    create(store, &owner, naming("one", &["Redis", "Docker", "Lua"])).await;
    create(store, &owner, naming("two", &["redis", "docker"])).await;
    add(store, &owner, naming("two", &["redis", "docker"])).await;
    create(store, &owner, naming("three", &["REDIS", "Ansible"])).await;
    create(store, &owner, naming("four", &["Redis Labs", "Kafka"])).await;
    for (entity, limit, least, expected) in [
        (
            "Redis",
            10,
            1,
            &[("docker", 3), ("ansible", 1), ("lua", 1)][..],
        ),
        ("redis", 10, 0, &[("docker", 3), ("ansible", 1), ("lua", 1)]),
        ("rEDIS", 2, 1, &[("docker", 3), ("ansible", 1)]),
        ("ｒｅｄｉｓ", 10, 2, &[("docker", 3)]),
        ("Redis", 10, 3, &[("docker", 3)]),
        ("Redis", 10, 4, &[]),
        ("Redis", 0, 1, &[]),
        ("docker", 10, 1, &[("redis", 3), ("lua", 1)]),
        ("redis labs", 10, 1, &[("kafka", 1)]),
        ("Labs", 10, 1, &[]),
        ("", 10, 1, &[]),
    ] {
        let related = store.related_entities(&owner, entity, limit, least).await;
        let related = related.unwrap();
        let found: Vec<(String, u64)> = related
            .into_iter()
            .map(|(name, count)| (name.to_lowercase(), count))
            .collect();
        let expected = expected.iter();
        let expected: Vec<(String, u64)> = expected
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect();
        assert_eq!(found, expected, "{entity}, {limit} from {least} on");
    }
}

pub(crate) async fn a_primary_scope_reads_the_union_and_any_other_its_own_entities(
    store: &dyn Store,
) {
    for scope in [agent("alpha"), agent("beta"), Scope::owner(), elsewhere()] {
        create(store, &scope, naming("both", &["Redis", "Docker"])).await;
    }
    for (scope, count) in [
        (agent("alpha"), Some(1)),
        (agent("gamma"), None),
        (Scope::owner(), Some(3)),
        (elsewhere(), Some(1)),
    ] {
        let related = store.related_entities(&scope, "redis", 10, 1).await;
        let expected: Vec<(String, u64)> = count
            .map(|count| ("Docker".to_owned(), count))
            .into_iter()
            .collect();
        assert_eq!(related.unwrap(), expected, "{scope:?}");
    }
}

pub(crate) async fn ten_entities_of_a_memory_take_part_in_pairs(store: &dyn Store) {
    let owner = Scope::owner();
    let names: Vec<String> = (0..12).map(|number| format!("Name{number:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    create(store, &owner, naming("many names", &names)).await;
    for (entity, count) in [("Name00", 9), ("Name09", 9), ("Name10", 0)] {
        let related = store.related_entities(&owner, entity, 100, 1).await;
        assert_eq!(related.unwrap().len(), count, "{entity}");
    }
    let timeline = store.entity_timeline(&owner, "Name11", 10, day(0)).await;
    assert_eq!(timeline.unwrap().len(), 1, "timelines know them all");
}

pub(crate) async fn a_timeline_has_what_names_the_entity_the_newest_first(store: &dyn Store) {
    let owner = Scope::owner();
    let naming_on = |number: i64, name: &str, entity: &str| NewMemory {
        id: id(name),
        created_at: day(number),
        ..naming(name, &[entity])
    };
    let mut ended = naming_on(-1, "ended", "REDIS");
    ended.details.invalid_at = Some(day(0));
    create(store, &owner, ended).await;
    create(store, &owner, naming_on(-3, "old", "Redis")).await;
    create(store, &owner, naming_on(-2, "b", "redis")).await;
    create(store, &owner, naming_on(-2, "a", "Redis")).await;
    create(store, &owner, naming_on(0, "other", "Redis Labs")).await;
    let wrong = create(store, &owner, naming_on(0, "wrong", "Redis")).await;
    store
        .correct(&owner, &wrong.id, true, day(0))
        .await
        .unwrap();
    let trashed = create(store, &owner, naming_on(0, "trashed", "Redis")).await;
    store.trash(&owner, &trashed.id, day(0)).await.unwrap();
    create(store, &elsewhere(), naming_on(0, "elsewhere", "Redis")).await;

    let timeline = store.entity_timeline(&owner, "rediS", 10, day(0)).await;
    let entries: Vec<_> = timeline
        .unwrap()
        .into_iter()
        .map(|entry| (entry.content, entry.created_at, entry.state))
        .collect();
    let expected = [
        ("ended", -1, State::Expired),
        ("a", -2, State::Active),
        ("b", -2, State::Active),
        ("old", -3, State::Active),
    ];
    let expected = expected.map(|(name, number, state)| (name.to_owned(), day(number), state));
    assert_eq!(entries, expected);
    let two = store
        .entity_timeline(&owner, "Redis", 2, day(0))
        .await
        .unwrap();
    let ids: Vec<_> = two.into_iter().map(|entry| entry.id).collect();
    assert_eq!(ids, [id("ended"), id("a")]);
}

pub(crate) async fn a_timeline_follows_edits_restores_and_deletion(store: &dyn Store) {
    let owner = Scope::owner();
    let memory = create(store, &owner, naming("uses it", &["Redis"])).await;
    let count = async |entity: &str| {
        let timeline = store.entity_timeline(&owner, entity, 10, day(0)).await;
        timeline.unwrap().len()
    };
    let edited = naming("uses another", &["Valkey"]);
    let edit = Edit {
        content: Some((edited.content, edited.analysis)),
        ..Edit::default()
    };
    store.edit(&owner, &memory.id, edit, day(0)).await.unwrap();
    assert_eq!((count("Redis").await, count("Valkey").await), (0, 1));
    store.trash(&owner, &memory.id, day(0)).await.unwrap();
    assert_eq!(count("Valkey").await, 0);
    store.restore(&owner, &memory.id, day(0)).await.unwrap();
    assert_eq!(count("Valkey").await, 1);
    store.purge(&owner, &memory.id).await.unwrap();
    assert_eq!(count("Valkey").await, 0);
}

pub(crate) async fn a_timeline_shows_an_agent_its_own_and_shared_memories(store: &dyn Store) {
    let alpha = agent("alpha");
    create(store, &alpha, naming("private", &["Redis"])).await;
    create(store, &alpha, shared(naming("for all", &["Redis"]))).await;
    for (scope, count) in [(alpha, 2), (agent("beta"), 1), (Scope::owner(), 2)] {
        let timeline = store.entity_timeline(&scope, "Redis", 10, day(0)).await;
        assert_eq!(timeline.unwrap().len(), count, "{scope:?}");
    }
}

pub(crate) async fn synonyms_belong_to_a_namespace_and_are_replaced_as_a_whole(store: &dyn Store) {
    set(store, "k8s", &["kubernetes", "kube"], true).await;
    set(store, "k8s", &["kubernetes"], true).await;
    set(store, "数据库", &["db", "a, \"b\""], false).await;
    let there = store.synonyms("default").await.unwrap();
    assert_eq!(there.len(), 2);
    assert!(there.contains(&synonyms("k8s", &["kubernetes"], true)));
    assert!(there.contains(&synonyms("数据库", &["db", "a, \"b\""], false)));
    assert_eq!(store.synonyms("elsewhere").await.unwrap(), []);
}

pub(crate) async fn found_synonyms_never_replace_those_made_by_hand(store: &dyn Store) {
    set(store, "k8s", &["found"], false).await;
    set(store, "k8s", &["found again"], false).await;
    let there = store.synonyms("default").await.unwrap();
    assert_eq!(there, [synonyms("k8s", &["found again"], false)]);
    set(store, "k8s", &["by hand"], true).await;
    for found in [&["found"][..], &[]] {
        set(store, "k8s", found, false).await;
        let there = store.synonyms("default").await.unwrap();
        assert_eq!(there, [synonyms("k8s", &["by hand"], true)]);
    }
}

pub(crate) async fn an_empty_list_removes_synonyms(store: &dyn Store) {
    for manual in [true, false] {
        set(store, "k8s", &["kube"], manual).await;
        set(store, "k8s", &[], manual).await;
        assert_eq!(store.synonyms("default").await.unwrap(), []);
    }
    set(store, "k8s", &["kube"], false).await;
    set(store, "k8s", &[], true).await;
    assert_eq!(store.synonyms("default").await.unwrap(), []);
    set(store, "never there", &[], true).await;
}

pub(crate) async fn the_version_of_the_signals_changes_with_each_of_them(store: &dyn Store) {
    let owner = Scope::owner();
    let mut seen = vec![store.signals_version().await.unwrap()];
    let mut changed = async |what: &str| {
        let version = store.signals_version().await.unwrap();
        assert!(!seen.contains(&version), "{what}");
        seen.push(version);
    };
    create(store, &owner, about("more tea", &["tea"])).await;
    changed("a new memory").await;
    add(store, &agent("alpha"), about("more tea", &["tea"])).await;
    changed("a memory of another agent").await;
    add(store, &owner, about("more tea", &["tea"])).await;
    changed("a reinforced memory").await;
    let mut imported = exported("imported00000000", "coffee");
    imported.analysis.keywords = strings(&["coffee"]);
    store.import(vec![put_back(imported, 1.0)]).await.unwrap();
    changed("an imported memory").await;
    set(store, "tea", &["chai"], true).await;
    changed("synonyms").await;
    set(store, "tea", &[], true).await;
    changed("synonyms removed").await;
}

fn topic(name: &str, (mentions, attention, last_day): (f64, f64, i64)) -> Topic {
    Topic {
        name: name.to_owned(),
        mentions,
        attention,
        last_mention: day(last_day).date_naive(),
    }
}

fn synonyms(term: &str, terms: &[&str], manual: bool) -> Synonyms {
    Synonyms {
        term: term.to_owned(),
        terms: strings(terms),
        manual,
    }
}

async fn set(store: &dyn Store, term: &str, terms: &[&str], manual: bool) {
    let set = store.set_synonyms("default", synonyms(term, terms, manual));
    set.await.unwrap();
}
