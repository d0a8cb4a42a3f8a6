//! Topics, entities and synonyms.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use redis::Pipeline;
use sha2::{Digest, Sha256};

use super::RedisStore;
use super::values::{pairs, text, texts};
use crate::memory::{Memory, State};
use crate::scope::{DEFAULT_NAMESPACE, Scope};
use crate::signals::Topic;
use crate::store::gathered::entity_key;
use crate::store::{StoreError, Synonyms, TimelineEntry};

/// How long what was read of related entities may be used without asking whether it changed.
const FRESH: Duration = Duration::from_secs(1);
/// Most entities whose relatives are kept.
const MOST_KEPT: usize = 4096;

/// Related entities by scope, entity and limits.
type Question = (Scope, String, usize, u64);
type Related = Vec<(String, u64)>;

/// What was read of signals, as long as their version stays what it was.
#[derive(Default)]
pub(super) struct Kept {
    version: String,
    noticed: Option<Instant>,
    related: BTreeMap<Box<str>, Related>,
}

impl Kept {
    /// The version of the signals was just read.
    pub(super) fn notice(&mut self, version: &str) {
        if self.version != version {
            self.related.clear();
            version.clone_into(&mut self.version);
        }
        self.noticed = Some(Instant::now());
    }

    fn related(&self, question: &Question) -> Option<Related> {
        let fresh = self.noticed.is_some_and(|at| at.elapsed() < FRESH);
        let key = key(question);
        fresh
            .then(|| self.related.get(key.as_str()).cloned())
            .flatten()
    }

    fn keep(&mut self, question: &Question, related: &Related) {
        if self.related.len() >= MOST_KEPT {
            self.related.clear();
        }
        self.related.insert(key(question).into(), related.clone());
    }
}

fn key(question: &Question) -> String {
    format!("{question:?}")
}

impl RedisStore {
    /// See `SignalStore::signals_version`: the counter, and the table of synonyms, which people edit
    /// by hand.
    pub(super) async fn read_signals_version(&self) -> Result<i64, StoreError> {
        let keys = &self.inner.keys;
        let mut pipeline = Pipeline::new();
        pipeline.cmd("GET").arg(keys.signals());
        pipeline
            .cmd("HGETALL")
            .arg(keys.synonyms(DEFAULT_NAMESPACE));
        let mut answers = self.inner.connection.pipeline(&pipeline).await?.into_iter();
        let counter = answers
            .next()
            .and_then(text)
            .unwrap_or_else(|| "0".to_owned());
        let mut table = answers.next().map(pairs).transpose()?.unwrap_or_default();
        table.sort();
        self.inner.notice_signals(&counter);
        let hash = Sha256::digest(format!("{counter} {table:?}").as_bytes());
        let bytes = hash[..8]
            .try_into()
            .expect("a hash has more than eight bytes");
        Ok(i64::from_be_bytes(bytes))
    }

    /// The agents whose counters a scope reads, as counters name them.
    async fn counted_agents(&self, scope: &Scope) -> Result<Vec<String>, StoreError> {
        if !scope.primary {
            return Ok(vec![scope.agent.clone().unwrap_or_default()]);
        }
        let mut command = redis::cmd("SMEMBERS");
        command.arg(self.inner.keys.agents(&scope.namespace));
        texts(self.inner.connection.command(&command).await?)
    }

