//! How good the answers are: labelled question sets, run through the same two lines as everything
//! else, each group in a store of its own and at the set's own time.

pub mod compare;
pub mod metrics;
pub mod sets;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use chrono::{DateTime, TimeDelta, Utc};

use crate::app::{App, Switches};
use crate::clock::{Clock, new_id};
use crate::config::{Settings, StoreChoice};
use crate::maintenance::{self, Job, Options, silent};
use crate::memory::{Details, Place};
use crate::query::Filters;
use crate::read::{self, Mode, Request, context};
use crate::scope::Scope;
use crate::store::redis::{self, options::RedisOptions};
use crate::write::{self, Draft};
use metrics::Scores;
use sets::{Labelled, QuestionSet};

/// Ids that a run lists for each query; ignored ones are taken out later.
const DEPTH: usize = 50;
/// Memories added in one transaction.
const CHUNK: usize = 500;

/// A set run once.
pub struct Measured {
    pub runs: Vec<QueryRun>,
    /// Mean characters that prefetch would put before a model.
    pub context_chars: f64,
}

/// What one query found.
pub struct QueryRun {
    pub query: String,
    pub category: Option<String>,
    /// Best first.
    pub ids: Vec<String>,
    pub scores: Scores,
}

/// A set with its memories stored, ready for questions.
pub struct Stored<'a> {
    set: &'a QuestionSet,
    groups: BTreeMap<String, Group>,
    _folder: tempfile::TempDir,
    /// What was written to Redis, to be deleted.
    in_redis: Vec<RedisOptions>,
}

struct Group {
    app: App,
    /// The set's ids by ours.
    ids: BTreeMap<String, String>,
    /// Just after the newest memory.
    end: DateTime<Utc>,
}

impl<'a> Stored<'a> {
    /// Stores each group of a set in a store of its own; with `maintained`, does what maintenance does
    /// for retrieval: duplicates, synonyms, the dictionary.
    ///
    /// # Errors
    /// When a store fails or refuses a memory.
    pub async fn new(
        set: &'a QuestionSet,
        settings: &Settings,
        switches: Switches,
        maintained: bool,
    ) -> anyhow::Result<Stored<'a>> {
        let folder = tempfile::tempdir()?;
        let run = new_id()?;
        let mut groups = BTreeMap::new();
        let mut in_redis = Vec::new();
        for (number, (name, memories)) in set.groups().into_iter().enumerate() {
            let mut settings = Settings {
                data_dir: folder.path().join(number.to_string()),
                ..settings.clone()
            };
            if let StoreChoice::Redis(options) = &mut settings.store {
                options.prefix.push_str(&format!("eval:{run}:{number}:"));
                in_redis.push(options.clone());
            }
            let mut group = Group::new(settings, switches, &memories).await?;
            if maintained {
                group.maintain().await?;
            }
            groups.insert(name, group);
        }
        Ok(Stored {
            set,
            groups,
            _folder: folder,
            in_redis,
        })
    }

    /// Deletes what was stored.
    ///
    /// # Errors
    /// When Redis fails.
    pub async fn discard(self) -> anyhow::Result<()> {
        drop(self.groups);
        for options in &self.in_redis {
            redis::erase::erase(options).await?;
        }
        Ok(())
    }

    /// Asks every question in a mode with these parts switched on.
    ///
    /// # Errors
    /// When a store fails.
    pub async fn ask(&self, switches: Switches, mode: Mode) -> anyhow::Result<Measured> {
        let (mut runs, mut context_chars) = (Vec::with_capacity(self.set.queries.len()), 0);
        for query in &self.set.queries {
            let group = self
                .groups
                .get(&query.group)
                .with_context(|| format!("query `{}` is of a group without memories", query.id))?;
            let mut app = group.app.clone();
            app.switches = switches;
            let now = query.date.unwrap_or(group.end);
            let found = search(&app, query, mode, now).await?;
            let ids: Vec<String> = found
                .into_iter()
                .filter_map(|id| group.ids.get(&id).cloned())
                .collect();
            context_chars += prefetched(&app, query, mode, now).await?;
            runs.push(QueryRun {
                query: query.id.clone(),
                category: query.category.clone(),
                scores: metrics::score(&ids, query),
                ids,
            });
        }
        let context_chars = context_chars as f64 / self.set.queries.len().max(1) as f64;
        Ok(Measured {
            runs,
            context_chars,
        })
    }
}

impl Group {
    async fn new(
        settings: Settings,
        switches: Switches,
        memories: &[&sets::LabelledMemory],
    ) -> anyhow::Result<Group> {
        let start = DateTime::UNIX_EPOCH;
        let newest = memories.iter().filter_map(|memory| memory.created).max();
        let end = newest.unwrap_or(start) + TimeDelta::seconds(1);
        let app = App::with_switches(settings, Clock::fixed(end), switches)?;
        let mut ids = BTreeMap::new();
        for chunk in memories.chunks(CHUNK) {
            let drafts = chunk.iter().map(|memory| draft(memory)).collect();
            let stored = write::add_all(&app, &Scope::owner(), drafts, end).await?;
            for (memory, stored) in chunk.iter().zip(stored) {
                ids.insert(
                    stored
                        .with_context(|| format!("memory `{}`", memory.id))?
                        .memory
                        .id
                        .to_string(),
                    memory.id.clone(),
                );
            }
        }
        Ok(Group { app, ids, end })
    }

    async fn maintain(&mut self) -> anyhow::Result<()> {
        for job in [Job::Dedup, Job::Synonyms, Job::Dictionary] {
            maintenance::run(&self.app, job, Options::default(), silent()).await?;
        }
        self.app = self.app.current();
        Ok(())
    }
}

fn draft(memory: &sets::LabelledMemory) -> Draft {
    Draft {
        content: memory.content.clone(),
        place: Place {
            session: memory.session.clone(),
            turn: memory.turn,
            document: None,
        },
        details: Details {
            tags: memory.tags.clone(),
            ..Details::default()
        },
        created_at: memory.created,
        ..Draft::default()
    }
}

async fn search(
    app: &App,
    query: &Labelled,
    mode: Mode,
    now: DateTime<Utc>,
) -> anyhow::Result<Vec<String>> {
    let request = request(query, DEPTH, mode);
    let answer = read::search(app, &Scope::owner(), &request, now).await?;
    Ok(answer
        .hits
        .into_iter()
        .map(|hit| hit.memory.id.to_string())
        .collect())
}

async fn prefetched(
    app: &App,
    query: &Labelled,
    mode: Mode,
    now: DateTime<Utc>,
) -> anyhow::Result<usize> {
    let answer = read::prefetch(
        app,
        &Scope::owner(),
        &request(query, app.settings.top_k, mode),
        now,
    )
    .await?;
    Ok(
        context::render(&answer.hits, app.settings.max_context_chars)
            .0
            .chars()
            .count(),
    )
}

fn request(query: &Labelled, top_k: usize, mode: Mode) -> Request {
    Request {
        query: query.text.clone(),
        top_k,
        filters: Filters::default(),
        mode,
        min_score: None,
        explain: None,
        ..Request::default()
    }
}

/// Writes a run as `score.py` reads it: `{"qid", "ids"}`, one a line.
///
/// # Errors
/// When the file cannot be written.
pub fn write_run(file: &Path, runs: &[QueryRun]) -> anyhow::Result<()> {
    let lines: String = runs
        .iter()
        .map(|run| {
            format!(
                "{}\n",
                serde_json::json!({"qid": run.query, "ids": run.ids})
            )
        })
        .collect();
    std::fs::write(file, lines).with_context(|| format!("cannot write `{}`", file.display()))
}
