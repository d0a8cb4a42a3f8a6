//! Counters and synonyms, out for an export and back.

use rusqlite::{Connection, OptionalExtension, Row, ToSql, Transaction, params};

use super::codec::{day, day_number, list};
use super::{from_sqlite, signals};
use crate::store::{Counter, StoreError, Synonyms};

/// See `ScanStore::scan_counters`: topics, then pairs, then synonyms, each in the order of its key.
pub(crate) fn scan(
    connection: &Connection,
    after: Option<&Counter>,
    limit: usize,
) -> Result<Vec<Counter>, StoreError> {
    let mut found = Vec::new();
    if let None | Some(Counter::Topic { .. }) = after {
        topics(connection, after, limit, &mut found)?;
    }
    if let None | Some(Counter::Topic { .. } | Counter::Pair { .. }) = after {
        pairs(connection, after, limit, &mut found)?;
    }
    synonyms(connection, after, limit, &mut found)?;
    Ok(found)
}

fn topics(
    connection: &Connection,
    after: Option<&Counter>,
    limit: usize,
    found: &mut Vec<Counter>,
) -> Result<(), StoreError> {
    let (namespace, agent, number, topic) = match after {
        Some(Counter::Topic {
            namespace,
            agent,
            day,
            topic,
            ..
        }) => (
            namespace.as_str(),
            agent_key(agent),
            day_number(*day),
            topic.as_str(),
        ),
        _ => ("", "", i64::MIN, ""),
    };
    let read = |row: &Row<'_>| {
        Ok(Counter::Topic {
            namespace: row.get(0)?,
            agent: agent_of(row.get(1)?),
            day: day(row.get(2)?),
            topic: row.get(3)?,
            mentions: row.get(4)?,
            attention: row.get(5)?,
        })
    };
    rows(
        connection,
        "SELECT namespace, agent, day, topic, mentions, attention FROM topic_days \
         WHERE (namespace, agent, day, topic) > (?1, ?2, ?3, ?4) ORDER BY namespace, agent, day, topic LIMIT ?5",
        &[&namespace, &agent, &number, &topic],
        limit,
        read,
        found,
    )
}

fn pairs(
    connection: &Connection,
    after: Option<&Counter>,
    limit: usize,
    found: &mut Vec<Counter>,
) -> Result<(), StoreError> {
    let (namespace, entity, agent, other) = match after {
        Some(Counter::Pair {
            namespace,
            agent,
            entity,
            other,
            ..
        }) => (
            namespace.as_str(),
            entity.as_str(),
            agent_key(agent),
            other.as_str(),
        ),
        _ => ("", "", "", ""),
    };
    let read = |row: &Row<'_>| {
        Ok(Counter::Pair {
            namespace: row.get(0)?,
            entity: row.get(1)?,
            agent: agent_of(row.get(2)?),
            other: row.get(3)?,
            name: row.get(4)?,
            memories: row.get::<_, i64>(5)?.unsigned_abs(),
        })
    };
    rows(
        connection,
        "SELECT namespace, entity, agent, other, name, memories FROM entity_pairs \
         WHERE (namespace, entity, agent, other) > (?1, ?2, ?3, ?4) ORDER BY namespace, entity, agent, other LIMIT ?5",
        &[&namespace, &entity, &agent, &other],
        limit,
        read,
        found,
    )
}

fn synonyms(
    connection: &Connection,
    after: Option<&Counter>,
    limit: usize,
    found: &mut Vec<Counter>,
) -> Result<(), StoreError> {
    let (namespace, term) = match after {
        Some(Counter::Synonyms {
            namespace,
            synonyms,
        }) => (namespace.as_str(), synonyms.term.as_str()),
        _ => ("", ""),
    };
    let read = |row: &Row<'_>| {
        Ok(Counter::Synonyms {
            namespace: row.get(0)?,
            synonyms: Synonyms {
                term: row.get(1)?,
                terms: list(&row.get::<_, String>(2)?),
                manual: row.get(3)?,
            },
        })
    };
    rows(
        connection,
        "SELECT namespace, term, terms, manual FROM synonyms WHERE (namespace, term) > (?1, ?2) ORDER BY namespace, term LIMIT ?3",
        &[&namespace, &term],
        limit,
        read,
        found,
    )
}

