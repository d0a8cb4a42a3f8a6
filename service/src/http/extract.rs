//! What a request says, checked: scope, JSON bodies, query strings, paths. Every refusal is a
//! problem that names the field.

use axum::body::{Bytes, HttpBody};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{Extensions, header};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde_json::{Map, Value};

use super::access::Caller;
use super::problem::Problem;
use crate::app::App;
use crate::config::Settings;
use crate::error::FieldError;
use crate::keys::Reach;
use crate::scope::{DEFAULT_NAMESPACE, Scope};
use crate::session::SessionSettings;

/// Longest name of an agent or namespace, in characters.
const MAX_NAME_CHARS: usize = 256;
/// Fields of every request that say whose it is.
const SCOPE_FIELDS: [&str; 3] = ["agent_id", "is_primary", "namespace"];

/// The scope fields as given.
#[derive(Debug, Clone, Default, Deserialize)]
struct RawScope {
    agent_id: Option<String>,
    is_primary: Option<bool>,
    namespace: Option<String>,
}

impl RawScope {
    /// Fields that are absent here come from `defaults`.
    fn or(self, defaults: &RawScope) -> RawScope {
        // An empty name is as if unset.
        let agent_id = self.agent_id.filter(|agent| !agent.is_empty());
        RawScope {
            agent_id: agent_id.or_else(|| defaults.agent_id.clone()),
            is_primary: self.is_primary.or(defaults.is_primary),
            namespace: self.namespace.or_else(|| defaults.namespace.clone()),
        }
    }

    /// The scope, within what the caller reaches.
    fn resolve(self, settings: &Settings, reach: &Reach) -> Result<Scope, Problem> {
        let agent = self
            .agent_id
            .filter(|agent| !agent.is_empty())
            .or_else(|| reach.agent.clone())
            .or_else(|| settings.agent_id.clone());
        let namespace = self
            .namespace
            .or_else(|| reach.namespace.clone())
            .unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned());
        check_names(agent.as_deref(), Some(&namespace))?;
        for (field, wanted, reached) in [
            ("agent", agent.as_ref(), reach.agent.as_ref()),
            ("namespace", Some(&namespace), reach.namespace.as_ref()),
        ] {
            if let Some(reached) = reached.filter(|reached| wanted != Some(*reached)) {
                return Err(Problem::out_of_reach(field, reached));
            }
        }
        Ok(Scope {
            namespace,
            agent,
            primary: reach.primary(self.is_primary, settings.is_primary),
        })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        caller(&parts.extensions)
    }
}

/// Who sent a request. That nobody found it out is a mistake of ours, not a permission.
pub(super) fn caller(extensions: &Extensions) -> Result<Caller, Problem> {
    let caller = extensions.get::<Caller>();
    caller.cloned().ok_or_else(Problem::internal)
}

/// The scope of whoever uses a bank: it sees all of it, and writes as the agent of the settings; both
/// within what it reaches.
pub(super) fn scope_of_bank(
    bank: String,
    settings: &Settings,
    reach: &Reach,
) -> Result<Scope, Problem> {
    let scope = RawScope {
        agent_id: None,
        is_primary: Some(true),
        namespace: Some(bank),
    };
    scope.resolve(settings, reach).map_err(|problem| {
        let is_field = problem.wrong_fields().next().is_some();
        // It is no field of these clients.
        if is_field {
            unsound_name("bank_id")
        } else {
            problem
        }
    })
}

/// Checks names of agents and namespaces, those too that others are stronger than.
fn check_names(agent: Option<&str>, namespace: Option<&str>) -> Result<(), Problem> {
    for (field, value) in [("agent_id", agent), ("namespace", namespace)] {
        if let Some(value) = value
            && (value.trim().is_empty()
                || value.chars().count() > MAX_NAME_CHARS
                || value.chars().any(char::is_control))
        {
            return Err(unsound_name(field));
        }
    }
    Ok(())
}

fn unsound_name(field: &str) -> Problem {
    let rule =
        format!("must be 1 to {MAX_NAME_CHARS} characters, not blank, without control characters");
    Problem::invalid_field(field, rule)
}

/// The fields of a JSON object body, with the scope that body or query string names.
pub(super) struct Body<T> {
    pub scope: Scope,
    pub value: T,
}

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let defaults = ItemDefaults::of(&request)?;
        let object = json_object(request, app).await?;
        item(object, &defaults, &app.settings).map(|(scope, value)| Body { scope, value })
    }
}

/// Like [`Body`], for requests that belong to a session: what neither body nor query string says
/// comes from the session's settings.
pub(super) struct SessionBody<T> {
    pub scope: Scope,
    pub session: SessionSettings,
    pub value: T,
}

