//! A memory and its row.

use std::sync::LazyLock;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use rusqlite::{Row, Transaction, named_params};

use super::from_sqlite;
use crate::analysis::emotion::{Emotion, Label};
use crate::analysis::terms::{Frequencies, Term};
use crate::analysis::{ANALYSIS_VERSION, Analysis};
use crate::memory::{Details, Fate, Memory, MemoryId, Place};
use crate::store::StoreError;
use crate::store::lifecycle::{content_hash, place_key};

/// The columns that [`memory`] reads, by name.
pub(crate) const COLUMNS: &str = "number, id, seq, namespace, agent, content, session, turn, document, shared, category, source, \
    entry_type, pinned, metadata, tags, created_at, updated_at, reinforced_at, invalid_at, superseded_by, consumed_by, \
    corrected_at, trashed_at, mentions, feedback, level, sources, terms, length, keywords, entities, intensity, polarity, fingerprint";

/// Milliseconds since 1970.
pub(crate) fn millis(time: DateTime<Utc>) -> i64 {
    time.timestamp_millis()
}

/// The time of so many milliseconds since 1970; the nearest there is for one out of range.
pub(crate) fn time(millis: i64) -> DateTime<Utc> {
    let nearest = if millis < 0 {
        DateTime::<Utc>::MIN_UTC
    } else {
        DateTime::<Utc>::MAX_UTC
    };
    DateTime::from_timestamp_millis(millis).unwrap_or(nearest)
}

/// Days since 1970.
pub(crate) fn day_number(day: NaiveDate) -> i64 {
    (day - NaiveDate::default()).num_days()
}

/// The day of that number; the nearest there is for one out of range.
pub(crate) fn day(number: i64) -> NaiveDate {
    let nearest = if number < 0 {
        NaiveDate::MIN
    } else {
        NaiveDate::MAX
    };
    TimeDelta::try_days(number)
        .and_then(|days| NaiveDate::default().checked_add_signed(days))
        .unwrap_or(nearest)
}

/// Reads a memory with its row number and change number from [`COLUMNS`].
pub(crate) fn memory(row: &Row<'_>) -> rusqlite::Result<(i64, i64, Memory)> {
    let optional_time = |name: &str| {
        row.get::<_, Option<i64>>(name)
            .map(|millis| millis.map(time))
    };
    let optional_id = |name: &str| {
        row.get::<_, Option<String>>(name)
            .map(|id| id.map(MemoryId::new))
    };
    let polarity: f64 = row.get("polarity")?;
    let memory = Memory {
        id: MemoryId::new(row.get::<_, String>("id")?),
        content: row.get("content")?,
        namespace: row.get("namespace")?,
        agent: row.get("agent")?,
        place: Place {
            session: row.get("session")?,
            turn: row.get("turn")?,
            document: row.get("document")?,
        },
        details: Details {
            tags: list(&row.get::<_, String>("tags")?),
            shared: row.get("shared")?,
            category: row.get("category")?,
            source: row.get("source")?,
            entry_type: row.get("entry_type")?,
            invalid_at: optional_time("invalid_at")?,
            pinned: row.get("pinned")?,
            metadata: serde_json::from_str(&row.get::<_, String>("metadata")?).unwrap_or_default(),
        },
        created_at: time(row.get("created_at")?),
        updated_at: time(row.get("updated_at")?),
        reinforced_at: optional_time("reinforced_at")?,
        fate: Fate {
            superseded_by: optional_id("superseded_by")?,
            consumed_by: optional_id("consumed_by")?,
            corrected_at: optional_time("corrected_at")?,
            trashed_at: optional_time("trashed_at")?,
        },
        mentions: row.get("mentions")?,
        feedback: row.get("feedback")?,
        level: row.get("level")?,
        sources: list(&row.get::<_, String>("sources")?)
            .into_iter()
            .map(MemoryId::new)
            .collect(),
        analysis: Analysis {
            terms: terms(&row.get::<_, String>("terms")?),
            length: row.get("length")?,
            keywords: list(&row.get::<_, String>("keywords")?),
            entities: list(&row.get::<_, String>("entities")?),
            emotion: Emotion {
                intensity: row.get("intensity")?,
                polarity,
                label: Label::from_polarity(polarity),
            },
            fingerprint: row.get::<_, i64>("fingerprint")?.cast_unsigned(),
        },
    };
    Ok((row.get("number")?, row.get("seq")?, memory))
}

