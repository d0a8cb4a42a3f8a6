//! A memory and its row.

use std::sync::LazyLock;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use rusqlite::{Row, Transaction, named_params};

use super::from_sqlite;
use crate::analysis::emotion::{Emotion, Label};
use crate::analysis::terms::Frequencies;
use crate::analysis::{ANALYSIS_VERSION, Analysis};
use crate::memory::{Details, Fate, Memory, MemoryId, Place, content_hash};
use crate::store::StoreError;
use crate::store::lifecycle::place_key;

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

/// Where each of [`COLUMNS`] is: looking for the names in each row took a third of reading it.
mod at {
    pub(super) const NUMBER: usize = 0;
    pub(super) const ID: usize = 1;
    pub(super) const SEQ: usize = 2;
    pub(super) const NAMESPACE: usize = 3;
    pub(super) const AGENT: usize = 4;
    pub(super) const CONTENT: usize = 5;
    pub(super) const SESSION: usize = 6;
    pub(super) const TURN: usize = 7;
    pub(super) const DOCUMENT: usize = 8;
    pub(super) const SHARED: usize = 9;
    pub(super) const CATEGORY: usize = 10;
    pub(super) const SOURCE: usize = 11;
    pub(super) const ENTRY_TYPE: usize = 12;
    pub(super) const PINNED: usize = 13;
    pub(super) const METADATA: usize = 14;
    pub(super) const TAGS: usize = 15;
    pub(super) const CREATED_AT: usize = 16;
    pub(super) const UPDATED_AT: usize = 17;
    pub(super) const REINFORCED_AT: usize = 18;
    pub(super) const INVALID_AT: usize = 19;
    pub(super) const SUPERSEDED_BY: usize = 20;
    pub(super) const CONSUMED_BY: usize = 21;
    pub(super) const CORRECTED_AT: usize = 22;
    pub(super) const TRASHED_AT: usize = 23;
    pub(super) const MENTIONS: usize = 24;
    pub(super) const FEEDBACK: usize = 25;
    pub(super) const LEVEL: usize = 26;
    pub(super) const SOURCES: usize = 27;
    pub(super) const TERMS: usize = 28;
    pub(super) const LENGTH: usize = 29;
    pub(super) const KEYWORDS: usize = 30;
    pub(super) const ENTITIES: usize = 31;
    pub(super) const INTENSITY: usize = 32;
    pub(super) const POLARITY: usize = 33;
    pub(super) const FINGERPRINT: usize = 34;
}

/// Reads a memory with its row number and change number from [`COLUMNS`].
pub(crate) fn memory(row: &Row<'_>) -> rusqlite::Result<(i64, i64, Memory)> {
    let optional_time = |column: usize| {
        row.get::<_, Option<i64>>(column)
            .map(|millis| millis.map(time))
    };
    let optional_id = |column: usize| {
        row.get::<_, Option<String>>(column)
            .map(|id| id.map(MemoryId::new))
    };
    let polarity: f64 = row.get(at::POLARITY)?;
    let memory = Memory {
        id: MemoryId::new(row.get::<_, String>(at::ID)?),
        content: row.get(at::CONTENT)?,
        namespace: row.get(at::NAMESPACE)?,
        agent: row.get(at::AGENT)?,
        place: Place {
            session: row.get(at::SESSION)?,
            turn: row.get(at::TURN)?,
            document: row.get(at::DOCUMENT)?,
        },
        details: Details {
            tags: list(row.get_ref(at::TAGS)?.as_str()?),
            shared: row.get(at::SHARED)?,
            category: row.get(at::CATEGORY)?,
            source: row.get(at::SOURCE)?,
            entry_type: row.get(at::ENTRY_TYPE)?,
            invalid_at: optional_time(at::INVALID_AT)?,
            pinned: row.get(at::PINNED)?,
            metadata: object(row.get_ref(at::METADATA)?.as_str()?),
        },
        created_at: time(row.get(at::CREATED_AT)?),
        updated_at: time(row.get(at::UPDATED_AT)?),
        reinforced_at: optional_time(at::REINFORCED_AT)?,
        fate: Fate {
            superseded_by: optional_id(at::SUPERSEDED_BY)?,
            consumed_by: optional_id(at::CONSUMED_BY)?,
            corrected_at: optional_time(at::CORRECTED_AT)?,
            trashed_at: optional_time(at::TRASHED_AT)?,
        },
        mentions: row.get(at::MENTIONS)?,
        feedback: row.get(at::FEEDBACK)?,
        level: row.get(at::LEVEL)?,
        sources: list(row.get_ref(at::SOURCES)?.as_str()?)
            .into_iter()
            .map(MemoryId::new)
            .collect(),
        analysis: Analysis {
            terms: Frequencies::from_stored(row.get_ref(at::TERMS)?.as_str()?),
            length: row.get(at::LENGTH)?,
            keywords: list(row.get_ref(at::KEYWORDS)?.as_str()?),
            entities: list(row.get_ref(at::ENTITIES)?.as_str()?),
            emotion: Emotion {
                intensity: row.get(at::INTENSITY)?,
                polarity,
                label: Label::from_polarity(polarity),
            },
            fingerprint: row.get::<_, i64>(at::FINGERPRINT)?.cast_unsigned(),
        },
    };
    Ok((row.get(at::NUMBER)?, row.get(at::SEQ)?, memory))
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
                ":terms": analysis.terms.to_string(),
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
    // Most are empty, and a search reads hundreds.
    if json == "[]" {
        return Vec::new();
    }
    serde_json::from_str(json).unwrap_or_default()
}

/// An object from JSON, empty if it is none.
fn object(json: &str) -> serde_json::Map<String, serde_json::Value> {
    if json == "{}" {
        return serde_json::Map::new();
    }
    serde_json::from_str(json).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_where_they_are() {
        let names: Vec<&str> = COLUMNS.split(", ").collect();
        assert_eq!(names[at::NUMBER], "number");
        assert_eq!(names[at::CREATED_AT], "created_at");
        assert_eq!(names[at::FINGERPRINT], "fingerprint");
        assert_eq!(names.len(), at::FINGERPRINT + 1);
    }
}
