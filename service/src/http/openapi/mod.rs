//! The description of every route (OpenAPI 3.1), made of the handlers' own types, and a page to read it.

mod bounds;
mod describe;
mod page;
mod routes;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::access::Access;
use super::access::Caller;
use super::bank;
use crate::app::App;
pub(super) use describe::{Described, Input, JSON, Operation, Schemas};
use describe::{definitions, scope_parameters};

/// A route with what its handler's types say.
pub(super) struct Entry {
    pub method: &'static str,
    pub path: &'static str,
    pub describe: fn(&mut Operation, &mut Schemas),
}

/// The document of these routes.
pub(super) fn document(entries: &[Entry]) -> Value {
    let mut schemas = Schemas::new();
    let mut paths: Map<String, Value> = Map::new();
    for entry in entries {
        let path = entry.path.replace("{*", "{");
        let operation = operation(entry, &mut schemas);
        let item = paths.entry(path).or_insert_with(|| json!({}));
        item[entry.method.to_lowercase()] = operation;
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Keepsake",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Long-term memory for AI agents.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": definitions(schemas),
            "parameters": scope_parameters(),
            "responses": {
                "Problem": {
                    "description": "What is wrong (RFC 9457).",
                    "content": {"application/problem+json": {"schema": problem()}},
                },
                "BankProblem": {
                    "description": "What is wrong, as bank clients read it.",
                    "content": {(JSON): {"schema": bank_problem()}},
                },
            },
            "securitySchemes": {"key": {
                "type": "http", "scheme": "bearer",
                "description": "An API key. A service without keys asks for none.",
            }},
        },
    });
    bound_integers(&mut document);
    document
}

fn operation(entry: &Entry, schemas: &mut Schemas) -> Value {
    let (method, path) = (entry.method, entry.path);
    let mut operation = Operation::default();
    (entry.describe)(&mut operation, schemas);
    routes::complete(method, path, &mut operation, schemas);
    let access = Access::of(method, path);
    let is_bank = path.starts_with(bank::PREFIX);
    let mut parameters = path_parameters(path);
    parameters.append(&mut operation.parameters);
    let mut responses = Map::new();
    if operation.statuses.is_empty() {
        operation.statuses.push(200);
    }
    for status in operation.statuses {
        let mut answer = json!({"description": "Done."});
        if !operation.answer.is_empty() {
            answer["content"] = Value::Object(operation.answer.clone());
        }
        responses.insert(status.to_string(), answer);
    }
    let problem = match is_bank {
        true => "#/components/responses/BankProblem",
        false => "#/components/responses/Problem",
    };
    responses.insert("default".to_owned(), json!({"$ref": problem}));
    let (needs, security) = match access {
        Access::Open => ("no key", json!([])),
        Access::Any { writes: false } => ("a key", json!([{"key": []}])),
        Access::Any { writes: true } => ("a key that may write", json!([{"key": []}])),
        Access::Admin { writes: false } => ("an admin key", json!([{"key": []}])),
        Access::Admin { writes: true } => ("an admin key that may write", json!([{"key": []}])),
    };
    let mut told = json!({
        "operationId": operation_id(method, path),
        "summary": routes::summary(method, path),
        "tags": [if is_bank { "bank" } else { "keepsake" }],
        "security": security,
        "x-keepsake-needs": needs,
        "parameters": parameters,
        "responses": responses,
    });
    if let Some((content, optional)) = operation.body {
        told["requestBody"] = json!({"required": !optional, "content": content});
    }
    told
}

fn operation_id(method: &str, path: &str) -> String {
    let words = path
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    format!("{}_{}", method.to_lowercase(), words.join("_"))
}

fn path_parameters(path: &str) -> Vec<Value> {
    let variables = path.split(['{', '}']).skip(1).step_by(2);
    let parameter = |name: &str| {
        let name = name.trim_start_matches('*');
        json!({
            "name": name, "in": "path", "required": true,
            "schema": bounds::variable(path, name),
        })
    };
    variables.map(parameter).collect()
}

fn problem() -> Value {
    let wrong = json!({
        "type": "object",
        "required": ["field", "message"],
        "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
    });
    json!({
        "type": "object",
        "required": ["type", "title", "status", "detail", "errors"],
        "properties": {
            "type": {"type": "string", "format": "uri"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "errors": {"type": "array", "items": wrong},
            "count": {"type": "integer", "minimum": 0},
        },
    })
}

fn bank_problem() -> Value {
    json!({
        "type": "object",
        "required": ["detail"],
        "properties": {"detail": {"anyOf": [
            {"type": "string"},
            {"type": "array", "items": {"type": "object", "required": ["loc", "msg", "type"]}},
        ]}},
    })
}

/// Says where the integers of a language end, which a format only hints at.
fn bound_integers(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let bounds = match fields.get("format").and_then(Value::as_str) {
                Some("int64") => Some((json!(i64::MIN), json!(i64::MAX))),
                Some("uint" | "uint64") => Some((json!(0), json!(u64::MAX))),
                Some("uint32") => Some((json!(0), json!(u32::MAX))),
                _ => None,
            };
            if let Some((least, most)) = bounds {
                fields.entry("minimum").or_insert(least);
                fields.entry("maximum").or_insert(most);
            }
            fields.values_mut().for_each(bound_integers);
        }
        Value::Array(items) => items.iter_mut().for_each(bound_integers),
        _ => {}
    }
}

/// GET /openapi.json.
pub(super) async fn json(State(_): State<App>, _: Caller) -> Json<Value> {
    Json(document(&super::routes().entries))
}

/// GET /docs.
pub(super) async fn docs(State(_): State<App>, _: Caller) -> Response {
    let page = page::page(&document(&super::routes().entries));
    (
        [(header::CONTENT_SECURITY_POLICY, page::POLICY)],
        Html(page),
    )
        .into_response()
}
