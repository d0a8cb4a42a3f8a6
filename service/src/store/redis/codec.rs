//! A memory and its two hashes: `memory:frag:<id>`, which the search index sees, and
//! `keepsake:state:<id>`, which it does not, so that feedback and reinforcement re-index nothing.
//!
//! Fields that the Python Keepsake knows keep its names and its way of writing. Where that loses
//! something (a comma in a tag, a millisecond), a field of ours beside it is the truth.

use std::collections::BTreeMap;

use chrono::{DateTime, SecondsFormat, Utc};
use data_encoding::HEXLOWER;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::keys;
use super::tokens::{around, document_score, facets, hidden, tag_tokens, tags, term_tokens, terms};
use super::values::{answers, text};
use crate::analysis::emotion::{Emotion, Label};
use crate::analysis::{ANALYSIS_VERSION, Analysis};
use crate::memory::{Details, Fate, Memory, MemoryId, Place, content_hash};
use crate::store::lifecycle;

/// Fields of the indexed hash that are read, in this order.
pub(super) const FIELDS: [&str; 29] = [
    "content",
    "analysis_version",
    "ns",
    "agent",
    "shared",
    "session",
    "turn",
    "document",
    "ktags",
    "category",
    "source",
    "fragment_type",
    "invalid_ts",
    "pinned",
    "metadata",
    "created_ts",
    "superseded_by",
    "consumed_by",
    "corrected_ts",
    "trashed_ts",
    "level",
    "sources",
    "terms",
    "len",
    "keywords",
    "kentities",
    "sentiment_score",
    "polarity",
    "fingerprint",
];

/// Fields of the state, in the order in which they are read.
pub(super) const STATE_FIELDS: [&str; 5] =
    ["rev", "mentions", "feedback", "updated_ts", "reinforced_ts"];

/// Fields that are the Python Keepsake's: what it wrote there stays as it is when we adopt it.
pub(super) const OF_PYTHON: [&str; 11] = [
    "content",
    "tags",
    "category",
    "source",
    "created",
    "fragment_type",
    "entities",
    "sentiment_label",
    "invalid_at",
    "consumed_by",
    "corrected_at",
];

/// The fields of a hash by name.
pub(super) type Fields = BTreeMap<&'static str, String>;

/// The values of a hash in the order of its fields; `None` for a field that is not there.
pub(super) type Values = Vec<Option<Vec<u8>>>;

/// What is stored under an id.
#[expect(
    clippy::large_enum_variant,
    reason = "it lives for one call, and nearly always holds the memory"
)]
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stored {
    Absent,
    /// A memory with the revision of its state.
    Present {
        memory: Memory,
        revision: String,
    },
    /// A hash that is not adopted yet, or cannot be.
    Foreign,
}

