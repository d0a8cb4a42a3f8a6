//! What a handler takes and gives, as its types say it: a route whose types say nothing does not
//! compile.

use std::collections::BTreeMap;

use axum::extract::{Request, State};
use axum::response::Response;
use axum::{Extension, Json};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use super::super::access::Caller;
use super::super::extract::{AnyScope, Body, Items, Params, Segment, SessionBody, SessionFields};
use super::super::idempotency::OnceKey;
use super::super::problem::Problem;
use super::bounds::{bound, bound_fields};
use crate::app::App;
use crate::skills::shelf::Shelf;

/// Where schemas are in the document.
pub(super) const SCHEMAS: &str = "/components/schemas";
pub(in crate::http) const JSON: &str = "application/json";

/// Schemas of types, those that requests are read into and those that answers are written from.
pub(in crate::http) struct Schemas {
    pub requests: SchemaGenerator,
    pub answers: SchemaGenerator,
}

impl Schemas {
    pub(super) fn new() -> Schemas {
        let settings = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = SCHEMAS.into();
                settings.meta_schema = None;
            })
        };
        Schemas {
            requests: settings().for_deserialize().into_generator(),
            answers: settings().for_serialize().into_generator(),
        }
    }
}

/// An operation of the document, but for what its route says.
#[derive(Default)]
pub(in crate::http) struct Operation {
    pub parameters: Vec<Value>,
    /// Content by media type, and whether a request may do without.
    pub body: Option<(Map<String, Value>, bool)>,
    /// Content of the answer that is no problem.
    pub answer: Map<String, Value>,
    /// Its statuses.
    pub statuses: Vec<u16>,
}

impl Operation {
    /// Adds a parameter of the query string.
    pub(super) fn query(&mut self, name: &str, required: bool, mut schema: Value) {
        let description = schema
            .as_object_mut()
            .and_then(|schema| schema.remove("description"));
        let mut parameter =
            json!({"name": name, "in": "query", "required": required, "schema": schema});
        if let Some(description) = description {
            parameter["description"] = description;
        }
        self.parameters.push(parameter);
    }

    pub(in crate::http) fn takes(&mut self, media_type: &str, schema: Value, optional: bool) {
        let body = self.body.get_or_insert_default();
        body.0
            .insert(media_type.to_owned(), json!({"schema": schema}));
        body.1 |= optional;
    }

    pub(super) fn gives(&mut self, media_type: &str, schema: Value) {
        self.answer
            .insert(media_type.to_owned(), json!({"schema": schema}));
    }
}

/// A handler, described by its signature.
pub(in crate::http) trait Described<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas);
}

/// An argument of a handler.
pub(in crate::http) trait Input {
    fn describe(operation: &mut Operation, schemas: &mut Schemas);
}

/// What a handler returns.
pub(in crate::http) trait Output {
    fn describe(operation: &mut Operation, schemas: &mut Schemas);
}

macro_rules! described {
    ($($input:ident),*) => {
        impl<F, Fut, Out, $($input),*> Described<($($input,)*)> for F
        where
            F: Fn($($input),*) -> Fut,
            Fut: Future<Output = Out>,
            Out: Output,
            $($input: Input,)*
        {
            fn describe(operation: &mut Operation, schemas: &mut Schemas) {
                $($input::describe(operation, schemas);)*
                Out::describe(operation, schemas);
            }
        }
    };
}

described!();
described!(A);
described!(A, B);
described!(A, B, C);
described!(A, B, C, D);

/// Arguments that requests say nothing of, or whose part the route says.
macro_rules! silent {
    ($($input:ty),*) => {
        $(impl Input for $input {
            fn describe(_: &mut Operation, _: &mut Schemas) {}
        })*
    };
}

silent!(State<App>, Extension<Shelf>, Caller, Segment, Request);

impl Input for Option<Extension<OnceKey>> {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        once(operation);
    }
}

