//! From what a write changes to the commands that change it. Pure: tested without a server.

use std::collections::BTreeSet;

use super::adoption::WATCHED;
use super::codec::{self, Fields};
use super::keys::Keys;
use super::transaction::digest;
use super::vectors::{self, Vectors};
use crate::memory::Memory;
use crate::scope::DEFAULT_NAMESPACE;
use crate::store::Counter;
use crate::store::gathered::{Counters, entity_key};

/// How long a memory in the trash can be restored.
const TRASH_SECONDS: u32 = 30 * 24 * 3600;

/// Commands of one write, in their order.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Commands(Vec<Vec<Vec<u8>>>);

impl Commands {
    pub(super) fn push<S: Into<Vec<u8>>>(&mut self, words: impl IntoIterator<Item = S>) {
        self.0.push(words.into_iter().map(Into::into).collect());
    }

    /// Appends the number of commands and each after the number of its words.
    pub(super) fn append_to(self, arguments: &mut Vec<Vec<u8>>) {
        arguments.push(self.0.len().to_string().into_bytes());
        for command in self.0 {
            arguments.push(command.len().to_string().into_bytes());
            arguments.extend(command);
        }
    }

    /// Sets the fields that differ, and some more, and deletes those that are gone.
    fn difference(&mut self, key: &str, before: &Fields, after: &Fields, more: Vec<Vec<u8>>) {
        let mut set: Vec<Vec<u8>> = vec!["HSET".into(), key.into()];
        for (name, value) in after {
            if before.get(name) != Some(value) {
                set.extend([(*name).into(), value.clone().into_bytes()]);
            }
        }
        set.extend(more);
        if set.len() > 2 {
            self.push(set);
        }
        let gone: Vec<&str> = before
            .keys()
            .filter(|name| !after.contains_key(*name))
            .copied()
            .collect();
        if !gone.is_empty() {
            self.push(["HDEL", key].into_iter().chain(gone));
        }
    }

    fn add_member(&mut self, key: String, score: String, member: &str) {
        self.push(["ZADD".to_owned(), key, score, member.to_owned()]);
    }
}

/// A memory from what it was (`None`: not there) to what it is to be (`None`: deleted).
#[derive(Debug, Clone, Copy)]
pub(super) struct Change<'a> {
    pub before: Option<&'a Memory>,
    pub after: Option<&'a Memory>,
    /// Someone else wrote it: what they wrote stays as it is.
    pub adopts: bool,
    pub vectors: Option<&'a Vectors>,
}

