//! What the embedded store does for maintenance.

use std::fs::{File, TryLockError};
use std::path::Path;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::sqlite::upkeep;
use super::{EmbeddedStore, unpoisoned};
use crate::memory::{Memory, MemoryId};
use crate::store::{Revision, StoreError, UpkeepStore};

/// A lease that this process holds: the operating system ends the lock with the process.
pub(super) struct Lease {
    name: String,
    holder: String,
    _file: File,
}

#[async_trait]
impl UpkeepStore for EmbeddedStore {
    /// The store sees the end of a holder's process at once, so no lease has to run out.
    async fn take_lease(
        &self,
        name: &str,
        holder: &str,
        _until: DateTime<Utc>,
        _now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        let mut leases = unpoisoned(&self.0.leases);
        if let Some(lease) = leases.iter().find(|lease| lease.name == name) {
            return Ok(lease.holder == holder);
        }
        let folder = self.0.file.parent().unwrap_or(Path::new("."));
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(folder.join(format!("{name}.lease")))
            .map_err(|error| StoreError::Unavailable(error.into()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(StoreError::Unavailable(error.into())),
        }
        leases.push(Lease {
            name: name.to_owned(),
            holder: holder.to_owned(),
            _file: file,
        });
        Ok(true)
    }

    async fn release_lease(&self, name: &str, holder: &str) -> Result<(), StoreError> {
        unpoisoned(&self.0.leases).retain(|lease| lease.name != name || lease.holder != holder);
        Ok(())
    }

    async fn revise(&self, revisions: Vec<Revision>) -> Result<Vec<bool>, StoreError> {
        self.write(move |transaction, counters| {
            revisions
                .into_iter()
                .map(|revision| upkeep::revise(transaction, counters, revision))
                .collect()
        })
        .await
    }

    async fn note_retrieved(
        &self,
        retrieved: Vec<(MemoryId, DateTime<Utc>)>,
    ) -> Result<(), StoreError> {
        self.write(move |transaction, _| upkeep::note_retrieved(transaction, &retrieved))
            .await
    }

    async fn last_retrieved(
        &self,
        ids: &[MemoryId],
    ) -> Result<Vec<Option<DateTime<Utc>>>, StoreError> {
        let ids = ids.to_vec();
        self.read(move |connection, _| upkeep::last_retrieved(connection, &ids))
            .await
    }

    async fn unchecked(
        &self,
        after: Option<&MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>, StoreError> {
        let after = after.cloned();
        self.read(move |connection, _| upkeep::unchecked(connection, after.as_ref(), limit))
            .await
    }

    async fn mark_checked(&self, ids: Vec<MemoryId>) -> Result<(), StoreError> {
        self.write(move |transaction, _| upkeep::mark_checked(transaction, &ids))
            .await
    }
}
