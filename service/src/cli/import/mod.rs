//! `keepsake import`: memories from files of several kinds, in bounded memory, with what was skipped
//! and why. Importing again changes nothing: an entry without an id gets one made of its content, and
//! what is there under that id is left alone.

mod entry;
mod hermes;
mod lines;
mod retinue;

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use chrono::{DateTime, Utc};
use clap::{Args, ValueEnum};
use futures_util::{StreamExt, TryStreamExt, stream};
use indicatif::ProgressBar;
use serde_json::{Map, Value, json};

use super::client::{Client, failure};
use super::printer::{Page, Printer, progress};
use super::text::fitted;
use super::{Outcome, tables};
use entry::{Entry, Place, derived_id};
use lines::LineReader;

/// Entries and bytes of content sent together: whichever is reached first.
const CHUNK: usize = 500;
const CHUNK_BYTES: usize = 4 * 1024 * 1024;
/// Questions whether an entry is there that are under way at once.
const QUESTIONS: usize = 16;
/// Skipped entries that are told one by one, to people and in JSON.
const MOST_TOLD: usize = 20;
const MOST_REMEMBERED: usize = 1_000;
/// Entries that a dry run shows.
const MOST_PREVIEWED: usize = 10;
/// How the service refuses an entry whose content a memory with another id has.
const SAME_CONTENT: &str = "same content";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// What the file looks like
    #[default]
    Auto,
    /// One JSON object a line
    Ndjson,
    /// MEMORY.md or USER.md: entries parted by lines with a section sign
    Hermes,
    /// A Retinue SQLite database
    Retinue,
    /// One memory a line
    Text,
}

#[derive(Debug, Args)]
pub(super) struct Import {
    /// The files; `-` reads standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What they hold
    #[arg(long, default_value = "auto")]
    format: Format,
    /// Store nothing, show what would be stored
    #[arg(long)]
    dry_run: bool,
}

impl Import {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<Outcome> {
        let mut run = Run {
            client,
            dry_run: self.dry_run,
            seen: HashSet::new(),
            waiting: Vec::new(),
            waiting_bytes: 0,
            tally: Tally::default(),
        };
        for path in &self.files {
            run.tally.file = path.display().to_string();
            run.file(path, self.format)
                .await
                .with_context(|| format!("cannot import `{}`", path.display()))?;
        }
        let tally = run.tally;
        printer.answer(&tally.answer(self.dry_run), |answer, page| {
            shown(answer, self.files.len() > 1, page)
        })?;
        let nothing = tally.created + tally.updated + tally.unchanged + tally.restored == 0;
        anyhow::ensure!(!nothing || tally.skipped == 0, "nothing was imported");
        Ok(Outcome::Done)
    }
}

/// One import, of all its files.
struct Run<'a> {
    client: &'a Client,
    dry_run: bool,
    /// Ids made of contents in this run.
    seen: HashSet<String>,
    waiting: Vec<(Place, Map<String, Value>)>,
    waiting_bytes: usize,
    tally: Tally,
}

