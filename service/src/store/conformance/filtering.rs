//! What filters and states keep back from a query, and what they let through.

use chrono::TimeDelta;

use super::samples::*;
use crate::memory::{NewMemory, State};
use crate::query::{Filters, TagRule};
use crate::scope::Scope;
use crate::store::Store;

pub(crate) async fn filters_apply_before_the_cut_of_the_pool(store: &dyn Store) {
    let owner = Scope::owner();
    let expired = (0..150).map(|number| {
        let mut new = tagged(&format!("wifi code {number}"), &["net"]);
        new.details.invalid_at = Some(day(-1));
        new.details.category = Some("fact".into());
        new
    });
    let filtered_out = (0..150).map(|number| told(&format!("wifi code of room {number}")));
    let foreign = (0..150).map(|number| told(&format!("wifi code of beta {number}")));
    store.add(&owner, expired.collect(), day(0)).await.unwrap();
    store
        .add(&owner, filtered_out.collect(), day(0))
        .await
        .unwrap();
    store
        .add(&agent("beta"), foreign.collect(), day(0))
        .await
        .unwrap();
    let needle = "the code for the new wireless network of the guests in the house by the lake";
    let mut new = tagged(needle, &["net"]);
    new.details.category = Some("fact".into());
    create(store, &owner, new).await;
    for filters in [
        Filters {
            tags: strings(&["net"]),
            ..Filters::default()
        },
        Filters {
            category: Some("fact".into()),
            ..Filters::default()
        },
    ] {
        let plan = filtered("wifi code", filters);
        assert_eq!(find(store, &owner, &plan).await, [needle]);
    }
}

pub(crate) async fn tags_filter_by_any_or_all_compared_exactly(store: &dyn Store) {
    let owner = Scope::owner();
    for (content, tags) in [
        ("port one", &["Net", "a,b"][..]),
        ("port two", &["net", "my tag"]),
        ("port three", &["Net", "my tag", "标签|x*"]),
        ("port none", &[]),
    ] {
        create(store, &owner, tagged(content, tags)).await;
    }
    for (tags, all_tags, expected) in [
        (&["Net"][..], false, &["port one", "port three"][..]),
        (&["net"], false, &["port two"]),
        (&["NET"], false, &[]),
        (&["a"], false, &[]),
        (&["a,b"], false, &["port one"]),
        (&["tag"], false, &[]),
        (&["标签|x*"], true, &["port three"]),
        (
            &["a,b", "my tag"],
            false,
            &["port one", "port three", "port two"],
        ),
        (&["a,b", "my tag"], true, &[]),
        (&["Net", "my tag"], true, &["port three"]),
        (&["Net", "missing"], true, &[]),
        (&["Net", "missing"], false, &["port one", "port three"]),
    ] {
        let filters = Filters {
            tags: strings(tags),
            all_tags,
            ..Filters::default()
        };
        let mut found = find(store, &owner, &filtered("port", filters)).await;
        found.sort();
        assert_eq!(found, expected, "{tags:?}, all: {all_tags}");
    }
}

pub(crate) async fn a_rule_of_tags_admits_what_it_says(store: &dyn Store) {
    let owner = Scope::owner();
    for (content, tags) in [
        ("port none", &[][..]),
        ("port part", &["a"]),
        ("port equal", &["b", "a"]),
        ("port more", &["a", "b", "c"]),
        ("port other", &["A", "z"]),
    ] {
        create(store, &owner, tagged(content, tags)).await;
    }
    let wanted = strings(&["a", "b"]);
    let any = TagRule::Any(wanted.clone());
    let all = TagRule::All(wanted.clone());
    let exactly = TagRule::Exactly(wanted);
    let or_untagged = |rule: &TagRule| TagRule::Or(vec![rule.clone(), TagRule::untagged()]);
    for (rule, expected) in [
        (any.clone(), &["equal", "more", "part"][..]),
        (all.clone(), &["equal", "more"]),
        (exactly.clone(), &["equal"]),
        (or_untagged(&any), &["equal", "more", "none", "part"]),
        (or_untagged(&all), &["equal", "more", "none"]),
        (TagRule::untagged(), &["none"]),
        (
            TagRule::And(vec![any.clone(), TagRule::Not(Box::new(all))]),
            &["part"],
        ),
        (TagRule::Not(Box::new(any)), &["none", "other"]),
        (TagRule::Any(strings(&["nowhere"])), &[]),
        (TagRule::Or(vec![]), &[]),
    ] {
        let filters = Filters {
            tag_rule: Some(rule.clone()),
            ..Filters::default()
        };
        let mut found = find(store, &owner, &filtered("port", filters)).await;
        found.sort();
        let expected: Vec<String> = expected.iter().map(|end| format!("port {end}")).collect();
        assert_eq!(found, expected, "{rule:?}");
    }
}

