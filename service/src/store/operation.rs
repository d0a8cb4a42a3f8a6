//! Things that a client wants done once, however often it asks: after a crash, a lost answer, or a
//! restart it sends them again.

use chrono::TimeDelta;

use super::Added;
use crate::memory::{MemoryId, NewMemory, State};

/// How long a store remembers what it did and answered.
pub const REMEMBERED: TimeDelta = TimeDelta::hours(24);

/// One thing to do, with the name that the client gave it.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// Unique among the operations of a namespace and an agent.
    pub key: String,
    pub step: Step,
}

impl Operation {
    /// The memory that it adds, if it adds one.
    pub fn memory_mut(&mut self) -> Option<&mut NewMemory> {
        match &mut self.step {
            Step::Add(new) | Step::Replace(_, new) => Some(new),
            Step::Remove(_) => None,
        }
    }
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Add(NewMemory),
    /// The target is superseded by the new memory.
    Replace(Target, NewMemory),
    /// The target goes to the trash.
    Remove(Target),
}

/// The one active memory of the scope's own agent whose content has `old_text` in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Compared to the last character; not empty.
    pub old_text: String,
    /// Only memories of this source.
    pub source: Option<String>,
}

/// What became of an operation.
#[expect(
    clippy::large_enum_variant,
    reason = "it lives for one call, and nearly always holds the memory"
)]
#[derive(Debug, Clone, PartialEq)]
pub enum Operated {
    /// What adding came to, also in the place of another. One that is refused is not remembered.
    Added(Added),
    /// The memory that went to the trash.
    Removed(MemoryId),
    /// Done before; nothing was written now.
    Repeated(Effect),
    /// No memory has the text; nothing was written.
    NoMatch,
    /// Several memories have the text; nothing was written.
    Ambiguous,
}

/// What an operation did when it was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// The memory that was added, reinforced or removed.
    pub id: MemoryId,
    pub reinforced: bool,
    pub revived: Option<State>,
}

/// The answer that a client got, to be given again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAnswer {
    /// What tells one request from another.
    pub fingerprint: String,
    pub status: u16,
    pub content_type: String,
    pub body: String,
}
