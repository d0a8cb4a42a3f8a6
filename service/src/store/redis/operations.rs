//! What is done once although it is asked for again, kept answers, and deletion of many at once.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::RedisStore;
use super::transaction::{Draft, Unknown};
use super::values::text;
use super::writing;
use crate::memory::{Memory, MemoryId, NewMemory, State};
use crate::scope::Scope;
use crate::store::operation::REMEMBERED;
use crate::store::{
    Added, Deleted, Effect, KeptAnswer, ListFilters, Operated, Operation, Step, StoreError, Target,
};

/// Whose names are those of answers.
const ANSWERS: &str = "answers";
/// Memories that are deleted in one step: a script holds the whole server while it runs.
const CHUNK: usize = 256;

/// Does operations in order (see `MemoryStore::operate`).
pub(super) fn operate(
    draft: &mut Draft<'_>,
    key_of: impl Fn(&str, &str) -> String,
    scope: &Scope,
    operations: &[Operation],
    now: DateTime<Utc>,
) -> Result<Vec<Operated>, Unknown> {
    let whose = json!([scope.namespace, scope.agent]).to_string();
    let mut results = Vec::with_capacity(operations.len());
    for Operation { key, step } in operations {
        let key = key_of(&whose, key);
        let remembered = draft.noted(&key).and_then(|note| recalled(&note, now));
        let operated = match remembered.and_then(|outcome| outcome_of(&outcome)) {
            Some(operated) => operated,
            None => {
                let operated = take(draft, scope, step, now)?;
                if let Some(outcome) = remembered_as(&operated) {
                    draft.note(&key, dated(outcome, now));
                }
                operated
            }
        };
        results.push(operated);
    }
    Ok(results)
}

fn take(
    draft: &mut Draft<'_>,
    scope: &Scope,
    step: &Step,
    now: DateTime<Utc>,
) -> Result<Operated, Unknown> {
    match step {
        Step::Add(new) => writing::add(draft, scope, new, now).map(Operated::Added),
        Step::Replace(target, new) => match find(draft, scope, target, now)? {
            Found::One(id) => {
                let new = NewMemory {
                    supersedes: Some(id),
                    ..new.clone()
                };
                writing::add(draft, scope, &new, now).map(Operated::Added)
            }
            Found::Not(operated) => Ok(*operated),
        },
        Step::Remove(target) => match find(draft, scope, target, now)? {
            Found::One(id) => {
                let trash = |memory: &mut Memory| memory.fate.trashed_at = Some(now);
                writing::change(draft, scope, &id, trash, now)?;
                Ok(Operated::Removed(id))
            }
            Found::Not(operated) => Ok(*operated),
        },
    }
}

enum Found {
    One(MemoryId),
    Not(Box<Operated>),
}

fn find(
    draft: &mut Draft<'_>,
    scope: &Scope,
    target: &Target,
    now: DateTime<Utc>,
) -> Result<Found, Unknown> {
    let mut memories = draft.by_text(&scope.namespace, target)?;
    memories.retain(|memory| {
        memory.namespace == scope.namespace
            && memory.agent == scope.agent
            && memory.state(now) == State::Active
            && has(memory, target)
    });
    Ok(match memories.as_slice() {
        [] => Found::Not(Box::new(Operated::NoMatch)),
        [memory] => Found::One(memory.id.clone()),
        _ => Found::Not(Box::new(Operated::Ambiguous)),
    })
}

fn has(memory: &Memory, target: &Target) -> bool {
    let source = &memory.details.source;
    memory.content.contains(&target.old_text)
        && (target.source.is_none() || target.source == *source)
}

/// How an outcome is remembered; `None` if it is not.
fn remembered_as(operated: &Operated) -> Option<Value> {
    let effect = |id: &MemoryId, reinforced: bool, revived: Option<State>| json!({"id": id.as_str(), "reinforced": reinforced, "revived": revived.map(State::as_str)});
    match operated {
        Operated::Added(Added::Created(memory)) => Some(effect(&memory.id, false, None)),
        Operated::Added(Added::Reinforced { memory, revived }) => {
            Some(effect(&memory.id, true, *revived))
        }
        Operated::Removed(id) => Some(effect(id, false, None)),
        Operated::NoMatch => Some(json!("no_match")),
        Operated::Ambiguous => Some(json!("ambiguous")),
        Operated::Added(Added::Corrected(_) | Added::NothingToSupersede(_) | Added::IdTaken)
        | Operated::Repeated(_) => None,
    }
}

