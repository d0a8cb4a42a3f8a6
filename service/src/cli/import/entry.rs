//! An entry of a file, as a line of an import.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use data_encoding::BASE32_NOPAD;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::cli::client::Identity;
use crate::clock::parse_time;
use crate::scope::DEFAULT_NAMESPACE;

/// Fields that a memory may have; what an entry holds besides is kept in its metadata.
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
/// Bytes of a hash that make an id, as long as the service's own.
const ID_BYTES: usize = 10;

/// Where an entry begins in its file: a line, or the number of a row.
pub(super) type Place = u64;

/// An entry, or why it is none.
pub(super) struct Entry {
    pub place: Place,
    pub memory: Result<Map<String, Value>, String>,
}

/// Fields that entries have and memories do not, with how often.
pub(super) type Kept = BTreeMap<String, u64>;

/// Makes a memory's fields of what other tools write: `created` for `created_at`, days and times
/// without a zone (taken as UTC). Fields that a memory does not have go to its metadata.
pub(super) fn adopt(object: Map<String, Value>, kept: &mut Kept) -> Map<String, Value> {
    let mut memory = Map::new();
    let mut metadata = Map::new();
    for (name, value) in object {
        match name.as_str() {
            "created" | "created_at" => {
                let time = value.as_str().and_then(rfc3339).map_or(value, Value::from);
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

/// A time in any of the forms above, in RFC 3339.
pub(super) fn rfc3339(text: &str) -> Option<String> {
    parse_time(text).map(|time| time.to_rfc3339())
}

/// Seconds, or milliseconds, since 1970 in RFC 3339.
pub(super) fn from_epoch(number: f64) -> Option<String> {
    /// Seconds reach this in the year 5138, milliseconds in 1973.
    const LARGEST_SECONDS: f64 = 1e11;
    let millis = if number.abs() < LARGEST_SECONDS {
        number * 1_000.0
    } else {
        number
    };
    DateTime::<Utc>::from_timestamp_millis(millis as i64).map(|time| time.to_rfc3339())
}

/// The id of an entry that has none: the same whenever the same entry of the same owner is imported,
/// so that a second run finds what the first one stored.
pub(super) fn derived_id(memory: &Map<String, Value>, identity: &Identity) -> String {
    let own = |name: &str| memory.get(name).and_then(Value::as_str);
    let namespace = own("namespace").or(identity.namespace.as_deref());
    let agent = own("agent_id").or(identity.agent.as_deref());
    let mut hash = Sha256::new();
    for part in [
        Some(namespace.unwrap_or(DEFAULT_NAMESPACE)),
        agent,
        own("session"),
        own("document"),
        own("content"),
    ] {
        // With its length, so that no two lists of parts look alike.
        let part = part.unwrap_or_default();
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let turn = memory.get("turn").unwrap_or(&Value::Null).to_string();
    hash.update(turn);
    let digest = hash.finalize();
    BASE32_NOPAD.encode(&digest[..ID_BYTES]).to_lowercase()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn fields_of_other_tools_are_understood() {
        let mut kept = Kept::new();
        let entry = json!({"content": "x", "created": "2023-05-08T13:56:00", "group": "g", "metadata": {"page": 1}});
        assert_eq!(
            Value::Object(adopt(fields(entry), &mut kept)),
            json!({"content": "x", "created_at": "2023-05-08T13:56:00+00:00", "metadata": {"group": "g", "page": 1}})
        );
        assert_eq!(kept["group"], 1);
    }

    #[test]
    fn an_entry_has_one_id_and_another_entry_another() {
        let identity = |agent: Option<&str>| Identity {
            namespace: None,
            agent: agent.map(str::to_owned),
            primary: true,
        };
        let nobody = identity(None);
        let id = |value: Value, identity: &Identity| derived_id(&fields(value), identity);
        let tea = id(json!({"content": "tea"}), &nobody);
        assert_eq!(tea.len(), 16);
        assert_eq!(tea, id(json!({"content": "tea", "tags": ["new"]}), &nobody));
        assert_eq!(
            tea,
            id(json!({"content": "tea", "namespace": "default"}), &nobody)
        );
        for other in [
            id(json!({"content": "tea "}), &nobody),
            id(json!({"content": "tea", "session": "s"}), &nobody),
            id(json!({"content": "tea", "document": "s"}), &nobody),
            id(json!({"content": "tea", "turn": 1}), &nobody),
            id(json!({"content": "tea", "namespace": "n"}), &nobody),
            id(json!({"content": "tea"}), &identity(Some("alpha"))),
        ] {
            assert_ne!(tea, other);
        }
    }

    #[test]
    fn epochs_are_seconds_or_milliseconds() {
        assert_eq!(from_epoch(1.7e9).unwrap(), "2023-11-14T22:13:20+00:00");
        assert_eq!(from_epoch(1.7e12).unwrap(), "2023-11-14T22:13:20+00:00");
        assert_eq!(from_epoch(f64::MAX), None);
    }
}
