//! Deduplication: memories that say the same become one, and a new value takes the place of the old.
//!
//! Each memory that was not checked yet is searched for among those of its namespace and agent, so
//! that never all pairs are compared; `compare` decides. The older of two becomes superseded and can
//! be restored. What has a place of its own (a turn of a conversation, a part of a document), ends at
//! a set time, or was consolidated is left alone.

pub mod compare;
mod nearby;
mod new_value;

use std::collections::HashMap;

use futures_util::{StreamExt, stream};
use serde_json::json;

use super::report::Item;
use super::work::Work;
use crate::error::Error;
use crate::memory::{Memory, MemoryId, State};
use crate::store::{Change, Revision};
use compare::Verdict;
use nearby::{Nearby, Seeker};

/// Memories that are checked at once.
const BATCH: usize = 200;
/// Searches under way at once.
const TOGETHER: usize = 4;

/// Checks every memory that was not checked yet.
///
/// # Errors
/// When the store fails.
pub async fn run(work: &mut Work<'_>) -> Result<(), Error> {
    let mut seeker = Seeker::new(work.app, work.now);
    let mut after: Option<MemoryId> = None;
    while work.room() > 0 {
        let batch = work.app.store.unchecked(after.as_ref(), BATCH).await?;
        let Some(last) = batch.last().map(|memory| memory.id.clone()) else {
            break;
        };
        work.still_ours()?;
        let (chosen, others): (Vec<Memory>, Vec<Memory>) = batch
            .into_iter()
            .filter(|memory| work.concerns(memory))
            .partition(|memory| is_eligible(memory, work));
        if !check(work, &mut seeker, chosen).await? {
            break;
        }
        mark(work, others.into_iter().map(|memory| memory.id).collect()).await?;
        after = Some(last);
    }
    if let Some(reason) = seeker.degraded() {
        work.tell("degraded", json!([reason]));
    }
    Ok(())
}

/// Whether a memory takes part.
fn is_eligible(memory: &Memory, work: &Work<'_>) -> bool {
    let place = &memory.place;
    memory.state(work.now) == State::Active
        && memory.details.invalid_at.is_none()
        && memory.level == 0
        && place.document.is_none()
        && (place.session.is_none() || place.turn.is_none())
}

async fn mark(work: &Work<'_>, ids: Vec<MemoryId>) -> Result<(), Error> {
    if !work.dry_run && !ids.is_empty() {
        work.app.store.mark_checked(ids).await?;
    }
    Ok(())
}

/// Checks one batch; whether to go on.
async fn check(
    work: &mut Work<'_>,
    seeker: &mut Seeker<'_>,
    chosen: Vec<Memory>,
) -> Result<bool, Error> {
    let prepared = seeker.prepare(chosen).await?;
    let searched: Vec<_> = {
        let seeker = &*seeker;
        let searches = prepared.into_iter().map(|one| seeker.search(one));
        stream::iter(searches).buffered(TOGETHER).collect().await
    };
    let mut batch = Batch::default();
    for found in searched {
        let Some(found) = found? else {
            work.tell(
                "stopped",
                "the workflow lock holds: nothing can be searched",
            );
            return Ok(false);
        };
        if work.room() <= batch.revisions.len() as u64 {
            break;
        }
        work.examined(1);
        batch.checked.push(found.memory.id.clone());
        decide(work, seeker, &mut batch, found).await?;
    }
    let made = work.revise(std::mem::take(&mut batch.revisions)).await?;
    for (item, made) in batch.items.into_iter().zip(made) {
        if made {
            work.changed(1);
            work.item(item);
        } else {
            // It changed meanwhile: the next run looks again.
            batch.checked.retain(|id| *id.as_str() != item.id);
        }
    }
    mark(work, batch.checked).await?;
    Ok(true)
}

/// What a batch decided so far.
#[derive(Default)]
struct Batch {
    /// Memories as they will be.
    known: HashMap<MemoryId, Memory>,
    revisions: Vec<Revision>,
    /// One for each revision.
    items: Vec<Item>,
    checked: Vec<MemoryId>,
}

impl Batch {
    fn newest(&self, memory: &Memory) -> Memory {
        let known = self.known.get(&memory.id);
        known.unwrap_or(memory).clone()
    }
}

/// Compares one memory with what is near it.
async fn decide(
    work: &Work<'_>,
    seeker: &mut Seeker<'_>,
    batch: &mut Batch,
    found: Nearby,
) -> Result<(), Error> {
    let threshold = work.app.settings.maintenance.dedup_threshold;
    for candidate in &found.candidates {
        if work.room() <= batch.revisions.len() as u64 {
            return Ok(());
        }
        let (own, other) = (batch.newest(&found.memory), batch.newest(&candidate.memory));
        if !is_eligible(&own, work) {
            return Ok(());
        }
        if !is_eligible(&other, work) || !are_of_one_place(&own, &other) {
            continue;
        }
        let order = (own.created_at, &own.id).cmp(&(other.created_at, &other.id));
        let (older, newer) = if order.is_lt() {
            (own, other)
        } else {
            (other, own)
        };
        let verdict = seeker.compare(&older, &newer, candidate).await;
        let (action, reason) = match verdict {
            Verdict::Same(score) if score >= threshold => {
                ("supersede", format!("says the same ({score:.2})"))
            }
            Verdict::NewValue(reason) if !older.details.pinned => ("new_value", reason),
            _ => continue,
        };
        let (hidden, kept) = merged(&older, &newer, action == "supersede", work);
        batch.items.push(Item {
            id: older.id.to_string(),
            action,
            other_id: Some(newer.id.to_string()),
            reasons: vec![reason],
        });
        batch.known.insert(hidden.id.clone(), hidden.clone());
        batch.known.insert(kept.id.clone(), kept.clone());
        batch.revisions.push(vec![
            Change::replace(older, hidden),
            Change::replace(newer, kept),
        ]);
    }
    Ok(())
}

/// Whether two memories are of the same agent and seen by the same.
fn are_of_one_place(one: &Memory, other: &Memory) -> bool {
    one.id != other.id
        && one.namespace == other.namespace
        && one.agent == other.agent
        && one.details.shared == other.details.shared
}

/// The older memory hidden, and the newer with what it takes over.
fn merged(older: &Memory, newer: &Memory, same: bool, work: &Work<'_>) -> (Memory, Memory) {
    let (mut hidden, mut kept) = (older.clone(), newer.clone());
    hidden.fate.superseded_by = Some(newer.id.clone());
    hidden.details.invalid_at = Some(work.now);
    hidden.updated_at = work.now;
    for tag in &older.details.tags {
        if !kept.details.tags.contains(tag) {
            kept.details.tags.push(tag.clone());
        }
    }
    if same {
        kept.mentions = kept.mentions.saturating_add(older.mentions);
        kept.feedback += older.feedback;
        kept.details.pinned |= older.details.pinned;
    }
    kept.updated_at = work.now;
    (hidden, kept)
}