impl<T: DeserializeOwned> FromRequest<App> for SessionBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let ItemDefaults { scope, caller } = ItemDefaults::of(&request)?;
        let object = json_object(request, app).await?;
        let (given, rest) = split(object)?;
        let (given, reach) = (given.or(&scope), caller.reach());
        let mut session = SessionSettings::default();
        if let Some(id) = rest.get("session_id").and_then(Value::as_str) {
            let bound = reach.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
            let namespace = given.namespace.as_deref().unwrap_or(bound);
            session = app.sessions.settings(&reach.own(namespace), id);
        }
        let of_session = RawScope {
            agent_id: session.agent_id.clone(),
            is_primary: session.is_primary,
            namespace: None,
        };
        Ok(SessionBody {
            scope: given.or(&of_session).resolve(&app.settings, reach)?,
            session,
            value: read(Value::Object(rest))?,
        })
    }
}

/// The body that begins a session, with what it says about agent and primary itself.
pub(super) struct SessionFields<T> {
    pub caller: Caller,
    pub scope: Scope,
    pub agent_id: Option<String>,
    pub is_primary: Option<bool>,
    pub value: T,
}

impl<T: DeserializeOwned> FromRequest<App> for SessionFields<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let ItemDefaults { scope, caller } = ItemDefaults::of(&request)?;
        let object = json_object(request, app).await?;
        let (given, rest) = split(object)?;
        let given = given.or(&scope);
        Ok(SessionFields {
            agent_id: given.agent_id.clone(),
            is_primary: given.is_primary,
            scope: given.resolve(&app.settings, caller.reach())?,
            value: read(Value::Object(rest))?,
            caller,
        })
    }
}

/// The items of a JSON array body, as they are; each is read by [`ItemDefaults::read`].
pub(super) struct Items {
    pub items: Vec<Value>,
    pub defaults: ItemDefaults,
}

/// What the query string says for every item, and who says it.
#[derive(Clone)]
pub(super) struct ItemDefaults {
    scope: RawScope,
    caller: Caller,
}

impl ItemDefaults {
    /// Reads the query string of a request that says all else in its body.
    pub(super) fn of(request: &Request) -> Result<ItemDefaults, Problem> {
        Ok(ItemDefaults {
            scope: query_scope(request.uri().query().unwrap_or_default(), true)?,
            caller: caller(request.extensions())?,
        })
    }

    /// Reads one item: its scope and its fields.
    pub(super) fn read<T: DeserializeOwned>(
        &self,
        item: Value,
        settings: &Settings,
    ) -> Result<(Scope, T), Problem> {
        match item {
            Value::Object(object) => self::item(object, self, settings),
            _ => Err(Problem::invalid_field("body", "must be a JSON object")),
        }
    }
}

impl FromRequest<App> for Items {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let defaults = ItemDefaults::of(&request)?;
        match json_body(request, app).await? {
            Value::Array(items) => Ok(Items { items, defaults }),
            _ => Err(Problem::invalid_field("body", "must be a JSON array")),
        }
    }
}

/// The scope of a request without a body, and the rest of its query string.
pub(super) struct Params<T> {
    pub scope: Scope,
    pub value: T,
}

impl<T: DeserializeOwned> FromRequestParts<App> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        let caller = caller(&parts.extensions)?;
        let scope = query_scope(query, false)?.resolve(&app.settings, caller.reach())?;
        let mut rest = form_urlencoded::Serializer::new(String::new());
        rest.extend_pairs(
            form_urlencoded::parse(query.as_bytes())
                .filter(|(name, _)| !SCOPE_FIELDS.contains(&name.as_ref())),
        );
        let rest = rest.finish();
        let pairs = serde_urlencoded::Deserializer::new(form_urlencoded::parse(rest.as_bytes()));
        let value = serde_path_to_error::deserialize(pairs)
            .map_err(|error| wrong_value(&error.path().to_string(), &error.inner().to_string()))?;
        Ok(Params { scope, value })
    }
}

/// The scope of a request that needs no other field, from a JSON body if there is one, else from the
/// query string.
pub(super) struct AnyScope(pub Scope);

impl FromRequest<App> for AnyScope {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        if request.body().is_end_stream() {
            let ItemDefaults { scope, caller } = ItemDefaults::of(&request)?;
            return scope.resolve(&app.settings, caller.reach()).map(AnyScope);
        }
        let body: Body<NoFields> = Body::from_request(request, app).await?;
        Ok(AnyScope(body.scope))
    }
}

/// Nothing but the scope.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoFields {}

/// The one variable of a path, decoded.
pub(super) struct Segment(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Segment {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = axum::extract::Path::<String>::from_request_parts(parts, state).await;
        path.map(|axum::extract::Path(segment)| Segment(segment))
            .map_err(|_| Problem::malformed("the path is not valid UTF-8"))
    }
}

/// Reads the scope fields of a query string; `alone` if nothing else may be there.
fn query_scope(query: &str, alone: bool) -> Result<RawScope, Problem> {
    let mut scope = RawScope::default();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match name.as_ref() {
            "agent_id" => scope.agent_id = Some(value.into_owned()),
            "namespace" => scope.namespace = Some(value.into_owned()),
            "is_primary" => match value.as_ref() {
                "true" => scope.is_primary = Some(true),
                "false" => scope.is_primary = Some(false),
                _ => {
                    return Err(Problem::invalid_field(
                        "is_primary",
                        "must be true or false",
                    ));
                }
            },
            other if alone => return Err(Problem::invalid_field(other, "is unknown here")),
            _ => {}
        }
    }
    let agent = scope.agent_id.as_deref().filter(|agent| !agent.is_empty());
    check_names(agent, scope.namespace.as_deref())?;
    Ok(scope)
}