/// The columns that [`fn@write`] fills.
const WRITTEN: [&str; 38] = [
    "number",
    "id",
    "seq",
    "namespace",
    "agent",
    "place",
    "content_hash",
    "content",
    "session",
    "turn",
    "document",
    "shared",
    "category",
    "source",
    "entry_type",
    "pinned",
    "metadata",
    "tags",
    "created_at",
    "updated_at",
    "reinforced_at",
    "invalid_at",
    "superseded_by",
    "consumed_by",
    "corrected_at",
    "trashed_at",
    "mentions",
    "feedback",
    "level",
    "sources",
    "analysis_version",
    "terms",
    "length",
    "keywords",
    "entities",
    "intensity",
    "polarity",
    "fingerprint",
];

/// Inserts a row, or replaces the row of that number. No other conflict is resolved: a content or an
/// id that another row has is an error and never that row's end.
static WRITE: LazyLock<String> = LazyLock::new(|| {
    let names = WRITTEN.map(|name| format!(":{name}")).join(", ");
    let updates = WRITTEN
        .map(|name| format!("{name} = excluded.{name}"))
        .join(", ");
    format!(
        "INSERT INTO memories ({}, indexed_seq) VALUES ({names}, :seq) ON CONFLICT (number) DO UPDATE SET {updates}, \
         indexed_seq = iif(:indexed, excluded.seq, indexed_seq) RETURNING number",
        WRITTEN.join(", ")
    )
});

/// Writes a memory under its id as a new row, or over the row of that number; the row's number.
/// `indexed`: whether the change is one of what an index holds.
pub(crate) fn write(
    transaction: &Transaction<'_>,
    number: Option<i64>,
    seq: i64,
    indexed: bool,
    memory: &Memory,
) -> Result<i64, StoreError> {
    let (details, fate, analysis) = (&memory.details, &memory.fate, &memory.analysis);
    let sources: Vec<&str> = memory.sources.iter().map(MemoryId::as_str).collect();
    let mut statement = transaction.prepare_cached(&WRITE).map_err(from_sqlite)?;
    statement
        .query_row(
            named_params! {
                ":number": number,
                ":id": memory.id.as_str(),
                ":seq": seq,
                ":indexed": indexed,
                ":namespace": memory.namespace,
                ":agent": memory.agent,
                ":place": place_key(&memory.place),
                ":content_hash": content_hash(&memory.content),
                ":content": memory.content,
                ":session": memory.place.session,
                ":turn": memory.place.turn,
                ":document": memory.place.document,
                ":shared": details.shared,
                ":category": details.category,
                ":source": details.source,
                ":entry_type": details.entry_type,
                ":pinned": details.pinned,
                ":metadata": serde_json::Value::Object(details.metadata.clone()).to_string(),
                ":tags": json(&details.tags),
                ":created_at": millis(memory.created_at),
                ":updated_at": millis(memory.updated_at),
                ":reinforced_at": memory.reinforced_at.map(millis),
                ":invalid_at": details.invalid_at.map(millis),
                ":superseded_by": fate.superseded_by.as_ref().map(MemoryId::as_str),
                ":consumed_by": fate.consumed_by.as_ref().map(MemoryId::as_str),
                ":corrected_at": fate.corrected_at.map(millis),
                ":trashed_at": fate.trashed_at.map(millis),
                ":mentions": memory.mentions,
                ":feedback": memory.feedback,
                ":level": memory.level,
                ":sources": json(&sources),
                ":analysis_version": ANALYSIS_VERSION,
                ":terms": terms_text(&analysis.terms),
                ":length": analysis.length,
                ":keywords": json(&analysis.keywords),
                ":entities": json(&analysis.entities),
                ":intensity": analysis.emotion.intensity,
                ":polarity": analysis.emotion.polarity,
                ":fingerprint": analysis.fingerprint.cast_signed(),
            },
            |row| row.get(0),
        )
        .map_err(from_sqlite)
}

/// A list of strings as JSON.
pub(crate) fn json<S: AsRef<str>>(items: &[S]) -> String {
    items
        .iter()
        .map(AsRef::as_ref)
        .collect::<serde_json::Value>()
        .to_string()
}

/// A list of strings from JSON; what is none of it is left out.
pub(crate) fn list(json: &str) -> Vec<String> {
    serde_json::from_str(json).unwrap_or_default()
}

/// Terms and frequencies, `term frequency term frequency ...`: a term has no space.
fn terms_text(frequencies: &Frequencies) -> String {
    frequencies
        .iter()
        .map(|(term, frequency)| format!("{term} {frequency}"))
        .collect::<Vec<_>>()
        .join(" ")
}

fn terms(text: &str) -> Frequencies {
    let mut words = text.split(' ');
    std::iter::from_fn(|| {
        Some((
            Term::from_encoded(words.next()?),
            words.next()?.parse().ok()?,
        ))
    })
    .collect()
}
