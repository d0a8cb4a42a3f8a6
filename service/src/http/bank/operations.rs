//! …/operations: what clients asked to be done in the background. It is done before it is answered, so
//! every operation that is known is complete.

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::problem::Problem;
use super::super::shapes::rfc3339;
use super::extract::{Bank, Id, Query};
use super::models;
use super::records::{self, OperationRecord};
use crate::app::App;
use crate::clock::new_uuid;
use crate::error::Error;

const COMPLETED: &str = "completed";

/// An operation that was asked for.
pub(super) struct Begun {
    pub record: OperationRecord,
    /// It was asked for before, and is done.
    pub is_done: bool,
}

/// Names an operation, or finds it when the client gave a name that it gave before.
pub(super) async fn begin(
    app: &App,
    bank: &Bank,
    kind: &str,
    id: Option<&str>,
    fingerprint: String,
    now: DateTime<Utc>,
) -> Result<Begun, Problem> {
    let id = match id {
        Some(id) => Uuid::parse_str(id)
            .map_err(|_| Problem::invalid_field("operation_id", "is no UUID"))?
            .to_string(),
        None => new_uuid().map_err(Error::from)?,
    };
    let known: Option<OperationRecord> = records::get(app, &bank.shelf, &id).await?;
    match known {
        Some(known) if known.fingerprint == fingerprint => Ok(Begun {
            record: known,
            is_done: true,
        }),
        Some(_) => Err(Problem::conflict(format!(
            "the operation `{id}` was another request"
        ))),
        None => Ok(Begun {
            record: OperationRecord {
                id,
                kind: kind.to_owned(),
                fingerprint,
                items_count: 0,
                document_id: None,
                created_at: now,
            },
            is_done: false,
        }),
    }
}

/// Remembers an operation that is done; its name.
pub(super) async fn done(
    app: &App,
    bank: &Bank,
    kind: &str,
    now: DateTime<Utc>,
) -> Result<String, Problem> {
    let begun = begin(app, bank, kind, None, String::new(), now).await?;
    records::put(app, &bank.shelf, &begun.record).await?;
    Ok(begun.record.id)
}

pub(super) async fn list(
    State(app): State<App>,
    bank: Bank,
    query: Query,
) -> Result<Json<Value>, Problem> {
    let page = query.page()?;
    let mut operations: Vec<OperationRecord> = records::all(&app, &bank.shelf).await?;
    if let Some(kind) = query.text("type") {
        operations.retain(|operation| operation.kind == kind);
    }
    if query
        .text("status")
        .is_some_and(|status| status != COMPLETED)
    {
        operations.clear();
    }
    let total = operations.len();
    let operations: Vec<Value> = page.of(operations).iter().map(shape).collect();
    Ok(Json(json!({
        "bank_id": bank.name, "total": total, "limit": page.limit, "offset": page.offset,
        "operations": operations,
    })))
}

fn shape(operation: &OperationRecord) -> Value {
    let time = rfc3339(operation.created_at);
    json!({
        "id": operation.id, "operation_id": operation.id,
        "task_type": operation.kind, "operation_type": operation.kind,
        "items_count": operation.items_count, "document_id": operation.document_id,
        "created_at": time, "updated_at": time, "completed_at": time,
        "status": COMPLETED, "error_message": null,
    })
}

/// The operation of a path, if it is known.
async fn find(app: &App, bank: &Bank, id: &str) -> Result<Option<OperationRecord>, Problem> {
    let id = Uuid::parse_str(id).map_err(|_| Problem::malformed(format!("`{id}` is no UUID")))?;
    records::get(app, &bank.shelf, &id.to_string()).await
}

pub(super) async fn get(
    State(app): State<App>,
    bank: Bank,
    Id(id): Id,
) -> Result<Json<Value>, Problem> {
    let found = find(&app, &bank, &id).await?;
    let unknown = || json!({"operation_id": id, "status": "not_found"});
    Ok(Json(found.as_ref().map_or_else(unknown, shape)))
}

pub(super) async fn cancel(
    State(app): State<App>,
    bank: Bank,
    Id(id): Id,
) -> Result<Json<Value>, Problem> {
    too_late(&app, &bank, id, "is completed and cannot be cancelled").await
}

pub(super) async fn retry(
    State(app): State<App>,
    bank: Bank,
    Id(id): Id,
) -> Result<Json<Value>, Problem> {
    too_late(&app, &bank, id, "is completed and needs no retry").await
}

async fn too_late(app: &App, bank: &Bank, id: String, why: &str) -> Result<Json<Value>, Problem> {
    if find(app, bank, &id).await?.is_none() {
        return Err(Problem::not_found(format!("there is no operation `{id}`")));
    }
    let message = format!("the operation {why}");
    Ok(Json(
        json!({"success": false, "message": message, "operation_id": id}),
    ))
}

/// Brings up to date what is made of memories: the mental models.
pub(super) async fn consolidate(
    State(app): State<App>,
    bank: Bank,
) -> Result<Json<Value>, Problem> {
    let now = app.clock.now();
    models::refresh_all(&app, &bank, now).await?;
    let id = done(&app, &bank, "consolidation", now).await?;
    Ok(Json(json!({"operation_id": id, "deduplicated": false})))
}
