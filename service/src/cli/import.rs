//! `keepsake import`: NDJSON or plain text, in bounded memory, with what was skipped and why.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::PathBuf;

use anyhow::Context;
use chrono::{NaiveDate, NaiveDateTime};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};

use super::client::Client;
use super::printer::Printer;

/// Lines sent together.
const CHUNK: usize = 500;
/// Refused lines that are told one by one.
const MOST_TOLD: usize = 20;
/// Fields that a memory may have; what a line holds besides is kept in its metadata.
const KNOWN: [&str; 32] = [
    "id",
    "key",
    "content",
    "tags",
    "shared",
    "category",
    "source",
    "entry_type",
    "agent_id",
    "namespace",
    "is_primary",
    "session",
    "turn",
    "document",
    "created_at",
    "updated_at",
    "reinforced_at",
    "invalid_at",
    "corrected_at",
    "trashed_at",
    "state",
    "pinned",
    "mentions",
    "feedback",
    "level",
    "entities",
    "keywords",
    "emotion",
    "links",
    "metadata",
    "supersedes",
    "counted",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One JSON object a line; with an `id` it is put back, without one it is added
    Ndjson,
    /// One memory a line
    Text,
}

#[derive(Debug, Args)]
pub(super) struct Import {
    /// The file; `-` reads standard input
    file: PathBuf,
    /// What it holds; by default NDJSON for names in .ndjson, .jsonl and .json, else text
    #[arg(long)]
    format: Option<Format>,
}

/// What became of the lines.
#[derive(Default)]
struct Tally {
    created: u64,
    reinforced: u64,
    updated: u64,
    unchanged: u64,
    refused: Vec<(usize, String)>,
    kept_in_metadata: BTreeMap<String, u64>,
}

impl Import {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<()> {
        let format = self.format.unwrap_or_else(|| {
            match self.file.extension().and_then(|ending| ending.to_str()) {
                Some("ndjson" | "jsonl" | "json") => Format::Ndjson,
                _ => Format::Text,
            }
        });
        let (reader, progress) = self.open()?;
        let mut reader = BufReader::new(reader);
        let mut tally = Tally::default();
        let (mut number, mut line) = (0, Vec::new());
        let mut adds: Vec<(usize, Value)> = Vec::new();
        let mut puts: Vec<(usize, Value)> = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            number += 1;
            match parse(&line, format, &mut tally.kept_in_metadata) {
                Ok(None) => {}
                Ok(Some(line)) if line.get("id").is_some() || is_counter(&line) => {
                    puts.push((number, line));
                }
                Ok(Some(memory)) => adds.push((number, memory)),
                Err(reason) => tally.refused.push((number, reason)),
            }
            progress.inc(line.len() as u64);
            line.clear();
            if adds.len() >= CHUNK {
                tally.add(client, std::mem::take(&mut adds)).await?;
            }
            if puts.len() >= CHUNK {
                tally.put(client, std::mem::take(&mut puts)).await?;
            }
        }
        tally.add(client, adds).await?;
        tally.put(client, puts).await?;
        progress.finish_and_clear();
        tally.print(printer)
    }

    fn open(&self) -> anyhow::Result<(Box<dyn Read>, ProgressBar)> {
        if self.file.as_os_str() == "-" {
            return Ok((Box::new(std::io::stdin()), ProgressBar::hidden()));
        }
        let file = File::open(&self.file)
            .with_context(|| format!("cannot read `{}`", self.file.display()))?;
        let progress = if std::io::stderr().is_terminal() {
            ProgressBar::new(file.metadata()?.len())
        } else {
            ProgressBar::hidden()
        };
        let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {eta}")?;
        Ok((Box::new(file), progress.with_style(style)))
    }
}

impl Tally {
    async fn add(&mut self, client: &Client, items: Vec<(usize, Value)>) -> anyhow::Result<()> {
        if items.is_empty() {
            return Ok(());
        }
        let answer = client
            .send_lines("/v1/memories/batch", lines(&items)?)
            .await?;
        for (result, (number, _)) in answer
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .zip(&items)
        {
            let result: Value = serde_json::from_slice(result)?;
            match result["status"].as_u64() {
                Some(201) => self.created += 1,
                Some(200) => self.reinforced += 1,
                _ => self.refused.push((*number, detail(&result["problem"]))),
            }
        }
        Ok(())
    }

    async fn put(&mut self, client: &Client, items: Vec<(usize, Value)>) -> anyhow::Result<()> {
        if items.is_empty() {
            return Ok(());
        }
        let answer: Value =
            serde_json::from_slice(&client.send_lines("/v1/import", lines(&items)?).await?)?;
        let count = |name: &str| answer[name].as_u64().unwrap_or_default();
        self.created += count("created");
        self.updated += count("updated");
        self.unchanged += count("unchanged");
        for refused in answer["refused"].as_array().into_iter().flatten() {
            let number = refused["line"]
                .as_u64()
                .and_then(|line| items.get(usize::try_from(line).ok()?.checked_sub(1)?))
                .map_or(0, |(number, _)| *number);
            self.refused.push((number, detail(&refused["problem"])));
        }
        Ok(())
    }

