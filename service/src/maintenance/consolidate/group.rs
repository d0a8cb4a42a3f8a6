//! Which memories are about the same: those of one namespace and agent with two keywords in common,
//! found through an index of pairs of keywords, never by comparing all with all.

use std::collections::HashSet;
use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use super::{is_eligible, least_age};
use crate::error::Error;
use crate::maintenance::work::{BATCH, Work};
use crate::memory::{Memory, MemoryId};

/// Most memories of one group.
const MOST: usize = 10;
/// Most memories that one run takes up; the next goes on.
const MOST_ENTRIES: usize = 2_000_000;
/// Memories with a pair of keywords that are looked at for one group.
const REACH: usize = 64;

/// A group of memories, the oldest first.
pub(super) struct Group {
    pub namespace: String,
    pub ids: Vec<MemoryId>,
    members: Vec<u32>,
}

/// A memory that may be consolidated.
struct Entry {
    created: i64,
    id: Box<str>,
    /// Namespace, agent and who sees it, as a number.
    place: u64,
    namespace: u32,
    /// Hashes of its keywords.
    keywords: Vec<u32>,
}

/// The groups of a store, one after the other.
pub(super) struct Groups {
    namespaces: Vec<String>,
    /// In the order of creation.
    entries: Vec<Entry>,
    /// Pairs of keywords of a place, each with an entry that has it, in order.
    pairs: Vec<(u64, u32)>,
    taken: Vec<bool>,
    at: usize,
}

fn hash(value: impl std::hash::Hash) -> u64 {
    FxBuildHasher.hash_one(value)
}

impl Groups {
    /// Goes through the store once.
    pub(super) async fn gather(work: &Work<'_>) -> Result<Groups, Error> {
        let (mut entries, mut namespaces) = (Vec::new(), Vec::<String>::new());
        // Sources that were restored: somebody wants them as they are.
        let mut sources: HashSet<u64> = HashSet::new();
        let mut after: Option<MemoryId> = None;
        loop {
            let batch = work.app.store.scan(after.as_ref(), BATCH).await?;
            let Some(last) = batch.last() else { break };
            after = Some(last.id.clone());
            for memory in &batch {
                sources.extend(memory.sources.iter().map(|id| hash(id.as_str())));
                let eligible = is_eligible(memory, least_age(work), work.now)
                    && work.concerns(memory)
                    && memory.analysis.keywords.len() >= 2;
                if eligible && entries.len() < MOST_ENTRIES {
                    entries.push(entry(memory, &mut namespaces));
                }
            }
            work.still_ours()?;
        }
        entries.retain(|entry| !sources.contains(&hash(&*entry.id)));
        entries.sort_by(|one, other| (one.created, &one.id).cmp(&(other.created, &other.id)));
        let mut pairs: Vec<(u64, u32)> = Vec::with_capacity(entries.len() * 10);
        for (number, entry) in entries.iter().enumerate() {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            pairs.extend(entry.pairs().map(|pair| (pair, number)));
        }
        pairs.sort_unstable();
        Ok(Groups {
            namespaces,
            taken: vec![false; entries.len()],
            entries,
            pairs,
            at: 0,
        })
    }

    /// The next group of at least so many.
    pub(super) fn next(&mut self, least: usize) -> Option<Group> {
        while self.at < self.entries.len() {
            let seed = self.at;
            self.at += 1;
            if self.taken[seed] {
                continue;
            }
            let members = self.around(seed);
            if members.len() >= least {
                let ids = members
                    .iter()
                    .map(|member| MemoryId::new(&*self.entries[*member as usize].id));
                return Some(Group {
                    namespace: self.namespaces[self.entries[seed].namespace as usize].clone(),
                    ids: ids.collect(),
                    members,
                });
            }
        }
        None
    }

    /// The members of a group that became sources are used up.
    pub(super) fn take(&mut self, group: &Group, sources: &[Memory]) {
        for (member, id) in group.members.iter().zip(&group.ids) {
            if sources.iter().any(|source| source.id == *id) {
                self.taken[*member as usize] = true;
            }
        }
    }

    /// The seed, then those that share two keywords with it, the oldest first.
    fn around(&self, seed: usize) -> Vec<u32> {
        let own = u32::try_from(seed).unwrap_or(u32::MAX);
        let mut others: Vec<u32> = Vec::new();
        for pair in self.entries[seed].pairs() {
            // What is older than the seed was a seed before and found nobody, or is taken.
            let from = self.pairs.partition_point(|one| *one <= (pair, own));
            let same = self.pairs[from..]
                .iter()
                .take_while(|(other, _)| *other == pair)
                .map(|(_, number)| *number);
            let free = same.filter(|number| !self.taken[*number as usize]);
            others.extend(free.take(REACH));
        }
        others.sort_unstable();
        others.dedup();
        others.truncate(MOST - 1);
        others.insert(0, own);
        others
    }
}

fn entry(memory: &Memory, namespaces: &mut Vec<String>) -> Entry {
    let known = namespaces.iter().position(|name| *name == memory.namespace);
    let namespace = known.unwrap_or_else(|| {
        namespaces.push(memory.namespace.clone());
        namespaces.len() - 1
    });
    Entry {
        created: memory.created_at.timestamp_millis(),
        id: memory.id.as_str().into(),
        place: hash((&memory.namespace, &memory.agent, memory.details.shared)),
        namespace: u32::try_from(namespace).unwrap_or(u32::MAX),
        keywords: memory
            .analysis
            .keywords
            .iter()
            .map(|keyword| (hash(keyword) >> 32) as u32)
            .collect(),
    }
}

impl Entry {
    /// Each pair of its keywords, at its place.
    fn pairs(&self) -> impl Iterator<Item = u64> {
        let keywords = &self.keywords;
        (0..keywords.len()).flat_map(move |at| {
            keywords[at + 1..].iter().map(move |other| {
                let one = keywords[at];
                hash((self.place, one.min(*other), one.max(*other)))
            })
        })
    }
}