impl Run<'_> {
    async fn file(&mut self, path: &Path, format: Format) -> anyhow::Result<()> {
        let (mut reader, size, modified) = open(path)?;
        let format = match format {
            Format::Auto => guess(path, reader.fill_buf()?),
            given => given,
        };
        let created_at = modified.map(|time| Value::from(time.to_rfc3339()));
        match format {
            Format::Retinue => {
                drop(reader);
                let entries = retinue::entries(path, &mut self.tally.kept_in_metadata)?;
                self.all(entries, None).await
            }
            Format::Hermes => {
                let mut text = String::new();
                reader.read_to_string(&mut text)?;
                self.all(hermes::entries(&text, category(path)), created_at)
                    .await
            }
            Format::Ndjson | Format::Text | Format::Auto => {
                self.lines(reader, size, format, created_at).await
            }
        }
    }

    /// Entries that are in memory already.
    async fn all(&mut self, entries: Vec<Entry>, created_at: Option<Value>) -> anyhow::Result<()> {
        let progress = progress(Some(entries.len() as u64), "entries")?;
        for entry in entries {
            self.take(entry, created_at.as_ref()).await?;
            progress.inc(1);
        }
        progress.finish_and_clear();
        self.flush().await
    }

    async fn lines(
        &mut self,
        reader: impl BufRead,
        size: Option<u64>,
        format: Format,
        created_at: Option<Value>,
    ) -> anyhow::Result<()> {
        let progress = match size {
            Some(size) => progress(Some(size), "bytes")?,
            None => ProgressBar::hidden(),
        };
        let mut lines = LineReader::new(reader);
        while let Some((place, line, length)) = lines.next()? {
            let entry = match format {
                Format::Ndjson => lines::ndjson(place, line, &mut self.tally.kept_in_metadata),
                _ => lines::text(place, line),
            };
            // A line of NDJSON says itself when it is from.
            let created_at = created_at.as_ref().filter(|_| format != Format::Ndjson);
            if let Some(entry) = entry {
                self.take(entry, created_at).await?;
            }
            progress.inc(length);
        }
        progress.finish_and_clear();
        self.flush().await
    }

    /// Takes one entry; sends what waits if that is enough.
    async fn take(&mut self, entry: Entry, created_at: Option<&Value>) -> anyhow::Result<()> {
        match entry.memory {
            Ok(mut memory) => {
                if let Some(time) = created_at {
                    memory.entry("created_at").or_insert_with(|| time.clone());
                }
                self.waiting_bytes += memory
                    .get("content")
                    .and_then(Value::as_str)
                    .map_or(0, str::len);
                self.waiting.push((entry.place, memory));
            }
            Err(reason) => self.tally.skip(entry.place, reason),
        }
        if self.waiting.len() >= CHUNK || self.waiting_bytes >= CHUNK_BYTES {
            self.flush().await?;
        }
        Ok(())
    }

    /// Sends what waits and is not there yet.
    async fn flush(&mut self) -> anyhow::Result<()> {
        self.waiting_bytes = 0;
        let waiting = std::mem::take(&mut self.waiting);
        let mut new = Vec::with_capacity(waiting.len());
        let mut unsure = Vec::new();
        for (place, mut memory) in waiting {
            if lines::is_counter(&memory) {
                new.push((place, memory, Named::ByTheFile));
            } else if !memory.get("content").is_some_and(Value::is_string) {
                self.tally.skip(place, "has no content".to_owned());
            } else if memory.contains_key("id") {
                new.push((place, memory, Named::ByTheFile));
            } else {
                let id = derived_id(&memory, self.client.identity());
                if self.seen.insert(id.clone()) {
                    memory.insert("id".to_owned(), Value::from(id));
                    unsure.push((place, memory, Named::ByUs));
                } else {
                    self.tally.unchanged += 1;
                }
            }
        }
        let client = self.client;
        let asked = stream::iter(unsure).map(|(place, memory, named)| async move {
            let there = is_there(client, &memory).await?;
            anyhow::Ok(((place, memory, named), there))
        });
        let asked: Vec<_> = asked.buffered(QUESTIONS).try_collect().await?;
        for (entry, there) in asked {
            match there {
                true => self.tally.unchanged += 1,
                false => new.push(entry),
            }
        }
        new.sort_by_key(|(place, ..)| *place);
        match self.dry_run {
            true => self.tally.preview(new),
            false => self.put(new).await?,
        }
        Ok(())
    }

    async fn put(&mut self, new: Vec<(Place, Map<String, Value>, Named)>) -> anyhow::Result<()> {
        if new.is_empty() {
            return Ok(());
        }
        let mut lines = Vec::new();
        for (_, memory, _) in &new {
            serde_json::to_writer(&mut lines, memory)?;
            lines.push(b'\n');
        }
        let answer = self.client.send_lines("/v1/import", lines).await?;
        let count = |name: &str| answer[name].as_u64().unwrap_or_default();
        self.tally.created += count("created");
        self.tally.updated += count("updated");
        self.tally.unchanged += count("unchanged");
        self.tally.restored += count("restored");
        for refused in tables::list(&answer["refused"]) {
            let line = refused["line"]
                .as_u64()
                .and_then(|line| usize::try_from(line).ok());
            let Some((place, _, named)) = line.and_then(|line| new.get(line.checked_sub(1)?))
            else {
                continue;
            };
            let reason = refused["problem"]["detail"].as_str().unwrap_or("refused");
            // The id is ours, so the content is all that the entry says: it is there.
            if *named == Named::ByUs && reason.contains(SAME_CONTENT) {
                self.tally.unchanged += 1;
            } else {
                self.tally.skip(*place, reason.to_owned());
            }
        }
        Ok(())
    }
}

