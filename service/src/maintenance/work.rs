//! A job at work: where it is, what it did, how much it may still do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Map, Value, json};

use super::report::{Item, MOST_ITEMS, Report};
use super::{Job, Options, Progress};
use crate::app::App;
use crate::clock::parse_time;
use crate::error::Error;
use crate::memory::{Memory, MemoryId};
use crate::store::{Record, Revision};

/// Memories that are worked on at once.
pub const BATCH: usize = 500;
/// Kind of the records that say how far an unfinished job came.
pub(super) const CURSORS: &str = "maintenance-cursor";
/// A job that stopped longer ago begins anew.
const STALE: TimeDelta = TimeDelta::hours(24);

/// What a job works with.
pub struct Work<'a> {
    pub app: &'a App,
    pub options: Options,
    /// The time of the whole job.
    pub now: DateTime<Utc>,
    pub dry_run: bool,
    report: Report,
    lost: Arc<AtomicBool>,
    progress: Progress,
    /// What this part of a job is about, besides its options.
    subject: String,
}

impl<'a> Work<'a> {
    pub(super) fn begin(
        app: &'a App,
        job: Job,
        options: Options,
        progress: Progress,
        lost: Arc<AtomicBool>,
    ) -> Work<'a> {
        let now = app.clock.now();
        let by_default = job == Job::Forget && app.settings.maintenance.forget_dry_run;
        let dry_run = options.dry_run.unwrap_or(by_default);
        Work {
            app,
            options,
            now,
            dry_run,
            report: Report {
                job,
                dry_run,
                started_at: now,
                finished_at: now,
                examined: 0,
                changed: 0,
                planned: 0,
                items: Vec::new(),
                further: Map::new(),
            },
            lost,
            progress,
            subject: String::new(),
        }
    }

    /// The same job with another app, about something of its own, without a limit.
    pub(super) fn over<'b>(&self, app: &'b App, subject: &str) -> Work<'b> {
        let options = Options {
            limit: None,
            ..self.options
        };
        let (lost, progress) = (self.lost.clone(), self.progress.clone());
        Work {
            now: self.now,
            dry_run: self.dry_run,
            subject: subject.to_owned(),
            ..Work::begin(app, self.report.job, options, progress, lost)
        }
    }

    /// How many changes were made.
    pub fn changes(&self) -> u64 {
        self.report.changed
    }

    /// Counts memories that were looked at.
    pub fn examined(&mut self, memories: usize) {
        self.report.examined += memories as u64;
        (self.progress)(self.report.examined);
    }

    /// Counts changes that were made, or in a dry run would be.
    pub fn changed(&mut self, changes: u64) {
        self.report.planned += changes;
        if !self.dry_run {
            self.report.changed += changes;
        }
    }

    /// How many more changes may be made.
    pub fn room(&self) -> u64 {
        let limit = self.options.limit.unwrap_or(u64::MAX);
        limit.saturating_sub(self.report.planned)
    }

    /// Tells of one thing that was done, or would be.
    pub fn item(&mut self, item: Item) {
        if self.report.items.len() < MOST_ITEMS {
            self.report.items.push(item);
        }
    }

    /// Whether nothing was changed, nor would be.
    pub fn is_untouched(&self) -> bool {
        self.report.planned == 0
    }

    /// Tells something that only this job tells.
    pub fn tell(&mut self, name: &str, value: impl Into<Value>) {
        self.report.further.insert(name.to_owned(), value.into());
    }

    /// Whether the job is about this memory, as far as `since` says.
    pub fn concerns(&self, memory: &Memory) -> bool {
        self.options
            .since
            .is_none_or(|since| memory.created_at >= since)
    }

    /// Where an unfinished run of this job with the same options stopped a short while ago.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn resume(&self) -> Result<Option<MemoryId>, Error> {
        if self.dry_run {
            return Ok(None);
        }
        let name = self.report.job.name();
        let kept = self.app.store.record(CURSORS, "", name).await?;
        let kept: Option<Value> = kept.and_then(|text| serde_json::from_str(&text).ok());
        let Some(kept) = kept.filter(|kept| kept["options"] == self.kind()) else {
            return Ok(None);
        };
        let at = kept["at"].as_str().and_then(parse_time);
        let fresh = at.is_some_and(|at| at <= self.now && self.now - at < STALE);
        let after = kept["after"].as_str().filter(|_| fresh);
        Ok(after.map(MemoryId::new))
    }

    /// Remembers that everything up to this memory is done, and stops if another one has taken over.
    ///
    /// # Errors
    /// When the store fails or the lease is lost.
    pub async fn reached(&self, last: &MemoryId) -> Result<(), Error> {
        self.still_ours()?;
        if self.dry_run {
            return Ok(());
        }
        let at = self.now.to_rfc3339();
        let cursor = json!({"after": last.as_str(), "at": at, "options": self.kind()});
        let record = Record::new(self.report.job.name(), cursor.to_string());
        self.app.store.put_record(CURSORS, "", record, None).await?;
        Ok(())
    }

    /// # Errors
    /// When the lease is lost.
    pub fn still_ours(&self) -> Result<(), Error> {
        if self.lost.load(Ordering::Relaxed) {
            return Err(Error::Running(self.report.job.name()));
        }
        Ok(())
    }

    /// What must be equal for one run to go on where another stopped.
    fn kind(&self) -> Value {
        let since = self.options.since.map(|since| since.to_rfc3339());
        json!([since, self.options.extractive, self.subject])
    }

    /// Makes revisions unless this is a dry run; of each whether it was made (or would be).
    ///
    /// # Errors
    /// When the store fails.
    pub async fn revise(&self, revisions: Vec<Revision>) -> Result<Vec<bool>, Error> {
        if self.dry_run || revisions.is_empty() {
            return Ok(vec![true; revisions.len()]);
        }
        self.still_ours()?;
        Ok(self.app.store.revise(revisions).await?)
    }

    pub(super) async fn finish(mut self) -> Result<Report, Error> {
        if !self.dry_run {
            let name = self.report.job.name();
            self.app.store.delete_record(CURSORS, "", name).await?;
        }
        self.report.finished_at = self.app.clock.now().max(self.now);
        Ok(self.report)
    }
}
