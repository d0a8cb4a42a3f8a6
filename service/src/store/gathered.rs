//! Statistics and counters that a write changes, gathered for a whole transaction; each store applies
//! them once.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};

use super::lifecycle;
use crate::analysis::normalise::{fold, normalise};
use crate::analysis::terms::Term;
use crate::memory::Memory;

/// Most entities of a memory that take part in pairs, so that the work of a write is bounded.
const MAX_PAIRED: usize = 10;

/// Changes that are still to be applied. Ordered, so that rows are written in the order of their keys.
#[derive(Default)]
pub(crate) struct Counters {
    /// Memories and words of each namespace.
    pub namespaces: BTreeMap<String, (i64, i64)>,
    /// Memories that hold a term, by namespace and term.
    pub terms: BTreeMap<(String, Term), i64>,
    /// Mentions and attention by namespace, agent, topic and day.
    pub topics: BTreeMap<(String, String, String, NaiveDate), (f64, f64)>,
    /// The spelling of the second entity and the memories that hold both, by namespace, agent and
    /// the two folded entities.
    pub pairs: BTreeMap<(String, String, String, String), (String, i64)>,
}

impl Counters {
    /// Counts a memory in (`1`) or out of (`-1`) the statistics of its namespace.
    pub(crate) fn count(&mut self, memory: &Memory, change: i64) {
        let (memories, length) = self.namespaces.entry(memory.namespace.clone()).or_default();
        *memories += change;
        *length += change * i64::from(memory.analysis.length);
        for (term, _) in memory.indexed_terms().iter() {
            *self
                .terms
                .entry((memory.namespace.clone(), term))
                .or_default() += change;
        }
    }

    /// Counts that a memory was told: its topics on the day that the telling is about, with the
    /// attention that each gains, and the pairs of its entities.
    pub(crate) fn mention(&mut self, memory: &Memory, told_at: DateTime<Utc>, attention: f64) {
        let agent = memory.agent.clone().unwrap_or_default();
        for keyword in &memory.analysis.keywords {
            let key = (
                memory.namespace.clone(),
                agent.clone(),
                keyword.clone(),
                told_at.date_naive(),
            );
            let (mentions, gained) = self.topics.entry(key).or_default();
            *mentions += 1.0;
            *gained += attention;
        }
        let paired = memory.analysis.entities.len().min(MAX_PAIRED);
        for (index, entity) in memory.analysis.entities[..paired].iter().enumerate() {
            for (other_index, other) in memory.analysis.entities[..paired].iter().enumerate() {
                if index != other_index {
                    let key = (
                        memory.namespace.clone(),
                        agent.clone(),
                        entity_key(entity),
                        entity_key(other),
                    );
                    self.pairs
                        .entry(key)
                        .or_insert_with(|| (other.clone(), 0))
                        .1 += 1;
                }
            }
        }
    }

    /// Keeps the statistics right when a memory changes its terms, or goes to the trash or comes
    /// back.
    pub(crate) fn recount(&mut self, before: &Memory, after: &Memory) {
        if lifecycle::changes_statistics(before, after) {
            if lifecycle::is_counted(before) {
                self.count(before, -1);
            }
            if lifecycle::is_counted(after) {
                self.count(after, 1);
            }
        }
    }
}

/// How entities are compared: folded, so without case.
pub(crate) fn entity_key(entity: &str) -> String {
    fold(&normalise(entity))
}