/// Who gave an entry its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    ByTheFile,
    ByUs,
}

/// Whether a memory with the id of an entry is there, in whatever state.
async fn is_there(client: &Client, memory: &Map<String, Value>) -> anyhow::Result<bool> {
    let text = |name: &str| memory.get(name).and_then(Value::as_str);
    let path = format!("/v1/memories/{}", text("id").unwrap_or_default());
    // The owner that the entry names, if it does: the last of two fields counts.
    let fields = [
        ("namespace", text("namespace").map(str::to_owned)),
        ("agent_id", text("agent_id").map(str::to_owned)),
    ];
    match client.exchange("GET", &path, &fields).await? {
        (404, _) => Ok(false),
        (status @ 400.., problem) => Err(failure(status, &problem.unwrap_or_default())),
        _ => Ok(true),
    }
}

/// What became of the entries.
#[derive(Default)]
struct Tally {
    /// The file that is read.
    file: String,
    created: u64,
    updated: u64,
    unchanged: u64,
    /// Counters and synonyms of an export.
    restored: u64,
    skipped: u64,
    refused: Vec<Value>,
    kept_in_metadata: BTreeMap<String, u64>,
    previewed: Vec<Value>,
}

impl Tally {
    fn skip(&mut self, place: Place, reason: String) {
        self.skipped += 1;
        if self.refused.len() < MOST_REMEMBERED {
            self.refused
                .push(json!({"file": self.file, "line": place, "reason": reason}));
        }
    }

    fn preview(&mut self, new: Vec<(Place, Map<String, Value>, Named)>) {
        self.created += new.len() as u64;
        let room = MOST_PREVIEWED.saturating_sub(self.previewed.len());
        self.previewed.extend(
            new.into_iter()
                .take(room)
                .map(|(_, memory, _)| memory.into()),
        );
    }

    fn answer(&self, dry_run: bool) -> Value {
        json!({
            "dry_run": dry_run, "created": self.created, "updated": self.updated, "unchanged": self.unchanged,
            "restored": self.restored, "skipped": self.skipped, "refused": self.refused, "kept_in_metadata": self.kept_in_metadata,
            "preview": self.previewed,
        })
    }
}

/// The answer in words.
fn shown(answer: &Value, name_files: bool, page: Page) -> String {
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

type Opened = (Box<dyn BufRead>, Option<u64>, Option<DateTime<Utc>>);

/// A file with its size and the time of its last change, where it has them.
fn open(path: &Path) -> anyhow::Result<Opened> {
    if path.as_os_str() == "-" {
        return Ok((Box::new(BufReader::new(std::io::stdin())), None, None));
    }
    let file = File::open(path)?;
    let about = file.metadata()?;
    let modified = about.modified().ok().map(DateTime::<Utc>::from);
    Ok((Box::new(BufReader::new(file)), Some(about.len()), modified))
}

/// What a file looks like, by how it begins and what it is called.
fn guess(path: &Path, beginning: &[u8]) -> Format {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().to_lowercase());
    let name = name.unwrap_or_default();
    let text = String::from_utf8_lossy(beginning);
    let ends_with = |ending: &str| name.ends_with(ending);
    if beginning.starts_with(retinue::MAGIC) {
        Format::Retinue
    } else if matches!(name.as_str(), "memory.md" | "user.md") || hermes::is_separated(&text) {
        Format::Hermes
    } else if [".ndjson", ".jsonl", ".json"]
        .iter()
        .any(|ending| ends_with(ending))
        || text
            .trim_start_matches('\u{feff}')
            .trim_start()
            .starts_with('{')
    {
        Format::Ndjson
    } else {
        Format::Text
    }
}

/// Whom the entries of a Hermes file are about.
fn category(path: &Path) -> &'static str {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().to_lowercase());
    match name.as_deref() {
        Some("user.md") => "user",
        _ => "memory",
    }
}
