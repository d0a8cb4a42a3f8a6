//! Keeps the index: a thread of its own that follows the truth, commits in the background, and makes
//! the index anew when it is missing, damaged or asked for.
//!
//! Of the processes that use a folder one writes the index, the holder of its lock; the others take
//! up each of its commits. When the holder ends, another one takes over.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::backup;
use super::follower::Follower;
use super::index::files::{Files, IndexError};
use super::index::schema::Covers;
use super::index::view::View;
use super::sqlite::changes::{self, Changed, Position};
use super::sqlite::{self, from_sqlite};
use crate::store::StoreError;

/// Name of the folder of the index.
pub(super) const FOLDER: &str = "index";
/// Name of the file whose lock says who writes the index. Beside the index, which may be thrown away.
const LOCK: &str = "index.lock";
/// How often the thread looks for changes that others made, and for a lock that became free ...
const TICK: Duration = Duration::from_secs(1);
/// ... and how long it lets writes of its own process gather.
const GATHER: Duration = Duration::from_millis(100);
/// So many changes are worth a commit at once ...
const MANY: i64 = 1024;
/// ... and fewer when nothing more came for a tick, or after this time.
const PATIENCE: Duration = Duration::from_secs(5);
/// Fewer changes than this are left to the next start when the store is closed.
const WORTH_A_LAST_COMMIT: i64 = 64;
/// So many memories, or bytes of their contents, make one commit, so that much to do is seen to shrink
/// and what waits for the index's own threads is bounded.
const CHUNK: usize = 25_000;
const CHUNK_BYTES: usize = 2 << 20;
/// How long a failed attempt is not repeated.
const BACK_OFF: Duration = Duration::from_secs(10);

/// The thread, and the way to talk to it.
pub(super) struct Indexer {
    requests: Arc<Requests>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Requests {
    pending: Mutex<Pending>,
    changed: Condvar,
    /// What is wrong with the truth itself, if something is.
    damage: OnceLock<String>,
}

#[derive(Default)]
struct Pending {
    /// Something was written.
    written: bool,
    /// Someone waits for a commit.
    wanted: bool,
    /// The index turned out to be damaged.
    damaged: bool,
    stop: bool,
}

impl Requests {
    fn send(&self, change: impl FnOnce(&mut Pending)) {
        change(&mut self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_one();
    }

    /// Looks once whether the truth is sound, while it is used.
    fn check(&self, file: &Path) {
        if let Err(error) = backup::check(file) {
            let what = chain(&error);
            tracing::error!(what, "the store is damaged: restore a backup");
            // Set here alone.
            drop(self.damage.set(what));
        }
    }

    /// Waits for a request, at most a tick; what was asked for.
    fn wait(&self) -> Pending {
        let pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let urgent = |pending: &Pending| pending.damaged || pending.wanted || pending.stop;
        let (pending, _) = self
            .changed
            .wait_timeout_while(pending, TICK, |pending| {
                !pending.written && !urgent(pending)
            })
            .unwrap_or_else(PoisonError::into_inner);
        let (mut pending, _) = self
            .changed
            .wait_timeout_while(pending, GATHER, |pending| {
                pending.written && !urgent(pending)
            })
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut pending)
    }
}

/// What a look at the store may lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Occasion {
    /// The store is being opened: whoever opens it waits.
    Start,
    Tick,
    /// Someone waits for a commit.
    Wanted,
    /// The store is being closed.
    End,
}

impl Indexer {
    /// Opens what index there is and starts to follow the truth.
    pub(super) fn start(folder: &Path, file: &Path, follower: Arc<Follower>) -> Indexer {
        let requests = Arc::new(Requests::default());
        let mut keeper = Keeper {
            folder: folder.to_owned(),
            file: file.to_owned(),
            follower,
            lock: None,
            files: None,
            position: None,
            noticed: None,
            rested: None,
            last_seq: 0,
            connection: None,
        };
        // Opened before the first request, so that none has to do without.
        keeper.look(Occasion::Start);
        let asked = requests.clone();
        let thread = std::thread::Builder::new()
            .name("keepsake-index".into())
            .spawn(move || {
                asked.check(&keeper.file);
                loop {
                    let pending = asked.wait();
                    if pending.damaged {
                        tracing::warn!("a search found the index damaged");
                        keeper.discard("it was found damaged by a search");
                    }
                    if pending.stop {
                        keeper.look(Occasion::End);
                        break;
                    }
                    keeper.look(if pending.wanted {
                        Occasion::Wanted
                    } else {
                        Occasion::Tick
                    });
                }
            })
            .inspect_err(|error| tracing::error!(%error, "no thread for the index: searches scan"))
            .ok();
        Indexer { requests, thread }
    }

