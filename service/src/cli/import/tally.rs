//! What became of the entries of an import, and how it is told.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::entry::Place;
use crate::cli::printer::Page;
use crate::cli::tables;
use crate::cli::text::fitted;

/// Skipped entries that are told one by one, to people and in JSON.
const MOST_TOLD: usize = 20;
const MOST_REMEMBERED: usize = 1_000;
/// Entries that a dry run shows.
const MOST_PREVIEWED: usize = 10;

/// What became of the entries.
#[derive(Default)]
pub(super) struct Tally {
    /// The file that is read.
    pub file: String,
    pub created: u64,
    pub updated: u64,
    pub unchanged: u64,
    /// Counters and synonyms of an export.
    pub restored: u64,
    pub skipped: u64,
    refused: Vec<Value>,
    pub kept_in_metadata: BTreeMap<String, u64>,
    previewed: Vec<Value>,
}

impl Tally {
    pub(super) fn skip(&mut self, place: Place, reason: String) {
        self.skipped += 1;
        if self.refused.len() < MOST_REMEMBERED {
            self.refused
                .push(json!({"file": self.file, "line": place, "reason": reason}));
        }
    }

    pub(super) fn preview(&mut self, new: impl ExactSizeIterator<Item = Map<String, Value>>) {
        self.created += new.len() as u64;
        let room = MOST_PREVIEWED.saturating_sub(self.previewed.len());
        self.previewed.extend(new.take(room).map(Value::from));
    }

    pub(super) fn answer(&self, dry_run: bool) -> Value {
        // Lines that cannot be read are known before those that the store refuses.
        let mut refused = self.refused.clone();
        for of_file in refused.chunk_by_mut(|one, next| one["file"] == next["file"]) {
            of_file.sort_by_key(|refused| refused["line"].as_u64());
        }
        json!({
            "dry_run": dry_run, "created": self.created, "updated": self.updated, "unchanged": self.unchanged,
            "restored": self.restored, "skipped": self.skipped, "refused": refused, "kept_in_metadata": self.kept_in_metadata,
            "preview": self.previewed,
        })
    }
}

/// The answer in words.
pub(super) fn shown(answer: &Value, name_files: bool, page: Page) -> String {
    let mut shown = String::new();
    let previewed = tables::list(&answer["preview"]);
    for memory in previewed {
        let day = tables::text(&memory["created_at"])
            .get(..10)
            .unwrap_or("          ");
        let content = fitted(
            tables::text(&memory["content"]),
            page.columns.saturating_sub(12),
        );
        shown.push_str(&format!("{}  {content}\n", page.dim(day)));
    }
    let count = |name: &str| answer[name].as_u64().unwrap_or_default();
    let more = count("created").saturating_sub(previewed.len() as u64);
    if more > 0 && !previewed.is_empty() {
        shown.push_str(&format!("… and {more} more\n"));
    }
    let created = match answer["dry_run"] == true {
        true => "would be sent, nothing was stored",
        false => "created",
    };
    shown.push_str(&format!(
        "{} {created}, {} updated, {} already there, {} skipped\n",
        count("created"),
        count("updated"),
        count("unchanged"),
        count("skipped"),
    ));
    if count("restored") > 0 {
        shown.push_str(&format!(
            "{} counters and synonyms restored\n",
            count("restored")
        ));
    }
    let refused = tables::list(&answer["refused"]);
    for refused in refused.iter().take(MOST_TOLD) {
        let file = match name_files {
            true => format!("{}, ", tables::text(&refused["file"])),
            false => String::new(),
        };
        let reason = tables::text(&refused["reason"]);
        shown.push_str(&format!(
            "{file}line {} skipped: {reason}\n",
            refused["line"]
        ));
    }
    let told = refused.len().min(MOST_TOLD) as u64;
    if count("skipped") > told {
        shown.push_str(&format!("… and {} more\n", count("skipped") - told));
    }
    for (field, count) in answer["kept_in_metadata"].as_object().into_iter().flatten() {
        shown.push_str(&format!(
            "unknown field `{field}` of {count} entries kept in the metadata\n"
        ));
    }
    shown
}
