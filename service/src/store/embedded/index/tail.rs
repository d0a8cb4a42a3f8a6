//! An inverted index in memory of what changed since the last commit of the index on disk.
//!
//! Each changed memory is a new slot; its old slot dies. It stays small: the tail begins anew with
//! every commit of the index, and is not used when there is too much for it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::analysis::terms::{Frequencies, Term};
use crate::memory::Memory;
use crate::query::{Plan, Statistics};
use crate::ranking::bm25::{Scorer, Sum};

/// The memories of all namespaces.
#[derive(Default)]
pub(crate) struct Tail {
    /// Everything up to this change number is in.
    pub seq: i64,
    shelves: HashMap<String, Shelf>,
    /// Namespace and slot of each row number.
    places: HashMap<i64, (String, u32)>,
    /// The change number of each row that changed, also of one that is gone.
    changed: HashMap<i64, i64>,
}

/// The memories of one namespace.
#[derive(Default)]
pub(crate) struct Shelf {
    slots: Vec<Option<Held>>,
    /// Slots that hold a term, in ascending order, with its frequency.
    postings: HashMap<Term, Vec<(u32, u32)>>,
}

/// A memory with the number of its row and the terms that an index holds of it.
pub(crate) struct Held {
    pub number: i64,
    pub memory: Arc<Memory>,
    pub terms: Frequencies,
}

impl Tail {
    /// Nothing changed since then.
    pub(crate) fn since(seq: i64) -> Tail {
        Tail {
            seq,
            ..Tail::default()
        }
    }

    /// Puts a memory in, in place of what its row held before.
    pub(crate) fn put(&mut self, number: i64, seq: i64, memory: Arc<Memory>) {
        self.remove(number, seq);
        let namespace = memory.namespace.clone();
        let shelf = self.shelves.entry(namespace.clone()).or_default();
        let slot = shelf.push(number, memory);
        self.places.insert(number, (namespace, slot));
    }

    /// Notes that a row is gone.
    pub(crate) fn remove(&mut self, number: i64, seq: i64) {
        self.changed.insert(number, seq);
        if let Some((namespace, slot)) = self.places.remove(&number)
            && let Some(shelf) = self.shelves.get_mut(&namespace)
        {
            shelf.slots[slot as usize] = None;
        }
    }

    /// Whether the row changed, so that the index on disk is out of date about it.
    pub(crate) fn has_changed(&self, number: i64) -> bool {
        self.changed.contains_key(&number)
    }

    /// The changes after a number alone.
    pub(crate) fn after(&self, seq: i64) -> Tail {
        let mut tail = Tail::since(self.seq.max(seq));
        for (number, changed) in self.changed.iter().filter(|(_, changed)| **changed > seq) {
            match self.held(*number) {
                Some(held) => tail.put(*number, *changed, held.memory.clone()),
                None => tail.remove(*number, *changed),
            }
        }
        tail
    }

    /// The memory of a row that changed and is still there.
    pub(crate) fn held(&self, number: i64) -> Option<&Held> {
        let (namespace, slot) = self.places.get(&number)?;
        self.shelves.get(namespace)?.slots[*slot as usize].as_ref()
    }

    pub(crate) fn shelf(&self, namespace: &str) -> Option<&Shelf> {
        self.shelves.get(namespace)
    }
}

impl Shelf {
    fn push(&mut self, number: i64, memory: Arc<Memory>) -> u32 {
        let slot = u32::try_from(self.slots.len()).expect("fewer than four billion memories");
        let terms = memory.indexed_terms();
        for (term, frequency) in terms.iter() {
            self.postings
                .entry(term)
                .or_default()
                .push((slot, frequency));
        }
        self.slots.push(Some(Held {
            number,
            memory,
            terms,
        }));
        slot
    }

    /// Every memory that holds a term of the plan, with its BM25 score.
    pub(crate) fn score(
        &self,
        plan: &Plan,
        statistics: &Statistics,
    ) -> impl Iterator<Item = (f64, &Held)> {
        let scorer = Scorer::new(plan, statistics);
        let mut sums: HashMap<u32, Sum> = HashMap::new();
        for (index, term) in plan
            .terms
            .iter()
            .enumerate()
            .filter(|(index, _)| scorer.counts(*index))
        {
            for (slot, frequency) in self.postings.get(&term.term).into_iter().flatten() {
                if let Some(held) = &self.slots[*slot as usize] {
                    scorer.add(
                        sums.entry(*slot).or_default(),
                        index,
                        *frequency,
                        held.memory.analysis.length,
                    );
                }
            }
        }
        sums.into_iter().filter_map(move |(slot, sum)| {
            Some((scorer.total(sum), self.slots[slot as usize].as_ref()?))
        })
    }
}
