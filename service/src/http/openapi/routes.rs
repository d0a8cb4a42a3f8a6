//! What the types of a handler do not say: what its route is for, and bodies and answers that only
//! the handler itself reads or writes.

use serde_json::{Value, json};

use super::super::extract::NoFields;
use super::super::maintenance::Fields;
use super::super::memories::{NewFields, StoredShape};
use super::super::metrics::CONTENT_TYPE as METRICS;
use super::super::ndjson::CONTENT_TYPE as NDJSON;
use super::describe::{JSON, Operation, Schemas, object, once, with_scope};

/// Method, path and purpose of every route, a line each.
const PURPOSES: &str = include_str!("purposes.txt");

/// What a route is for; empty if nobody said it.
pub(super) fn summary(method: &str, path: &str) -> &'static str {
    let purpose = |line: &'static str| {
        let (known_method, rest) = line.split_once(' ')?;
        let (known_path, purpose) = rest.split_once(' ')?;
        (known_method == method && known_path == path).then_some(purpose)
    };
    PURPOSES.lines().find_map(purpose).unwrap_or_default()
}

/// Adds what only the route knows.
pub(super) fn complete(method: &str, path: &str, operation: &mut Operation, schemas: &mut Schemas) {
    match (method, path) {
        ("POST", "/v1/memories") => {
            operation.statuses = vec![200, 201];
            let stored = schemas.answers.subschema_for::<StoredShape>();
            operation.gives(JSON, stored.to_value());
        }
        ("POST", "/v1/memories/batch") => {
            let item = with_scope(object::<NewFields>(&mut schemas.requests));
            let items = json!({"type": "array", "maxItems": 1_000, "items": item});
            once(operation);
            operation.takes(JSON, items, false);
            operation.takes(
                NDJSON,
                lines("One memory a line, as many as there are."),
                false,
            );
            operation.gives(JSON, results());
            operation.gives(NDJSON, lines("One result a line."));
        }
        ("POST", "/v1/memories/operations") => {
            once(operation);
            operation.takes(JSON, operations(schemas), false);
            operation.gives(JSON, results());
        }
        ("GET", "/v1/memories") => without(operation, &["confirm", "purge"]),
        ("DELETE", "/v1/memories") => {
            without(operation, &["limit", "cursor"]);
            for parameter in &mut operation.parameters {
                if parameter["name"] == "confirm" {
                    parameter["required"] = json!(true);
                }
            }
        }
        ("DELETE", "/v1/memories/{id}") => operation.gives(JSON, json!({"type": "object"})),
        ("POST", "/v1/memories/{id}/restore") => {
            let scope = with_scope(object::<NoFields>(&mut schemas.requests));
            operation.takes(JSON, scope, true);
        }
        ("POST", path) if path.starts_with("/v1/maintenance/") => {
            let mut fields = with_scope(object::<Fields>(&mut schemas.requests));
            // Not that of a page.
            fields["properties"]["limit"] =
                json!({"type": ["integer", "null"], "minimum": 0, "maximum": u64::MAX});
            operation.takes(JSON, fields, true);
            operation.gives(JSON, json!({"type": "object"}));
        }
        ("GET", "/v1/export") => operation.gives(NDJSON, lines("One memory or counter a line.")),
        ("POST", "/v1/import") => {
            operation.takes(NDJSON, lines("What an export wrote."), false);
            operation.gives(JSON, json!({"type": "object"}));
        }
        ("GET", "/readyz" | "/health" | "/health/ready") => {
            operation.statuses = vec![200, 503];
            operation.gives(JSON, json!({"type": "object"}));
        }
        ("GET", "/metrics") => operation.gives(METRICS, json!({"type": "string"})),
        ("GET", "/docs") => operation.gives("text/html", json!({"type": "string"})),
        ("POST", "/mcp") => {
            let message = json!({"type": "object", "required": ["jsonrpc", "method"]});
            operation.takes(JSON, message, false);
            operation.gives(JSON, json!({"type": "object"}));
        }
        _ => bank(method, path, operation),
    }
}

/// Takes away what only the other method of a path takes.
fn without(operation: &mut Operation, names: &[&str]) {
    operation.parameters.retain(|parameter| {
        let name = parameter["name"].as_str().unwrap_or_default();
        !names.contains(&name)
    });
}

/// Query strings of the bank API, in which unknown names are read over.
fn bank(method: &str, path: &str, operation: &mut Operation) {
    let text = || json!({"type": "string"});
    let Some(end) = path.strip_prefix("/v1/default/banks") else {
        return;
    };
    let end = end.strip_prefix("/{bank_id}").unwrap_or(end);
    let is_list = method == "GET"
        && matches!(
            end,
            "" | "/memories/list"
                | "/documents"
                | "/operations"
                | "/mental-models"
                | "/tags"
                | "/entities"
        );
    if is_list {
        let number =
            |least: u32, most: u32| json!({"type": "integer", "minimum": least, "maximum": most});
        operation.query("limit", false, number(1, 1_000));
        operation.query("offset", false, number(0, 1_000_000_000));
    }
    let one_of = |words: &[&str]| json!({"type": "string", "enum": words});
    let facts = || one_of(&["world", "experience", "observation"]);
    let matches = || one_of(&["any", "all", "any_strict", "all_strict", "exact"]);
    let more: Vec<(&str, Value)> = match (method, end) {
        ("GET", "" | "/tags" | "/entities") => vec![("q", text())],
        ("GET", "/memories/list") => vec![
            ("q", text()),
            ("type", facts()),
            ("state", one_of(&["valid", "invalidated"])),
            ("document_id", text()),
            ("entity_id", text()),
            ("tags", text()),
            ("tags_match", matches()),
        ],
        ("GET", "/documents") => vec![("q", text()), ("tags", text()), ("tags_match", matches())],
        ("GET", "/operations") => vec![("status", text()), ("type", text())],
        ("GET", "/mental-models") => vec![
            ("detail", one_of(&["metadata", "content", "full"])),
            ("tags", text()),
            ("tags_match", matches()),
        ],
        ("DELETE", "/memories") => vec![("type", facts())],
        _ => Vec::new(),
    };
    for (name, schema) in more {
        operation.query(name, false, schema);
    }
}

fn lines(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

fn results() -> Value {
    json!({
        "type": "object",
        "required": ["results"],
        "properties": {"results": {"type": "array", "items": {"type": "object"}}},
    })
}

/// A list of operations: the fields of a memory, and what is to be done.
fn operations(schemas: &mut Schemas) -> Value {
    let mut item = with_scope(object::<NewFields>(&mut schemas.requests));
    item["required"] = json!(["op_id", "op"]);
    item["properties"]["op_id"] = json!({"type": "string", "minLength": 1, "maxLength": 256});
    item["properties"]["op"] = json!({"type": "string", "enum": ["add", "replace", "remove"]});
    item["properties"]["old_text"] = json!({"type": ["string", "null"]});
    json!({"type": "array", "maxItems": 1_000, "items": item})
}
