//! `keepsake copy`: everything of one store into another.
//!
//! Each memory is put in as it is, or left alone if what is there is as new; each counter keeps the
//! larger number; a record that is there already stays. So copying again after an interruption goes on where it was needed.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use indicatif::ProgressBar;
use serde_json::json;

use super::printer::{Printer, progress};
use super::{Global, Outcome, flags, settings};
use crate::analysis::{Analyser, Ingredients};
use crate::config::{Environment, StoreChoice};
use crate::memory::Memory;
use crate::store::embedded::EmbeddedStore;
use crate::store::redis::RedisStore;
use crate::store::redis::adoption::Adoption;
use crate::store::redis::options::RedisOptions;
use crate::store::{Import, Imported, Store};

/// Memories and counters that are copied in one step.
const BATCH: usize = 200;

#[derive(Debug, Args)]
pub(super) struct Copy {
    /// Store to read: a folder, the address of a Redis, or `configured`
    #[arg(long, value_name = "STORE")]
    from: String,
    /// Store to write, likewise
    #[arg(long, value_name = "STORE")]
    to: String,
    /// Prefix of the keys in a Redis that is given by its address
    #[arg(long, value_name = "PREFIX", default_value = "")]
    prefix: String,
}

impl Copy {
    pub(super) async fn run(
        self,
        global: &Global,
        environment: &Environment,
        printer: &Printer,
    ) -> anyhow::Result<Outcome> {
        if self.from == self.to {
            anyhow::bail!("`--from` and `--to` are the same store");
        }
        let (from, to) = (
            self.open(&self.from, global, environment).await?,
            self.open(&self.to, global, environment).await?,
        );
        let progress = progress(None, "copied")?;
        let copied = copy(&*from, &*to, &progress).await?;
        progress.finish_and_clear();
        let answer = json!({
            "created": copied.created, "updated": copied.updated, "unchanged": copied.unchanged,
            "counters": copied.counters, "records": copied.records, "refused": copied.refused,
        });
        let refusals = copied.refused.len();
        printer.answer(&answer, |_, _| {
            let mut text = format!(
                "copied {} memories ({} new, {} newer, {} there already), {} counters and {} records",
                copied.created + copied.updated + copied.unchanged,
                copied.created,
                copied.updated,
                copied.unchanged,
                copied.counters,
                copied.records
            );
            for (id, reason) in &copied.refused {
                text.push_str(&format!("\nnot copied: {id}: {reason}"));
            }
            text + "\n"
        })?;
        if refusals > 0 {
            anyhow::bail!("{refusals} memories were not copied");
        }
        Ok(Outcome::Done)
    }

    async fn open(
        &self,
        place: &str,
        global: &Global,
        environment: &Environment,
    ) -> anyhow::Result<Arc<dyn Store>> {
        let choice = if place == "configured" {
            let settings = settings(&flags(global), environment)?;
            match settings.store {
                StoreChoice::Embedded => return embedded(settings.data_dir),
                choice => choice,
            }
        } else if place.contains("://") {
            StoreChoice::Redis(RedisOptions {
                prefix: self.prefix.clone(),
                ..RedisOptions::new(place)
            })
        } else {
            return embedded(PathBuf::from(place));
        };
        let StoreChoice::Redis(options) = choice else {
            anyhow::bail!("`{place}` names no store");
        };
        let settings = settings(&flags(global), environment)?;
        let adoption = Adoption {
            analyser: Analyser::new(&settings.user_entities, Ingredients::default()),
            attention: (
                settings.attention_base_increment,
                settings.attention_emotion_factor,
            ),
        };
        let store = RedisStore::new(&options, adoption)?;
        store.adopt().await?;
        Ok(Arc::new(store))
    }
}

fn embedded(folder: PathBuf) -> anyhow::Result<Arc<dyn Store>> {
    Ok(Arc::new(EmbeddedStore::open(&folder)?))
}

/// A memory as it is put in: its counters are copied themselves, and its vector is made again.
fn uncounted(memory: Memory) -> Import {
    Import {
        memory,
        vector: None,
        attention: None,
    }
}

#[derive(Debug, Default)]
struct Copied {
    created: usize,
    updated: usize,
    unchanged: usize,
    counters: usize,
    records: usize,
    /// Ids that were refused, with the reason.
    refused: Vec<(String, &'static str)>,
}

async fn copy(from: &dyn Store, to: &dyn Store, progress: &ProgressBar) -> anyhow::Result<Copied> {
    let mut copied = Copied::default();
    let mut after = None;
    loop {
        let batch = from.scan(after.as_ref(), BATCH).await.context("reading")?;
        let Some(last) = batch.last() else { break };
        after = Some(last.id.clone());
        let ids: Vec<String> = batch.iter().map(|memory| memory.id.to_string()).collect();
        let batch = batch.into_iter().map(uncounted).collect();
        let outcomes = to.import(batch).await.context("writing")?;
        for (id, outcome) in ids.into_iter().zip(outcomes) {
            match outcome {
                Imported::Created => copied.created += 1,
                Imported::Updated => copied.updated += 1,
                Imported::Unchanged => copied.unchanged += 1,
                Imported::Refused(reason) => copied.refused.push((id, reason)),
            }
            progress.inc(1);
        }
    }
    let mut after = None;
    loop {
        let batch = from
            .scan_counters(after.as_ref(), BATCH)
            .await
            .context("reading")?;
        let Some(last) = batch.last() else { break };
        after = Some(last.clone());
        copied.counters += batch.len();
        progress.inc(batch.len() as u64);
        to.restore_counters(batch).await.context("writing")?;
    }
    for (kind, namespace) in from.record_places().await.context("reading")? {
        copied.records += copy_records(from, to, &kind, &namespace, progress).await?;
    }
    Ok(copied)
}

/// The records of a kind and namespace, the oldest put first, so that they keep their order.
async fn copy_records(
    from: &dyn Store,
    to: &dyn Store,
    kind: &str,
    namespace: &str,
    progress: &ProgressBar,
) -> anyhow::Result<usize> {
    let mut records = Vec::new();
    loop {
        let page = from.records(kind, namespace, records.len(), BATCH).await;
        let page = page.context("reading")?;
        if page.is_empty() {
            break;
        }
        records.extend(page);
    }
    let count = records.len();
    for record in records.into_iter().rev() {
        let there = to.record(kind, namespace, &record.key).await;
        if there.context("writing")?.is_none() {
            let put = to.put_record(kind, namespace, record, None).await;
            put.context("writing")?;
        }
        progress.inc(1);
    }
    Ok(count)
}
