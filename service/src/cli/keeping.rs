//! `keepsake backup` and `keepsake reindex`: looking after the folder of the embedded store.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::printer::{Printer, progress};
use super::{Global, Outcome, flags, settings};
use crate::config::{Environment, Settings, StoreChoice};
use crate::meaning::{Backfilled, Meaning};
use crate::store::embedded::{Backup, EmbeddedStore};

/// How often progress is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Settings of an embedded store: what is in Redis is looked after there.
fn on_a_folder(settings: Settings) -> anyhow::Result<Settings> {
    match &settings.store {
        StoreChoice::Embedded => Ok(settings),
        StoreChoice::Redis(options) => anyhow::bail!(
            "memories are kept in Redis ({}), which has its own backups and makes its index anew when someone drops it\nhint: `keepsake copy --from configured --to DIR` copies them into a folder",
            options.place()
        ),
    }
}

#[derive(Debug, Args)]
pub(super) struct BackupTo {
    /// New folder for the copy; it is a data folder itself
    #[arg(value_name = "DIR")]
    to: PathBuf,
}

impl BackupTo {
    pub(super) async fn run(
        self,
        global: &Global,
        environment: &Environment,
        printer: &Printer,
    ) -> anyhow::Result<Outcome> {
        let settings = on_a_folder(settings(&flags(global), environment)?)?;
        let backup = Backup::prepare(&settings.data_dir, &self.to)?;
        let progress = progress(Some(backup.size()), "bytes")?;
        let partial = backup.partial();
        let mut copying = tokio::task::spawn_blocking(move || backup.copy());
        let size = loop {
            tokio::select! {
                made = &mut copying => break made??,
                () = tokio::time::sleep(LOOK) => {
                    progress.set_position(partial.metadata().map_or(0, |file| file.len()));
                }
            }
        };
        progress.finish_and_clear();
        let folder = self.to.display().to_string();
        printer.answer(&json!({"folder": folder, "bytes": size}), |_, _| {
            format!("{size} bytes in {folder}\nuse it with --data-dir {folder}")
        })?;
        Ok(Outcome::Done)
    }
}

#[derive(Debug, Args)]
pub(super) struct Reindex {}

impl Reindex {
    pub(super) async fn run(
        self,
        global: &Global,
        environment: &Environment,
        printer: &Printer,
    ) -> anyhow::Result<Outcome> {
        let settings = on_a_folder(settings(&flags(global), environment)?)?;
        let store = EmbeddedStore::open(&settings.data_dir)?;
        store.reindex().await?;
        store.want_index();
        let progress = progress(Some(0), "changes")?;
        let last = loop {
            tokio::time::sleep(LOOK).await;
            let state = store.index_state().await?;
            progress.set_length(state.last.unsigned_abs());
            progress.set_position(state.covered.unsigned_abs());
            if state.is_current() {
                break state.last;
            }
        };
        progress.finish_and_clear();
        let embedder = settings.open_embedder()?;
        let (mut done, mut counts) = (Backfilled::default(), (0, 0));
        if let Some(embedder) = embedder {
            let meaning = Meaning::new(embedder);
            done = meaning.backfill(&store).await?;
            counts = meaning.counts(&store).await?;
        }
        let answer = json!({
            "changes": last, "examined": done.examined, "changed": done.changed,
            "with_vector": counts.0, "without_vector": counts.1,
        });
        printer.answer(&answer, |_, _| {
            format!(
                "the index was made anew and covers all {last} changes\n{} memories had no vector, {} of them were done; now {} have one and {} have none",
                done.examined, done.changed, counts.0, counts.1
            )
        })?;
        Ok(Outcome::Done)
    }
}
