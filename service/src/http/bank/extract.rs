//! What a bank client sends: null is absent, unknown fields are ignored, names in paths are decoded
//! once.

use std::borrow::Cow;
use std::collections::HashMap;

use axum::body::HttpBody;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::super::access::Caller;
use super::super::extract::{caller, json_object, read, scope_of_bank};
use super::super::openapi::{Input, JSON, Operation, Schemas};
use super::super::problem::Problem;
use super::records::NOWHERE;
use crate::app::App;
use crate::clock::parse_time;
use crate::keys::Reach;
use crate::scope::Scope;

/// The bank of the path.
pub(super) struct Bank {
    pub name: String,
    /// Sees all of the bank that the caller reaches.
    pub scope: Scope,
    /// The namespace of the records of the bank: its name, or the caller's own.
    pub shelf: String,
    pub banks: Banks,
}

/// The banks that a caller knows of.
pub(super) struct Banks {
    /// The namespace of what is told of them.
    pub shelf: String,
    caller: Caller,
}

impl Banks {
    /// The scope of one of them.
    pub(super) fn scope(&self, app: &App, bank: &str) -> Result<Scope, Problem> {
        scope_of_bank(bank.to_owned(), &app.settings, self.caller.reach())
    }
}

impl FromRequestParts<App> for Banks {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let caller = caller(&parts.extensions)?;
        Ok(Banks {
            shelf: caller.reach().own(NOWHERE),
            caller,
        })
    }
}

/// The namespaces of the records of a bank, and of what is told of it.
pub(super) struct Shelves {
    pub bank: String,
    pub banks: String,
}

impl Bank {
    /// Where records of the bank are: for everybody, and for each agent that a key is bound to.
    pub(super) fn all_shelves(&self, app: &App) -> Vec<Shelves> {
        let own = |reach: &Reach| Shelves {
            bank: reach.own(&self.name),
            banks: reach.own(NOWHERE),
        };
        let keys = app.settings.api_keys.iter();
        std::iter::once(own(&Reach::default()))
            .chain(keys.map(|key| own(&key.reach)))
            .collect()
    }
}

impl FromRequestParts<App> for Bank {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let name = variable(parts, app, "bank_id").await?;
        let banks = Banks::from_request_parts(parts, app).await?;
        Ok(Bank {
            scope: banks.scope(app, &name)?,
            shelf: banks.caller.reach().own(&name),
            name,
            banks,
        })
    }
}

/// The other name of the path, with slashes where it has some.
pub(super) struct Id(pub String);

impl FromRequestParts<App> for Id {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        variable(parts, app, "id").await.map(Id)
    }
}

async fn variable(parts: &mut Parts, app: &App, name: &str) -> Result<String, Problem> {
    let path = Path::<HashMap<String, String>>::from_request_parts(parts, app).await;
    let Path(mut variables) =
        path.map_err(|_| Problem::malformed("the path is not valid UTF-8"))?;
    variables.remove(name).ok_or_else(Problem::no_route)
}

/// The fields of a JSON body; an empty body has none.
pub(super) struct Fields<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for Fields<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let mut object = Map::new();
        if !request.body().is_end_stream() {
            object = json_object(request, app).await?;
        }
        let mut value = Value::Object(object);
        drop_nulls(&mut value);
        read(value).map(Fields)
    }
}

/// Generated clients send every field that was not given as null.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.retain(|_, value| !value.is_null());
            object.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// The query string, in which names may repeat.
pub(super) struct Query(Vec<(String, String)>);

impl FromRequestParts<App> for Query {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        let pairs = form_urlencoded::parse(query.as_bytes());
        Ok(Query(pairs.into_owned().collect()))
    }
}

/// A part of a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page {
    pub limit: usize,
    pub offset: usize,
}

impl Page {
    /// The items of a whole list that belong to the page.
    pub(super) fn of<T>(self, items: Vec<T>) -> Vec<T> {
        items
            .into_iter()
            .skip(self.offset)
            .take(self.limit)
            .collect()
    }
}

impl Query {
    /// What is given under a name, unless it is empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(given, _)| given == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// Everything that is given under a name.
    pub(super) fn all(&self, name: &str) -> Vec<String> {
        let found = self.0.iter().filter(|(given, _)| given == name);
        found.map(|(_, value)| value.clone()).collect()
    }

    /// `limit` (100 if absent) and `offset`.
    pub(super) fn page(&self) -> Result<Page, Problem> {
        /// Longest page, and where the last one begins.
        const MOST: usize = 1_000;
        const FARTHEST: usize = 1_000_000_000;
        let number = |name: &str, default: usize, least: usize, most: usize| match self.text(name) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .ok()
                .filter(|number| (least..=most).contains(number))
                .ok_or_else(|| {
                    let message = format!("is `{text}`, must be {least} to {most}");
                    Problem::invalid_field(name, message)
                }),
        };
        Ok(Page {
            limit: number("limit", 100, 1, MOST)?,
            offset: number("offset", 0, 0, FARTHEST)?,
        })
    }
}

/// A time of a body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time(pub chrono::DateTime<chrono::Utc>);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let unreadable = || serde::de::Error::custom(format!("`{text}` is no ISO 8601 time"));
        parse_time(&text).map(Time).ok_or_else(unreadable)
    }
}

impl JsonSchema for Time {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "description": "A time in ISO 8601."})
    }
}

impl<T: JsonSchema> Input for Fields<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let schema = schemas.requests.subschema_for::<T>().to_value();
        operation.takes(JSON, schema, true);
    }
}

/// What these take is said by the path, or by the route for all its names.
macro_rules! said_by_route {
    ($($input:ty),*) => {
        $(impl Input for $input {
            fn describe(_: &mut Operation, _: &mut Schemas) {}
        })*
    };
}

said_by_route!(Bank, Banks, Id, Query);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn null_is_absent_wherever_it_stands() {
        let mut value = json!({"a": null, "b": {"c": null, "d": 1}, "e": [{"f": null}]});
        drop_nulls(&mut value);
        assert_eq!(value, json!({"b": {"d": 1}, "e": [{}]}));
    }
}
