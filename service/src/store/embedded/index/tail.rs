//! An inverted index in memory of everything that changed since a change number (here: since ever).
//!
//! Each changed memory is a new slot; its old slot dies. When most slots are dead the index is built
//! anew from the living.

use std::collections::HashMap;
use std::sync::Arc;

use crate::analysis::terms::Term;
use crate::memory::Memory;
use crate::query::{Plan, Statistics};
use crate::ranking::bm25::{Scorer, Sum};

/// Fewer dead slots than this are not worth a rebuild.
const MIN_DEAD: usize = 1024;

/// The memories of all namespaces.
#[derive(Default)]
pub(crate) struct Tail {
    /// Everything up to this change number is in.
    pub seq: i64,
    shelves: HashMap<String, Shelf>,
    /// Namespace and slot of each row number.
    places: HashMap<i64, (String, u32)>,
}

/// The memories of one namespace.
#[derive(Default)]
pub(crate) struct Shelf {
    slots: Vec<Option<(i64, Arc<Memory>)>>,
    dead: usize,
    /// Slots that hold a term, in ascending order, with its frequency.
    postings: HashMap<Term, Vec<(u32, u32)>>,
    /// Slots of each turn of a session, whoever's they are.
    turns: HashMap<(String, i64), Vec<u32>>,
}

impl Tail {
    /// Puts a memory in, in place of what its row held before.
    pub(crate) fn put(&mut self, number: i64, memory: Memory) {
        self.remove(number);
        let namespace = memory.namespace.clone();
        let shelf = self.shelves.entry(namespace.clone()).or_default();
        if shelf.dead > MIN_DEAD && shelf.dead * 2 > shelf.slots.len() {
            shelf.rebuild();
            let moved = shelf
                .slots
                .iter()
                .enumerate()
                .filter_map(|(slot, held)| Some((held.as_ref()?.0, slot)));
            self.places
                .extend(moved.map(|(number, slot)| (number, (namespace.clone(), slot as u32))));
        }
        let slot = shelf.push(number, Arc::new(memory));
        self.places.insert(number, (namespace, slot));
    }

    /// Forgets the memory of a row.
    pub(crate) fn remove(&mut self, number: i64) {
        if let Some((namespace, slot)) = self.places.remove(&number)
            && let Some(shelf) = self.shelves.get_mut(&namespace)
        {
            shelf.slots[slot as usize] = None;
            shelf.dead += 1;
        }
    }

    pub(crate) fn shelf(&self, namespace: &str) -> Option<&Shelf> {
        self.shelves.get(namespace)
    }
}

impl Shelf {
    fn push(&mut self, number: i64, memory: Arc<Memory>) -> u32 {
        let slot = u32::try_from(self.slots.len()).expect("fewer than four billion memories");
        for (term, frequency) in memory.indexed_terms().iter() {
            match self.postings.get_mut(term) {
                Some(postings) => postings.push((slot, frequency)),
                None => {
                    self.postings.insert(term.clone(), vec![(slot, frequency)]);
                }
            }
        }
        if let (Some(session), Some(turn)) = (&memory.place.session, memory.place.turn) {
            self.turns
                .entry((session.clone(), turn))
                .or_default()
                .push(slot);
        }
        self.slots.push(Some((number, memory)));
        slot
    }

    fn rebuild(&mut self) {
        let living = std::mem::take(self).slots.into_iter().flatten();
        for (number, memory) in living {
            self.push(number, memory);
        }
    }

    /// The living memory of a slot.
    pub(crate) fn memory(&self, slot: u32) -> Option<&Arc<Memory>> {
        self.slots[slot as usize].as_ref().map(|(_, memory)| memory)
    }

    /// The living slots with the numbers of their rows.
    pub(crate) fn living(&self) -> impl Iterator<Item = (u32, i64)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(slot, held)| Some((slot as u32, held.as_ref()?.0)))
    }

    /// Every memory that holds a term of the plan, with its BM25 score.
    pub(crate) fn score(&self, plan: &Plan, statistics: &Statistics) -> Vec<(u32, f64)> {
        let scorer = Scorer::new(plan, statistics);
        let mut sums: HashMap<u32, Sum> = HashMap::new();
        for (index, term) in plan
            .terms
            .iter()
            .enumerate()
            .filter(|(index, _)| scorer.counts(*index))
        {
            for (slot, frequency) in self.postings.get(&term.term).into_iter().flatten() {
                if let Some(memory) = self.memory(*slot) {
                    scorer.add(
                        sums.entry(*slot).or_default(),
                        index,
                        *frequency,
                        memory.analysis.length,
                    );
                }
            }
        }
        sums.into_iter()
            .map(|(slot, sum)| (slot, scorer.total(sum)))
            .collect()
    }

    /// How often each slot holds each term of the plan, for the given slots in the given order.
    pub(crate) fn frequencies(&self, plan: &Plan, slots: &[u32]) -> Vec<Vec<u32>> {
        let mut found = vec![vec![0; plan.terms.len()]; slots.len()];
        for (index, term) in plan.terms.iter().enumerate() {
            let postings = self.postings.get(&term.term).map_or(&[][..], Vec::as_slice);
            for (slot, frequencies) in slots.iter().zip(&mut found) {
                if let Ok(at) = postings.binary_search_by_key(slot, |(slot, _)| *slot) {
                    frequencies[index] = postings[at].1;
                }
            }
        }
        found
    }

    /// The memories at a turn of a session.
    pub(crate) fn at_turn(&self, session: &str, turn: i64) -> impl Iterator<Item = u32> {
        self.turns
            .get(&(session.to_owned(), turn))
            .into_iter()
            .flatten()
            .copied()
    }
}
