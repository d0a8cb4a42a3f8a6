//! Question sets as files: `memories.jsonl` and `queries.jsonl` in a folder.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Memories and the questions asked of them.
pub struct QuestionSet {
    /// Such as `locomo-en`.
    pub name: String,
    pub memories: Vec<LabelledMemory>,
    pub queries: Vec<Labelled>,
}

/// A memory of a set.
#[derive(Debug, Deserialize)]
pub struct LabelledMemory {
    pub id: String,
    pub content: String,
    #[serde(default, deserialize_with = "time")]
    pub created: Option<DateTime<Utc>>,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default)]
    pub group: String,
    pub session: Option<String>,
    pub turn: Option<i64>,
}

/// A question with the memories that should come back.
#[derive(Debug, Deserialize)]
pub struct Labelled {
    pub id: String,
    pub text: String,
    pub relevant: HashSet<String>,
    /// Taken out of a ranking before ranks are counted.
    #[serde(default)]
    pub ignore: HashSet<String>,
    pub category: Option<String>,
    #[serde(default)]
    pub group: String,
    /// When it is asked.
    #[serde(default, deserialize_with = "time")]
    pub date: Option<DateTime<Utc>>,
}

impl QuestionSet {
    /// The memories of each group.
    pub fn groups(&self) -> BTreeMap<String, Vec<&LabelledMemory>> {
        let mut groups: BTreeMap<String, Vec<&LabelledMemory>> = BTreeMap::new();
        for memory in &self.memories {
            groups.entry(memory.group.clone()).or_default().push(memory);
        }
        groups
    }
}

/// Loads every set below a folder: those of `<set>/dev`, or `<set>` itself where there are no halves.
///
/// # Errors
/// When there is none, or a file cannot be read.
pub fn load_all(folder: &Path) -> anyhow::Result<Vec<QuestionSet>> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read the folder `{}`", folder.display()))?;
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    folders.push(folder.to_owned());
    folders.sort();
    let mut sets = Vec::new();
    for path in folders {
        let found = [path.join("dev"), path.clone()]
            .into_iter()
            .find(|path| path.join("queries.jsonl").is_file());
        if let Some(found) = found {
            let name = path.file_name().map_or_else(
                || "set".to_owned(),
                |name| name.to_string_lossy().into_owned(),
            );
            sets.push(QuestionSet {
                name,
                memories: lines(&found.join("memories.jsonl"))?,
                queries: lines(&found.join("queries.jsonl"))?,
            });
        }
    }
    if sets.is_empty() {
        bail!(
            "`{}` holds no question set\nhint: a set is a folder with memories.jsonl and queries.jsonl",
            folder.display()
        );
    }
    Ok(sets)
}

/// Reads one JSON value a line.
///
/// # Errors
/// When the file cannot be read or a line is not what it should be.
pub fn lines<T: DeserializeOwned>(file: &Path) -> anyhow::Result<Vec<T>> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("cannot read `{}`", file.display()))?;
    let numbered = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    numbered
        .map(|(index, line)| {
            serde_json::from_str(line)
                .with_context(|| format!("`{}`, line {}", file.display(), index + 1))
        })
        .collect()
}

/// A day or a time without a zone.
fn time<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<DateTime<Utc>>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let time = text
        .parse::<NaiveDateTime>()
        .ok()
        .or_else(|| text.parse::<NaiveDate>().ok()?.and_hms_opt(0, 0, 0));
    time.map(|time| Some(time.and_utc()))
        .ok_or_else(|| serde::de::Error::custom(format!("`{text}` is no time")))
}
