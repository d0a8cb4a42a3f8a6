//! The one thread that writes: what waits while a transaction is being made durable goes into the
//! next one together (group commit), each write as a savepoint of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use super::sqlite::counters;
use super::sqlite::from_sqlite;
use crate::store::StoreError;
use crate::store::gathered::Counters;

/// Most writes in one transaction.
const MOST_TOGETHER: usize = 256;

/// The thread, and the queue to it.
pub(super) struct Writer {
    /// Taken when the store is closed.
    queue: Option<Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread. It calls `committed` after each transaction.
    pub(super) fn start(
        connection: Connection,
        committed: impl Fn() + Send + 'static,
    ) -> Result<Writer, StoreError> {
        let (queue, jobs) = channel();
        let thread = std::thread::Builder::new()
            .name("keepsake-writer".into())
            .spawn(move || write_all(connection, &jobs, committed))
            .map_err(|error| StoreError::Unavailable(error.into()))?;
        Ok(Writer {
            queue: Some(queue),
            thread: Some(thread),
        })
    }

    /// Does one write: all of `work` and the counters it gathered, or nothing. Returns when it is
    /// durable. A caller that goes away meanwhile does not undo it.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>, &mut Counters) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Work {
            work: Some(work),
            result: None,
            reply,
        });
        let gone = || StoreError::Unavailable("the store is closed".into());
        let queue = self.queue.as_ref().ok_or_else(gone)?;
        queue.send(job).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// One write that waits for its turn.
trait Job: Send {
    /// Does it inside a savepoint; whether it is to be kept.
    fn run(&mut self, transaction: &Transaction<'_>) -> bool;

    /// Answers with its result if it is durable, or with why it is not.
    fn reply(self: Box<Self>, durable: Result<(), StoreError>);
}

struct Work<T, F> {
    work: Option<F>,
    result: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Job for Work<T, F>
where
    T: Send,
    F: FnOnce(&Transaction<'_>, &mut Counters) -> Result<T, StoreError> + Send,
{
    fn run(&mut self, transaction: &Transaction<'_>) -> bool {
        let Some(work) = self.work.take() else {
            return false;
        };
        // A panic is this write's own failure: its savepoint is rolled back and the thread goes on.
        let attempt = AssertUnwindSafe(|| {
            let mut gathered = Counters::default();
            let result = work(transaction, &mut gathered)?;
            counters::apply(&gathered, transaction)?;
            Ok(result)
        });
        let result = catch_unwind(attempt)
            .unwrap_or_else(|_| Err(StoreError::Unavailable("a write panicked".into())));
        let keep = result.is_ok();
        self.result = Some(result);
        keep
    }

    fn reply(self: Box<Self>, durable: Result<(), StoreError>) {
        let answer = match (self.result, durable) {
            (Some(Err(error)), _) | (_, Err(error)) => Err(error),
            (Some(Ok(result)), Ok(())) => Ok(result),
            (None, Ok(())) => return,
        };
        // Whoever asked may have gone away.
        drop(self.reply.send(answer));
    }
}

fn write_all(mut connection: Connection, jobs: &Receiver<Box<dyn Job>>, committed: impl Fn()) {
    while let Ok(first) = jobs.recv() {
        let mut waiting: Vec<Box<dyn Job>> = vec![first];
        waiting.extend(jobs.try_iter().take(MOST_TOGETHER - 1));
        while !waiting.is_empty() {
            waiting = write_together(&mut connection, waiting);
        }
        committed();
    }
}

/// Does the jobs in one transaction and answers them; those that it did not come to are left.
fn write_together(connection: &mut Connection, mut jobs: Vec<Box<dyn Job>>) -> Vec<Box<dyn Job>> {
    let transaction = match connection.transaction_with_behavior(TransactionBehavior::Immediate) {
        Ok(transaction) => transaction,
        Err(error) => {
            answer(jobs, Err(error));
            return Vec::new();
        }
    };
    for index in 0..jobs.len() {
        if let Err(error) = in_savepoint(&transaction, jobs[index].as_mut()) {
            // SQLite has rolled back the whole transaction, as it does when the disk is full: those
            // before are undone as well, those after have not begun.
            drop(transaction);
            let left = jobs.split_off(index + 1);
            answer(jobs, Err(error));
            return left;
        }
    }
    let durable = transaction.commit();
    answer(jobs, durable);
    Vec::new()
}

/// Does one job, undone alone if it fails.
///
/// # Errors
/// When the transaction around it is no more.
fn in_savepoint(transaction: &Transaction<'_>, job: &mut dyn Job) -> rusqlite::Result<()> {
    let execute = |sql: &str| transaction.prepare_cached(sql)?.execute([]).map(|_| ());
    execute("SAVEPOINT job")?;
    if !job.run(transaction) {
        execute("ROLLBACK TO job")?;
    }
    execute("RELEASE job")
}

fn answer(jobs: Vec<Box<dyn Job>>, durable: rusqlite::Result<()>) {
    for job in jobs {
        job.reply(match &durable {
            Ok(()) => Ok(()),
            Err(rusqlite::Error::SqliteFailure(code, message)) => Err(from_sqlite(
                rusqlite::Error::SqliteFailure(*code, message.clone()),
            )),
            Err(error) => Err(StoreError::Unavailable(error.to_string().into())),
        });
    }
}