    fn print(&self, printer: &Printer) -> anyhow::Result<()> {
        let refused: Vec<Value> = self
            .refused
            .iter()
            .map(|(line, reason)| json!({"line": line, "reason": reason}))
            .collect();
        let answer = json!({
            "created": self.created, "reinforced": self.reinforced, "updated": self.updated, "unchanged": self.unchanged,
            "refused": refused, "kept_in_metadata": self.kept_in_metadata,
        });
        printer.answer(&answer, |_| {
            let mut shown = format!(
                "{} created, {} reinforced, {} updated, {} unchanged, {} skipped\n",
                self.created,
                self.reinforced,
                self.updated,
                self.unchanged,
                self.refused.len()
            );
            for (line, reason) in self.refused.iter().take(MOST_TOLD) {
                shown.push_str(&format!("line {line} skipped: {reason}\n"));
            }
            if self.refused.len() > MOST_TOLD {
                shown.push_str(&format!("… and {} more\n", self.refused.len() - MOST_TOLD));
            }
            for (field, count) in &self.kept_in_metadata {
                shown.push_str(&format!(
                    "unknown field `{field}` of {count} lines kept in the metadata\n"
                ));
            }
            shown
        })
    }
}

fn detail(problem: &Value) -> String {
    problem["detail"].as_str().unwrap_or("refused").to_owned()
}

fn lines(items: &[(usize, Value)]) -> anyhow::Result<Vec<u8>> {
    let mut lines = Vec::new();
    for (_, item) in items {
        serde_json::to_writer(&mut lines, item)?;
        lines.push(b'\n');
    }
    Ok(lines)
}

/// The memory that a line stands for; `None` for a blank one.
fn parse(
    line: &[u8],
    format: Format,
    kept: &mut BTreeMap<String, u64>,
) -> Result<Option<Value>, String> {
    let text = std::str::from_utf8(line)
        .map_err(|_| "is not valid UTF-8".to_owned())?
        .trim();
    if text.is_empty() {
        return Ok(None);
    }
    if format == Format::Text {
        return Ok(Some(json!({"content": text})));
    }
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("is not valid JSON: {error}"))?;
    if is_counter(&value) {
        return Ok(Some(value));
    }
    let Value::Object(object) = value else {
        return Err("is not a JSON object".to_owned());
    };
    Ok(Some(Value::Object(adopt(object, kept))))
}

/// Whether a line is one of an export's counters, which are put back as they are.
fn is_counter(line: &Value) -> bool {
    line.get("kind").is_some() && line.get("content").is_none()
}

/// Reads what other tools write: `created` for `created_at`, days and times without a zone (taken as
/// UTC). Fields that a memory does not have go to its metadata.
fn adopt(object: Map<String, Value>, kept: &mut BTreeMap<String, u64>) -> Map<String, Value> {
    let mut memory = Map::new();
    let mut metadata = Map::new();
    for (name, value) in object {
        match name.as_str() {
            "created" | "created_at" => {
                let time = value.as_str().and_then(utc).map_or(value, Value::from);
                memory.insert("created_at".to_owned(), time);
            }
            known if KNOWN.contains(&known) => {
                memory.insert(name, value);
            }
            _ => {
                *kept.entry(name.clone()).or_default() += 1;
                metadata.insert(name, value);
            }
        }
    }
    if !metadata.is_empty() {
        if let Some(Value::Object(own)) = memory.get("metadata") {
            metadata.extend(own.clone());
        }
        memory.insert("metadata".to_owned(), Value::Object(metadata));
    }
    memory
}

/// A day, or a time without a zone, in RFC 3339.
fn utc(text: &str) -> Option<String> {
    let time = text
        .parse::<NaiveDateTime>()
        .ok()
        .or_else(|| text.parse::<NaiveDate>().ok()?.and_hms_opt(0, 0, 0))?;
    Some(time.and_utc().to_rfc3339())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_other_tools_are_understood() {
        let mut kept = BTreeMap::new();
        let line = br#"{"content": "x", "created": "2023-05-08T13:56:00", "group": "g", "metadata": {"page": 1}}"#;
        let memory = parse(line, Format::Ndjson, &mut kept).unwrap().unwrap();
        assert_eq!(
            memory,
            json!({"content": "x", "created_at": "2023-05-08T13:56:00+00:00", "metadata": {"group": "g", "page": 1}})
        );
        assert_eq!(kept["group"], 1);
        assert!(parse(b"  \n", Format::Ndjson, &mut kept).unwrap().is_none());
        assert!(parse(b"[1]", Format::Ndjson, &mut kept).is_err());
        assert!(parse(b"\xff", Format::Text, &mut kept).is_err());
    }
}
