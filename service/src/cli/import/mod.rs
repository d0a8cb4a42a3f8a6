//! `keepsake import`: memories from files of several kinds, in bounded memory, with what was skipped
//! and why. Importing again changes nothing: an entry without an id gets one made of its content, and
//! what is there under that id is left alone.

mod entry;
mod hermes;
mod lines;
#[cfg(test)]
mod properties;
mod retinue;
mod source;
mod tally;

use std::collections::HashSet;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use futures_util::{StreamExt, TryStreamExt, stream};
use indicatif::ProgressBar;
use serde_json::{Map, Value};

use super::client::{Client, failure, segment};
use super::printer::{Printer, progress};
use super::{Outcome, tables};
use entry::{Entry, Place, derived_id};
use lines::LineReader;
use source::{category, guess, open};
use tally::{Tally, shown};

/// Entries and bytes of content sent together: whichever is reached first.
const CHUNK: usize = 500;
const CHUNK_BYTES: usize = 4 * 1024 * 1024;
/// Questions whether an entry is there that are under way at once.
const QUESTIONS: usize = 16;
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
            } else if memory.contains_key("updated_at") && memory.contains_key("id") {
                new.push((place, memory, Named::ByTheFile));
            } else if memory.contains_key("id") {
                unsure.push((place, memory, Named::ByTheFile));
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
            let there = stored(client, &memory).await?;
            anyhow::Ok(((place, memory, named), there))
        });
        let asked: Vec<_> = asked.buffered(QUESTIONS).try_collect().await?;
        for (entry, there) in asked {
            let unchanged = match (entry.2, there) {
                (_, None) => false,
                // The id stands for the content, which may have been edited since.
                (Named::ByUs, Some(_)) => true,
                // It does not say when it was changed, so it is newer only if it says something else.
                (Named::ByTheFile, Some(there)) => there["content"] == entry.1["content"],
            };
            match unchanged {
                true => self.tally.unchanged += 1,
                false => new.push(entry),
            }
        }
        new.sort_by_key(|(place, ..)| *place);
        match self.dry_run {
            true => self
                .tally
                .preview(new.into_iter().map(|(_, memory, _)| memory)),
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

/// The memory with the id of an entry, in whatever state.
async fn stored(client: &Client, memory: &Map<String, Value>) -> anyhow::Result<Option<Value>> {
    let text = |name: &str| memory.get(name).and_then(Value::as_str);
    // An id that is none is for the service to refuse.
    let Ok(id) = segment(text("id").unwrap_or_default()) else {
        return Ok(None);
    };
    // The owner that the entry names, if it does: the last of two fields counts.
    let fields = [
        ("namespace", text("namespace").map(str::to_owned)),
        ("agent_id", text("agent_id").map(str::to_owned)),
    ];
    let path = format!("/v1/memories/{id}");
    match client.exchange("GET", &path, &fields).await? {
        (status @ 500.., problem) => Err(failure(status, &problem.unwrap_or_default())),
        (400.., _) => Ok(None),
        (_, found) => Ok(found.filter(|found| found["id"] == memory["id"])),
    }
}
