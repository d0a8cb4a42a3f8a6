//! POST /v1/memories, and /v1/memories/{id}.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::extract::{AnyScope, Body, NoFields, Params, Segment, present};
use super::idempotency::OnceKey;
use super::problem::Problem;
use super::shapes::MemoryShape;
use crate::app::App;
use crate::error::Error;
use crate::memory::{Details, Edit, Place, State as MemoryState};
use crate::write::{self, Draft, Origin, Stored};

/// A memory to store, as clients send it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewFields {
    content: String,
    tags: Option<Vec<String>>,
    shared: Option<bool>,
    category: Option<String>,
    source: Option<String>,
    entry_type: Option<String>,
    session: Option<String>,
    turn: Option<i64>,
    document: Option<String>,
    created_at: Option<DateTime<Utc>>,
    invalid_at: Option<DateTime<Utc>>,
    pinned: Option<bool>,
    supersedes: Option<String>,
    /// Who is behind the write.
    origin: Option<OriginName>,
    metadata: Option<Map<String, Value>>,
    force: Option<bool>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum OriginName {
    Person,
    Model,
    Automatic,
}

impl From<OriginName> for Origin {
    fn from(name: OriginName) -> Origin {
        match name {
            OriginName::Person => Origin::Person,
            OriginName::Model => Origin::Model,
            OriginName::Automatic => Origin::Automatic,
        }
    }
}

impl From<NewFields> for Draft {
    fn from(fields: NewFields) -> Draft {
        Draft {
            content: fields.content,
            place: Place {
                session: fields.session,
                turn: fields.turn,
                document: fields.document,
            },
            details: Details {
                tags: fields.tags.unwrap_or_default(),
                shared: fields.shared.unwrap_or_default(),
                category: fields.category,
                source: fields.source,
                entry_type: fields.entry_type,
                invalid_at: fields.invalid_at,
                pinned: fields.pinned.unwrap_or_default(),
                metadata: fields.metadata.unwrap_or_default(),
            },
            created_at: fields.created_at,
            entities: Vec::new(),
            supersedes: fields.supersedes,
            force: fields.force.unwrap_or_default(),
            origin: fields.origin.map(Origin::from).unwrap_or_default(),
            once: None,
        }
    }
}

/// A stored memory, and whether it was there.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Stored")]
pub(super) struct StoredShape {
    #[serde(flatten)]
    memory: MemoryShape,
    reinforced: bool,
    revived: Option<&'static str>,
    /// Kinds of secrets that were masked.
    redacted: Vec<&'static str>,
}

/// Tells in a result of many what was masked, if something was.
pub(super) fn redaction(result: &mut Value, kinds: &[&'static str]) {
    if !kinds.is_empty() {
        result["redacted"] = json!(kinds);
    }
}

/// The status that tells a new memory from one that was there.
pub(super) fn status(stored: &Stored) -> StatusCode {
    if stored.reinforced {
        StatusCode::OK
    } else {
        StatusCode::CREATED
    }
}

pub(super) async fn add(
    State(app): State<App>,
    once: Option<Extension<OnceKey>>,
    body: Body<NewFields>,
) -> Result<Response, Problem> {
    let now = app.clock.now();
    let mut draft = Draft::from(body.value);
    // The kept answer tells one body from another.
    draft.once = once.map(|Extension(key)| key.item(0, draft.content.as_bytes()));
    let stored = write::add(&app, &body.scope, draft, now).await?;
    let revived = stored.revived.map(MemoryState::as_str);
    let shape = StoredShape {
        memory: MemoryShape::new(&stored.memory, now),
        reinforced: stored.reinforced,
        revived,
        redacted: stored.redacted.clone(),
    };
    Ok((status(&stored), Json(shape)).into_response())
}

pub(super) async fn get(
    State(app): State<App>,
    Segment(id): Segment,
    params: Params<NoFields>,
) -> Result<Json<MemoryShape>, Problem> {
    let found = app
        .store
        .get(
            &params.scope,
            &write::resolve(&app, &params.scope, &id).await?,
        )
        .await?;
    let memory = found.ok_or(Error::NotFound(id))?;
    Ok(Json(MemoryShape::new(&memory, app.clock.now())))
}

/// Changes of a memory; for some fields `null` is a value.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EditFields {
    content: Option<String>,
    tags: Option<Vec<String>>,
    shared: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    category: Option<Option<String>>,
    #[serde(default, deserialize_with = "present")]
    source: Option<Option<String>>,
    #[serde(default, deserialize_with = "present")]
    entry_type: Option<Option<String>>,
    #[serde(default, deserialize_with = "present")]
    invalid_at: Option<Option<DateTime<Utc>>>,
    pinned: Option<bool>,
    metadata: Option<Map<String, Value>>,
}

pub(super) async fn edit(
    State(app): State<App>,
    Segment(id): Segment,
    body: Body<EditFields>,
) -> Result<Json<MemoryShape>, Problem> {
    let now = app.clock.now();
    let fields = body.value;
    let edit = Edit {
        content: None,
        vector: None,
        tags: fields.tags,
        shared: fields.shared,
        category: fields.category,
        source: fields.source,
        entry_type: fields.entry_type,
        invalid_at: fields.invalid_at,
        pinned: fields.pinned,
        metadata: fields.metadata,
    };
    let memory = write::edit(&app, &body.scope, &id, fields.content, edit, now).await?;
    Ok(Json(MemoryShape::new(&memory, now)))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteParams {
    purge: Option<bool>,
}

pub(super) async fn delete(
    State(app): State<App>,
    Segment(id): Segment,
    params: Params<DeleteParams>,
) -> Result<Response, Problem> {
    let now = app.clock.now();
    let found = write::resolve(&app, &params.scope, &id).await?;
    if params.value.purge.unwrap_or_default() {
        let purged = app.store.purge(&params.scope, &found).await?;
        return if purged {
            Ok(Json(json!({"purged": 1})).into_response())
        } else {
            Err(Error::NotFound(id).into())
        };
    }
    let memory = app
        .store
        .trash(&params.scope, &found, now)
        .await?
        .ok_or(Error::NotFound(id))?;
    Ok(Json(MemoryShape::new(&memory, now)).into_response())
}

pub(super) async fn restore(
    State(app): State<App>,
    Segment(id): Segment,
    scope: AnyScope,
) -> Result<Json<MemoryShape>, Problem> {
    let now = app.clock.now();
    let found = write::resolve(&app, &scope.0, &id).await?;
    let memory = app
        .store
        .restore(&scope.0, &found, now)
        .await?
        .ok_or(Error::NotFound(id))?;
    // Whoever restores a memory wants it: it is not forgotten again at once.
    app.store.note_retrieved(vec![(found, now)]).await?;
    Ok(Json(MemoryShape::new(&memory, now)))
}