/// The fields of a memory that the index sees.
pub(super) fn fragment(memory: &Memory) -> Fields {
    let (details, fate, analysis) = (&memory.details, &memory.fate, &memory.analysis);
    let mut fields = Fields::new();
    let mut put = |name: &'static str, value: String| {
        fields.insert(name, value);
    };
    put("content", memory.content.clone());
    put("analysis_version", ANALYSIS_VERSION.to_string());
    put("ns", memory.namespace.clone());
    put("shared", number(details.shared));
    put("ktags", tag_tokens(&details.tags));
    put("tags", python_tags(memory));
    put("pinned", number(details.pinned));
    put("created_ts", millis(memory.created_at));
    put("created", written(memory.created_at));
    put("level", memory.level.to_string());
    put("terms", term_tokens(memory));
    put("len", analysis.length.to_string());
    put("keywords", json(&analysis.keywords));
    put("kentities", json(&analysis.entities));
    put("entities", analysis.entities.join(","));
    put("sentiment_score", analysis.emotion.intensity.to_string());
    put(
        "sentiment_label",
        analysis.emotion.label.as_str().to_owned(),
    );
    put("polarity", analysis.emotion.polarity.to_string());
    put("fingerprint", analysis.fingerprint.to_string());
    put("bytes", memory.content.len().to_string());
    put("facets", facets(memory));
    put("krank", document_score(memory.created_at).to_string());
    let hidden = hidden(memory);
    let sources: Vec<&str> = memory.sources.iter().map(MemoryId::as_str).collect();
    let turn = memory.place.turn;
    for (name, value) in [
        ("agent", memory.agent.clone()),
        ("session", memory.place.session.clone()),
        ("turn", turn.map(|turn| turn.to_string())),
        ("around", turn.and_then(around)),
        ("document", memory.place.document.clone()),
        ("category", details.category.clone()),
        ("source", details.source.clone()),
        ("fragment_type", details.entry_type.clone()),
        ("invalid_ts", details.invalid_at.map(millis)),
        ("invalid_at", details.invalid_at.map(written)),
        (
            "metadata",
            (!details.metadata.is_empty())
                .then(|| Value::Object(details.metadata.clone()).to_string()),
        ),
        (
            "superseded_by",
            fate.superseded_by.as_ref().map(ToString::to_string),
        ),
        ("consumed_by", fate.consumed_by.as_ref().map(MemoryId::key)),
        ("corrected_ts", fate.corrected_at.map(millis)),
        ("corrected_at", fate.corrected_at.map(written)),
        ("trashed_ts", fate.trashed_at.map(millis)),
        ("sources", (!sources.is_empty()).then(|| json(&sources))),
        ("hidden", (!hidden.is_empty()).then_some(hidden)),
    ] {
        if let Some(value) = value {
            fields.insert(name, value);
        }
    }
    fields
}

/// The fields of a memory that change often, but for its revision.
pub(super) fn state(memory: &Memory) -> Fields {
    let mut fields = Fields::from([
        ("mentions", memory.mentions.to_string()),
        ("feedback", memory.feedback.to_string()),
        ("updated_ts", millis(memory.updated_at)),
    ]);
    if let Some(reinforced_at) = memory.reinforced_at {
        fields.insert("reinforced_ts", millis(reinforced_at));
    }
    if let (Some(session), Some(turn)) = (&memory.place.session, memory.place.turn) {
        fields.insert("place", keys::place(session, turn));
    }
    fields
}

/// Reads what is stored under an id from the values of [`FIELDS`] and of [`STATE_FIELDS`].
pub(super) fn stored(id: &MemoryId, fragment: &Values, state: &Values) -> Stored {
    let value = |values: &Values, index: usize| -> Option<String> {
        String::from_utf8(values.get(index)?.clone()?).ok()
    };
    if fragment.iter().all(Option::is_none) {
        return Stored::Absent;
    }
    let mut named: BTreeMap<&str, String> = (0..FIELDS.len())
        .filter_map(|index| Some((FIELDS[index], value(fragment, index)?)))
        .collect();
    let state: BTreeMap<&str, String> = (0..STATE_FIELDS.len())
        .filter_map(|index| Some((STATE_FIELDS[index], value(state, index)?)))
        .collect();
    match memory(id, &mut named, &state) {
        Some(memory) => Stored::Present {
            memory,
            revision: state.get("rev").cloned().unwrap_or_default(),
        },
        None => Stored::Foreign,
    }
}

/// What a script or a pipeline tells of a memory: its id, the values of [`FIELDS`] and of
/// [`STATE_FIELDS`]; `None` if it tells of nothing.
pub(super) fn record(mut answer: Vec<redis::Value>) -> Option<(MemoryId, Stored)> {
    let state = answers(answer.pop()?)?;
    let fragment = answers(answer.pop()?)?;
    let id = MemoryId::new(text(answer.pop()?)?);
    let stored = stored(&id, &fragment, &state);
    Some((id, stored))
}