/// Changes memories.
pub(super) fn memories(
    commands: &mut Commands,
    keys: &Keys,
    changes: &[Change<'_>],
    revision: &str,
) {
    // A content may go from one memory to another within one write.
    for change in changes {
        let (old, new) = (change.before.map(digest), change.after.map(digest));
        if let (Some(before), Some(old)) = (change.before, old.clone().filter(|_| old != new)) {
            commands.push(["OWN", &keys.content(&old), before.id.as_str(), "DEL"]);
        }
    }
    for change in changes {
        match (change.before, change.after) {
            (_, Some(after)) => save(commands, keys, *change, after, revision),
            (Some(before), None) => delete(commands, keys, before),
            (None, None) => {}
        }
    }
}

fn save(commands: &mut Commands, keys: &Keys, change: Change<'_>, after: &Memory, revision: &str) {
    let (id, before) = (&after.id, change.before);
    let is_trash = |memory: &Memory| memory.fate.trashed_at.is_some();
    let key = |memory: &Memory| {
        if is_trash(memory) {
            keys.trash(id)
        } else {
            keys.fragment(id)
        }
    };
    if let Some(before) = before.filter(|before| is_trash(before) != is_trash(after)) {
        commands.push(["RENAME".to_owned(), key(before), key(after)]);
    }
    let (mut old, mut new) = (
        before.map(codec::fragment).unwrap_or_default(),
        codec::fragment(after),
    );
    if change.adopts {
        for field in codec::OF_PYTHON {
            old.remove(field);
            new.remove(field);
        }
    }
    let vectors = change.vectors.cloned().unwrap_or_default();
    if before.is_none() && !change.adopts {
        commands.difference(&key(after), &old, &new, vectors.of_a_new_memory());
    } else {
        if vectors.are_forgotten {
            commands.push(["FORGET", &key(after), vectors::FIELD]);
        }
        commands.difference(&key(after), &old, &new, Vec::new());
        for vector in vectors.put {
            commands.push(vector.command(&key(after)));
        }
    }
    let state = before.map(codec::state).unwrap_or_default();
    let mut state_after = codec::state(after);
    state_after.insert("rev", revision.to_owned());
    commands.difference(&keys.state(id), &state, &state_after, Vec::new());
    let written = WATCHED
        .into_iter()
        .filter(|name| old.get(name) != new.get(name));
    let written: Vec<&str> = written.collect();
    if before.is_none() || change.adopts {
        commands.push(["SEEN", &key(after), &keys.state(id)]);
    } else if !written.is_empty() {
        let (key, state) = (key(after), keys.state(id));
        commands.push(["SEEN", &key, &state].into_iter().chain(written));
    }
    let content = keys.content(&digest(after));
    if before.map(digest) != Some(digest(after)) {
        // An adopted memory may have the content of another one.
        let condition: &[&str] = if change.adopts { &["NX"] } else { &[] };
        commands.push(
            ["SET", &content, id.as_str()]
                .iter()
                .chain(condition)
                .copied(),
        );
    }
    if change.adopts || before.is_some_and(|before| before.content != after.content) {
        commands.push(["SREM", &keys.checked(), id.as_str()]);
    }
    let told = before.map_or(0.0, |before| before.feedback);
    if told.total_cmp(&after.feedback).is_ne() && !change.adopts {
        commands.push(["SADD", &keys.feedback(), id.as_str()]);
    }
    places(commands, keys, before, Some(after));
    if is_trash(after) {
        let seconds = TRASH_SECONDS.to_string();
        for key in [key(after), keys.state(id)] {
            commands.push(["EXPIRE", &key, &seconds]);
        }
        commands.push(["OWN", &content, id.as_str(), "EXPIRE", &seconds]);
    } else if before.is_some_and(is_trash) {
        for key in [key(after), keys.state(id)] {
            commands.push(["PERSIST", &key]);
        }
        commands.push(["OWN", &content, id.as_str(), "PERSIST"]);
    }
}

fn delete(commands: &mut Commands, keys: &Keys, memory: &Memory) {
    let id = &memory.id;
    commands.push([
        "DEL".to_owned(),
        keys.fragment(id),
        keys.trash(id),
        keys.state(id),
    ]);
    for (remove, key) in [
        ("SREM", keys.feedback()),
        ("SREM", keys.checked()),
        ("ZREM", keys.retrieved()),
    ] {
        commands.push([remove, &key, id.as_str()]);
    }
    places(commands, keys, Some(memory), None);
}

/// Keeps the lists by which a memory is found: all ids, newest, turn, entities.
fn places(commands: &mut Commands, keys: &Keys, before: Option<&Memory>, after: Option<&Memory>) {
    let (old, new) = (
        before.map(|memory| lists(keys, memory)),
        after.map(|memory| lists(keys, memory)),
    );
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    let Some(memory) = after.or(before) else {
        return;
    };
    for (key, score) in old.difference(&new) {
        let still = new.iter().any(|(other, _)| other == key);
        if !still {
            let remove = if score.is_some() { "ZREM" } else { "SREM" };
            commands.push([remove, key, memory.id.as_str()]);
        }
    }
    for (key, score) in new.difference(&old) {
        match score {
            Some(score) => commands.add_member(key.clone(), score.to_string(), memory.id.as_str()),
            None => commands.push(["SADD", key, memory.id.as_str()]),
        }
    }
}

/// The keys of the lists that hold a memory: sorted sets with its score, sets without.
fn lists(keys: &Keys, memory: &Memory) -> BTreeSet<(String, Option<i64>)> {
    let newest_first = -memory.created_at.timestamp_millis();
    let mut lists = BTreeSet::from([
        (keys.ids(), Some(0)),
        (keys.newest(&memory.namespace), Some(newest_first)),
    ]);
    if memory.fate.trashed_at.is_some() {
        lists.insert((keys.trash_list(&memory.namespace), Some(newest_first)));
    }
    if let (Some(session), Some(turn)) = (&memory.place.session, memory.place.turn) {
        lists.insert((keys.turn(&memory.namespace, session, turn), None));
    }
    for entity in &memory.analysis.entities {
        let key = keys.naming(&memory.namespace, &entity_key(entity));
        lists.insert((key, Some(newest_first)));
    }
    lists
}

/// Applies statistics and counters.
pub(super) fn counters(commands: &mut Commands, keys: &Keys, counters: &Counters) {
    for (namespace, (memories, words)) in &counters.namespaces {
        let key = keys.totals(namespace);
        for (field, change) in [("memories", memories), ("words", words)] {
            commands.push(["HINCRBY", &key, field, &change.to_string()]);
        }
    }
    for ((namespace, term), change) in counters.terms.iter().filter(|(_, change)| **change != 0) {
        let key = keys.document_frequencies(namespace);
        commands.push(["COUNT", &key, term.as_str(), &change.to_string()]);
    }
    topics(commands, keys, counters);
    pairs(commands, keys, counters);
    if !counters.topics.is_empty() || !counters.pairs.is_empty() {
        commands.push(["INCR", &keys.signals()]);
    }
}

fn topics(commands: &mut Commands, keys: &Keys, counters: &Counters) {
    let mut scopes: BTreeSet<(&str, &str)> = BTreeSet::new();
    for ((namespace, agent, topic, day), (mentions, attention)) in &counters.topics {
        let day = (*day - chrono::NaiveDate::default()).num_days();
        let sums = keys.topics(namespace, agent);
        let of_day = keys.topics_of_day(namespace, agent, day);
        for key in [&sums, &of_day] {
            for (kind, change) in [("m", mentions), ("a", attention)] {
                let field = format!("{kind}:{topic}");
                commands.push(["HINCRBYFLOAT", key, &field, &change.to_string()]);
            }
        }
        commands.push(["MAX", &sums, &format!("d:{topic}"), &day.to_string()]);
        commands.add_member(
            keys.topic_days(namespace, agent),
            day.to_string(),
            &day.to_string(),
        );
        scopes.insert((namespace, agent));
    }
    scopes.extend(
        counters
            .pairs
            .keys()
            .map(|(namespace, agent, ..)| (namespace.as_str(), agent.as_str())),
    );
    for (namespace, agent) in scopes {
        commands.push(["SADD", &keys.agents(namespace), agent]);
        commands.push(["SADD", &keys.namespaces(), namespace]);
    }
}

fn pairs(commands: &mut Commands, keys: &Keys, counters: &Counters) {
    for ((namespace, agent, entity, other), (name, memories)) in &counters.pairs {
        let key = keys.pairs(namespace, agent, entity);
        let memories = memories.to_string();
        commands.add_member(keys.paired(namespace, agent), "0".to_owned(), entity);
        commands.push(["HINCRBY", &key, &format!("c:{other}"), &memories]);
        commands.push(["HSETNX", &key, &format!("n:{other}"), name]);
        if namespace == DEFAULT_NAMESPACE && entity < other {
            let pair = format!("{entity}||{other}");
            commands.push(["TRY", "ZINCRBY", &keys.python_pairs(), &memories, &pair]);
        }
    }
}

/// Puts a counter back: what is there keeps the larger number.
pub(super) fn restored(commands: &mut Commands, keys: &Keys, counter: &Counter) {
    let agent = counter.agent().flatten().unwrap_or_default();
    let namespace = counter.namespace();
    match counter {
        Counter::Topic {
            day,
            topic,
            mentions,
            attention,
            ..
        } => {
            let day = (*day - chrono::NaiveDate::default()).num_days();
            let (sums, of_day) = (
                keys.topics(namespace, agent),
                keys.topics_of_day(namespace, agent, day),
            );
            let day = day.to_string();
            for (kind, number) in [("m", mentions), ("a", attention)] {
                let field = format!("{kind}:{topic}");
                commands.push(["RAISE", &of_day, &sums, &field, &number.to_string()]);
            }
            commands.push(["MAX", &sums, &format!("d:{topic}"), &day]);
            commands.add_member(keys.topic_days(namespace, agent), day.clone(), &day);
        }
        Counter::Pair {
            entity,
            other,
            name,
            memories,
            ..
        } => {
            let key = keys.pairs(namespace, agent, entity);
            commands.push(["MAX", &key, &format!("c:{other}"), &memories.to_string()]);
            commands.push(["HSETNX", &key, &format!("n:{other}"), name]);
            commands.add_member(keys.paired(namespace, agent), "0".to_owned(), entity);
        }
        Counter::Synonyms { .. } => {}
    }
    commands.push(["SADD", &keys.namespaces(), namespace]);
    if counter.agent().is_some() {
        commands.push(["SADD", &keys.agents(namespace), agent]);
    }
}
