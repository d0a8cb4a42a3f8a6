//! /v1/memories and /v1/memories/{id}.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::extract::{Body, NoFields, Params, Segment, present};
use super::problem::Problem;
use super::shapes::MemoryShape;
use crate::app::App;
use crate::error::Error;
use crate::memory::{Details, Edit, MemoryId, Place, State as MemoryState};
use crate::store::{Cursor, ListFilters};
use crate::write::{self, Draft, Stored};

const DEFAULT_PAGE: usize = 50;
const MAX_PAGE: usize = 100;

/// A memory to store, as clients send it.
#[derive(Debug, Deserialize)]
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
    /// Who is behind the write. Checked; nothing depends on it so far.
    #[serde(rename = "origin")]
    _origin: Option<Origin>,
    metadata: Option<Map<String, Value>>,
    force: Option<bool>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Origin {
    Person,
    Model,
    Automatic,
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
            supersedes: fields.supersedes,
            force: fields.force.unwrap_or_default(),
        }
    }
}

/// A stored memory, and whether it was there.
#[derive(Debug, Serialize)]
struct StoredShape {
    #[serde(flatten)]
    memory: MemoryShape,
    reinforced: bool,
    revived: Option<&'static str>,
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
    body: Body<NewFields>,
) -> Result<Response, Problem> {
    let now = app.clock.now();
    let stored = write::add(&app, &body.scope, body.value.into(), now).await?;
    let revived = stored.revived.map(MemoryState::as_str);
    let shape = StoredShape {
        memory: MemoryShape::new(&stored.memory, now),
        reinforced: stored.reinforced,
        revived,
    };
    Ok((status(&stored), Json(shape)).into_response())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListParams {
    limit: Option<usize>,
    cursor: Option<String>,
    tag: Option<String>,
    category: Option<String>,
    source: Option<String>,
    #[serde(rename = "type")]
    entry_type: Option<String>,
    session: Option<String>,
    document: Option<String>,
    state: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct Page {
    items: Vec<MemoryShape>,
    next_cursor: Option<String>,
}

pub(super) async fn list(
    State(app): State<App>,
    params: Params<ListParams>,
) -> Result<Json<Page>, Problem> {
    let now = app.clock.now();
    let fields = params.value;
    let limit = fields.limit.unwrap_or(DEFAULT_PAGE);
    if !(1..=MAX_PAGE).contains(&limit) {
        return Err(Problem::invalid_field(
            "limit",
            format!("is {limit}, must be 1 to {MAX_PAGE}"),
        ));
    }
    let unknown_state = || {
        Problem::invalid_field(
            "state",
            format!(
                "must be one of {}",
                MemoryState::ALL.map(MemoryState::as_str).join(", ")
            ),
        )
    };
    let state = fields
        .state
        .map(|name| MemoryState::parse(&name).ok_or_else(unknown_state))
        .transpose()?;
    let after = fields
        .cursor
        .map(|cursor| {
            decode_cursor(&cursor)
                .ok_or_else(|| Problem::invalid_field("cursor", "is not one that a list gave out"))
        })
        .transpose()?;
    let filters = ListFilters {
        tag: fields.tag,
        category: fields.category,
        source: fields.source,
        entry_type: fields.entry_type,
        session: fields.session,
        document: fields.document,
        state,
    };
    // One more than asked for tells whether there is a next page.
    let mut memories = app
        .store
        .list(&params.scope, &filters, after.as_ref(), limit + 1, now)
        .await?;
    let more = memories.len() > limit;
    memories.truncate(limit);
    let last = memories.last().filter(|_| more).map(|memory| Cursor {
        created_at: memory.created_at,
        id: memory.id.clone(),
    });
    let items = memories
        .iter()
        .map(|memory| MemoryShape::new(memory, now))
        .collect();
    Ok(Json(Page {
        items,
        next_cursor: last.map(|cursor| encode_cursor(&cursor)),
    }))
}

fn encode_cursor(cursor: &Cursor) -> String {
    BASE64URL_NOPAD
        .encode(format!("{} {}", cursor.created_at.timestamp_millis(), cursor.id).as_bytes())
}

fn decode_cursor(text: &str) -> Option<Cursor> {
    let text = String::from_utf8(BASE64URL_NOPAD.decode(text.as_bytes()).ok()?).ok()?;
    let (millis, id) = text.split_once(' ')?;
    Some(Cursor {
        created_at: DateTime::from_timestamp_millis(millis.parse().ok()?)?,
        id: MemoryId::new(id),
    })
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
#[derive(Debug, Deserialize)]
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

#[derive(Debug, Deserialize)]
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
    scope: super::extract::AnyScope,
) -> Result<Json<MemoryShape>, Problem> {
    let now = app.clock.now();
    let found = write::resolve(&app, &scope.0, &id).await?;
    let memory = app
        .store
        .restore(&scope.0, &found, now)
        .await?
        .ok_or(Error::NotFound(id))?;
    Ok(Json(MemoryShape::new(&memory, now)))
}
