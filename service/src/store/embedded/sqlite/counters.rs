//! Statistics and counters that a write changes, gathered for a whole transaction and applied once.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use rusqlite::{Transaction, params};

use super::codec::day_number;
use super::from_sqlite;
use crate::analysis::normalise::{fold, normalise};
use crate::analysis::terms::Term;
use crate::memory::Memory;
use crate::store::StoreError;

/// Most entities of a memory that take part in pairs, so that the work of a write is bounded.
const MAX_PAIRED: usize = 10;

/// Changes that are still to be applied. Ordered, so that rows are written in the order of their keys.
#[derive(Default)]
pub(crate) struct Counters {
    namespaces: BTreeMap<String, (i64, i64)>,
    terms: BTreeMap<(String, Term), i64>,
    topics: BTreeMap<(String, String, String, NaiveDate), (f64, f64)>,
    pairs: BTreeMap<(String, String, String, String), (String, i64)>,
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

    /// Applies what was gathered.
    pub(crate) fn apply(self, transaction: &Transaction<'_>) -> Result<(), StoreError> {
        self.apply_statistics(transaction)
            .and_then(|()| self.apply_signals(transaction))
            .map_err(from_sqlite)
    }

    fn apply_statistics(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let mut statement = transaction.prepare_cached(
            "INSERT INTO namespace_statistics (namespace, memories, length) VALUES (?1, ?2, ?3) \
             ON CONFLICT DO UPDATE SET memories = memories + excluded.memories, length = length + excluded.length",
        )?;
        for (namespace, (memories, length)) in &self.namespaces {
            statement.execute(params![namespace, memories, length])?;
        }
        let mut statement = transaction.prepare_cached(
            "INSERT INTO term_statistics (namespace, term, memories) VALUES (?1, ?2, ?3) \
             ON CONFLICT DO UPDATE SET memories = memories + excluded.memories",
        )?;
        let mut unused = transaction.prepare_cached(
            "DELETE FROM term_statistics WHERE namespace = ?1 AND term = ?2 AND memories <= 0",
        )?;
        for ((namespace, term), change) in self.terms.iter().filter(|(_, change)| **change != 0) {
            statement.execute(params![namespace, term.as_str(), change])?;
            if *change < 0 {
                unused.execute(params![namespace, term.as_str()])?;
            }
        }
        Ok(())
    }

    fn apply_signals(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let mut by_day = transaction.prepare_cached(
            "INSERT INTO topic_days (namespace, agent, day, topic, mentions, attention) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
             ON CONFLICT DO UPDATE SET mentions = mentions + excluded.mentions, attention = attention + excluded.attention",
        )?;
        let mut sums = transaction.prepare_cached(
            "INSERT INTO topics (namespace, agent, last_day, topic, mentions, attention) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
             ON CONFLICT DO UPDATE SET last_day = max(last_day, excluded.last_day), mentions = mentions + excluded.mentions, \
             attention = attention + excluded.attention",
        )?;
        for ((namespace, agent, topic, day), (mentions, attention)) in &self.topics {
            by_day.execute(params![
                namespace,
                agent,
                day_number(*day),
                topic,
                mentions,
                attention
            ])?;
            sums.execute(params![
                namespace,
                agent,
                day_number(*day),
                topic,
                mentions,
                attention
            ])?;
        }
        let mut pairs = transaction.prepare_cached(
            "INSERT INTO entity_pairs (namespace, agent, entity, other, name, memories) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
             ON CONFLICT DO UPDATE SET memories = memories + excluded.memories",
        )?;
        for ((namespace, agent, entity, other), (name, memories)) in &self.pairs {
            pairs.execute(params![namespace, agent, entity, other, name, memories])?;
        }
        if !self.topics.is_empty() {
            transaction.execute(
                "UPDATE control SET value = value + 1 WHERE name = 'signals'",
                [],
            )?;
        }
        Ok(())
    }
}

/// How entities are compared: folded, so without case.
pub(crate) fn entity_key(entity: &str) -> String {
    fold(&normalise(entity))
}