fn outcome_of(outcome: &Value) -> Option<Operated> {
    match outcome.as_str() {
        Some("no_match") => return Some(Operated::NoMatch),
        Some("ambiguous") => return Some(Operated::Ambiguous),
        _ => {}
    }
    Some(Operated::Repeated(Effect {
        id: MemoryId::new(outcome["id"].as_str()?),
        reinforced: outcome["reinforced"].as_bool()?,
        revived: outcome["revived"].as_str().and_then(State::parse),
    }))
}

/// A value with the time from which it counts.
fn dated(value: Value, now: DateTime<Utc>) -> String {
    json!({"at": now.timestamp_millis(), "value": value}).to_string()
}

/// The value, unless it is too old.
fn recalled(note: &str, now: DateTime<Utc>) -> Option<Value> {
    let mut note: Value = serde_json::from_str(note).ok()?;
    let at = DateTime::from_timestamp_millis(note["at"].as_i64()?)?;
    (at > now - REMEMBERED).then(|| note["value"].take())
}

impl RedisStore {
    /// The memories of a namespace that have a text, whatever their state.
    pub(super) async fn having(
        &self,
        namespace: &str,
        target: &Target,
    ) -> Result<Vec<MemoryId>, StoreError> {
        let key = self.inner.keys.newest(namespace);
        let passes = |memory: &Memory| has(memory, target);
        let found = self.in_order(&key, None, usize::MAX, passes).await?;
        Ok(found.into_iter().map(|memory| memory.id).collect())
    }

    /// See `ControlStore::answer`.
    pub(super) async fn read_answer(
        &self,
        key: &str,
        now: DateTime<Utc>,
    ) -> Result<Option<KeptAnswer>, StoreError> {
        let mut get = redis::cmd("GET");
        get.arg(self.inner.keys.done(ANSWERS, key));
        let note = text(self.inner.connection.command(&get).await?);
        let answer = note.and_then(|note| recalled(&note, now));
        Ok(answer.and_then(|answer| {
            Some(KeptAnswer {
                fingerprint: answer["fingerprint"].as_str()?.to_owned(),
                status: answer["status"].as_u64()?.try_into().ok()?,
                content_type: answer["content_type"].as_str()?.to_owned(),
                body: answer["body"].as_str()?.to_owned(),
            })
        }))
    }

    /// See `ControlStore::keep_answer`.
    pub(super) async fn write_answer(
        &self,
        key: &str,
        answer: &KeptAnswer,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let value = json!({
            "fingerprint": answer.fingerprint,
            "status": answer.status,
            "content_type": answer.content_type,
            "body": answer.body,
        });
        let mut set = redis::cmd("SET");
        set.arg(self.inner.keys.done(ANSWERS, key))
            .arg(dated(value, now));
        set.arg("EX").arg(REMEMBERED.num_seconds());
        self.inner.connection.command(&set).await.map(|_| ())
    }

    /// See `MemoryStore::delete_all`. Large numbers are deleted in several steps, each whole.
    pub(super) async fn delete_listed(
        &self,
        scope: &Scope,
        filters: &ListFilters,
        expected: u64,
        purge: bool,
        now: DateTime<Utc>,
    ) -> Result<Deleted, StoreError> {
        let listed = self.page(scope, filters, None, usize::MAX, now).await?;
        if listed.len() as u64 != expected {
            return Ok(Deleted::Differs(listed.len() as u64));
        }
        let ids: Vec<MemoryId> = listed.into_iter().map(|memory| memory.id).collect();
        for chunk in ids.chunks(CHUNK) {
            self.write_about(chunk, |draft| {
                for id in chunk {
                    if purge {
                        writing::purge(draft, scope, id)?;
                    } else {
                        let trash = |memory: &mut Memory| {
                            memory.fate.trashed_at = memory.fate.trashed_at.or(Some(now));
                        };
                        writing::change(draft, scope, id, trash, now)?;
                    }
                }
                Ok(())
            })
            .await?;
        }
        Ok(Deleted::Done)
    }
}
