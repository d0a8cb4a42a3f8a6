//! Documents: memories that belong together in an order, such as the turns of a conversation. A
//! document is written as a whole or gets more at its end; what it holds already is not told again.

use std::collections::HashMap;

use chrono::{DateTime, SubsecRound, Utc};
use futures_util::future::try_join_all;
use sha2::{Digest, Sha256};

use super::{Draft, redacts, secrets};
use crate::app::App;
use crate::error::Error;
use crate::memory::{Memory, MemoryId, Place};
use crate::scope::Scope;
use crate::store::{Cursor, ListFilters, StoreError};

/// Memories that are read or written together.
const TOGETHER: usize = 256;

/// What becomes of what the document holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// What is not among the new passages goes to the trash.
    Replace,
    /// It stays.
    Append,
}

/// A document, and what to do with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub document: String,
    pub mode: Mode,
    /// In order. Their places are given here.
    pub passages: Vec<Draft>,
}

/// Everything that the document holds but for what is in the trash, in order.
///
/// # Errors
/// When the store fails.
pub async fn read(
    app: &App,
    scope: &Scope,
    document: &str,
    now: DateTime<Utc>,
) -> Result<Vec<Memory>, Error> {
    let filters = ListFilters {
        document: Some(document.to_owned()),
        ..ListFilters::default()
    };
    let mut memories = all(app, scope, &filters, now).await?;
    memories.sort_by(|left, right| {
        let key = |memory: &Memory| (memory.place.turn, memory.created_at);
        let order = key(left).cmp(&key(right));
        order.then_with(|| left.id.cmp(&right.id))
    });
    Ok(memories)
}

/// Everything that a list with these filters holds, the newest first.
///
/// # Errors
/// When the store fails.
pub async fn all(
    app: &App,
    scope: &Scope,
    filters: &ListFilters,
    now: DateTime<Utc>,
) -> Result<Vec<Memory>, Error> {
    let mut memories: Vec<Memory> = Vec::new();
    loop {
        let after = memories.last().map(|last| Cursor {
            created_at: last.created_at,
            id: last.id.clone(),
        });
        let listed = app
            .store
            .list(scope, filters, after.as_ref(), TOGETHER, now);
        let page = listed.await?;
        let is_last = page.len() < TOGETHER;
        memories.extend(page);
        if is_last {
            return Ok(memories);
        }
    }
}

/// Writes passages of a document. The passages must have been checked (see [`super::check`]): a wrong one
/// stops the others.
///
/// # Errors
/// When a passage is invalid or the store fails. What was written before that is not written again by
/// the next try.
pub async fn write(
    app: &App,
    scope: &Scope,
    request: Request,
    now: DateTime<Utc>,
) -> Result<(), Error> {
    let held = read(app, scope, &request.document, now).await?;
    let mut known = Known::new(&held);
    let mut turn = match request.mode {
        Mode::Replace => 0,
        Mode::Append => held
            .iter()
            .filter_map(|memory| memory.place.turn)
            .max()
            .map_or(0, |last| last.saturating_add(1)),
    };
    let mut new = Vec::new();
    for mut draft in request.passages {
        if redacts(&app.settings, draft.origin) {
            draft.content = secrets::without_secrets(draft.content);
        }
        if !known.take(&draft) {
            draft.place = Place {
                session: Some(request.document.clone()),
                turn: Some(turn),
                document: Some(request.document.clone()),
            };
            if request.mode == Mode::Append {
                draft.once = Some(once(&request.document, &draft));
            }
            new.push(draft);
        }
        turn = turn.saturating_add(1);
    }
    store(app, scope, new, now).await?;
    if request.mode == Mode::Replace {
        trash(app, scope, known.rest(), now).await?;
    }
    Ok(())
}

/// Stores drafts, a bounded number in a transaction. What was said to be wrong stays so; what was
/// written once and deleted since is written again.
///
/// # Errors
/// When a draft is invalid or the store fails.
pub async fn store(
    app: &App,
    scope: &Scope,
    drafts: Vec<Draft>,
    now: DateTime<Utc>,
) -> Result<(), Error> {
    for drafts in drafts.chunks(TOGETHER) {
        let deleted = add(app, scope, drafts.to_vec(), now).await?;
        if deleted.is_empty() {
            continue;
        }
        let again = deleted.into_iter().map(|index| Draft {
            once: None,
            ..drafts[index].clone()
        });
        add(app, scope, again.collect(), now).await?;
    }
    Ok(())
}

/// Adds drafts in one transaction; which of them were added before and deleted since.
async fn add(
    app: &App,
    scope: &Scope,
    drafts: Vec<Draft>,
    now: DateTime<Utc>,
) -> Result<Vec<usize>, Error> {
    let mut deleted = Vec::new();
    let stored = super::add_all(app, scope, drafts, now).await?;
    for (index, stored) in stored.into_iter().enumerate() {
        match stored {
            Ok(stored) if stored.memory.fate.trashed_at.is_some() => deleted.push(index),
            Err(Error::NotFound(_)) => deleted.push(index),
            Ok(_) | Err(Error::Corrected(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(deleted)
}

/// Moves memories to the trash.
///
/// # Errors
/// When the store fails.
pub async fn trash(
    app: &App,
    scope: &Scope,
    ids: Vec<MemoryId>,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    // Writes that wait together become durable together.
    for ids in ids.chunks(TOGETHER) {
        try_join_all(ids.iter().map(|id| app.store.trash(scope, id, now))).await?;
    }
    Ok(())
}

/// The name under which a passage that several append at the same time is written once.
fn once(document: &str, draft: &Draft) -> String {
    let time = draft.created_at.map(|time| time.timestamp_millis());
    let mut hash = Sha256::new();
    for part in [document, &draft.content, &format!("{time:?}")] {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    format!(
        "document {}",
        data_encoding::HEXLOWER.encode(&hash.finalize())
    )
}

/// What a document holds, by content.
struct Known(HashMap<String, Vec<Held>>);

struct Held {
    id: MemoryId,
    said_at: Option<DateTime<Utc>>,
    is_wanted: bool,
}

impl Known {
    fn new(held: &[Memory]) -> Known {
        let mut known: HashMap<String, Vec<Held>> = HashMap::new();
        for memory in held {
            known.entry(memory.content.clone()).or_default().push(Held {
                id: memory.id.clone(),
                said_at: Some(memory.created_at),
                is_wanted: false,
            });
        }
        Known(known)
    }

    /// Whether a passage is there: the same content, and the same time if it has one. A passage that is
    /// not counts from now on, so that it is not written twice.
    fn take(&mut self, draft: &Draft) -> bool {
        let time = draft.created_at.map(|time| time.trunc_subsecs(3));
        let held = self.0.entry(draft.content.clone()).or_default();
        let same = held
            .iter_mut()
            .find(|held| time.is_none() || held.said_at == time);
        if let Some(same) = same {
            same.is_wanted = true;
            return true;
        }
        held.push(Held {
            id: MemoryId::new(""),
            said_at: time,
            is_wanted: true,
        });
        false
    }

    /// What no passage wanted.
    fn rest(self) -> Vec<MemoryId> {
        let held = self.0.into_values().flatten();
        held.filter(|held| !held.is_wanted)
            .map(|held| held.id)
            .collect()
    }
}
