//! Applies the statistics and counters that a transaction gathered.

use rusqlite::{Transaction, params};

use super::codec::day_number;
use super::from_sqlite;
use crate::store::StoreError;
use crate::store::gathered::Counters;

/// Adds what was gathered to the tables.
pub(crate) fn apply(counters: &Counters, transaction: &Transaction<'_>) -> Result<(), StoreError> {
    apply_statistics(counters, transaction)
        .and_then(|()| apply_signals(counters, transaction))
        .map_err(from_sqlite)
}

fn apply_statistics(counters: &Counters, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
            "INSERT INTO namespace_statistics (namespace, memories, length) VALUES (?1, ?2, ?3) \
             ON CONFLICT DO UPDATE SET memories = memories + excluded.memories, length = length + excluded.length",
        )?;
    for (namespace, (memories, length)) in &counters.namespaces {
        statement.execute(params![namespace, memories, length])?;
    }
    let mut statement = transaction.prepare_cached(
        "INSERT INTO term_statistics (namespace, term, memories) VALUES (?1, ?2, ?3) \
             ON CONFLICT DO UPDATE SET memories = memories + excluded.memories",
    )?;
    let mut unused = transaction.prepare_cached(
        "DELETE FROM term_statistics WHERE namespace = ?1 AND term = ?2 AND memories <= 0",
    )?;
    for ((namespace, term), change) in counters.terms.iter().filter(|(_, change)| **change != 0) {
        statement.execute(params![namespace, term.as_str(), change])?;
        if *change < 0 {
            unused.execute(params![namespace, term.as_str()])?;
        }
    }
    Ok(())
}

fn apply_signals(counters: &Counters, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut by_day = transaction.prepare_cached(
            "INSERT INTO topic_days (namespace, agent, day, topic, mentions, attention) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
             ON CONFLICT DO UPDATE SET mentions = mentions + excluded.mentions, attention = attention + excluded.attention",
        )?;
    let mut sums = transaction.prepare_cached(
            "INSERT INTO topics (namespace, agent, last_day, topic, mentions, attention) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
             ON CONFLICT DO UPDATE SET last_day = max(last_day, excluded.last_day), mentions = mentions + excluded.mentions, \
             attention = attention + excluded.attention",
        )?;
    for ((namespace, agent, topic, day), (mentions, attention)) in &counters.topics {
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
    for ((namespace, agent, entity, other), (name, memories)) in &counters.pairs {
        pairs.execute(params![namespace, agent, entity, other, name, memories])?;
    }
    if !counters.topics.is_empty() {
        transaction.execute(
            "UPDATE control SET value = value + 1 WHERE name = 'signals'",
            [],
        )?;
    }
    Ok(())
}
