//! …/memories/list, …/memories/{id}, and all memories of a bank at once.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::problem::Problem;
use super::super::shapes::rfc3339;
use super::extract::{Bank, Fields, Id, Query, Time};
use super::items::{self, CONTEXT, ENDED, FACT_TYPE, FACT_TYPES, REASON, STARTED};
use super::records::{self, DocumentRecord};
use super::tags::Wanted;
use crate::app::App;
use crate::error::Error;
use crate::memory::{Edit, Memory, MemoryId, State as MemoryState};
use crate::store::ListFilters;
use crate::write;
use crate::write::documents::{all, trash};

/// The kind of facts that a query string asks for.
fn fact_type(query: &Query) -> Result<Option<&str>, Problem> {
    match query.text("type") {
        Some(kind) if !FACT_TYPES.contains(&kind) => {
            let message = format!("must be one of {}", FACT_TYPES.join(", "));
            Err(Problem::invalid_field("type", message))
        }
        kind => Ok(kind),
    }
}

pub(super) async fn list(
    State(app): State<App>,
    bank: Bank,
    query: Query,
) -> Result<Json<Value>, Problem> {
    let (page, now) = (query.page()?, app.clock.now());
    let (rule, kind) = (Wanted::of(&query)?.rule()?, fact_type(&query)?);
    let valid = match query.text("state") {
        None => None,
        Some("valid") => Some(true),
        Some("invalidated") => Some(false),
        Some(_) => {
            return Err(Problem::invalid_field(
                "state",
                "must be valid or invalidated",
            ));
        }
    };
    let part = query.text("q").map(str::to_lowercase);
    let entity = query.text("entity_id").map(str::to_lowercase);
    let filters = ListFilters {
        document: query.text("document_id").map(str::to_owned),
        ..ListFilters::default()
    };
    let wanted = |memory: &Memory| {
        valid.is_none_or(|valid| items::is_valid(memory.state(now)) == valid)
            && kind.is_none_or(|kind| items::fact_type(memory) == kind)
            && rule
                .as_ref()
                .is_none_or(|rule| rule.admits(&memory.details.tags))
            && part
                .as_ref()
                .is_none_or(|part| memory.content.to_lowercase().contains(part))
            && entity.as_ref().is_none_or(|entity| {
                memory
                    .analysis
                    .entities
                    .iter()
                    .any(|name| name.to_lowercase() == *entity)
            })
    };
    let mut memories = all(&app, &bank.scope, &filters, now).await?;
    memories.retain(wanted);
    let total = memories.len();
    let items: Vec<Value> = page
        .of(memories)
        .iter()
        .map(|memory| items::item(memory, now))
        .collect();
    Ok(Json(
        json!({"items": items, "total": total, "limit": page.limit, "offset": page.offset}),
    ))
}

/// The memory of a path. An id is told in full: the beginning of one stands for none here.
async fn find(app: &App, bank: &Bank, id: &str) -> Result<Memory, Problem> {
    let found = app.store.get(&bank.scope, &MemoryId::new(id)).await?;
    let there = found.filter(|memory| memory.fate.trashed_at.is_none());
    there.ok_or_else(|| Error::NotFound(id.to_owned()).into())
}

pub(super) async fn get(
    State(app): State<App>,
    bank: Bank,
    Id(id): Id,
) -> Result<Json<Value>, Problem> {
    let memory = find(&app, &bank, &id).await?;
    Ok(Json(items::item(&memory, app.clock.now())))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "BankMemoryPatch")]
pub(super) struct Patch {
    text: Option<String>,
    context: Option<String>,
    occurred_start: Option<Time>,
    occurred_end: Option<Time>,
    fact_type: Option<String>,
    state: Option<Validity>,
    reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Validity {
    Valid,
    Invalidated,
}

/// Edits a memory, says that it is wrong, or takes that back.
pub(super) async fn patch(
    State(app): State<App>,
    bank: Bank,
    Id(id): Id,
    Fields(patch): Fields<Patch>,
) -> Result<Json<Value>, Problem> {
    let now = app.clock.now();
    let memory = find(&app, &bank, &id).await?;
    let id = memory.id.as_str();
    let mut own = items::own(&memory);
    if let Some(kind) = &patch.fact_type
        && !FACT_TYPES.contains(&kind.as_str())
    {
        let message = format!("must be one of {}", FACT_TYPES.join(", "));
        return Err(Problem::invalid_field("fact_type", message));
    }
    let time = |time: Option<Time>| time.map(|time| rfc3339(time.0));
    for (name, told) in [
        (CONTEXT, patch.context),
        (FACT_TYPE, patch.fact_type),
        (STARTED, time(patch.occurred_start)),
        (ENDED, time(patch.occurred_end)),
        (REASON, patch.reason),
    ] {
        own.extend(told.map(|told| (name.to_owned(), Value::from(told))));
    }
    let edit = Edit {
        metadata: Some(items::metadata(items::given(&memory), own)),
        ..Edit::default()
    };
    let mut memory = write::edit(&app, &bank.scope, id, patch.text, edit, now).await?;
    if let Some(state) = patch.state {
        let wrong = state == Validity::Invalidated;
        if wrong != (memory.state(now) == MemoryState::Corrected) {
            memory = write::correct(&app, &bank.scope, memory.id.as_str(), wrong, now).await?;
        }
    }
    Ok(Json(items::item(&memory, now)))
}

/// Moves every memory of the bank, or of one kind, to the trash.
pub(super) async fn clear(
    State(app): State<App>,
    bank: Bank,
    query: Query,
) -> Result<Json<Value>, Problem> {
    let (now, kind) = (app.clock.now(), fact_type(&query)?);
    let mut memories = all(&app, &bank.scope, &ListFilters::default(), now).await?;
    memories.retain(|memory| kind.is_none_or(|kind| items::fact_type(memory) == kind));
    let ids: Vec<_> = memories.into_iter().map(|memory| memory.id).collect();
    let count = ids.len();
    trash(&app, &bank.scope, ids, now).await?;
    if kind.is_none() {
        records::delete_all::<DocumentRecord>(&app, &bank.shelf).await?;
    }
    Ok(Json(json!({
        "success": true, "message": format!("{count} memories are in the trash"), "deleted_count": count,
    })))
}
