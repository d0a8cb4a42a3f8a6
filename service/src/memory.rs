//! A memory and what is asked of one. Plain data: the wire's shape sits beside the handlers, the
//! stored shape in each store.

use std::cmp::Ordering;
use std::fmt;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::analysis::terms::Frequencies;
use crate::analysis::{self, Analysis};
use crate::vector::NewVector;

/// What the Redis key of a memory begins with; every interface accepts an id with it in front.
pub const KEY_PREFIX: &str = "memory:frag:";

/// The id of a memory: 16 characters of lower-case base 32 for our own, anything that the Python
/// Keepsake made for its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryId(String);

impl MemoryId {
    /// Takes an id as given, with or without [`KEY_PREFIX`].
    pub fn new(id: impl Into<String>) -> MemoryId {
        let id = id.into();
        match id.strip_prefix(KEY_PREFIX) {
            Some(bare) => MemoryId(bare.to_owned()),
            None => MemoryId(id),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The Redis key.
    pub fn key(&self) -> String {
        format!("{KEY_PREFIX}{}", self.0)
    }
}

impl fmt::Display for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// SHA-256 of a content.
pub fn content_hash(content: &str) -> [u8; 32] {
    Sha256::digest(content.as_bytes()).into()
}

/// Where a memory stands in a conversation or a document. Equal texts at two places are two
/// memories.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct Place {
    pub session: Option<String>,
    pub turn: Option<i64>,
    pub document: Option<String>,
}

/// Fields that a person sets and may change.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Details {
    pub tags: Vec<String>,
    /// Visible to all agents of the namespace.
    pub shared: bool,
    pub category: Option<String>,
    pub source: Option<String>,
    pub entry_type: Option<String>,
    /// Hidden from this time on.
    pub invalid_at: Option<DateTime<Utc>>,
    /// Never forgotten.
    pub pinned: bool,
    pub metadata: Map<String, Value>,
}

/// A memory to store, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMemory {
    /// The id it gets if it is not there yet.
    pub id: MemoryId,
    pub content: String,
    pub place: Place,
    pub details: Details,
    /// The time that it is about: the request's, else now.
    pub created_at: DateTime<Utc>,
    pub analysis: Analysis,
    /// Absent if no model had the time; it can follow.
    pub vector: Option<NewVector>,
    /// Attention that each of its keywords gains.
    pub attention: f64,
    /// The memory that this one replaces.
    pub supersedes: Option<MemoryId>,
    /// Store it even if the same content was corrected.
    pub force: bool,
}

/// What became of a memory since it was stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fate {
    pub superseded_by: Option<MemoryId>,
    pub consumed_by: Option<MemoryId>,
    pub corrected_at: Option<DateTime<Utc>>,
    pub trashed_at: Option<DateTime<Utc>>,
}

/// One stored memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    pub id: MemoryId,
    pub content: String,
    pub namespace: String,
    pub agent: Option<String>,
    pub place: Place,
    pub details: Details,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub reinforced_at: Option<DateTime<Utc>>,
    pub fate: Fate,
    /// How often it was stored.
    pub mentions: u32,
    /// Sum of the feedback: "useful" adds 1, "useless" takes 2.
    pub feedback: f64,
    /// 0 for what was told, more for what consolidation made of it.
    pub level: u32,
    /// The memories that consolidation made it of.
    pub sources: Vec<MemoryId>,
    pub analysis: Analysis,
}

/// State of a memory at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    Active,
    /// Its `invalid_at` has passed.
    Expired,
    /// Merged into a consolidated memory.
    Consumed,
    /// Replaced by a newer one.
    Superseded,
    /// Said to be wrong: never shown again.
    Corrected,
    Trashed,
}

impl State {
    pub const ALL: [State; 6] = [
        State::Active,
        State::Expired,
        State::Consumed,
        State::Superseded,
        State::Corrected,
        State::Trashed,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            State::Active => "active",
            State::Expired => "expired",
            State::Consumed => "consumed",
            State::Superseded => "superseded",
            State::Corrected => "corrected",
            State::Trashed => "trashed",
        }
    }

    pub fn parse(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// All that decides the state of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub trashed: bool,
    pub corrected: bool,
    pub consumed: bool,
    pub superseded: bool,
    pub invalid_at: Option<DateTime<Utc>>,
}

impl Standing {
    /// The state at `now`; the strongest reason to hide a memory names it.
    pub fn state(self, now: DateTime<Utc>) -> State {
        let end = self.invalid_at;
        if self.trashed {
            State::Trashed
        } else if self.corrected {
            State::Corrected
        } else if self.consumed {
            State::Consumed
        } else if self.superseded && end.is_none_or(|end| end <= now) {
            State::Superseded
        } else if end.is_some_and(|end| end <= now) {
            State::Expired
        } else {
            State::Active
        }
    }
}

impl Memory {
    /// The state at `now` (see [`Standing::state`]).
    pub fn state(&self, now: DateTime<Utc>) -> State {
        self.standing().state(now)
    }

    pub fn standing(&self) -> Standing {
        Standing {
            trashed: self.fate.trashed_at.is_some(),
            corrected: self.fate.corrected_at.is_some(),
            consumed: self.fate.consumed_by.is_some(),
            superseded: self.fate.superseded_by.is_some(),
            invalid_at: self.details.invalid_at,
        }
    }

    /// The order of memories that are equally good: the newer first, then by id.
    pub fn tie(&self, other: &Memory) -> Ordering {
        let newer = other.created_at.cmp(&self.created_at);
        newer.then_with(|| self.id.cmp(&other.id))
    }

    /// The terms that the index holds of it.
    pub fn indexed_terms(&self) -> Frequencies {
        analysis::indexed_terms(
            &self.analysis,
            &self.details.tags,
            self.created_at.date_naive(),
        )
    }

    /// When the memory was last told: its age counts from here.
    pub fn told_at(&self) -> DateTime<Utc> {
        self.reinforced_at.map_or(self.created_at, |reinforced| {
            reinforced.max(self.created_at)
        })
    }
}

/// A change of a memory; `None` leaves a field as it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Edit {
    /// New content with its analysis.
    pub content: Option<(String, Analysis)>,
    /// The vector of the new content, if a model had the time.
    pub vector: Option<NewVector>,
    pub tags: Option<Vec<String>>,
    pub shared: Option<bool>,
    pub category: Option<Option<String>>,
    pub source: Option<Option<String>>,
    pub entry_type: Option<Option<String>>,
    /// `Some(None)`, or a time to come, revives an expired or superseded memory.
    pub invalid_at: Option<Option<DateTime<Utc>>>,
    pub pinned: Option<bool>,
    pub metadata: Option<Map<String, Value>>,
}