pub(crate) async fn category_source_and_session_filter_exactly(store: &dyn Store) {
    let owner = Scope::owner();
    let mut new = said("s", 1, "port one");
    new.details.category = Some("fact".into());
    new.details.source = Some("cli".into());
    create(store, &owner, new).await;
    create(store, &owner, told("port two")).await;
    let filters = |category: &str, source: &str, session: &str| {
        let named = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        Filters {
            category: named(category),
            source: named(source),
            session: named(session),
            ..Filters::default()
        }
    };
    for (filters, count) in [
        (filters("", "", ""), 2),
        (filters("fact", "", ""), 1),
        (filters("Fact", "", ""), 0),
        (filters("", "cli", ""), 1),
        (filters("", "c", ""), 0),
        (filters("", "", "s"), 1),
        (filters("", "", "t"), 0),
        (filters("fact", "cli", "s"), 1),
        (filters("fact", "cli", "t"), 0),
    ] {
        let found = find(store, &owner, &filtered("port", filters.clone())).await;
        assert_eq!(found.len(), count, "{filters:?}");
    }
}

pub(crate) async fn a_time_range_holds_its_beginning_and_not_its_end(store: &dyn Store) {
    let owner = Scope::owner();
    for number in -3..=0 {
        create(store, &owner, told_on(number, &format!("port {number}"))).await;
    }
    let a_moment = TimeDelta::milliseconds(1);
    for (after, before, expected) in [
        (None, None, &["port -1", "port -2", "port -3", "port 0"][..]),
        (Some(day(-2)), None, &["port -1", "port -2", "port 0"]),
        (Some(day(-2) + a_moment), None, &["port -1", "port 0"]),
        (None, Some(day(-2)), &["port -3"]),
        (None, Some(day(-2) + a_moment), &["port -2", "port -3"]),
        (Some(day(-2)), Some(day(0)), &["port -1", "port -2"]),
        (Some(day(0)), Some(day(-2)), &[]),
    ] {
        let filters = Filters {
            created_after: after,
            created_before: before,
            ..Filters::default()
        };
        let mut found = find(store, &owner, &filtered("port", filters)).await;
        found.sort();
        assert_eq!(found, expected, "from {after:?} to {before:?}");
    }
}

pub(crate) async fn as_of_judges_validity_at_that_time_and_knows_nothing_later(store: &dyn Store) {
    let owner = Scope::owner();
    let mut ended = told_on(-10, "port 1");
    ended.details.invalid_at = Some(day(-5));
    create(store, &owner, ended).await;
    create(store, &owner, told_on(-4, "port 2")).await;
    for (as_of, expected) in [
        (-11, &[][..]),
        (-10, &["port 1"]),
        (-6, &["port 1"]),
        (-5, &[]),
        (-4, &["port 2"]),
        (0, &["port 2"]),
    ] {
        assert_eq!(find_as_of(store, as_of).await, expected, "day {as_of}");
    }
}

pub(crate) async fn as_of_a_time_before_it_was_replaced_finds_the_older_memory(store: &dyn Store) {
    let owner = Scope::owner();
    let old = create(store, &owner, told_on(-10, "port 1")).await;
    let newer = NewMemory {
        supersedes: Some(old.id),
        ..told("port 2")
    };
    create(store, &owner, newer).await;
    assert_eq!(find_as_of(store, 0).await, ["port 2"]);
    assert_eq!(find_as_of(store, -1).await, ["port 1"]);
}

pub(crate) async fn only_active_memories_are_found_and_on_request_expired_and_superseded_ones(
    store: &dyn Store,
) {
    let in_state = |state: State| {
        let mut memory = exported(state.as_str(), &format!("port {}", state.as_str()));
        match state {
            State::Active => {}
            State::Expired => memory.details.invalid_at = Some(day(0)),
            State::Consumed => memory.fate.consumed_by = Some(id("merged")),
            State::Superseded => memory.fate.superseded_by = Some(id("newer")),
            State::Corrected => memory.fate.corrected_at = Some(day(0)),
            State::Trashed => memory.fate.trashed_at = Some(day(0)),
        }
        put_back(memory, 0.0)
    };
    let imported = State::ALL.map(in_state).to_vec();
    store.import(imported).await.unwrap();
    for (include_expired, expected) in [
        (false, &["port active"][..]),
        (true, &["port active", "port expired", "port superseded"]),
    ] {
        let filters = Filters {
            include_expired,
            ..Filters::default()
        };
        let mut found = find(store, &Scope::owner(), &filtered("port", filters)).await;
        found.sort();
        assert_eq!(found, expected);
    }
}

pub(crate) async fn hidden_tells_of_matches_that_filters_or_state_keep_back(store: &dyn Store) {
    let owner = Scope::owner();
    let mut ended = told("port one");
    ended.details.invalid_at = Some(day(-1));
    create(store, &owner, ended).await;
    create(store, &owner, told("plug")).await;
    create(store, &owner, told("cable and plug")).await;
    create(store, &agent("alpha"), told("alpha's cord")).await;
    let category = Filters {
        category: Some("fact".into()),
        ..Filters::default()
    };
    for (scope, plan, hidden) in [
        (owner.clone(), plan("port"), true),
        (owner.clone(), plan("plug"), false),
        (owner.clone(), plan("absent"), false),
        (owner.clone(), filtered("plug", category.clone()), true),
        (agent("beta"), plan("cord"), false),
        (agent("beta"), filtered("cord", category), false),
    ] {
        let retrieved = store.retrieve(&scope, &plan, day(0)).await.unwrap();
        assert_eq!(retrieved.hidden, hidden, "{plan:?}");
    }
}

async fn find_as_of(store: &dyn Store, number: i64) -> Vec<String> {
    let filters = Filters {
        as_of: Some(day(number)),
        ..Filters::default()
    };
    find(store, &Scope::owner(), &filtered("port", filters)).await
}
