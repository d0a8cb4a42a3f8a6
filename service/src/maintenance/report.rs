//! What a job did, and why.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value, json};

use super::Job;

/// Most items that a report lists.
pub const MOST_ITEMS: usize = 1_000;

/// One thing that was done, or would be.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The memory, or the word.
    pub id: String,
    pub action: &'static str,
    /// What it was done for: the memory that stays, the other word.
    pub other_id: Option<String>,
    pub reasons: Vec<String>,
}

/// The answer of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub job: Job,
    pub dry_run: bool,
    pub started_at: DateTime<Utc>,
    pub finished_at: DateTime<Utc>,
    pub examined: u64,
    /// In a dry run 0.
    pub changed: u64,
    /// Changes that were made, or in a dry run would be.
    pub planned: u64,
    /// The first [`MOST_ITEMS`].
    pub items: Vec<Item>,
    /// What only this job tells, by name.
    pub further: Map<String, Value>,
}

impl Report {
    /// The answer as programs read it.
    pub fn to_json(&self) -> Value {
        let time = |time: DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::AutoSi, true);
        let items: Vec<Value> = self.items.iter().map(item).collect();
        let mut answer = json!({
            "job": self.job.name(),
            "dry_run": self.dry_run,
            "started_at": time(self.started_at),
            "finished_at": time(self.finished_at),
            "examined": self.examined,
            "changed": self.changed,
            "planned": self.planned,
            "items": items,
        });
        if let Value::Object(fields) = &mut answer {
            fields.extend(self.further.clone());
        }
        answer
    }

    /// Whether nothing was done, nor would be.
    pub fn is_idle(&self) -> bool {
        self.changed == 0 && self.items.is_empty()
    }
}

fn item(item: &Item) -> Value {
    let mut fields = json!({"id": item.id, "action": item.action});
    if let Some(other) = &item.other_id {
        fields["other_id"] = json!(other);
    }
    fields["reasons"] = json!(item.reasons);
    fields
}
