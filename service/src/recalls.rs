//! When memories were last found for someone: gathered in memory, so that reading writes nothing, and
//! stored now and then by whoever serves. What was gathered since is lost with the process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};

use crate::memory::MemoryId;

/// Most memories that are held until they are stored; further ones are not noted.
const MOST: usize = 200_000;

/// Memories with the time at which each was last found. Clones share it.
#[derive(Clone, Default)]
pub struct Recalls(Arc<Mutex<HashMap<MemoryId, DateTime<Utc>>>>);

impl Recalls {
    pub fn note<'a>(&self, found: impl Iterator<Item = &'a MemoryId>, now: DateTime<Utc>) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for id in found {
            if let Some(at) = noted.get_mut(id) {
                *at = now.max(*at);
            } else if noted.len() < MOST {
                noted.insert(id.clone(), now);
            }
        }
    }

    /// What was noted since the last time.
    pub fn take(&self) -> Vec<(MemoryId, DateTime<Utc>)> {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *noted).into_iter().collect()
    }
}
