//! What is done to memories while nobody waits: consolidation, forgetting, deduplication, synonyms,
//! the domain dictionary, what was analysed or embedded by an older version.
//!
//! [`run`] is the one way in, for the service, the command line and the binaries. A job holds a lease,
//! so that two never work at once; it goes through the store in batches, each made durable as one, so
//! that it can be killed at any moment and run again; and it says what it did and why. Nothing that it
//! hides is lost: `restore` brings back each memory as it was.

pub mod backfill;
pub mod consolidate;
pub mod dedup;
pub mod dictionary;
pub mod forget;
pub mod lease;
pub mod report;
pub mod synonyms;
pub mod work;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::app::App;
use crate::error::Error;
use crate::store::Record;
use lease::Lease;
pub use report::{Item, Report};
pub use work::Work;

/// A kind of maintenance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Job {
    Consolidate,
    Forget,
    Dedup,
    Synonyms,
    Dictionary,
    Backfill,
}

impl Job {
    pub const ALL: [Job; 6] = [
        Job::Consolidate,
        Job::Forget,
        Job::Dedup,
        Job::Synonyms,
        Job::Dictionary,
        Job::Backfill,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Job::Consolidate => "consolidate",
            Job::Forget => "forget",
            Job::Dedup => "dedup",
            Job::Synonyms => "synonyms",
            Job::Dictionary => "dictionary",
            Job::Backfill => "backfill",
        }
    }

    pub fn parse(name: &str) -> Option<Job> {
        Job::ALL.into_iter().find(|job| job.name() == name)
    }
}

/// How a job is to be done.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Options {
    /// Only tell what would be done. Without it the configuration says it for forgetting, and every
    /// other job is done.
    pub dry_run: Option<bool>,
    /// Most memories (or words) that are changed.
    pub limit: Option<u64>,
    /// Leave memories alone that are about an earlier time.
    pub since: Option<DateTime<Utc>>,
    /// Consolidate without a model: every distinct statement is kept as it is.
    pub extractive: bool,
}

/// Told now and then how many memories were examined so far.
pub type Progress = Arc<dyn Fn(u64) + Send + Sync>;

/// What nobody looks at.
pub fn silent() -> Progress {
    Arc::new(|_| {})
}

/// Kind of the records with the last answer of each job.
const ANSWERS: &str = "maintenance";

/// Whether records of a kind are of this store and its memories as they are, and make no sense elsewhere.
pub fn stay_here(kind: &str) -> bool {
    [ANSWERS, work::CURSORS, crate::app::learnt::KIND].contains(&kind)
}

/// Does one job, now.
///
/// # Errors
/// [`Error::Running`] if it is being done elsewhere; else when the store, or a model that it needs,
/// fails. What was done until then stays.
pub async fn run(
    app: &App,
    job: Job,
    options: Options,
    progress: Progress,
) -> Result<Report, Error> {
    app.refresh_dictionary().await?;
    let app = &app.current();
    let lease = Lease::take(app, job).await?;
    let mut work = Work::begin(app, job, options, progress, lease.lost());
    let outcome = match job {
        Job::Consolidate => consolidate::run(&mut work).await,
        Job::Forget => forget::run(&mut work).await,
        Job::Dedup => dedup::run(&mut work).await,
        Job::Synonyms => synonyms::run(&mut work).await,
        Job::Dictionary => dictionary::run(&mut work).await,
        Job::Backfill => backfill::run(&mut work).await,
    };
    let finished = match outcome {
        Ok(()) => work.finish().await,
        Err(error) => Err(error),
    };
    lease.give_back().await;
    let report = finished?;
    let record = Record::new(job.name(), report.to_json().to_string());
    app.store.put_record(ANSWERS, "", record, None).await?;
    tracing::info!(
        job = job.name(),
        examined = report.examined,
        changed = report.changed,
        dry_run = report.dry_run,
        "maintenance is done"
    );
    Ok(report)
}

/// The last answer of each job, as [`Report::to_json`] made it; nothing for one that never ran.
///
/// # Errors
/// When the store fails.
pub async fn last_answers(app: &App) -> Result<Vec<(Job, Option<Value>)>, Error> {
    let mut answers = Vec::with_capacity(Job::ALL.len());
    for job in Job::ALL {
        let kept = app.store.record(ANSWERS, "", job.name()).await?;
        let answer = kept.and_then(|text| serde_json::from_str(&text).ok());
        answers.push((job, answer));
    }
    Ok(answers)
}