    /// See `SignalStore::topics`.
    pub(super) async fn read_topics(
        &self,
        scope: &Scope,
        since: Option<NaiveDate>,
    ) -> Result<Vec<Topic>, StoreError> {
        let keys = &self.inner.keys;
        let agents = self.counted_agents(scope).await?;
        let mut topics: BTreeMap<String, Topic> = BTreeMap::new();
        let Some(since) = since else {
            let tables = agents
                .iter()
                .map(|agent| keys.topics(&scope.namespace, agent));
            for table in self.tables(tables.collect()).await? {
                for (field, value) in table {
                    count_topic(&mut topics, &field, &value, None);
                }
            }
            return Ok(topics.into_values().collect());
        };
        let mut days = Vec::new();
        for agent in &agents {
            let mut command = redis::cmd("ZRANGEBYSCORE");
            command.arg(keys.topic_days(&scope.namespace, agent));
            command.arg(day_number(since)).arg("+inf");
            for day in texts(self.inner.connection.command(&command).await?)? {
                if let Ok(day) = day.parse() {
                    days.push((keys.topics_of_day(&scope.namespace, agent, day), day));
                }
            }
        }
        let tables = self
            .tables(days.iter().map(|(key, _)| key.clone()).collect())
            .await?;
        for (table, (_, day)) in tables.into_iter().zip(days) {
            for (field, value) in table {
                count_topic(&mut topics, &field, &value, Some(day));
            }
        }
        Ok(topics.into_values().collect())
    }

    /// Whole hashes, in one exchange.
    pub(super) async fn tables(
        &self,
        keys: Vec<String>,
    ) -> Result<Vec<Vec<(String, String)>>, StoreError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let mut pipeline = Pipeline::new();
        for key in keys {
            pipeline.cmd("HGETALL").arg(key);
        }
        let answers = self.inner.connection.pipeline(&pipeline).await?;
        answers.into_iter().map(pairs).collect()
    }

    /// See `SignalStore::related_entities`. What did not change is not read again.
    pub(super) async fn read_related(
        &self,
        scope: &Scope,
        entity: &str,
        limit: usize,
        least: u64,
    ) -> Result<Related, StoreError> {
        let question = (scope.clone(), entity_key(entity), limit, least);
        if let Some(related) = self.inner.kept().related(&question) {
            return Ok(related);
        }
        let agents = self.counted_agents(scope).await?;
        let keys = &self.inner.keys;
        let tables = agents
            .iter()
            .map(|agent| keys.pairs(&scope.namespace, agent, &question.1));
        let mut found: BTreeMap<String, (u64, Option<String>)> = BTreeMap::new();
        for (field, value) in self.tables(tables.collect()).await?.into_iter().flatten() {
            if let Some(other) = field.strip_prefix("c:") {
                found.entry(other.to_owned()).or_default().0 += value.parse().unwrap_or(0);
            } else if let Some(other) = field.strip_prefix("n:") {
                let name = &mut found.entry(other.to_owned()).or_default().1;
                if name.as_ref().is_none_or(|name| value < *name) {
                    *name = Some(value);
                }
            }
        }
        let mut ranked: Vec<(String, u64, String)> = found
            .into_iter()
            .filter(|(_, (count, _))| *count >= least.max(1))
            .map(|(other, (count, name))| (name.unwrap_or_else(|| other.clone()), count, other))
            .collect();
        ranked.sort_by(|(_, count, other), (_, other_count, another)| {
            other_count.cmp(count).then_with(|| other.cmp(another))
        });
        let related: Related = ranked
            .into_iter()
            .take(limit)
            .map(|(name, count, _)| (name, count))
            .collect();
        self.inner.kept().keep(&question, &related);
        Ok(related)
    }

    /// See `SignalStore::entity_timeline`.
    pub(super) async fn read_timeline(
        &self,
        scope: &Scope,
        entity: &str,
        limit: usize,
        now: DateTime<Utc>,
    ) -> Result<Vec<TimelineEntry>, StoreError> {
        let key = self
            .inner
            .keys
            .naming(&scope.namespace, &entity_key(entity));
        let passes = |memory: &Memory| {
            super::reading::sees(scope, memory)
                && !matches!(memory.state(now), State::Trashed | State::Corrected)
        };
        let memories = self.in_order(&key, None, limit, passes).await?;
        let entry = |memory: Memory| TimelineEntry {
            state: memory.state(now),
            id: memory.id,
            content: memory.content,
            created_at: memory.created_at,
        };
        Ok(memories.into_iter().map(entry).collect())
    }

    /// See `SignalStore::synonyms`. A row that is no list of texts is left alone and left out.
    pub(super) async fn read_synonyms(&self, namespace: &str) -> Result<Vec<Synonyms>, StoreError> {
        let keys = &self.inner.keys;
        let mut pipeline = Pipeline::new();
        pipeline.cmd("HGETALL").arg(keys.synonyms(namespace));
        pipeline.cmd("SMEMBERS").arg(keys.synonyms_found(namespace));
        let mut answers = self.inner.connection.pipeline(&pipeline).await?.into_iter();
        let table = answers.next().map(pairs).transpose()?.unwrap_or_default();
        let found = answers.next().map(texts).transpose()?.unwrap_or_default();
        let mut synonyms = Vec::with_capacity(table.len());
        for (term, list) in table {
            match serde_json::from_str::<Vec<String>>(&list) {
                Ok(terms) => synonyms.push(Synonyms {
                    manual: !found.contains(&term),
                    term,
                    terms,
                }),
                Err(error) => {
                    tracing::warn!(%error, "a row of the table of synonyms is no JSON list")
                }
            }
        }
        synonyms.sort_by(|one, other| one.term.cmp(&other.term));
        Ok(synonyms)
    }

    /// See `SignalStore::set_synonyms`.
    pub(super) async fn write_synonyms(
        &self,
        namespace: &str,
        synonyms: &Synonyms,
    ) -> Result<(), StoreError> {
        let keys = &self.inner.keys;
        let (table, found) = (keys.synonyms(namespace), keys.synonyms_found(namespace));
        if !synonyms.manual {
            let mut pipeline = Pipeline::new();
            pipeline.cmd("HEXISTS").arg(&table).arg(&synonyms.term);
            pipeline.cmd("SISMEMBER").arg(&found).arg(&synonyms.term);
            let there = self.inner.connection.pipeline(&pipeline).await?;
            if there == [redis::Value::Int(1), redis::Value::Int(0)]
                || there == [redis::Value::Boolean(true), redis::Value::Boolean(false)]
            {
                return Ok(());
            }
        }
        let mut pipeline = Pipeline::new();
        pipeline.atomic();
        if synonyms.terms.is_empty() {
            pipeline.cmd("HDEL").arg(&table).arg(&synonyms.term);
            pipeline.cmd("SREM").arg(&found).arg(&synonyms.term);
        } else {
            let list = serde_json::json!(synonyms.terms).to_string();
            pipeline
                .cmd("HSET")
                .arg(&table)
                .arg(&synonyms.term)
                .arg(list);
            let mark = if synonyms.manual { "SREM" } else { "SADD" };
            pipeline.cmd(mark).arg(&found).arg(&synonyms.term);
        }
        pipeline.cmd("SADD").arg(keys.namespaces()).arg(namespace);
        pipeline.cmd("INCR").arg(keys.signals());
        self.inner.connection.pipeline(&pipeline).await.map(|_| ())
    }
}