/// Adds rows until there are `limit`; the limit is the statement's last value.
fn rows(
    connection: &Connection,
    sql: &str,
    values: &[&dyn ToSql],
    limit: usize,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<Counter>,
    found: &mut Vec<Counter>,
) -> Result<(), StoreError> {
    let left = i64::try_from(limit.saturating_sub(found.len())).unwrap_or(i64::MAX);
    let mut values = values.to_vec();
    values.push(&left);
    let mut statement = connection.prepare_cached(sql).map_err(from_sqlite)?;
    let rows = statement
        .query_map(values.as_slice(), read)
        .map_err(from_sqlite)?;
    for row in rows {
        found.push(row.map_err(from_sqlite)?);
    }
    Ok(())
}

/// See `ScanStore::restore_counters`.
pub(crate) fn restore(
    transaction: &Transaction<'_>,
    counters: &[Counter],
) -> Result<(), StoreError> {
    for counter in counters {
        match counter {
            Counter::Topic { .. } => topic(transaction, counter).map_err(from_sqlite)?,
            Counter::Pair {
                namespace,
                agent,
                entity,
                other,
                name,
                memories,
            } => {
                let mut statement = transaction
                    .prepare_cached(
                        "INSERT INTO entity_pairs (namespace, agent, entity, other, name, memories) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
                         ON CONFLICT DO UPDATE SET memories = max(memories, excluded.memories)",
                    )
                    .map_err(from_sqlite)?;
                let values = params![
                    namespace,
                    agent_key(agent),
                    entity,
                    other,
                    name,
                    memories.cast_signed()
                ];
                statement.execute(values).map_err(from_sqlite)?;
            }
            Counter::Synonyms {
                namespace,
                synonyms,
            } => signals::set_synonyms(transaction, namespace, synonyms)?,
        }
    }
    if !counters.is_empty() {
        signals::touch(transaction)?;
    }
    Ok(())
}

/// Raises a day's counters to what is given, and their sums by as much.
fn topic(transaction: &Transaction<'_>, counter: &Counter) -> rusqlite::Result<()> {
    let Counter::Topic {
        namespace,
        agent,
        day,
        topic,
        mentions,
        attention,
    } = counter
    else {
        return Ok(());
    };
    let (agent, day) = (agent_key(agent), day_number(*day));
    let mut there = transaction.prepare_cached(
        "SELECT mentions, attention FROM topic_days WHERE namespace = ?1 AND agent = ?2 AND day = ?3 AND topic = ?4",
    )?;
    let before: Option<(f64, f64)> = there
        .query_row(params![namespace, agent, day, topic], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let (had_mentions, had_attention) = before.unwrap_or_default();
    let mut raise = transaction.prepare_cached(
        "INSERT INTO topic_days (namespace, agent, day, topic, mentions, attention) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
         ON CONFLICT DO UPDATE SET mentions = max(mentions, excluded.mentions), attention = max(attention, excluded.attention)",
    )?;
    raise.execute(params![namespace, agent, day, topic, mentions, attention])?;
    let mut sums = transaction.prepare_cached(
        "INSERT INTO topics (namespace, agent, last_day, topic, mentions, attention) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
         ON CONFLICT DO UPDATE SET last_day = max(last_day, excluded.last_day), mentions = mentions + excluded.mentions, \
         attention = attention + excluded.attention",
    )?;
    let values = params![
        namespace,
        agent,
        day,
        topic,
        (mentions - had_mentions).max(0.0),
        (attention - had_attention).max(0.0)
    ];
    sums.execute(values).map(|_| ())
}

/// How the counters' tables name an agent.
fn agent_key(agent: &Option<String>) -> &str {
    agent.as_deref().unwrap_or_default()
}

fn agent_of(key: String) -> Option<String> {
    Some(key).filter(|key| !key.is_empty())
}
