//! Writing memories: each function decides within a [`Draft`], which its caller runs.

use chrono::{DateTime, Utc};

use super::transaction::{Draft, Held, Unknown};
use crate::memory::{Edit, Memory, MemoryId, NewMemory, State, content_hash};
use crate::scope::Scope;
use crate::store::lifecycle;
use crate::store::{Added, Edited, Import, Imported, LateVector};
use crate::vector::{ModelId, NewVector};

/// Adds one memory (see `MemoryStore::add`).
pub(super) fn add(
    draft: &mut Draft<'_>,
    scope: &Scope,
    new: &NewMemory,
    now: DateTime<Utc>,
) -> Result<Added, Unknown> {
    let agent = scope.agent.as_deref();
    let there = draft.by_content(&scope.namespace, agent, &new.place, &new.content)?;
    let superseded = match &new.supersedes {
        Some(id) => match visible(draft, scope, id)? {
            None => return Ok(Added::NothingToSupersede(id.clone())),
            // A memory cannot take its own place.
            Some(found) => {
                Some(found).filter(|found| there.as_ref().is_none_or(|own| own.id != found.id))
            }
        },
        None => None,
    };
    let added = match there {
        Some(memory) if memory.state(now) == State::Corrected && !new.force => {
            return Ok(Added::Corrected(memory.id));
        }
        Some(memory) => reinforce(draft, &memory, new, now)?,
        None if !matches!(draft.by_new_id(&new.id), Held::Free) => return Ok(Added::IdTaken),
        None => {
            let memory = lifecycle::created(scope, new.clone(), now);
            draft.save(&memory);
            put_vector(draft, &memory.id, &new.vector);
            draft.counters.count(&memory, 1);
            draft
                .counters
                .mention(&memory, memory.created_at, new.attention);
            Added::Created(memory)
        }
    };
    if let (Some(mut older), Added::Created(newer) | Added::Reinforced { memory: newer, .. }) =
        (superseded, &added)
    {
        lifecycle::supersede(&mut older, &newer.id, now);
        draft.save(&older);
    }
    Ok(added)
}

/// The same content was told again.
fn reinforce(
    draft: &mut Draft<'_>,
    before: &Memory,
    new: &NewMemory,
    now: DateTime<Utc>,
) -> Result<Added, Unknown> {
    let (memory, revived) = lifecycle::reinforced(before, new, now);
    draft.save(&memory);
    put_vector(draft, &memory.id, &new.vector);
    draft.counters.recount(before, &memory);
    draft
        .counters
        .mention(&memory, new.created_at, new.attention);
    if let Some(consolidated) = &memory.fate.consumed_by
        && let Held::Memory(mut consolidated) = draft.by_id(consolidated)?
    {
        // A statement that went into a consolidated memory strengthens that one, too.
        lifecycle::tell_again(&mut consolidated, new.created_at, now);
        draft.save(&consolidated);
    }
    Ok(Added::Reinforced { memory, revived })
}

/// Puts one memory back (see `MemoryStore::import`).
pub(super) fn import(draft: &mut Draft<'_>, import: &Import) -> Result<Imported, Unknown> {
    let memory = &import.memory;
    let there = match draft.by_new_id(&memory.id) {
        Held::Memory(before) => Some(before),
        Held::Free => None,
        Held::Foreign => {
            return Ok(Imported::Refused(
                "what has this id in Redis is not adopted yet, or cannot be understood",
            ));
        }
    };
    if let Some(before) = &there {
        if let Some(refusal) = lifecycle::import_refusal(before, memory) {
            return Ok(Imported::Refused(refusal));
        }
        if before.updated_at >= memory.updated_at {
            return Ok(Imported::Unchanged);
        }
    }
    let agent = memory.agent.as_deref();
    let twin = draft.by_content(&memory.namespace, agent, &memory.place, &memory.content)?;
    if twin.is_some_and(|twin| twin.id != memory.id) {
        return Ok(Imported::Refused(lifecycle::SAME_CONTENT));
    }
    draft.save(memory);
    if there
        .as_ref()
        .is_some_and(|before| before.content != memory.content)
    {
        draft.forget_vectors(&memory.id);
    }
    put_vector(draft, &memory.id, &import.vector);
    match there {
        Some(before) => {
            draft.counters.recount(&before, memory);
            Ok(Imported::Updated)
        }
        None => {
            if lifecycle::is_counted(memory) {
                draft.counters.count(memory, 1);
            }
            if let Some(attention) = import.attention {
                draft.counters.mention(memory, memory.created_at, attention);
            }
            Ok(Imported::Created)
        }
    }
}