/// Adds one field of a table of topics. In a table of sums the last day is a field of its own.
fn count_topic(topics: &mut BTreeMap<String, Topic>, field: &str, value: &str, day: Option<i64>) {
    let Some((kind, name)) = field.split_once(':') else {
        return;
    };
    let Ok(value) = value.parse::<f64>() else {
        return;
    };
    let topic = topics.entry(name.to_owned()).or_insert_with(|| Topic {
        name: name.to_owned(),
        mentions: 0.0,
        attention: 0.0,
        last_mention: NaiveDate::MIN,
    });
    match kind {
        "m" => topic.mentions += value,
        "a" => topic.attention += value,
        "d" => topic.last_mention = topic.last_mention.max(day_of(value as i64)),
        _ => {}
    }
    if let Some(day) = day {
        topic.last_mention = topic.last_mention.max(day_of(day));
    }
}

/// Days since 1970.
pub(super) fn day_number(day: NaiveDate) -> i64 {
    (day - NaiveDate::default()).num_days()
}

/// The day of that number; the earliest there is for one out of range.
pub(super) fn day_of(number: i64) -> NaiveDate {
    TimeDelta::try_days(number)
        .and_then(|days| NaiveDate::default().checked_add_signed(days))
        .unwrap_or(NaiveDate::MIN)
}
