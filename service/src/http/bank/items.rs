//! Memories in the words of bank clients. What those know of a memory and ours do not is kept in its
//! metadata under [`OWN`].

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

use super::super::shapes::rfc3339;
use crate::memory::{Memory, State};
use crate::ranking::Hit;

/// Field of the metadata that holds an object of what only bank clients know.
const OWN: &str = "bank";
/// Fields in it.
pub(super) const CONTEXT: &str = "context";
pub(super) const FACT_TYPE: &str = "fact_type";
pub(super) const STARTED: &str = "occurred_start";
pub(super) const ENDED: &str = "occurred_end";
pub(super) const TIMELESS: &str = "timeless";
pub(super) const REASON: &str = "reason";

/// The kinds of facts that clients tell apart.
pub(super) const FACT_TYPES: [&str; 3] = ["world", "experience", "observation"];

/// Metadata with what only bank clients know.
pub(super) fn metadata(
    mut given: Map<String, Value>,
    own: Map<String, Value>,
) -> Map<String, Value> {
    if !own.is_empty() {
        given.insert(OWN.to_owned(), Value::Object(own));
    }
    given
}

/// What only bank clients know of a memory.
pub(super) fn own(memory: &Memory) -> Map<String, Value> {
    let own = memory.details.metadata.get(OWN);
    own.and_then(Value::as_object).cloned().unwrap_or_default()
}

/// The metadata that were given, without what only bank clients know.
pub(super) fn given(memory: &Memory) -> Map<String, Value> {
    let mut given = memory.details.metadata.clone();
    given.remove(OWN);
    given
}

/// The kind of a memory: what a client said, else whether it was consolidated of others.
pub(super) fn fact_type(memory: &Memory) -> String {
    match own(memory).get(FACT_TYPE).and_then(Value::as_str) {
        Some(told) => told.to_owned(),
        None if memory.level > 0 => "observation".to_owned(),
        None => "world".to_owned(),
    }
}

/// A result of recall. `as_type` is the kind that was asked for, when its own was not.
pub(super) fn result(memory: &Memory, as_type: Option<&str>) -> Value {
    let own = own(memory);
    let text = |name: &str| own.get(name).cloned().unwrap_or_default();
    let said_at = rfc3339(memory.created_at);
    let started = match (own.get(STARTED), own.contains_key(TIMELESS)) {
        (Some(told), _) => told.clone(),
        (None, true) => Value::Null,
        (None, false) => Value::from(said_at.clone()),
    };
    let plain = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    let metadata: Map<String, Value> = given(memory)
        .into_iter()
        .map(|(name, value)| (name, Value::from(plain(value))))
        .collect();
    let mut result = json!({
        "id": memory.id.as_str(),
        "text": memory.content,
        "type": as_type.map_or_else(|| fact_type(memory), str::to_owned),
        "entities": memory.analysis.entities,
        "context": text(CONTEXT),
        "occurred_start": started,
        "occurred_end": text(ENDED),
        "mentioned_at": said_at,
        "document_id": memory.place.document,
        "metadata": metadata,
        "chunk_id": null,
        "tags": memory.details.tags,
    });
    if !memory.sources.is_empty() {
        let sources: Vec<&str> = memory.sources.iter().map(|id| id.as_str()).collect();
        result["source_fact_ids"] = json!(sources);
    }
    result
}

/// A result with the numbers behind its rank.
pub(super) fn hit(hit: &Hit, as_type: Option<&str>) -> Value {
    let mut result = result(&hit.memory, as_type);
    let factors = hit.factors;
    result["scores"] = json!({
        "final": hit.score(),
        "reranker": factors.similarity,
        "semantic": hit.parts.cosine,
        "keyword": hit.parts.lexical,
    });
    result["factors"] = json!({
        "similarity": factors.similarity,
        "decay": factors.decay,
        "emotion": factors.emotion,
        "feedback": factors.feedback,
        "hot_topic": factors.hot_topic,
        "attention": factors.attention,
    });
    result
}

/// An entry of a list.
pub(super) fn item(memory: &Memory, now: DateTime<Utc>) -> Value {
    let mut item = result(memory, None);
    let state = memory.state(now);
    let fields = [
        ("fact_type", item["type"].clone()),
        ("date", item["mentioned_at"].clone()),
        ("entities", Value::from(memory.analysis.entities.join(", "))),
        (
            "context",
            item["context"].as_str().unwrap_or_default().into(),
        ),
        ("proof_count", Value::from(memory.mentions)),
        ("metadata", Value::Object(given(memory))),
        (
            "state",
            if is_valid(state) {
                "valid"
            } else {
                "invalidated"
            }
            .into(),
        ),
        (
            "invalidated_at",
            memory.fate.corrected_at.map(rfc3339).into(),
        ),
        (
            "invalidation_reason",
            own(memory).get(REASON).cloned().unwrap_or_default(),
        ),
        ("updated_at", Value::from(rfc3339(memory.updated_at))),
    ];
    for (name, value) in fields {
        item[name] = value;
    }
    item
}

/// Whether a memory of that state may be recalled.
pub(super) fn is_valid(state: State) -> bool {
    state == State::Active
}

/// About how many tokens a text is for a model: four letters or one other character each.
pub(super) fn tokens(text: &str) -> usize {
    let letters = text.chars().filter(char::is_ascii).count();
    let others = text.chars().count() - letters;
    letters.div_ceil(4) + others
}