/// The header under which a write is done once.
pub(super) fn once(operation: &mut Operation) {
    operation.parameters.push(json!({
        "name": "Idempotency-Key", "in": "header", "required": false,
        "description": "The same key and request within 24 hours get the first answer again.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    }));
}

/// The fields that say whose memories are meant, as the query string or a body holds them.
pub(super) fn scope_fields() -> [(&'static str, Value); 3] {
    const NAME: &str = r"[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*";
    let text = |pattern: String, about: &str| json!({"type": "string", "maxLength": 256, "pattern": pattern, "description": about});
    [
        (
            "agent_id",
            text(format!("^({NAME})?$"), "Who reads or writes."),
        ),
        (
            "is_primary",
            json!({"type": "boolean", "description": "Whether memories of all agents are seen."}),
        ),
        (
            "namespace",
            text(
                format!("^{NAME}$"),
                "A wall that nothing crosses; `default` if absent.",
            ),
        ),
    ]
}

/// The same as parameters of the document, by name.
pub(super) fn scope_parameters() -> Map<String, Value> {
    let parameter = |(name, mut schema): (&str, Value)| {
        let about = schema["description"].take();
        if let Some(schema) = schema.as_object_mut() {
            schema.remove("description");
        }
        let parameter = json!({
            "name": name, "in": "query", "required": false, "description": about, "schema": schema,
        });
        (name.to_owned(), parameter)
    };
    scope_fields().into_iter().map(parameter).collect()
}

fn scope_in_query(operation: &mut Operation) {
    for (name, _) in scope_fields() {
        let reference = format!("#/components/parameters/{name}");
        operation.parameters.push(json!({"$ref": reference}));
    }
}

/// The schema of a type itself, not a reference to it.
pub(super) fn object<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    T::json_schema(generator).to_value()
}

/// The schema of a body with the scope fields in it.
pub(super) fn with_scope(mut schema: Value) -> Value {
    bound_fields(&mut schema);
    for (name, _) in scope_fields() {
        let reference = format!("#/components/parameters/{name}/schema");
        let nullable = json!({"anyOf": [{"$ref": reference}, {"type": "null"}]});
        schema["properties"][name] = nullable;
    }
    schema
}

fn scoped_body<T: JsonSchema>(operation: &mut Operation, schemas: &mut Schemas) {
    scope_in_query(operation);
    let schema = with_scope(object::<T>(&mut schemas.requests));
    operation.takes(JSON, schema, false);
}

impl<T: JsonSchema> Input for Body<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        scoped_body::<T>(operation, schemas);
    }
}

impl<T: JsonSchema> Input for SessionBody<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        scoped_body::<T>(operation, schemas);
    }
}

impl<T: JsonSchema> Input for SessionFields<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        scoped_body::<T>(operation, schemas);
    }
}

impl Input for AnyScope {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        scope_in_query(operation);
    }
}

impl Input for Items {
    fn describe(operation: &mut Operation, _: &mut Schemas) {
        scope_in_query(operation);
    }
}

impl<T: JsonSchema> Input for Params<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        scope_in_query(operation);
        let schema = object::<T>(&mut schemas.requests);
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let properties = schema["properties"].as_object().cloned();
        for (name, property) in properties.unwrap_or_default() {
            let is_required = required.contains(&Value::from(name.as_str()));
            let mut property = in_query(property);
            bound(&name, &mut property);
            operation.query(&name, is_required, property);
        }
    }
}

/// The schema of a field as a query string can hold it: there is no null in it, and a list is one text
/// with commas.
fn in_query(mut schema: Value) -> Value {
    if let Some(kinds) = schema["type"].as_array().cloned() {
        let kinds: Vec<Value> = kinds.into_iter().filter(|kind| kind != "null").collect();
        schema["type"] = match kinds.as_slice() {
            [kind] => kind.clone(),
            _ => Value::from(kinds),
        };
    }
    let not_null = |kind: &&Value| kind["type"] != "null";
    let choices = schema["anyOf"].as_array().cloned().unwrap_or_default();
    let choices: Vec<&Value> = choices.iter().filter(not_null).collect();
    match choices.as_slice() {
        [] => schema,
        [one] => {
            let mut one = in_query((*one).clone());
            if let Some(description) = schema.get("description") {
                one["description"] = description.clone();
            }
            one
        }
        _ => json!({"type": "string", "description": "Separated by commas."}),
    }
}

impl<T: JsonSchema> Output for Json<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let schema: Schema = schemas.answers.subschema_for::<T>();
        operation.gives(JSON, schema.to_value());
    }
}

/// What an answer is that only its handler knows.
impl Output for Response {
    fn describe(_: &mut Operation, _: &mut Schemas) {}
}

/// Problems are the same everywhere.
impl<T: Output> Output for Result<T, Problem> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        T::describe(operation, schemas);
    }
}

/// Definitions of both kinds, by name.
pub(super) fn definitions(mut schemas: Schemas) -> BTreeMap<String, Value> {
    let requests = schemas.requests.take_definitions(true);
    let answers = schemas.answers.take_definitions(true);
    requests.into_iter().chain(answers).collect()
}
