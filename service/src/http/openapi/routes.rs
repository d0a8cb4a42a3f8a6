//! What the types of a handler do not say: what its route is for, and bodies and answers that only
//! the handler itself reads or writes.

use serde_json::{Value, json};

use super::super::extract::NoFields;
use super::super::memories::NewFields;
use super::super::metrics::CONTENT_TYPE as METRICS;
use super::super::ndjson::CONTENT_TYPE as NDJSON;
use super::describe::{JSON, Operation, Schemas, object, once, with_scope};

/// Method, path and purpose of every route.
const PURPOSES: [(&str, &str, &str); 79] = [
    (
        "POST",
        "/v1/memories",
        "Store a memory; 200 if it was there and is stronger now",
    ),
    ("GET", "/v1/memories", "List memories, newest first"),
    (
        "DELETE",
        "/v1/memories",
        "Delete all memories that filters name",
    ),
    (
        "POST",
        "/v1/memories/batch",
        "Store many memories, each with its own outcome",
    ),
    (
        "POST",
        "/v1/memories/operations",
        "Add, replace and remove in order, each done once",
    ),
    ("GET", "/v1/memories/{id}", "Show a memory"),
    ("PATCH", "/v1/memories/{id}", "Change a memory"),
    (
        "DELETE",
        "/v1/memories/{id}",
        "Move a memory to the trash, or delete it for good",
    ),
    (
        "POST",
        "/v1/memories/{id}/restore",
        "Take a memory out of the trash",
    ),
    (
        "POST",
        "/v1/search",
        "Find memories, best first, with the reasons for their rank",
    ),
    ("GET", "/v1/search", "The same in a query string"),
    (
        "POST",
        "/v1/prefetch",
        "What a message brings to mind, as a block of text for a model",
    ),
    ("POST", "/v1/feedback", "Say whether a memory was useful"),
    (
        "POST",
        "/v1/corrections",
        "Say that memories are wrong: they are never shown again",
    ),
    ("DELETE", "/v1/corrections/{id}", "Take a correction back"),
    (
        "GET",
        "/v1/lock",
        "Whether retrieval is turned off, and for how long",
    ),
    ("PUT", "/v1/lock", "Turn retrieval off for a while"),
    ("DELETE", "/v1/lock", "Turn retrieval on again"),
    ("GET", "/v1/topics", "What memories are most about"),
    ("GET", "/v1/attention", "What got the most attention"),
    (
        "GET",
        "/v1/entities/{name}/timeline",
        "Memories that name somebody or something, newest first",
    ),
    (
        "GET",
        "/v1/entities/{name}/related",
        "What is named together with it",
    ),
    ("GET", "/v1/synonyms", "Words that mean the same"),
    (
        "PUT",
        "/v1/synonyms/{term}",
        "Say what means the same as a term",
    ),
    (
        "DELETE",
        "/v1/synonyms/{term}",
        "Forget the synonyms of a term",
    ),
    (
        "POST",
        "/v1/sessions",
        "Begin a session; its settings hold for requests that carry its id",
    ),
    ("PUT", "/v1/skills", "Tell which skills there are"),
    ("GET", "/v1/skills", "The skills that are known"),
    ("POST", "/v1/skills/search", "Which skills fit a message"),
    ("GET", "/v1/stats", "Count memories by state"),
    (
        "POST",
        "/v1/maintenance/backfill",
        "Make the vectors that are missing",
    ),
    ("GET", "/v1/export", "Everything, one JSON object a line"),
    ("POST", "/v1/import", "Bring back what was exported"),
    ("GET", "/healthz", "Alive"),
    ("GET", "/readyz", "Ready, with what is not as it should be"),
    ("GET", "/version", "Version and features"),
    ("GET", "/health", "Ready, as bank clients ask for it"),
    ("GET", "/health/ready", "The same"),
    ("GET", "/health/live", "Alive, as bank clients ask for it"),
    (
        "GET",
        "/metrics",
        "What the service does, in numbers (OpenMetrics)",
    ),
    ("GET", "/openapi.json", "This document"),
    ("GET", "/docs", "This document as a page"),
    (
        "POST",
        "/mcp",
        "Tools for models (Model Context Protocol, streamable HTTP)",
    ),
    ("GET", "/v1/default/banks", "List banks"),
    ("PUT", "/v1/default/banks/{bank_id}", "Tell of a bank"),
    (
        "PATCH",
        "/v1/default/banks/{bank_id}",
        "Tell of a bank that is known",
    ),
    (
        "DELETE",
        "/v1/default/banks/{bank_id}",
        "Delete a bank with everything in it, for good",
    ),
    (
        "GET",
        "/v1/default/banks/{bank_id}/profile",
        "What was told of a bank",
    ),
    (
        "PUT",
        "/v1/default/banks/{bank_id}/profile",
        "Say how a bank thinks",
    ),
    (
        "GET",
        "/v1/default/banks/{bank_id}/stats",
        "Count what a bank holds",
    ),
    (
        "GET",
        "/v1/default/banks/{bank_id}/config",
        "Settings that clients keep of a bank",
    ),
    (
        "PATCH",
        "/v1/default/banks/{bank_id}/config",
        "Keep settings",
    ),
    (
        "DELETE",
        "/v1/default/banks/{bank_id}/config",
        "Forget the settings",
    ),
    ("POST", "/v1/default/banks/{bank_id}/memories", "Retain"),
    (
        "DELETE",
        "/v1/default/banks/{bank_id}/memories",
        "Move the memories of a bank to the trash",
    ),
    (
        "GET",
        "/v1/default/banks/{bank_id}/memories/list",
        "List memories",
    ),
    (
        "POST",
        "/v1/default/banks/{bank_id}/memories/recall",
        "Recall",
    ),
    (
        "GET",
        "/v1/default/banks/{bank_id}/memories/{id}",
        "Show a memory",
    ),
    (
        "PATCH",
        "/v1/default/banks/{bank_id}/memories/{id}",
        "Change, invalidate or restore a memory",
    ),
    (
        "POST",
        "/v1/default/banks/{bank_id}/reflect",
        "What is remembered about a question, as a text",
    ),
    (
        "GET",
        "/v1/default/banks/{bank_id}/documents",
        "List documents",
    ),
    (
        "GET",
        "/v1/default/banks/{bank_id}/documents/{*id}",
        "Show a document with its text",
    ),
    (
        "PATCH",
        "/v1/default/banks/{bank_id}/documents/{*id}",
        "Change the tags of a document",
    ),
    (
        "DELETE",
        "/v1/default/banks/{bank_id}/documents/{*id}",
        "Delete a document and its memories",
    ),
    (
        "GET",
        "/v1/default/banks/{bank_id}/operations",
        "List operations",
    ),
    (
        "GET",
        "/v1/default/banks/{bank_id}/operations/{id}",
        "How far an operation is",
    ),
    (
        "DELETE",
        "/v1/default/banks/{bank_id}/operations/{id}",
        "Cancel an operation",
    ),
    (
        "POST",
        "/v1/default/banks/{bank_id}/operations/{id}/retry",
        "Do an operation again",
    ),
    (
        "POST",
        "/v1/default/banks/{bank_id}/consolidate",
        "Consolidate",
    ),
    (
        "GET",
        "/v1/default/banks/{bank_id}/mental-models",
        "List saved searches",
    ),
    (
        "POST",
        "/v1/default/banks/{bank_id}/mental-models",
        "Save a search",
    ),
    (
        "GET",
        "/v1/default/banks/{bank_id}/mental-models/{id}",
        "Show a saved search with what it finds",
    ),
    (
        "PATCH",
        "/v1/default/banks/{bank_id}/mental-models/{id}",
        "Change a saved search",
    ),
    (
        "DELETE",
        "/v1/default/banks/{bank_id}/mental-models/{id}",
        "Delete a saved search",
    ),
    (
        "POST",
        "/v1/default/banks/{bank_id}/mental-models/{id}/refresh",
        "Search anew",
    ),
    (
        "GET",
        "/v1/default/banks/{bank_id}/mental-models/{id}/history",
        "What it said before",
    ),
    ("GET", "/v1/default/banks/{bank_id}/tags", "List tags"),
    (
        "GET",
        "/v1/default/banks/{bank_id}/entities",
        "List what memories name",
    ),
    (
        "GET",
        "/v1/default/banks/{bank_id}/entities/{id}",
        "Show what is known of an entity",
    ),
];

/// What a route is for; empty if nobody said it.
pub(super) fn summary(method: &str, path: &str) -> &'static str {
    let mut known = PURPOSES.iter();
    let found = known.find(|(its_method, its_path, _)| *its_method == method && *its_path == path);
    found.map_or("", |(_, _, purpose)| purpose)
}

/// Adds what only the route knows.
pub(super) fn complete(method: &str, path: &str, operation: &mut Operation, schemas: &mut Schemas) {
    match (method, path) {
        ("POST", "/v1/memories") => operation.statuses = vec![200, 201],
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
        ("DELETE", "/v1/memories/{id}") => operation.gives(JSON, json!({"type": "object"})),
        ("POST", "/v1/memories/{id}/restore") => {
            let scope = with_scope(object::<NoFields>(&mut schemas.requests));
            operation.takes(JSON, scope, true);
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
