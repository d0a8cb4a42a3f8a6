//! Operations of a client's spool: add, replace, remove, each done once and in order.

use chrono::{DateTime, Utc};

use super::{Draft, Origin, Prepared, prepare, redacts, secrets, stored};
use crate::app::App;
use crate::error::Error;
use crate::memory::MemoryId;
use crate::scope::Scope;
use crate::store::{Operated, Operation, Step, Target};

/// Longest name of an operation, in characters.
const MAX_KEY_CHARS: usize = 256;
/// Operations of one transaction: each may look through all memories of its agent, and other writers
/// wait meanwhile.
const TOGETHER: usize = 32;

/// One operation, as asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The client's name for it.
    pub key: String,
    pub change: Change,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    Add(Draft),
    Replace {
        old_text: String,
        draft: Draft,
    },
    Remove {
        old_text: String,
        source: Option<String>,
        origin: Origin,
    },
}

/// What an operation came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub status: Status,
    /// The memory that was added, reinforced or removed.
    pub id: Option<MemoryId>,
    /// Kinds of secrets that were masked.
    pub redacted: Vec<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Done,
    /// Done before, under the same name.
    Repeated,
    NoMatch,
    Ambiguous,
}

/// Does operations in order; what is wrong with one is its own result and stops no other.
///
/// # Errors
/// When the store fails. What was done before that is remembered, so all can be sent again.
pub async fn operate(
    app: &App,
    scope: &Scope,
    requests: Vec<Request>,
    now: DateTime<Utc>,
) -> Result<Vec<Result<Outcome, Error>>, Error> {
    let mut results: Vec<Result<Vec<&'static str>, Error>> = Vec::with_capacity(requests.len());
    let mut operations = Vec::new();
    for request in requests {
        let taken = operation(app, scope, request, now).await;
        results.push(taken.map(|(operation, redacted)| {
            operations.push(operation);
            redacted
        }));
    }
    let new = operations.iter_mut().filter_map(Operation::memory_mut);
    super::give_vectors(app, new.collect()).await;
    let mut operated = Vec::with_capacity(operations.len());
    while !operations.is_empty() {
        let rest = operations.split_off(operations.len().min(TOGETHER));
        let first = std::mem::replace(&mut operations, rest);
        operated.extend(app.store.operate(scope, first, now).await?);
    }
    let mut operated = operated.into_iter();
    let answer = |result: Result<Vec<&'static str>, Error>| {
        let redacted = result?;
        outcome(
            operated
                .next()
                .expect("the store answers for each operation"),
            redacted,
        )
    };
    Ok(results.into_iter().map(answer).collect())
}

/// Checks one operation and prepares it.
async fn operation(
    app: &App,
    scope: &Scope,
    request: Request,
    now: DateTime<Utc>,
) -> Result<(Operation, Vec<&'static str>), Error> {
    let length = request.key.chars().count();
    if request.key.trim().is_empty() || length > MAX_KEY_CHARS {
        let message = format!("must be 1 to {MAX_KEY_CHARS} characters, not blank");
        return Err(Error::invalid("op_id", message));
    }
    let (step, redacted) = match request.change {
        Change::Add(draft) => {
            let Prepared { memory, redacted } = new(app, scope, draft, now).await?;
            (Step::Add(memory), redacted)
        }
        Change::Replace { old_text, draft } => {
            let target = target(app, old_text, draft.details.source.clone(), draft.origin)?;
            let Prepared { memory, redacted } = new(app, scope, draft, now).await?;
            (Step::Replace(target, memory), redacted)
        }
        Change::Remove {
            old_text,
            source,
            origin,
        } => (
            Step::Remove(target(app, old_text, source, origin)?),
            Vec::new(),
        ),
    };
    // Names that clients give and those made of an `Idempotency-Key` never meet.
    let key = format!("op {}", request.key);
    Ok((Operation { key, step }, redacted))
}

/// A memory to supersede that is not there is found out by the store, after it looked whether the
/// operation was done before.
async fn new(
    app: &App,
    scope: &Scope,
    mut draft: Draft,
    now: DateTime<Utc>,
) -> Result<Prepared, Error> {
    let unresolved = draft.supersedes.take();
    let mut prepared = prepare(app, scope, draft, now).await?;
    if let Some(reference) = unresolved {
        prepared.memory.supersedes = match super::resolve(app, scope, &reference).await {
            Ok(id) => Some(id),
            Err(Error::NotFound(_)) => Some(MemoryId::new(reference)),
            Err(error) => return Err(error),
        };
    }
    Ok(prepared)
}

/// What is stored has its secrets masked, so the text that looks for it must have, too.
fn target(
    app: &App,
    old_text: String,
    source: Option<String>,
    origin: Origin,
) -> Result<Target, Error> {
    if old_text.trim().is_empty() {
        return Err(Error::invalid("old_text", "must not be blank"));
    }
    let old_text = if redacts(&app.settings, origin) {
        secrets::without_secrets(old_text)
    } else {
        old_text
    };
    Ok(Target { old_text, source })
}

fn outcome(operated: Operated, redacted: Vec<&'static str>) -> Result<Outcome, Error> {
    let (status, id) = match operated {
        Operated::Added(added) => (Status::Done, Some(stored(added)?.memory.id)),
        Operated::Removed(id) => (Status::Done, Some(id)),
        Operated::Repeated(effect) => (Status::Repeated, Some(effect.id)),
        Operated::NoMatch => (Status::NoMatch, None),
        Operated::Ambiguous => (Status::Ambiguous, None),
    };
    Ok(Outcome {
        status,
        id,
        redacted,
    })
}