/// The memory of these fields, or `None` if a field that every adopted memory has is not there.
fn memory(
    id: &MemoryId,
    fields: &mut BTreeMap<&str, String>,
    state: &BTreeMap<&str, String>,
) -> Option<Memory> {
    fields.get("analysis_version")?;
    let created_at = time(fields.get("created_ts")?)?;
    let namespace = fields.remove("ns")?;
    let polarity = parsed(fields.get("polarity")).unwrap_or(0.0);
    let of = |name: &str| fields.get(name).filter(|value| !value.is_empty());
    let linked = |name: &str| of(name).map(|id| MemoryId::new(id.as_str()));
    Some(Memory {
        id: id.clone(),
        agent: of("agent").cloned(),
        place: Place {
            session: fields.get("session").cloned(),
            turn: parsed(fields.get("turn")),
            document: fields.get("document").cloned(),
        },
        details: Details {
            tags: of("ktags").map(|tokens| tags(tokens)).unwrap_or_default(),
            shared: of("shared").is_some_and(|shared| shared == "1"),
            category: of("category").cloned(),
            source: of("source").cloned(),
            entry_type: of("fragment_type").cloned(),
            invalid_at: of("invalid_ts").and_then(|millis| time(millis)),
            pinned: of("pinned").is_some_and(|pinned| pinned == "1"),
            metadata: of("metadata")
                .and_then(|json| serde_json::from_str(json).ok())
                .unwrap_or_default(),
        },
        created_at,
        updated_at: state
            .get("updated_ts")
            .and_then(|millis| time(millis))
            .unwrap_or(created_at),
        reinforced_at: state.get("reinforced_ts").and_then(|millis| time(millis)),
        fate: Fate {
            superseded_by: linked("superseded_by"),
            consumed_by: linked("consumed_by"),
            corrected_at: of("corrected_ts").and_then(|millis| time(millis)),
            trashed_at: of("trashed_ts").and_then(|millis| time(millis)),
        },
        mentions: parsed(state.get("mentions")).unwrap_or(1),
        feedback: parsed(state.get("feedback")).unwrap_or(0.0),
        level: parsed(fields.get("level")).unwrap_or(0),
        sources: of("sources")
            .map(|json| list(json).into_iter().map(MemoryId::new).collect())
            .unwrap_or_default(),
        analysis: Analysis {
            terms: terms(fields.get("terms")?, &namespace),
            length: parsed(fields.get("len"))?,
            keywords: of("keywords").map(|json| list(json)).unwrap_or_default(),
            entities: of("kentities").map(|json| list(json)).unwrap_or_default(),
            emotion: Emotion {
                intensity: parsed(fields.get("sentiment_score")).unwrap_or(0.0),
                polarity,
                label: Label::from_polarity(polarity),
            },
            fingerprint: parsed(fields.get("fingerprint")).unwrap_or(0),
        },
        content: fields.remove("content")?,
        namespace,
    })
}

/// Milliseconds since 1970.
pub(super) fn millis(time: DateTime<Utc>) -> String {
    time.timestamp_millis().to_string()
}

pub(super) fn time(millis: &str) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis(millis.parse().ok()?)
}

/// A time as the Python Keepsake writes it.
fn written(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, false)
}

fn number(flag: bool) -> String {
    u8::from(flag).to_string()
}

fn parsed<T: std::str::FromStr>(text: Option<&String>) -> Option<T> {
    text?.parse().ok()
}

fn json<S: AsRef<str>>(items: &[S]) -> String {
    let items: Value = items.iter().map(AsRef::as_ref).collect();
    items.to_string()
}

fn list(json: &str) -> Vec<String> {
    serde_json::from_str(json).unwrap_or_default()
}

/// The digest that a content is known by at its place.
pub(super) fn content_digest(
    namespace: &str,
    agent: Option<&str>,
    place: &Place,
    content: &str,
) -> String {
    let place = lifecycle::place_key(place);
    let hash = HEXLOWER.encode(&content_hash(content));
    let whole = serde_json::json!([namespace, agent, place, hash]).to_string();
    HEXLOWER.encode(&Sha256::digest(whole.as_bytes()))
}

/// Tags as the Python Keepsake reads them: with the agent, and whether all see it or none may.
fn python_tags(memory: &Memory) -> String {
    let mut tags: Vec<String> = memory.details.tags.clone();
    if memory.details.shared {
        tags.push("shared".to_owned());
    }
    if memory.fate.corrected_at.is_some() {
        tags.push("corrected".to_owned());
    }
    if let Some(agent) = &memory.agent {
        tags.push(format!("agent:{agent}"));
    }
    tags.join(",")
}
