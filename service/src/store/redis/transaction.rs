//! A write: look, decide, and write only if nothing changed meanwhile.
//!
//! The work of a write is a pure function over a [`Draft`], which knows some memories and contents.
//! What it does not know it asks for, and is run again. What comes out is guards (each memory and
//! content that was looked at, as it was) and commands; the `apply` script checks the guards and runs
//! the commands in one step, or tells what is there now, and the work is done anew. A new content is
//! expected to be new, so storing one is a single exchange.
//!
//! The revision of a memory is a random token of the last write. When the connection breaks after a
//! write was sent, the write is sent again; if it had been done, the guards fail, but the revision is
//! its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use redis::Value;

use super::RedisStore;
use super::codec::{self, FIELDS, STATE_FIELDS, Stored};
use super::commands::{self, Change, Commands};
use super::errors::{explained, from_redis};
use super::scripts::Name;
use super::values::{list, text};
use super::vectors::{Vector, Vectors};
use crate::clock::new_id;
use crate::memory::{Memory, MemoryId, Place};
use crate::store::gathered::Counters;
use crate::store::operation::REMEMBERED;
use crate::store::{StoreError, Target};
use crate::vector::NewVector;

/// How often a write is tried before it is given up: each time another one was faster.
const MOST_TRIES: usize = 200;

/// What the work must know before it can go on.
pub(super) enum Unknown {
    /// What is stored under an id.
    Id(MemoryId),
    /// Which memories of a namespace a text is found in.
    Target(String, Target),
}

/// What a write knows and has decided so far.
pub(super) struct Draft<'a> {
    known: &'a Known,
    /// Memories as they are to be; `None` for one that is to be deleted.
    changed: BTreeMap<MemoryId, Option<Memory>>,
    /// Who has a content, as it is to be.
    contents: HashMap<String, Option<MemoryId>>,
    /// Those that someone else wrote, so that what they wrote stays.
    adopted: BTreeSet<MemoryId>,
    guarded_ids: BTreeSet<MemoryId>,
    guarded_contents: BTreeSet<String>,
    guarded_notes: BTreeSet<String>,
    /// Single values to be set, by key.
    notes: BTreeMap<String, String>,
    vectors: BTreeMap<MemoryId, Vectors>,
    pub(super) counters: Counters,
}

/// What is stored, as far as it was read.
#[derive(Default)]
pub(super) struct Known {
    ids: HashMap<MemoryId, Stored>,
    contents: HashMap<String, Option<MemoryId>>,
    notes: HashMap<String, Option<String>>,
    targets: Vec<(String, Target, Vec<MemoryId>)>,
}

/// What an id stands for within a write.
#[expect(
    clippy::large_enum_variant,
    reason = "it lives for one call, and nearly always holds the memory"
)]
pub(super) enum Held {
    Free,
    Memory(Memory),
    /// Something that is not adopted yet has the id.
    Foreign,
}

