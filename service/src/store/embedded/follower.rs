//! What a process knows of the store besides the truth itself: the last commit of the index, the
//! changes since then, and memories read lately. All of it follows the change number.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use lru::LruCache;
use rusqlite::Connection;

use super::index::tail::Tail;
use super::index::view::View;
use super::matrix::Matrix;
use super::sqlite::changes::{self, Changed};
use super::sqlite::{control, from_sqlite};
use crate::memory::Memory;
use crate::store::StoreError;
use crate::vector::ModelId;

/// Most changes that the tail takes in. Further behind, the changes are scanned for each search, which
/// is slow, but needs no memory and is right.
pub(super) const MOST_IN_TAIL: i64 = 4096;
/// Memories that are kept when they have been read, of about 2 KiB each.
const CACHED: NonZeroUsize = NonZeroUsize::new(32_768).expect("not zero");
/// Longer contents, in bytes, are read anew each time.
const LONGEST_CACHED: usize = 8192;

/// Follows the truth. Nothing here is needed to start again.
pub(super) struct Follower {
    state: RwLock<State>,
    cache: Mutex<LruCache<i64, Arc<Memory>>>,
}

/// The index as of its last commit, and the changes after it.
#[derive(Default)]
pub(super) struct State {
    pub view: Arc<View>,
    pub tail: Tail,
    /// Of the model that was asked for last.
    pub matrix: Option<Matrix>,
}

/// What is known at the moment that a transaction reads.
pub(super) enum Moment<'a> {
    /// View and tail together are the truth.
    Followed(RwLockReadGuard<'a, State>),
    /// What changed after the view is too much for the tail; the truth alone knows.
    Behind(RwLockReadGuard<'a, State>),
}

impl State {
    /// Whether there is too much after the view for the tail.
    fn is_behind(&self, seq: i64) -> bool {
        seq - self.view.covered() > MOST_IN_TAIL
    }

    /// Whether the vectors of a model, if one is wanted, are those of this change number.
    fn has_vectors(&self, model: Option<&ModelId>, seq: i64) -> bool {
        let is_of = |model| matches!(&self.matrix, Some(matrix) if matrix.is_of(model, seq));
        model.is_none_or(is_of)
    }

    fn follow_vectors(
        &mut self,
        connection: &Connection,
        model: &ModelId,
        seq: i64,
    ) -> Result<(), StoreError> {
        match &mut self.matrix {
            Some(matrix) if matrix.model() == model => matrix.catch_up(connection, seq),
            matrix => {
                *matrix = Some(Matrix::load(connection, model, seq)?);
                Ok(())
            }
        }
    }
}

impl<'a> Moment<'a> {
    fn of(behind: bool, state: RwLockReadGuard<'a, State>) -> Moment<'a> {
        if behind {
            Moment::Behind(state)
        } else {
            Moment::Followed(state)
        }
    }
}

impl Follower {
    pub(super) fn new() -> Follower {
        Follower {
            state: RwLock::default(),
            cache: Mutex::new(LruCache::new(CACHED)),
        }
    }

    pub(super) fn current(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn exclusively(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The memories read lately. Held only together with a [`Moment`].
    pub(super) fn cache(&self) -> MutexGuard<'_, LruCache<i64, Arc<Memory>>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a memory that was read.
    pub(super) fn keep(&self, number: i64, memory: &Arc<Memory>) {
        if memory.content.len() <= LONGEST_CACHED {
            self.cache().put(number, memory.clone());
        }
    }

    /// What is known in the very state that the connection's transaction reads, held there:
    /// statistics, rows, tail, view and, if there is a model, its vectors are of one moment. Nothing
    /// may have been read in the transaction before.
    pub(super) fn same_moment(
        &self,
        connection: &Connection,
        model: Option<&ModelId>,
    ) -> Result<Moment<'_>, StoreError> {
        // The first read fixes the transaction's state; while the guard is held, neither tail nor
        // view can go past it.
        let state = self.current();
        let seq = control::seq(connection)?;
        let behind = state.is_behind(seq);
        if (behind || state.tail.seq == seq) && state.has_vectors(model, seq) {
            return Ok(Moment::of(behind, state));
        }
        drop(state);
        let mut state = self.exclusively();
        // Another reader may have gone further meanwhile: read a new state, not the old one.
        connection
            .execute_batch("COMMIT; BEGIN")
            .map_err(from_sqlite)?;
        let seq = control::seq(connection)?;
        let behind = state.is_behind(seq);
        if !behind {
            self.catch_up(connection, &mut state.tail)?;
        }
        if let Some(model) = model {
            state.follow_vectors(connection, model, seq)?;
        }
        Ok(Moment::of(behind, RwLockWriteGuard::downgrade(state)))
    }

    /// Reads into the tail what changed since it was last asked.
    fn catch_up(&self, connection: &Connection, tail: &mut Tail) -> Result<(), StoreError> {
        let mut cache = self.cache();
        for (number, seq) in changes::purged(connection, tail.seq)? {
            cache.pop(&number);
            tail.remove(number, seq);
        }
        changes::each_changed(connection, tail.seq, |changed: Changed| {
            cache.pop(&changed.number);
            tail.put(changed.number, changed.seq, Arc::new(changed.memory));
            Ok::<_, StoreError>(())
        })?;
        tail.seq = control::seq(connection)?;
        Ok(())
    }

    /// Takes a newer commit of the index; the tail is what changed after it.
    pub(super) fn publish(&self, view: View) {
        let mut state = self.exclusively();
        if state.tail.seq < view.covered() {
            // Changes went by that the tail never saw, and the cache neither.
            self.cache().clear();
        }
        state.tail = if view.covered() < state.view.covered() {
            // The tail holds only what came after the other view: begin anew.
            Tail::since(view.covered())
        } else {
            state.tail.after(view.covered())
        };
        state.view = Arc::new(view);
    }

    /// Forgets the index, which turned out to be damaged.
    pub(super) fn forget_index(&self) {
        // Without an index everything is in the tail, which stays.
        if self.current().view.covered() == 0 {
            return;
        }
        let mut state = self.exclusively();
        self.cache().clear();
        (state.view, state.tail) = Default::default();
    }
}
