//! What maintenance asks of a store besides: leases, revisions, what was looked at and when.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::StoreError;
use crate::memory::{Memory, MemoryId};

/// One memory as it was read and as it is to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// `None`: there is no memory with this id, and none with this content at its place.
    pub before: Option<Memory>,
    /// `None`: it is deleted for good.
    pub after: Option<Memory>,
}

impl Change {
    pub fn create(memory: Memory) -> Change {
        Change {
            before: None,
            after: Some(memory),
        }
    }

    pub fn replace(before: Memory, after: Memory) -> Change {
        Change {
            before: Some(before),
            after: Some(after),
        }
    }

    pub fn purge(before: Memory) -> Change {
        Change {
            before: Some(before),
            after: None,
        }
    }
}

/// Changes that are made together, or not at all if one of the memories is no longer as it was read.
/// No content changes.
pub type Revision = Vec<Change>;

/// Leases, revisions, and marks beside the memories.
#[async_trait]
pub trait UpkeepStore: Send + Sync {
    /// Takes a lease for a holder, or renews it; whether the holder has it. A lease ends when it is
    /// given back, when the store sees that the process of its holder is gone, or else at `until`.
    async fn take_lease(
        &self,
        name: &str,
        holder: &str,
        until: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError>;

    /// Gives a lease back; nothing if the holder does not have it.
    async fn release_lease(&self, name: &str, holder: &str) -> Result<(), StoreError>;

    /// Makes revisions in order, in one transaction; of each whether it was made. Statistics follow;
    /// counters of topics and entity pairs do not change, for nothing is told.
    async fn revise(&self, revisions: Vec<Revision>) -> Result<Vec<bool>, StoreError>;

    /// Remembers when memories were last found for someone. Never changes a memory, and a later time
    /// stays; ids that are gone are left out.
    async fn note_retrieved(
        &self,
        retrieved: Vec<(MemoryId, DateTime<Utc>)>,
    ) -> Result<(), StoreError>;

    /// When each memory was last found, as far as it is known.
    async fn last_retrieved(
        &self,
        ids: &[MemoryId],
    ) -> Result<Vec<Option<DateTime<Utc>>>, StoreError>;

    /// Memories of every namespace and state whose content was not marked as checked, in the order of
    /// ids: at most `limit` behind `after`.
    async fn unchecked(
        &self,
        after: Option<&MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>, StoreError>;

    /// Marks the contents that these memories have as checked for duplicates.
    async fn mark_checked(&self, ids: Vec<MemoryId>) -> Result<(), StoreError>;
}
