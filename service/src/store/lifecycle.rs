//! What happens to a memory, as pure functions that every store applies: created, told again,
//! superseded, edited. Each store looks up, decides with these, and writes.

use chrono::{DateTime, Utc};
use serde_json::json;

use crate::memory::{Edit, Fate, Memory, MemoryId, NewMemory, Place, State};
use crate::scope::Scope;

/// What the uniqueness of contents is kept by, besides namespace and agent. JSON, so that no name of
/// a session can imitate a turn.
pub(crate) fn place_key(place: &Place) -> String {
    match (&place.session, place.turn, &place.document) {
        (Some(session), Some(turn), _) => json!(["turn", session, turn]).to_string(),
        (_, _, Some(document)) => json!(["document", document]).to_string(),
        _ => String::new(),
    }
}

/// A new memory of the scope.
pub(crate) fn created(scope: &Scope, new: NewMemory, now: DateTime<Utc>) -> Memory {
    Memory {
        id: new.id,
        content: new.content,
        namespace: scope.namespace.clone(),
        agent: scope.agent.clone(),
        place: new.place,
        details: new.details,
        created_at: new.created_at,
        updated_at: now,
        reinforced_at: None,
        fate: Fate::default(),
        mentions: 1,
        feedback: 0.0,
        level: 0,
        sources: Vec::new(),
        analysis: new.analysis,
    }
}

/// A memory whose content was told again, and its former state if it was expired, superseded or
/// trashed and is revived.
pub(crate) fn reinforced(
    before: &Memory,
    new: &NewMemory,
    now: DateTime<Utc>,
) -> (Memory, Option<State>) {
    let state = before.state(now);
    let mut memory = before.clone();
    tell_again(&mut memory, new.created_at, now);
    merge_details(&mut memory, new);
    let hidden = matches!(
        state,
        State::Expired | State::Superseded | State::Trashed | State::Corrected
    );
    if hidden {
        memory.fate = Fate {
            consumed_by: memory.fate.consumed_by,
            ..Fate::default()
        };
        memory.details.invalid_at = new.details.invalid_at;
    } else if new.details.invalid_at.is_some() {
        memory.details.invalid_at = new.details.invalid_at;
    }
    let revived =
        matches!(state, State::Expired | State::Superseded | State::Trashed).then_some(state);
    (memory, revived)
}

/// Counts one more telling of a memory, or of a statement that went into it.
pub(crate) fn tell_again(memory: &mut Memory, told_at: DateTime<Utc>, now: DateTime<Utc>) {
    memory.mentions = memory.mentions.saturating_add(1);
    memory.reinforced_at = Some(memory.told_at().max(told_at));
    memory.updated_at = now;
}

fn merge_details(memory: &mut Memory, new: &NewMemory) {
    let details = &mut memory.details;
    for tag in &new.details.tags {
        if !details.tags.contains(tag) {
            details.tags.push(tag.clone());
        }
    }
    details.shared |= new.details.shared;
    details.pinned |= new.details.pinned;
    for (own, told) in [
        (&mut details.category, &new.details.category),
        (&mut details.source, &new.details.source),
        (&mut details.entry_type, &new.details.entry_type),
    ] {
        if own.is_none() {
            own.clone_from(told);
        }
    }
    details.metadata.extend(new.details.metadata.clone());
}

/// Puts a newer memory in the place of an older one.
pub(crate) fn supersede(older: &mut Memory, newer: &MemoryId, now: DateTime<Utc>) {
    older.fate.superseded_by = Some(newer.clone());
    older.details.invalid_at = Some(now);
    older.updated_at = now;
}

/// Takes a memory out of the trash or back from its consolidation; one that is neither there nor
/// consumed, but superseded, is revived.
pub(crate) fn restore(memory: &mut Memory) {
    let fate = &mut memory.fate;
    let (trashed, consumed) = (fate.trashed_at.take(), fate.consumed_by.take());
    if trashed.is_none() && consumed.is_none() && fate.superseded_by.take().is_some() {
        memory.details.invalid_at = None;
    }
}

/// Applies an edit.
pub(crate) fn edited(before: &Memory, edit: Edit, now: DateTime<Utc>) -> Memory {
    let mut memory = before.clone();
    if let Some((content, analysis)) = edit.content {
        memory.content = content;
        memory.analysis = analysis;
    }
    if let Some(invalid_at) = edit.invalid_at {
        memory.details.invalid_at = invalid_at;
        if invalid_at.is_none_or(|end| end > now) {
            memory.fate.superseded_by = None;
        }
    }
    let details = &mut memory.details;
    replace(&mut details.tags, edit.tags);
    replace(&mut details.shared, edit.shared);
    replace(&mut details.category, edit.category);
    replace(&mut details.source, edit.source);
    replace(&mut details.entry_type, edit.entry_type);
    replace(&mut details.pinned, edit.pinned);
    replace(&mut details.metadata, edit.metadata);
    memory.updated_at = now;
    memory
}

fn replace<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

/// Whether the statistics must be counted anew when a memory becomes another.
pub(crate) fn changes_statistics(before: &Memory, after: &Memory) -> bool {
    is_counted(before) != is_counted(after)
        || before.analysis != after.analysis
        || before.details.tags != after.details.tags
        || before.created_at != after.created_at
}

/// Whether the statistics hold a memory: those in the trash are left out.
pub(crate) fn is_counted(memory: &Memory) -> bool {
    memory.fate.trashed_at.is_none()
}

/// Why an imported memory may not overwrite the one that has its id, or `None` if it may.
pub(crate) fn import_refusal(before: &Memory, imported: &Memory) -> Option<&'static str> {
    (before.namespace != imported.namespace || before.agent != imported.agent)
        .then_some("the id belongs to a memory of another agent or namespace")
}

/// Why a content that another memory has may not be imported.
pub(crate) const SAME_CONTENT: &str = "another memory has the same content";
