//! Memories that searches read lately. Every write gives a memory a new revision, so what is kept
//! counts as long as Redis tells of the same one: a search whose candidates are all here reads no
//! memory.

use std::collections::HashMap;
use std::sync::Arc;

use lru::LruCache;
use redis::{Pipeline, Value};

use super::RedisStore;
use super::codec::{self, FIELDS, STATE_FIELDS, Stored};
use super::transaction::unexpected;
use super::values::{answers, list};
use super::vectors;
use crate::analysis::terms::Frequencies;
use crate::memory::{Memory, MemoryId};
use crate::store::StoreError;

/// About how much memory those that are kept may take, in bytes.
const ROOM: usize = 64 << 20;
/// About what a memory takes beside its content, its terms and its vector.
const BESIDES: usize = 1024;

/// A memory as a search needs it, at one revision.
pub(super) struct Held {
    revision: String,
    pub memory: Arc<Memory>,
    /// What the index holds of it.
    pub terms: Frequencies,
    /// The field of the model that was asked about, and the vector there, if it has one.
    vector: Option<(String, Option<Box<[i8]>>)>,
}

impl Held {
    fn new(memory: Memory, revision: String, vector: Option<(String, Option<Vec<u8>>)>) -> Held {
        Held {
            revision,
            terms: memory.indexed_terms(),
            memory: Arc::new(memory),
            vector: vector.map(|(field, bytes)| (field, bytes.and_then(|b| vectors::steps(&b)))),
        }
    }

    /// The vector of the model that was asked about.
    pub(super) fn steps(&self) -> Option<&[i8]> {
        self.vector.as_ref()?.1.as_deref()
    }

    fn knows(&self, field: Option<&str>) -> bool {
        field.is_none_or(|field| self.vector.as_ref().is_some_and(|(held, _)| held == field))
    }

    fn bytes(&self) -> usize {
        let vector = self.steps().map_or(0, <[i8]>::len);
        // Terms take about as much as the content they are of, here and in the memory.
        BESIDES + 3 * self.memory.content.len() + vector
    }
}

/// The memories read lately.
pub(super) struct Lately {
    held: LruCache<MemoryId, Arc<Held>>,
    bytes: usize,
}

impl Default for Lately {
    fn default() -> Lately {
        Lately {
            held: LruCache::unbounded(),
            bytes: 0,
        }
    }
}

impl Lately {
    fn get(&mut self, id: &MemoryId, revision: &str, field: Option<&str>) -> Option<Arc<Held>> {
        let held = self.held.get(id)?;
        (held.revision == revision && held.knows(field)).then(|| held.clone())
    }

    fn keep(&mut self, held: Arc<Held>) {
        self.bytes += held.bytes();
        if let Some(older) = self.held.put(held.memory.id.clone(), held) {
            self.bytes -= older.bytes();
        }
        while self.bytes > ROOM
            && let Some((_, oldest)) = self.held.pop_lru()
        {
            self.bytes -= oldest.bytes();
        }
    }
}

/// An id with the revision that Redis told of.
pub(super) type Told = (MemoryId, String);
/// Memories by their ids.
pub(super) type All = HashMap<MemoryId, Arc<Held>>;

impl RedisStore {
    /// The memories of these ids that there are, at these revisions; `None` if one changed meanwhile.
    /// `field` is that of the model whose vectors are wanted.
    pub(super) async fn held(
        &self,
        told: Vec<Told>,
        field: Option<&str>,
    ) -> Result<Option<All>, StoreError> {
        let mut all = HashMap::with_capacity(told.len());
        let mut missing = Vec::new();
        {
            let mut lately = self.inner.lately();
            for (id, revision) in told {
                match lately.get(&id, &revision, field) {
                    Some(held) => drop(all.insert(id, held)),
                    None => missing.push((id, revision)),
                }
            }
        }
        if missing.is_empty() {
            return Ok(Some(all));
        }
        let keys = &self.inner.keys;
        let mut pipeline = Pipeline::new();
        pipeline.atomic();
        for (id, _) in &missing {
            let fragment = pipeline.cmd("HMGET").arg(keys.fragment(id)).arg(&FIELDS);
            fragment.arg(field);
            pipeline.cmd("HMGET").arg(keys.state(id)).arg(&STATE_FIELDS);
        }
        let mut read = self.inner.connection.pipeline(&pipeline).await?.into_iter();
        let rows = list(read.next().ok_or_else(unexpected)?)?;
        let (read, are_as_told) = self.keep(missing, rows, field)?;
        all.extend(read);
        Ok(are_as_told.then_some(all))
    }

    /// Keeps memories: `rows` has for each the values of its fields and of its vector, then those of
    /// its state. Those that there are, and whether all are as they were told.
    pub(super) fn keep(
        &self,
        told: Vec<Told>,
        rows: Vec<Value>,
        field: Option<&str>,
    ) -> Result<(All, bool), StoreError> {
        let mut rows = rows.into_iter();
        let mut next = || rows.next().and_then(answers).ok_or_else(unexpected);
        let (mut all, mut are_as_told) = (HashMap::with_capacity(told.len()), true);
        let mut lately = self.inner.lately();
        for (id, told) in told {
            let (mut fragment, state) = (next()?, next()?);
            are_as_told &=
                state.first().and_then(Option::as_deref).unwrap_or_default() == told.as_bytes();
            let vector = field.and_then(|field| Some((field.to_owned(), fragment.pop()?)));
            if let Stored::Present { memory, revision } = codec::stored(&id, &fragment, &state) {
                let held = Arc::new(Held::new(memory, revision, vector));
                lately.keep(held.clone());
                all.insert(id, held);
            }
        }
        Ok((all, are_as_told))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::conformance::samples::exported;

    /// A memory whose content is so long.
    fn held(name: &str, bytes: usize) -> Arc<Held> {
        let memory = Memory {
            content: "x".repeat(bytes),
            ..exported(name, "a note")
        };
        Arc::new(Held::new(memory, "first".to_owned(), None))
    }

    #[test]
    fn what_is_kept_counts_for_its_revision_alone() {
        let mut lately = Lately::default();
        let one = held("one", 100);
        let id = one.memory.id.clone();
        lately.keep(one);
        assert!(lately.get(&id, "first", None).is_some());
        assert!(lately.get(&id, "second", None).is_none());
        assert!(lately.get(&id, "first", Some("vec_00000000")).is_none());
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_longest_unused_goes_first() {
        let mut lately = Lately::default();
        let kept = ["one", "two", "three"].map(|name| held(name, ROOM / 8));
        for held in &kept {
            lately.keep(held.clone());
        }
        let mut is_kept = |held: &Arc<Held>| lately.get(&held.memory.id, "first", None).is_some();
        assert_eq!(kept.each_ref().map(&mut is_kept), [false, true, true]);
        assert!(lately.bytes <= ROOM);
    }
}