impl<'a> Draft<'a> {
    fn new(known: &'a Known) -> Draft<'a> {
        Draft {
            known,
            changed: BTreeMap::new(),
            contents: HashMap::new(),
            adopted: BTreeSet::new(),
            guarded_ids: BTreeSet::new(),
            guarded_contents: BTreeSet::new(),
            guarded_notes: BTreeSet::new(),
            notes: BTreeMap::new(),
            vectors: BTreeMap::new(),
            counters: Counters::default(),
        }
    }

    /// The memory of an id.
    pub(super) fn by_id(&mut self, id: &MemoryId) -> Result<Held, Unknown> {
        if !self.known.ids.contains_key(id) && !self.changed.contains_key(id) {
            return Err(Unknown::Id(id.clone()));
        }
        Ok(self.held(id))
    }

    /// The memory of an id that is expected to be free.
    pub(super) fn by_new_id(&mut self, id: &MemoryId) -> Held {
        self.held(id)
    }

    fn held(&mut self, id: &MemoryId) -> Held {
        self.guarded_ids.insert(id.clone());
        match (self.changed.get(id), self.known.ids.get(id)) {
            (Some(Some(memory)), _) | (None, Some(Stored::Present { memory, .. })) => {
                Held::Memory(memory.clone())
            }
            (None, Some(Stored::Foreign)) => Held::Foreign,
            (Some(None), _) | (None, Some(Stored::Absent) | None) => Held::Free,
        }
    }

    /// The memory that has a content at a place; expected to be none.
    pub(super) fn by_content(
        &mut self,
        namespace: &str,
        agent: Option<&str>,
        place: &Place,
        content: &str,
    ) -> Result<Option<Memory>, Unknown> {
        let digest = codec::content_digest(namespace, agent, place, content);
        let known = self.known.contents.get(&digest).cloned().flatten();
        let holder = self.contents.get(&digest).cloned().unwrap_or(known);
        self.guarded_contents.insert(digest);
        match holder {
            None => Ok(None),
            Some(id) => match self.by_id(&id)? {
                Held::Memory(memory) => Ok(Some(memory)),
                Held::Free | Held::Foreign => Ok(None),
            },
        }
    }

    /// The single value at a key; expected to be none.
    pub(super) fn noted(&mut self, key: &str) -> Option<String> {
        self.guarded_notes.insert(key.to_owned());
        let known = || self.known.notes.get(key).cloned().flatten();
        self.notes.get(key).cloned().or_else(known)
    }

    /// Keeps a single value for as long as operations are remembered.
    pub(super) fn note(&mut self, key: &str, value: String) {
        self.guarded_notes.insert(key.to_owned());
        self.notes.insert(key.to_owned(), value);
    }

    /// The memories that may have a text in them: those that had it when they were read, and those
    /// that this write changes.
    pub(super) fn by_text(
        &mut self,
        namespace: &str,
        target: &Target,
    ) -> Result<Vec<Memory>, Unknown> {
        let known = self.known.targets.iter();
        let mut found = known.filter(|(of, asked, _)| of == namespace && asked == target);
        let Some((_, _, ids)) = found.next() else {
            return Err(Unknown::Target(namespace.to_owned(), target.clone()));
        };
        let ids: BTreeSet<MemoryId> = ids.iter().chain(self.changed.keys()).cloned().collect();
        let mut memories = Vec::new();
        for id in &ids {
            if let Held::Memory(memory) = self.by_id(id)? {
                memories.push(memory);
            }
        }
        Ok(memories)
    }

    /// Stores a memory as it is to be.
    pub(super) fn save(&mut self, memory: &Memory) {
        if let Held::Memory(before) = self.held(&memory.id) {
            self.contents.insert(digest(&before), None);
        }
        self.contents
            .insert(digest(memory), Some(memory.id.clone()));
        self.changed.insert(memory.id.clone(), Some(memory.clone()));
    }

    /// Gives a memory that is saved, too, a vector in place of an older one of the model; whether it
    /// can be one of its model.
    pub(super) fn put_vector(&mut self, id: &MemoryId, vector: &NewVector) -> bool {
        let vector = Vector::of(vector);
        let is_one = vector.is_some();
        let vectors = self.vectors.entry(id.clone()).or_default();
        vectors.put.extend(vector);
        is_one
    }

    /// Takes a memory that is saved, too, the vectors of all models.
    pub(super) fn forget_vectors(&mut self, id: &MemoryId) {
        let forgotten = Vectors {
            are_forgotten: true,
            put: Vec::new(),
        };
        self.vectors.insert(id.clone(), forgotten);
    }

    /// Takes over a memory as someone else wrote it.
    pub(super) fn adopt(&mut self, memory: &Memory) {
        self.guarded_ids.insert(memory.id.clone());
        self.adopted.insert(memory.id.clone());
        self.changed.insert(memory.id.clone(), Some(memory.clone()));
    }

    /// Deletes a memory.
    pub(super) fn delete(&mut self, memory: &Memory) {
        self.guarded_ids.insert(memory.id.clone());
        self.contents.insert(digest(memory), None);
        self.changed.insert(memory.id.clone(), None);
    }

    fn revision_of(&self, id: &MemoryId) -> String {
        match self.known.ids.get(id) {
            Some(Stored::Present { revision, .. }) if !revision.is_empty() => revision.clone(),
            Some(Stored::Present { .. } | Stored::Foreign) => "0".to_owned(),
            Some(Stored::Absent) | None => String::new(),
        }
    }

    fn before(&self, id: &MemoryId) -> Option<&Memory> {
        match self.known.ids.get(id) {
            Some(Stored::Present { memory, .. }) => Some(memory),
            _ => None,
        }
    }
}

/// The digest that a memory's content is known by.
pub(super) fn digest(memory: &Memory) -> String {
    codec::content_digest(
        &memory.namespace,
        memory.agent.as_deref(),
        &memory.place,
        &memory.content,
    )
}

impl RedisStore {
    /// Runs a write until it is done (see the module's documentation).
    pub(super) async fn write<T>(
        &self,
        work: impl Fn(&mut Draft<'_>) -> Result<T, Unknown>,
    ) -> Result<T, StoreError> {
        self.write_about(&[], work).await
    }

    /// Runs a write that will look at these memories: they are read in one exchange.
    pub(super) async fn write_about<T>(
        &self,
        ids: &[MemoryId],
        work: impl Fn(&mut Draft<'_>) -> Result<T, Unknown>,
    ) -> Result<T, StoreError> {
        self.prepared().await?;
        let mut known = Known::default();
        known
            .ids
            .extend(ids.iter().cloned().zip(self.load(ids).await?));
        for _ in 0..MOST_TRIES {
            let mut draft = Draft::new(&known);
            let result = match work(&mut draft) {
                Ok(result) => result,
                Err(Unknown::Id(id)) => {
                    let stored = self.load(std::slice::from_ref(&id)).await?.remove(0);
                    known.ids.insert(id, stored);
                    continue;
                }
                Err(Unknown::Target(namespace, target)) => {
                    let ids = self.having(&namespace, &target).await?;
                    known.targets.push((namespace, target, ids));
                    continue;
                }
            };
            if draft.changed.is_empty() && draft.notes.is_empty() {
                return Ok(result);
            }
            match self.apply(&draft).await? {
                None => return Ok(result),
                Some(now) => known.learn(now),
            }
        }
        Err(StoreError::Timeout(explained(
            "other writers were faster each time",
        )))
    }

    /// What every call of the script begins with.
    fn head(&self) -> Vec<Vec<u8>> {
        let keys = &self.inner.keys;
        let mut head = vec![
            keys.fragments(),
            keys.trashed(),
            keys.states(),
            keys.signals(),
        ];
        for fields in [&FIELDS[..], &STATE_FIELDS[..]] {
            head.push(fields.len().to_string());
            head.extend(fields.iter().map(|field| (*field).to_owned()));
        }
        head.into_iter().map(String::into_bytes).collect()
    }

    /// Arguments that run commands in one step, whatever is there.
    pub(super) fn unguarded(&self, commands: Commands) -> Vec<Vec<u8>> {
        let mut arguments = self.head();
        arguments.push(b"0".to_vec());
        commands.append_to(&mut arguments);
        arguments
    }

    /// Writes what was decided if all is as it was, else tells what is there now.
    async fn apply(&self, draft: &Draft<'_>) -> Result<Option<Known>, StoreError> {
        for vector in draft.vectors.values().flat_map(|vectors| &vectors.put) {
            self.meant(&vector.model).await?;
        }
        let revision = new_id()
            .map_err(|error| StoreError::Unavailable(Box::new(error)))?
            .to_string();
        let keys = &self.inner.keys;
        let mut arguments = self.head();
        let mut push = |text: &str| arguments.push(text.as_bytes().to_vec());
        let guards =
            draft.guarded_ids.len() + draft.guarded_contents.len() + draft.guarded_notes.len();
        push(&guards.to_string());
        for id in &draft.guarded_ids {
            push("id");
            push(id.as_str());
            push(&draft.revision_of(id));
        }
        for digest in &draft.guarded_contents {
            push("content");
            push(&keys.content(digest));
            let known = draft.known.contents.get(digest).cloned().flatten();
            push(known.as_ref().map_or("", MemoryId::as_str));
        }
        for key in &draft.guarded_notes {
            push("note");
            push(key);
            push(
                draft
                    .known
                    .notes
                    .get(key)
                    .and_then(Option::as_deref)
                    .unwrap_or_default(),
            );
        }
        let mut commands = Commands::default();
        for (key, value) in &draft.notes {
            let seconds = REMEMBERED.num_seconds().to_string();
            commands.push(["SET", key, value, "EX", &seconds]);
        }
        let changes = draft.changed.iter().map(|(id, after)| Change {
            before: draft.before(id),
            after: after.as_ref(),
            adopts: draft.adopted.contains(id),
            vectors: draft.vectors.get(id),
        });
        let changes: Vec<_> = changes.collect();
        commands::memories(&mut commands, keys, &changes, &revision);
        commands::counters(&mut commands, keys, &draft.counters);
        commands.append_to(&mut arguments);

        let answer = self.inner.connection.script(Name::Apply, &arguments).await;
        let mut answer = list(answer.map_err(from_redis)?)?;
        if answer.len() != 2 {
            return Err(unexpected());
        }
        let told = answer.remove(1);
        if answer.remove(0) == Value::Int(1) {
            self.inner.notice_signals(&text(told).unwrap_or_default());
            return Ok(None);
        }
        let now = Known::read(draft, list(told)?)?;
        // A write that was sent twice finds itself.
        let own = now.ids.values().any(
            |stored| matches!(stored, Stored::Present { revision: found, .. } if *found == revision),
        );
        Ok((!own).then_some(now))
    }
}

impl Known {
    /// What the script tells of each guard, in their order.
    fn read(draft: &Draft<'_>, answer: Vec<Value>) -> Result<Known, StoreError> {
        let mut known = Known::default();
        let mut answers = answer.into_iter();
        let mut next = || answers.next().ok_or_else(unexpected).and_then(list);
        for id in &draft.guarded_ids {
            let stored = codec::record(next()?).map_or(Stored::Absent, |(_, stored)| stored);
            known.ids.insert(id.clone(), stored);
        }
        for digest in &draft.guarded_contents {
            let holder = codec::record(next()?);
            known
                .contents
                .insert(digest.clone(), holder.as_ref().map(|(id, _)| id.clone()));
            if let Some((id, stored)) = holder {
                known.ids.insert(id, stored);
            }
        }
        for key in &draft.guarded_notes {
            let note = next()?.into_iter().next().and_then(text);
            known.notes.insert(key.clone(), note);
        }
        Ok(known)
    }

    fn learn(&mut self, newer: Known) {
        self.ids.extend(newer.ids);
        self.contents.extend(newer.contents);
        self.notes.extend(newer.notes);
        // What has a text may have changed, too.
        self.targets.clear();
    }
}

/// An answer that no version of our scripts gives.
pub(super) fn unexpected() -> StoreError {
    StoreError::Corrupt {
        what: "Redis gave an answer of another shape than its script makes".to_owned(),
        source: None,
    }
}
