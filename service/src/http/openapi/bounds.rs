//! What fields of our own routes must be besides their type.

use serde_json::{Value, json};

use super::super::shapes::{MAX_QUERY_CHARS, MAX_TOP_K};

/// Something that is no white space.
const NOT_BLANK: &str = r"\S";
/// A letter or digit, so that there is something to look for.
const WORD: &str = "[A-Za-z0-9]";
/// Longest short text, in characters.
const SHORT: u32 = 256;

/// A short text that is not blank.
fn short() -> Value {
    json!({"pattern": NOT_BLANK, "maxLength": SHORT})
}

/// The bounds of a field that means the same wherever it is.
fn anywhere(name: &str) -> Option<Value> {
    let word = json!({"type": "string", "pattern": WORD, "maxLength": 128});
    Some(match name {
        "collection" => short(),
        "query" => json!({"maxLength": MAX_QUERY_CHARS}),
        "top_k" => json!({"minimum": 1, "maximum": MAX_TOP_K}),
        "limit" => json!({"minimum": 1, "maximum": 100}),
        "ttl_seconds" => json!({"minimum": 1, "maximum": 366 * 86_400}),
        "ids" => json!({"maxItems": 1_000}),
        "terms" => json!({"minItems": 1, "maxItems": 64, "items": word}),
        _ => return None,
    })
}

/// The bounds of a field of a memory that is written; to search for, any text will do.
fn of_memory(name: &str) -> Option<Value> {
    let tag = json!({"type": "string", "pattern": r"^(?!agent:)[\s\S]*\S", "maxLength": SHORT});
    Some(match name {
        "content" => json!({"pattern": NOT_BLANK, "maxLength": 65_536}),
        "category" | "source" | "entry_type" | "session" | "document" => short(),
        "tags" => json!({"maxItems": 64, "items": tag}),
        _ => return None,
    })
}

fn add(bounds: Option<Value>, schema: &mut Value) {
    if let (Some(Value::Object(bounds)), Some(schema)) = (bounds, schema.as_object_mut()) {
        schema.extend(bounds);
    }
}

/// Adds the bounds of a field to its schema.
pub(super) fn bound(name: &str, schema: &mut Value) {
    add(anywhere(name), schema);
}

/// Adds the bounds of every field of a body; a turn belongs to a session.
pub(super) fn bound_fields(schema: &mut Value) {
    let Some(properties) = schema["properties"].as_object_mut() else {
        return;
    };
    let is_memory = properties.contains_key("content");
    let begins_session = !properties.contains_key("query");
    for (name, property) in properties.iter_mut() {
        bound(name, property);
        if is_memory {
            add(of_memory(name), property);
        }
        if name == "session_id" && begins_session {
            add(Some(short()), property);
        }
    }
    if properties.contains_key("turn") {
        schema["dependentRequired"] = json!({"turn": ["session"]});
    }
}

/// The schema of a variable of a path.
pub(super) fn variable(path: &str, name: &str) -> Value {
    match name {
        "term" => json!({"type": "string", "pattern": WORD, "maxLength": 128}),
        "bank_id" => json!({
            "type": "string", "maxLength": SHORT,
            "pattern": r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$",
        }),
        "id" if path.contains("/operations/") => json!({"type": "string", "format": "uuid"}),
        _ => json!({"type": "string", "minLength": 1}),
    }
}