/// Edits one memory (see `MemoryStore::edit`).
pub(super) fn edit(
    draft: &mut Draft<'_>,
    scope: &Scope,
    id: &MemoryId,
    edit: &Edit,
    now: DateTime<Utc>,
) -> Result<Edited, Unknown> {
    let Some(before) = visible(draft, scope, id)? else {
        return Ok(Edited::NotFound);
    };
    if let Some((content, _)) = &edit.content {
        let agent = before.agent.as_deref();
        let twin = draft.by_content(&before.namespace, agent, &before.place, content)?;
        if let Some(twin) = twin.filter(|twin| twin.id != before.id) {
            return Ok(Edited::SameAs(twin.id));
        }
    }
    let memory = lifecycle::edited(&before, edit.clone(), now);
    draft.save(&memory);
    if memory.content != before.content {
        draft.forget_vectors(&memory.id);
    }
    if edit.content.is_some() {
        put_vector(draft, &memory.id, &edit.vector);
    }
    draft.counters.recount(&before, &memory);
    Ok(Edited::Done(memory))
}

/// Changes what became of a memory, or its feedback.
pub(super) fn change(
    draft: &mut Draft<'_>,
    scope: &Scope,
    id: &MemoryId,
    change: impl Fn(&mut Memory),
    now: DateTime<Utc>,
) -> Result<Option<Memory>, Unknown> {
    let Some(before) = visible(draft, scope, id)? else {
        return Ok(None);
    };
    let mut memory = before.clone();
    change(&mut memory);
    if memory != before {
        memory.updated_at = now;
        draft.save(&memory);
        draft.counters.recount(&before, &memory);
    }
    Ok(Some(memory))
}

/// Deletes one memory for good.
pub(super) fn purge(draft: &mut Draft<'_>, scope: &Scope, id: &MemoryId) -> Result<bool, Unknown> {
    let Some(memory) = visible(draft, scope, id)? else {
        return Ok(false);
    };
    if lifecycle::is_counted(&memory) {
        draft.counters.count(&memory, -1);
    }
    draft.delete(&memory);
    Ok(true)
}

/// Gives a memory the vector of a model that followed it, if it still has the content that the vector
/// is of; whether it did.
pub(super) fn put_late(
    draft: &mut Draft<'_>,
    model: &ModelId,
    late: &LateVector,
) -> Result<bool, Unknown> {
    let memory = match draft.by_id(&late.id)? {
        Held::Memory(memory) if content_hash(&memory.content) == late.content_hash => memory,
        Held::Memory(_) | Held::Free | Held::Foreign => return Ok(false),
    };
    let vector = NewVector {
        model: model.clone(),
        values: late.values.clone(),
    };
    let is_put = draft.put_vector(&memory.id, &vector);
    if is_put {
        draft.save(&memory);
    }
    Ok(is_put)
}

fn put_vector(draft: &mut Draft<'_>, id: &MemoryId, vector: &Option<NewVector>) {
    if let Some(vector) = vector {
        draft.put_vector(id, vector);
    }
}

fn visible(draft: &mut Draft<'_>, scope: &Scope, id: &MemoryId) -> Result<Option<Memory>, Unknown> {
    match draft.by_id(id)? {
        Held::Memory(memory)
            if scope.sees(
                &memory.namespace,
                memory.agent.as_deref(),
                memory.details.shared,
            ) =>
        {
            Ok(Some(memory))
        }
        Held::Memory(_) | Held::Free | Held::Foreign => Ok(None),
    }
}
