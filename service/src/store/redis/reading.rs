//! Reading memories by id and in order: lists, beginnings of ids, everything, counts.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use redis::Pipeline;

use super::RedisStore;
use super::codec::{self, FIELDS, STATE_FIELDS, Stored};
use super::query;
use super::transaction::unexpected;
use super::values::{answers, list, pairs, text, texts};
use crate::memory::{Memory, MemoryId, State};
use crate::scope::Scope;
use crate::store::{Cursor, ListFilters, Resolved, Stats, StoreError};

/// Shortest beginning of an id that stands for the whole.
const SHORTEST_PREFIX: usize = 6;
/// Most ids that an ambiguous beginning lists.
const MOST_LISTED: usize = 5;
/// How many memories are read in one exchange while looking for those that pass.
const BATCH: usize = 500;

impl RedisStore {
    /// What is stored under each id, in order.
    pub(super) async fn load(&self, ids: &[MemoryId]) -> Result<Vec<Stored>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let keys = &self.inner.keys;
        let mut pipeline = Pipeline::new();
        for id in ids {
            // The revision first: a write over one that is too old is refused.
            pipeline.cmd("HMGET").arg(keys.state(id)).arg(&STATE_FIELDS);
            pipeline.cmd("HMGET").arg(keys.fragment(id)).arg(&FIELDS);
            pipeline.cmd("HMGET").arg(keys.trash(id)).arg(&FIELDS);
        }
        let mut told = self.inner.connection.pipeline(&pipeline).await?.into_iter();
        let mut next = || told.next().and_then(answers).ok_or_else(unexpected);
        ids.iter()
            .map(|id| {
                let (state, fragment, trash) = (next()?, next()?, next()?);
                Ok(match codec::stored(id, &fragment, &state) {
                    Stored::Absent => codec::stored(id, &trash, &state),
                    found => found,
                })
            })
            .collect()
    }

    /// The memories of these ids that there are, in order.
    pub(super) async fn memories(&self, ids: &[MemoryId]) -> Result<Vec<Memory>, StoreError> {
        let memory = |stored| match stored {
            Stored::Present { memory, .. } => Some(memory),
            Stored::Absent | Stored::Foreign => None,
        };
        Ok(self
            .load(ids)
            .await?
            .into_iter()
            .filter_map(memory)
            .collect())
    }

    pub(super) async fn visible(
        &self,
        scope: &Scope,
        id: &MemoryId,
    ) -> Result<Option<Memory>, StoreError> {
        let found = self.memories(std::slice::from_ref(id)).await?.pop();
        Ok(found.filter(|memory| sees(scope, memory)))
    }

    /// What a reference stands for (see `MemoryStore::resolve`).
    pub(super) async fn resolve_reference(
        &self,
        scope: &Scope,
        reference: &str,
    ) -> Result<Resolved, StoreError> {
        let id = MemoryId::new(reference);
        if self.visible(scope, &id).await?.is_some() {
            return Ok(Resolved::One(id));
        }
        if id.as_str().chars().count() < SHORTEST_PREFIX {
            return Ok(Resolved::None);
        }
        let mut end = id.as_str().as_bytes().to_vec();
        // No UTF-8 has this byte, so no id sorts behind the prefix followed by it.
        end.push(0xff);
        let mut from = bound(b'[', id.as_str().as_bytes());
        let mut found = Vec::new();
        loop {
            let ids = self.ids_between(&from, &bound(b'(', &end), BATCH).await?;
            let read = self.memories(&ids).await?;
            found.extend(read.into_iter().filter(|memory| sees(scope, memory)));
            match ids.last() {
                Some(last) if ids.len() == BATCH && found.len() < MOST_LISTED => {
                    from = bound(b'(', last.as_str().as_bytes());
                }
                _ => break,
            }
        }
        let mut ids: Vec<MemoryId> = found.into_iter().map(|memory| memory.id).collect();
        ids.truncate(MOST_LISTED);
        Ok(match ids.len() {
            0 => Resolved::None,
            1 => Resolved::One(ids.remove(0)),
            _ => Resolved::Ambiguous(ids),
        })
    }

    async fn ids_between(
        &self,
        from: &[u8],
        to: &[u8],
        limit: usize,
    ) -> Result<Vec<MemoryId>, StoreError> {
        let mut command = redis::cmd("ZRANGEBYLEX");
        command.arg(self.inner.keys.ids()).arg(from).arg(to);
        command.arg("LIMIT").arg(0).arg(limit);
        let ids = texts(self.inner.connection.command(&command).await?)?;
        Ok(ids.into_iter().map(MemoryId::new).collect())
    }

    /// Ids in the order of the alphabet.
    pub(super) async fn ids_after(
        &self,
        after: Option<&MemoryId>,
        limit: usize,
    ) -> Result<Vec<MemoryId>, StoreError> {
        let from = after.map_or(b"-".to_vec(), |id| bound(b'(', id.as_str().as_bytes()));
        self.ids_between(&from, b"+", limit).await
    }

    /// See `ScanStore::scan`.
    pub(super) async fn scan_from(
        &self,
        after: Option<&MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>, StoreError> {
        let (mut found, mut after): (Vec<Memory>, _) = (Vec::new(), after.cloned());
        while found.len() < limit {
            let wanted = (limit - found.len()).min(BATCH);
            let ids = self.ids_after(after.as_ref(), wanted).await?;
            found.extend(self.memories(&ids).await?);
            if ids.len() < wanted {
                break;
            }
            after = ids.last().cloned();
        }
        Ok(found)
    }

    /// See `MemoryStore::list`.
    pub(super) async fn page(
        &self,
        scope: &Scope,
        filters: &ListFilters,
        after: Option<&Cursor>,
        limit: usize,
        now: DateTime<Utc>,
    ) -> Result<Vec<Memory>, StoreError> {
        let key = match filters.state {
            Some(State::Trashed) => self.inner.keys.trash_list(&scope.namespace),
            _ => self.inner.keys.newest(&scope.namespace),
        };
        let least = after.map(|cursor| -cursor.created_at.timestamp_millis());
        let behind = |memory: &Memory| {
            after.is_none_or(|cursor| {
                memory.created_at < cursor.created_at
                    || memory.created_at == cursor.created_at && memory.id > cursor.id
            })
        };
        let passes = |memory: &Memory| {
            sees(scope, memory) && behind(memory) && matches(filters, memory, now)
        };
        self.in_order(&key, least, limit, passes).await
    }

    /// The first memories of a sorted set, from a score on, that pass.
    pub(super) async fn in_order(
        &self,
        key: &str,
        least: Option<i64>,
        limit: usize,
        passes: impl Fn(&Memory) -> bool,
    ) -> Result<Vec<Memory>, StoreError> {
        let mut found = Vec::new();
        let batch = BATCH.min(limit.saturating_mul(2).max(16));
        // Where to go on is a score and what was read of it, not a number of places: others insert and
        // delete meanwhile.
        let mut from = least.map_or("-inf".to_owned(), |least| least.to_string());
        let mut read: HashSet<String> = HashSet::new();
        while found.len() < limit {
            let wanted = batch + read.len();
            let mut command = redis::cmd("ZRANGEBYSCORE");
            command.arg(key).arg(&from).arg("+inf").arg("WITHSCORES");
            command.arg("LIMIT").arg(0).arg(wanted);
            let scored = pairs(self.inner.connection.command(&command).await?)?;
            let fresh = scored.iter().filter(|(id, _)| !read.contains(id));
            let ids: Vec<MemoryId> = fresh.map(|(id, _)| MemoryId::new(id)).collect();
            found.extend(self.memories(&ids).await?.into_iter().filter(&passes));
            match scored.last() {
                Some((_, last)) if scored.len() == wanted => {
                    if *last != from {
                        read.clear();
                        from.clone_from(last);
                    }
                    let same = scored.into_iter().filter(|(_, score)| *score == from);
                    read.extend(same.map(|(id, _)| id));
                }
                _ => break,
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    /// Numbers of what a scope sees (see `ControlStore::stats`).
    pub(super) async fn numbers(
        &self,
        scope: &Scope,
        now: DateTime<Utc>,
    ) -> Result<Stats, StoreError> {
        self.prepared().await?;
        let alias = self.inner.keys.alias();
        let mut pipeline = Pipeline::new();
        for query in query::states(scope, now) {
            let sum = pipeline.cmd("FT.AGGREGATE").arg(&alias).arg(query);
            sum.arg("GROUPBY").arg(0);
            sum.arg("REDUCE")
                .arg("COUNT")
                .arg(0)
                .arg("AS")
                .arg("memories");
            sum.arg("REDUCE")
                .arg("SUM")
                .arg(1)
                .arg("@bytes")
                .arg("AS")
                .arg("bytes");
            sum.arg("DIALECT").arg(2);
        }
        let answers = self.inner.connection.pipeline(&pipeline).await?;
        let counts: Vec<(u64, u64)> = answers.into_iter().map(sums).collect();
        let [all, expired, consumed, superseded, corrected] = counts[..] else {
            return Err(unexpected());
        };
        let key = self.inner.keys.trash_list(&scope.namespace);
        let in_trash = |memory: &Memory| memory.state(now) == State::Trashed && sees(scope, memory);
        let trashed = self.in_order(&key, None, usize::MAX, in_trash).await?;
        let bytes = trashed.iter().map(|memory| memory.content.len() as u64);
        let hidden = expired.0 + consumed.0 + superseded.0 + corrected.0;
        Ok(Stats {
            by_state: [
                all.0.saturating_sub(hidden),
                expired.0,
                consumed.0,
                superseded.0,
                corrected.0,
                trashed.len() as u64,
            ],
            content_bytes: all.1 + bytes.sum::<u64>(),
        })
    }
}

/// Whether a scope sees a memory.
pub(super) fn sees(scope: &Scope, memory: &Memory) -> bool {
    scope.sees(
        &memory.namespace,
        memory.agent.as_deref(),
        memory.details.shared,
    )
}

/// The number of memories and their bytes that an aggregation found, in either protocol.
fn sums(answer: redis::Value) -> (u64, u64) {
    let mut found = (0, 0);
    let mut fields = Vec::new();
    flatten(answer, &mut fields);
    for pair in fields.windows(2) {
        let number = pair[1].parse::<f64>().unwrap_or(0.0) as u64;
        match pair[0].as_str() {
            "memories" => found.0 = number,
            "bytes" => found.1 = number,
            _ => {}
        }
    }
    found
}

/// Every text and number in an answer, in order.
fn flatten(answer: redis::Value, texts: &mut Vec<String>) {
    match list(answer.clone()) {
        Ok(items) => items.into_iter().for_each(|item| flatten(item, texts)),
        Err(_) => texts.extend(text(answer)),
    }
}

/// The beginning or the end of a range of names.
fn bound(mark: u8, name: &[u8]) -> Vec<u8> {
    [&[mark], name].concat()
}

fn matches(filters: &ListFilters, memory: &Memory, now: DateTime<Utc>) -> bool {
    let details = &memory.details;
    let state = memory.state(now);
    let is = |wanted: &Option<String>, has: &Option<String>| wanted.is_none() || wanted == has;
    filters
        .state
        .map_or(state != State::Trashed, |wanted| wanted == state)
        && filters
            .tag
            .as_ref()
            .is_none_or(|tag| details.tags.contains(tag))
        && is(&filters.category, &details.category)
        && is(&filters.source, &details.source)
        && is(&filters.entry_type, &details.entry_type)
        && is(&filters.session, &memory.place.session)
        && is(&filters.document, &memory.place.document)
}