    /// What to call when something was written.
    pub(super) fn on_commit(&self) -> impl Fn() + Send + 'static {
        let requests = self.requests.clone();
        move || requests.send(|pending| pending.written = true)
    }

    /// Asks for a commit soon.
    pub(super) fn want(&self) {
        self.requests.send(|pending| pending.wanted = true);
    }

    /// What is wrong with the truth itself, if something was found.
    pub(super) fn damage(&self) -> Option<&str> {
        self.requests.damage.get().map(String::as_str)
    }

    /// Tells that the index is damaged.
    pub(super) fn damaged(&self) {
        self.requests.send(|pending| pending.damaged = true);
    }
}

impl Drop for Indexer {
    fn drop(&mut self) {
        self.requests.send(|pending| pending.stop = true);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// The state of the thread.
struct Keeper {
    folder: PathBuf,
    file: PathBuf,
    follower: Arc<Follower>,
    /// Held while this process writes the index.
    lock: Option<File>,
    files: Option<Files>,
    /// Where the store stood when the index was last looked at.
    position: Option<Position>,
    /// When changes were first seen that are not in the index.
    noticed: Option<Instant>,
    /// Since when the index is left alone after a failure.
    rested: Option<Instant>,
    last_seq: i64,
    connection: Option<Connection>,
}

impl Keeper {
    /// Looks where the store stands, and does what there is to do.
    fn look(&mut self, occasion: Occasion) {
        if self.rested.is_some_and(|since| since.elapsed() < BACK_OFF) {
            return;
        }
        self.rested = None;
        if let Err(error) = self.follow(occasion) {
            tracing::warn!(error = %chain(&error), "the index does not follow the store; searches are right, but slower");
            // What was not committed is dropped with the writer; searches keep the last commit.
            self.files = None;
            self.connection = None;
            self.rested = Some(Instant::now());
        }
    }

    fn follow(&mut self, occasion: Occasion) -> Result<(), Failure> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => sqlite::open_follower(&self.file)?,
        };
        let position = changes::position(&connection)?;
        self.take_lock()?;
        let asked_anew = self
            .position
            .is_some_and(|known| known.epoch != position.epoch);
        if self.files.is_none() || asked_anew {
            self.open(position);
        }
        self.position = Some(position);
        if self.lock.is_none() {
            self.take_up(position)?;
        } else if self.is_worth(position, occasion) {
            self.commit(&connection, position)?;
        }
        self.connection = Some(connection);
        Ok(())
    }

    /// Whether there is enough to commit, or it has waited long enough.
    fn is_worth(&mut self, position: Position, occasion: Occasion) -> bool {
        let behind = position.seq - self.follower.current().view.covered();
        let still = position.seq == self.last_seq;
        self.last_seq = position.seq;
        if behind == 0 {
            self.noticed = None;
            return false;
        }
        let noticed = *self.noticed.get_or_insert_with(Instant::now);
        match occasion {
            Occasion::Start => false,
            Occasion::Wanted => true,
            Occasion::End => behind >= WORTH_A_LAST_COMMIT,
            Occasion::Tick => {
                let waited = noticed.elapsed();
                behind >= MANY || (still && waited >= TICK) || waited >= PATIENCE
            }
        }
    }

