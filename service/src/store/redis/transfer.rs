//! Counters and synonyms, out for an export and back.

use chrono::NaiveDate;

use super::RedisStore;
use super::commands::{self, Commands};
use super::errors::from_redis;
use super::scripts::Name;
use super::signals::{day_number, day_of};
use super::values::texts;
use crate::store::{Counter, StoreError};

/// Days or entities whose counters are read in one exchange.
const BATCH: usize = 100;

impl RedisStore {
    /// See `ScanStore::scan_counters`: topics, then pairs, then synonyms, by namespace and agent.
    pub(super) async fn counters_after(
        &self,
        after: Option<&Counter>,
        limit: usize,
    ) -> Result<Vec<Counter>, StoreError> {
        let mut namespaces = self.members(&self.inner.keys.namespaces()).await?;
        namespaces.sort();
        let mut found = Vec::new();
        if let None | Some(Counter::Topic { .. }) = after {
            self.each_agent(&namespaces, after, limit, &mut found, true)
                .await?;
        }
        if let None | Some(Counter::Topic { .. } | Counter::Pair { .. }) = after {
            let after = after.filter(|after| matches!(after, Counter::Pair { .. }));
            self.each_agent(&namespaces, after, limit, &mut found, false)
                .await?;
        }
        let after = after.filter(|after| matches!(after, Counter::Synonyms { .. }));
        for namespace in &namespaces {
            if found.len() >= limit
                || after.is_some_and(|after| namespace.as_str() < after.namespace())
            {
                continue;
            }
            for synonyms in self.read_synonyms(namespace).await? {
                let is_behind = match after {
                    Some(Counter::Synonyms {
                        namespace: last,
                        synonyms: told,
                    }) => (namespace, &synonyms.term) > (last, &told.term),
                    _ => true,
                };
                if is_behind && found.len() < limit {
                    let namespace = namespace.clone();
                    found.push(Counter::Synonyms {
                        namespace,
                        synonyms,
                    });
                }
            }
        }
        Ok(found)
    }

    async fn members(&self, key: &str) -> Result<Vec<String>, StoreError> {
        let mut command = redis::cmd("SMEMBERS");
        command.arg(key);
        texts(self.inner.connection.command(&command).await?)
    }

    /// Topics (`true`) or pairs of every agent, in order.
    async fn each_agent(
        &self,
        namespaces: &[String],
        after: Option<&Counter>,
        limit: usize,
        found: &mut Vec<Counter>,
        topics: bool,
    ) -> Result<(), StoreError> {
        for namespace in namespaces {
            let mut agents = self.members(&self.inner.keys.agents(namespace)).await?;
            agents.sort();
            for agent in &agents {
                let here = (namespace.as_str(), agent.as_str());
                let last = after.map(|after| {
                    (
                        after.namespace(),
                        after.agent().flatten().unwrap_or_default(),
                    )
                });
                if found.len() >= limit || last.is_some_and(|last| here < last) {
                    continue;
                }
                let after = after.filter(|_| last == Some(here));
                if topics {
                    self.topics_of(here, after, limit, found).await?;
                } else {
                    self.pairs_of(here, after, limit, found).await?;
                }
            }
        }
        Ok(())
    }

    async fn topics_of(
        &self,
        (namespace, agent): (&str, &str),
        after: Option<&Counter>,
        limit: usize,
        found: &mut Vec<Counter>,
    ) -> Result<(), StoreError> {
        let keys = &self.inner.keys;
        let last = match after {
            Some(Counter::Topic { day, topic, .. }) => Some((day_number(*day), topic.as_str())),
            _ => None,
        };
        let mut from = last.map_or("-inf".to_owned(), |(day, _)| day.to_string());
        while found.len() < limit {
            let mut command = redis::cmd("ZRANGEBYSCORE");
            command
                .arg(keys.topic_days(namespace, agent))
                .arg(&from)
                .arg("+inf");
            command.arg("LIMIT").arg(0).arg(BATCH);
            let days = texts(self.inner.connection.command(&command).await?)?;
            let days: Vec<i64> = days.iter().filter_map(|day| day.parse().ok()).collect();
            let tables = days
                .iter()
                .map(|day| keys.topics_of_day(namespace, agent, *day));
            let tables = self.tables(tables.collect()).await?;
            for (day, table) in days.iter().zip(tables) {
                for counter in of_day(namespace, agent, day_of(*day), table) {
                    let Counter::Topic { topic, .. } = &counter else {
                        continue;
                    };
                    if last.is_none_or(|last| (*day, topic.as_str()) > last) && found.len() < limit
                    {
                        found.push(counter);
                    }
                }
            }
            match days.last() {
                Some(day) if days.len() == BATCH => from = format!("({day}"),
                _ => break,
            }
        }
        Ok(())
    }