/// Reads an object: its scope and its other fields.
fn item<T: DeserializeOwned>(
    object: Map<String, Value>,
    defaults: &ItemDefaults,
    settings: &Settings,
) -> Result<(Scope, T), Problem> {
    let (scope, rest) = split(object)?;
    let reach = defaults.caller.reach();
    let scope = scope.or(&defaults.scope).resolve(settings, reach)?;
    Ok((scope, read(Value::Object(rest))?))
}

/// Splits an object into its scope fields and the others.
fn split(mut object: Map<String, Value>) -> Result<(RawScope, Map<String, Value>), Problem> {
    let scope: Map<String, Value> = SCOPE_FIELDS
        .iter()
        .filter_map(|field| object.remove_entry(*field))
        .collect();
    Ok((read(Value::Object(scope))?, object))
}

/// Reads fields; the first wrong one is named.
pub(super) fn read<T: DeserializeOwned>(value: Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value.into_deserializer())
        .map_err(|error| wrong_value(&error.path().to_string(), &error.inner().to_string()))
}

/// Names the field that a deserialiser complains about: its path, or the name in its message.
fn wrong_value(path: &str, message: &str) -> Problem {
    let named = ["unknown field `", "missing field `", "duplicate field `"]
        .iter()
        .find_map(|start| message.strip_prefix(start)?.split_once('`'))
        .map(|(name, _)| name);
    let field = match (named, path) {
        (Some(name), "." | "?") => name.to_owned(),
        (Some(name), path) if !path.ends_with(name) => format!("{path}.{name}"),
        (None, ".") => "body".to_owned(),
        (_, path) => path.to_owned(),
    };
    Problem::invalid(vec![FieldError::new(field, message)])
}

/// The JSON object of a body that must be one.
pub(super) async fn json_object(
    request: Request,
    app: &App,
) -> Result<Map<String, Value>, Problem> {
    match json_body(request, app).await? {
        Value::Object(object) => Ok(object),
        _ => Err(Problem::invalid_field("body", "must be a JSON object")),
    }
}

/// The JSON value of a body of the right type and size.
async fn json_body(request: Request, app: &App) -> Result<Value, Problem> {
    if !content_type(&request).is_some_and(|kind| {
        kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
    }) {
        return Err(Problem::unsupported_media_type("application/json"));
    }
    let bytes = Bytes::from_request(request, app)
        .await
        .map_err(|_| Problem::body_too_large())?;
    parse_json(&bytes)
}

/// The media type of a request, without parameters, in lower case.
pub(super) fn content_type(request: &Request) -> Option<String> {
    let value = request.headers().get(header::CONTENT_TYPE)?.to_str().ok()?;
    Some(value.split(';').next()?.trim().to_ascii_lowercase())
}

/// Parses JSON. An escaped half of a surrogate pair, which is no character, becomes U+FFFD.
pub(super) fn parse_json(bytes: &[u8]) -> Result<Value, Problem> {
    serde_json::from_slice(bytes)
        .or_else(|error| {
            repaired(bytes).map_or(Err(error), |repaired| serde_json::from_slice(&repaired))
        })
        .map_err(|error| Problem::malformed(format!("the body is not valid JSON: {error}")))
}

/// The text with every lone surrogate escape replaced, if it has any.
fn repaired(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut fixed = bytes.to_vec();
    let mut at = 0;
    let mut changed = false;
    while at < fixed.len() {
        if fixed[at] != b'\\' {
            at += 1;
            continue;
        }
        match (surrogate(&fixed, at), surrogate(&fixed, at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => at += 12,
            (Some(_), _) => {
                fixed[at + 2..at + 6].copy_from_slice(b"fffd");
                changed = true;
                at += 6;
            }
            // Any other escape, the second backslash of `\\` included, is passed over whole.
            (None, _) => at += 2,
        }
    }
    changed.then_some(fixed)
}

/// The surrogate that the escape at this position stands for.
fn surrogate(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (0xd800..=0xdfff).contains(&unit).then_some(unit)
}

/// For fields where `null` and absence mean different things.
pub(super) fn present<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_surrogate_pair_becomes_the_replacement_character() {
        for (json, text) in [
            (r#""a \ud83d b""#, "a \u{fffd} b"),
            (r#""\ude00""#, "\u{fffd}"),
            (r#""\ud83d\ude00""#, "😀"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\\ud83d""#, "\\ud83d"),
        ] {
            assert_eq!(
                parse_json(json.as_bytes()).unwrap(),
                Value::from(text),
                "{json}"
            );
        }
        assert_eq!(parse_json(b"{").unwrap_err().status(), 400);
    }
}