    fn take_lock(&mut self) -> Result<(), IndexError> {
        if self.lock.is_some() {
            return Ok(());
        }
        let file = open_lock(&self.folder)?;
        match file.try_lock() {
            Ok(()) => {
                self.lock = Some(file);
                // As a reader this process may have opened an index without checking it.
                self.files = None;
                Ok(())
            }
            Err(TryLockError::WouldBlock) => Ok(()),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }

    /// Opens the index that is there if it is whole and of this store; the holder of the lock throws
    /// away any other.
    fn open(&mut self, position: Position) {
        self.files = None;
        let folder = self.folder.join(FOLDER);
        let opened = Files::open(&folder).and_then(|files| {
            let Some(mut files) = files else {
                return Ok(None);
            };
            if self.lock.is_some() {
                files.check()?;
            }
            let covers = files.covers()?;
            if !covers.is_of(position.database, position.epoch) || covers.seq > position.seq {
                return Err(IndexError::Foreign);
            }
            let view = files.view(covers, &View::default())?;
            Ok(Some((files, view)))
        });
        match opened {
            Ok(Some((files, view))) => {
                self.files = Some(files);
                self.follower.publish(view);
            }
            Ok(None) => self.follower.forget_index(),
            Err(error) => {
                if !matches!(error, IndexError::Foreign) {
                    tracing::warn!(error = %chain(&error), "the index is damaged");
                }
                self.follower.forget_index();
                if self.lock.is_some() {
                    self.discard(&chain(&error));
                }
            }
        }
    }

    /// Throws the index away. The next commit makes it anew.
    fn discard(&mut self, reason: &str) {
        self.files = None;
        self.follower.forget_index();
        if self.lock.is_none() {
            return;
        }
        let folder = self.folder.join(FOLDER);
        if folder.exists() {
            tracing::info!(reason, "the index is made anew");
            if let Err(error) = std::fs::remove_dir_all(&folder) {
                tracing::warn!(%error, "cannot remove the index");
            }
        }
    }

    /// Takes up a commit of the process that writes the index.
    fn take_up(&mut self, position: Position) -> Result<(), Failure> {
        let Some(files) = &mut self.files else {
            return Ok(());
        };
        let Ok(covers) = files.covers() else {
            self.files = None;
            self.follower.forget_index();
            return Ok(());
        };
        let before = self.follower.current().view.clone();
        if covers.is_of(position.database, position.epoch) && covers.seq > before.covered() {
            let view = files.view(covers, &before)?;
            self.follower.publish(view);
        }
        Ok(())
    }

    /// Brings the index up to where the store stood when this began.
    fn commit(&mut self, connection: &Connection, position: Position) -> Result<(), Failure> {
        let began = Instant::now();
        connection.execute_batch("BEGIN").map_err(from_sqlite)?;
        let upto = changes::position(connection)?.seq;
        let before = self.follower.current().view.clone();
        let files = match &mut self.files {
            Some(files) => files,
            none => none.insert(Files::create(&self.folder.join(FOLDER))?),
        };
        let follower = &self.follower;
        let covers = |seq| Covers::new(position.database, position.epoch, seq);
        let (mut put, mut waiting, mut waiting_bytes) = (0, 0, 0);
        let mut touched = false;
        for (number, _) in changes::purged(connection, before.covered())? {
            files.remove(number)?;
            touched = true;
        }
        changes::each_changed(connection, before.covered(), |changed: Changed| {
            if changed.indexed_seq <= before.covered() {
                return Ok(());
            }
            files.put(changed.number, &changed.memory)?;
            put += 1;
            waiting += 1;
            waiting_bytes += changed.memory.content.len();
            touched = true;
            if waiting == CHUNK || waiting_bytes >= CHUNK_BYTES {
                (waiting, waiting_bytes) = (0, 0);
                files.commit(covers(changed.seq))?;
                let view = files.view(covers(changed.seq), &follower.current().view.clone())?;
                follower.publish(view);
                tracing::info!(memories = put, "index: indexed");
            }
            Ok::<_, Failure>(())
        })?;
        connection.execute_batch("COMMIT").map_err(from_sqlite)?;
        if touched {
            files.commit(covers(upto))?;
            let view = files.view(covers(upto), &follower.current().view.clone())?;
            follower.publish(view);
        } else {
            // Feedback and the like change nothing that the index holds.
            let view = follower.current().view.covering(covers(upto));
            follower.publish(view);
        }
        self.noticed = None;
        tracing::debug!(
            memories = put,
            seq = upto,
            took_ms = began.elapsed().as_millis() as u64,
            "index: committed"
        );
        Ok(())
    }
}

/// Opens the file that is locked by whoever writes the index; whoever cannot, cannot use the folder.
pub(super) fn open_lock(folder: &Path) -> std::io::Result<File> {
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join(LOCK))
}

/// Why the index does not follow.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |error| error.source())
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}