    async fn pairs_of(
        &self,
        (namespace, agent): (&str, &str),
        after: Option<&Counter>,
        limit: usize,
        found: &mut Vec<Counter>,
    ) -> Result<(), StoreError> {
        let keys = &self.inner.keys;
        let last = match after {
            Some(Counter::Pair { entity, other, .. }) => Some((entity.as_str(), other.as_str())),
            _ => None,
        };
        let mut from = last.map_or("-".to_owned(), |(entity, _)| format!("[{entity}"));
        while found.len() < limit {
            let mut command = redis::cmd("ZRANGEBYLEX");
            command
                .arg(keys.paired(namespace, agent))
                .arg(&from)
                .arg("+");
            command.arg("LIMIT").arg(0).arg(BATCH);
            let entities = texts(self.inner.connection.command(&command).await?)?;
            let tables = entities
                .iter()
                .map(|entity| keys.pairs(namespace, agent, entity));
            let tables = self.tables(tables.collect()).await?;
            for (entity, table) in entities.iter().zip(tables) {
                for counter in of_entity(namespace, agent, entity, table) {
                    let Counter::Pair { other, .. } = &counter else {
                        continue;
                    };
                    let is_behind =
                        last.is_none_or(|last| (entity.as_str(), other.as_str()) > last);
                    if is_behind && found.len() < limit {
                        found.push(counter);
                    }
                }
            }
            match entities.last() {
                Some(entity) if entities.len() == BATCH => from = format!("({entity}"),
                _ => break,
            }
        }
        Ok(())
    }

    /// See `ScanStore::restore_counters`.
    pub(super) async fn put_back(&self, counters: &[Counter]) -> Result<(), StoreError> {
        self.prepared().await?;
        let mut commands = Commands::default();
        for counter in counters {
            commands::restored(&mut commands, &self.inner.keys, counter);
        }
        if !counters.is_empty() {
            commands.push(["INCR", &self.inner.keys.signals()]);
        }
        let arguments = self.unguarded(commands);
        let done = self.inner.connection.script(Name::Apply, &arguments).await;
        done.map_err(from_redis)?;
        for counter in counters {
            if let Counter::Synonyms {
                namespace,
                synonyms,
            } = counter
            {
                self.write_synonyms(namespace, synonyms).await?;
            }
        }
        Ok(())
    }
}

/// The topics of one day, by name.
fn of_day(
    namespace: &str,
    agent: &str,
    day: NaiveDate,
    table: Vec<(String, String)>,
) -> Vec<Counter> {
    let mut topics: std::collections::BTreeMap<String, (f64, f64)> = Default::default();
    for (field, number) in table {
        let number = number.parse().unwrap_or(0.0);
        match field.split_once(':') {
            Some(("m", topic)) => topics.entry(topic.to_owned()).or_default().0 = number,
            Some(("a", topic)) => topics.entry(topic.to_owned()).or_default().1 = number,
            _ => {}
        }
    }
    let counter = |(topic, (mentions, attention))| Counter::Topic {
        namespace: namespace.to_owned(),
        agent: named(agent),
        day,
        topic,
        mentions,
        attention,
    };
    topics.into_iter().map(counter).collect()
}

/// The pairs of one entity, by the other.
fn of_entity(
    namespace: &str,
    agent: &str,
    entity: &str,
    table: Vec<(String, String)>,
) -> Vec<Counter> {
    let mut others: std::collections::BTreeMap<String, (String, u64)> = Default::default();
    for (field, value) in table {
        match field.split_once(':') {
            Some(("n", other)) => others.entry(other.to_owned()).or_default().0 = value,
            Some(("c", other)) => {
                others.entry(other.to_owned()).or_default().1 = value.parse().unwrap_or(0);
            }
            _ => {}
        }
    }
    let counter = |(other, (name, memories))| Counter::Pair {
        namespace: namespace.to_owned(),
        agent: named(agent),
        entity: entity.to_owned(),
        other,
        name,
        memories,
    };
    others.into_iter().map(counter).collect()
}

/// The agent that a key names; none where nobody is named.
fn named(agent: &str) -> Option<String> {
    Some(agent.to_owned()).filter(|agent| !agent.is_empty())
}
