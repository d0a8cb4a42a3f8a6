//! What the Redis store does for maintenance: leases, revisions, marks beside the memories.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use redis::{Cmd, Value};

use super::RedisStore;
use super::transaction::{Draft, Held, Unknown};
use super::values::{list, number, text};
use crate::memory::{Memory, MemoryId};
use crate::store::lifecycle;
use crate::store::{Change, Revision, StoreError, UpkeepStore};

/// How many ids are looked at in one exchange.
const BATCH: usize = 1_000;

#[async_trait]
impl UpkeepStore for RedisStore {
    async fn take_lease(
        &self,
        name: &str,
        holder: &str,
        until: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        self.lease(name, holder, (until - now).to_std().unwrap_or_default())
            .await
    }

    async fn release_lease(&self, name: &str, holder: &str) -> Result<(), StoreError> {
        self.release(name, holder).await
    }

    async fn revise(&self, revisions: Vec<Revision>) -> Result<Vec<bool>, StoreError> {
        let changes = revisions.iter().flatten();
        let read = changes.filter_map(|change| change.before.as_ref());
        let ids: Vec<MemoryId> = read.map(|memory| memory.id.clone()).collect();
        self.write_about(&ids, |draft| {
            let each = revisions.iter().map(|revision| revise(draft, revision));
            each.collect()
        })
        .await
    }

    async fn note_retrieved(
        &self,
        retrieved: Vec<(MemoryId, DateTime<Utc>)>,
    ) -> Result<(), StoreError> {
        let ids: Vec<MemoryId> = retrieved.iter().map(|(id, _)| id.clone()).collect();
        let there = self.scores(&self.inner.keys.ids(), &ids).await?;
        let mut note = redis::cmd("ZADD");
        note.arg(self.inner.keys.retrieved()).arg("GT");
        let there = retrieved.into_iter().zip(there);
        let mut there = there.filter(|(_, score)| score.is_some()).peekable();
        if there.peek().is_none() {
            return Ok(());
        }
        for ((id, at), _) in there {
            note.arg(at.timestamp_millis()).arg(id.as_str());
        }
        self.inner.connection.command(&note).await.map(|_| ())
    }

    async fn last_retrieved(
        &self,
        ids: &[MemoryId],
    ) -> Result<Vec<Option<DateTime<Utc>>>, StoreError> {
        let scores = self.scores(&self.inner.keys.retrieved(), ids).await?;
        let time = |score: Option<i64>| score.and_then(DateTime::from_timestamp_millis);
        Ok(scores.into_iter().map(time).collect())
    }

    async fn unchecked(
        &self,
        after: Option<&MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>, StoreError> {
        let (mut found, mut after): (Vec<Memory>, _) = (Vec::new(), after.cloned());
        loop {
            let ids = self.ids_after(after.as_ref(), BATCH).await?;
            let marked = self.marked(&ids).await?;
            let unmarked = ids.iter().zip(marked).filter(|(_, marked)| !marked);
            let mut wanted: Vec<MemoryId> = unmarked.map(|(id, _)| id.clone()).collect();
            let missing = limit - found.len();
            let all = wanted.len() <= missing;
            wanted.truncate(missing);
            // An id may be that of nothing, so fewer may be found than were asked for.
            found.extend(self.memories(&wanted).await?);
            if found.len() >= limit || (all && ids.len() < BATCH) {
                return Ok(found);
            }
            after = if all {
                ids.last().cloned()
            } else {
                wanted.pop()
            };
        }
    }

    async fn mark_checked(&self, ids: Vec<MemoryId>) -> Result<(), StoreError> {
        if ids.is_empty() {
            return Ok(());
        }
        let command = of_ids("SADD", &self.inner.keys.checked(), &ids);
        self.inner.connection.command(&command).await.map(|_| ())
    }
}

impl RedisStore {
    /// Whether each of these ids is marked as checked.
    async fn marked(&self, ids: &[MemoryId]) -> Result<Vec<bool>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let command = of_ids("SMISMEMBER", &self.inner.keys.checked(), ids);
        let answers = list(self.inner.connection.command(&command).await?)?;
        Ok(answers
            .into_iter()
            .map(|answer| number(answer) == Some(1))
            .collect())
    }

    /// The scores of some ids in a sorted set.
    async fn scores(&self, key: &str, ids: &[MemoryId]) -> Result<Vec<Option<i64>>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let command = of_ids("ZMSCORE", key, ids);
        let answers = list(self.inner.connection.command(&command).await?)?;
        let score = |answer: Value| match answer {
            // Milliseconds are whole, in whichever way they are written.
            Value::Double(score) => Some(score as i64),
            other => text(other)?.parse::<f64>().ok().map(|score| score as i64),
        };
        Ok(answers.into_iter().map(score).collect())
    }
}

/// A command on a key and some of its members.
fn of_ids(name: &str, key: &str, ids: &[MemoryId]) -> Cmd {
    let mut command = redis::cmd(name);
    command.arg(key);
    for id in ids {
        command.arg(id.as_str());
    }
    command
}

/// Makes a revision if every memory is as it was read; whether it did.
fn revise(draft: &mut Draft<'_>, revision: &Revision) -> Result<bool, Unknown> {
    for change in revision {
        if !is_current(draft, change)? {
            return Ok(false);
        }
    }
    for change in revision {
        match (&change.before, &change.after) {
            (Some(before), Some(after)) => {
                draft.save(after);
                draft.counters.recount(before, after);
            }
            (None, Some(after)) => {
                draft.save(after);
                draft.counters.count(after, 1);
            }
            (Some(before), None) => {
                if lifecycle::is_counted(before) {
                    draft.counters.count(before, -1);
                }
                draft.delete(before);
            }
            (None, None) => {}
        }
    }
    Ok(true)
}

/// Whether a memory is as it was read, or not there if it is to be made.
fn is_current(draft: &mut Draft<'_>, change: &Change) -> Result<bool, Unknown> {
    match (&change.before, &change.after) {
        (Some(before), _) => {
            let held = draft.by_id(&before.id)?;
            Ok(matches!(held, Held::Memory(memory) if memory == *before))
        }
        (None, Some(after)) => {
            let agent = after.agent.as_deref();
            let twin = draft.by_content(&after.namespace, agent, &after.place, &after.content)?;
            Ok(twin.is_none() && matches!(draft.by_new_id(&after.id), Held::Free))
        }
        (None, None) => Ok(true),
    }
}
