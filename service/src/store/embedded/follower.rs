//! What a process knows of the store besides the truth itself: the last commit of the index, the
//! changes since then, and memories read lately. All of it follows the change number.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use lru::LruCache;
use rusqlite::Connection;

use super::index::tail::Tail;
use super::index::view::View;
use super::sqlite::changes::{self, Changed};
use super::sqlite::{control, from_sqlite};
use crate::memory::Memory;
use crate::store::StoreError;

/// Most changes that the tail takes in. Further behind, the changes are scanned for each search, which
/// is slow, but needs no memory and is right.
pub(super) const MOST_IN_TAIL: i64 = 4096;
/// Memories that are kept when they have been read.
const CACHED: NonZeroUsize = NonZeroUsize::new(8192).expect("not zero");
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
}

/// What is known at the moment that a transaction reads.
pub(super) enum Moment<'a> {
    /// View and tail together are the truth.
    Followed(RwLockReadGuard<'a, State>),
    /// What changed after the view is too much for the tail; the truth alone knows.
    Behind(RwLockReadGuard<'a, State>),
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
    /// statistics, rows, tail and view are of one moment. Nothing may have been read in the
    /// transaction before.
    pub(super) fn same_moment(&self, connection: &Connection) -> Result<Moment<'_>, StoreError> {
        // The first read fixes the transaction's state; while the guard is held, neither tail nor
        // view can go past it.
        let state = self.current();
        let seq = control::seq(connection)?;
        if seq - state.view.covered() > MOST_IN_TAIL {
            return Ok(Moment::Behind(state));
        }
        if state.tail.seq == seq {
            return Ok(Moment::Followed(state));
        }
        drop(state);
        let mut state = self.exclusively();
        // Another reader may have gone further meanwhile: read a new state, not the old one.
        connection
            .execute_batch("COMMIT; BEGIN")
            .map_err(from_sqlite)?;
        if control::seq(connection)? - state.view.covered() > MOST_IN_TAIL {
            return Ok(Moment::Behind(RwLockWriteGuard::downgrade(state)));
        }
        self.catch_up(connection, &mut state.tail)?;
        Ok(Moment::Followed(RwLockWriteGuard::downgrade(state)))
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
        let mut state = self.exclusively();
        self.cache().clear();
        *state = State::default();
    }
}
