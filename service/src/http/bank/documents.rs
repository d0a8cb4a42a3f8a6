//! …/documents: memories that belong together. What a document says is the text of its memories.

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::problem::Problem;
use super::super::shapes::rfc3339;
use super::extract::{Bank, Fields, Id, Query};
use super::items;
use super::records::{self, DocumentRecord};
use super::tags::{Tags, Wanted};
use crate::app::App;
use crate::error::Error;
use crate::memory::{Edit, Memory, content_hash};
use crate::write::{self, Origin, secrets};

/// What a client tells about a document when it writes it.
pub(super) struct Told {
    pub id: String,
    pub tags: Vec<String>,
    pub metadata: Map<String, Value>,
    pub context: Option<String>,
}

/// Remembers a document as it is now.
pub(super) async fn remember(
    app: &App,
    bank: &Bank,
    mut told: Told,
    now: DateTime<Utc>,
) -> Result<(), Problem> {
    // As in the memories themselves.
    if write::redacts(&app.settings, Origin::Automatic) {
        secrets::mask_all(&mut String::new(), &mut told.metadata);
        told.context = told.context.map(secrets::without_secrets);
    }
    let known: Option<DocumentRecord> = records::get(app, &bank.shelf, &told.id).await?;
    let memories = held(app, bank, &told.id, now).await?;
    let text = text(&memories);
    let record = DocumentRecord {
        text_length: text.chars().count(),
        memory_unit_count: memories.len(),
        content_hash: hash(&text),
        id: told.id,
        tags: told.tags,
        metadata: told.metadata,
        context: told.context,
        created_at: known.map_or(now, |known| known.created_at),
        updated_at: now,
    };
    records::put(app, &bank.shelf, &record).await
}

/// The memories of a document that may be recalled, in order.
async fn held(
    app: &App,
    bank: &Bank,
    id: &str,
    now: DateTime<Utc>,
) -> Result<Vec<Memory>, Problem> {
    let mut memories = write::documents::read(app, &bank.scope, id, now).await?;
    memories.retain(|memory| items::is_valid(memory.state(now)));
    Ok(memories)
}

fn text(memories: &[Memory]) -> String {
    let texts: Vec<&str> = memories
        .iter()
        .map(|memory| memory.content.as_str())
        .collect();
    texts.join("\n")
}

fn hash(text: &str) -> String {
    data_encoding::HEXLOWER.encode(&content_hash(text))
}

pub(super) async fn list(
    State(app): State<App>,
    bank: Bank,
    query: Query,
) -> Result<Json<Value>, Problem> {
    let page = query.page()?;
    let rule = Wanted::of(&query)?.rule()?;
    let mut documents: Vec<DocumentRecord> = records::all(&app, &bank.shelf).await?;
    if let Some(part) = query.text("q") {
        let part = part.to_lowercase();
        documents.retain(|document| document.id.to_lowercase().contains(&part));
    }
    if let Some(rule) = rule {
        documents.retain(|document| rule.admits(&document.tags));
    }
    let total = documents.len();
    let items: Vec<Value> = page
        .of(documents)
        .iter()
        .map(|document| shape(&bank, document))
        .collect();
    Ok(Json(
        json!({"items": items, "total": total, "limit": page.limit, "offset": page.offset}),
    ))
}

fn shape(bank: &Bank, document: &DocumentRecord) -> Value {
    json!({
        "id": document.id, "bank_id": bank.name, "content_hash": document.content_hash,
        "created_at": rfc3339(document.created_at), "updated_at": rfc3339(document.updated_at),
        "text_length": document.text_length, "memory_unit_count": document.memory_unit_count,
        "tags": document.tags, "document_metadata": document.metadata,
        "retain_params": {"context": document.context},
    })
}

fn unknown(id: &str) -> Problem {
    Problem::not_found(format!("there is no document `{id}`"))
}

async fn find(app: &App, bank: &Bank, id: &str) -> Result<DocumentRecord, Problem> {
    let found = records::get(app, &bank.shelf, id).await?;
    found.ok_or_else(|| unknown(id))
}

pub(super) async fn get(
    State(app): State<App>,
    bank: Bank,
    Id(id): Id,
) -> Result<Json<Value>, Problem> {
    let document = find(&app, &bank, &id).await?;
    let memories = held(&app, &bank, &id, app.clock.now()).await?;
    let text = text(&memories);
    let mut shape = shape(&bank, &document);
    shape["memory_unit_count"] = json!(memories.len());
    shape["content_hash"] = json!(hash(&text));
    shape["text_length"] = json!(text.chars().count());
    shape["original_text"] = json!(text);
    Ok(Json(shape))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "DocumentPatch")]
pub(super) struct Patch {
    tags: Option<Tags>,
}

/// Gives the document and each of its memories other tags.
pub(super) async fn patch(
    State(app): State<App>,
    bank: Bank,
    Id(id): Id,
    Fields(patch): Fields<Patch>,
) -> Result<Json<Value>, Problem> {
    let now = app.clock.now();
    let Some(Tags(tags)) = patch.tags else {
        return Err(Problem::invalid_field(
            "tags",
            "is missing: nothing to change",
        ));
    };
    write::validate::tags(tags.clone()).map_err(|error| Error::Invalid(vec![error]))?;
    let mut document = find(&app, &bank, &id).await?;
    for memory in write::documents::read(&app, &bank.scope, &id, now).await? {
        let edit = Edit {
            tags: Some(tags.clone()),
            ..Edit::default()
        };
        write::edit(&app, &bank.scope, memory.id.as_str(), None, edit, now).await?;
    }
    document.tags = tags;
    document.updated_at = now;
    records::put(&app, &bank.shelf, &document).await?;
    Ok(Json(json!({"success": true})))
}

/// Its memories go to the trash.
pub(super) async fn delete(
    State(app): State<App>,
    bank: Bank,
    Id(id): Id,
) -> Result<Json<Value>, Problem> {
    let now = app.clock.now();
    find(&app, &bank, &id).await?;
    let memories = write::documents::read(&app, &bank.scope, &id, now).await?;
    let ids: Vec<_> = memories.into_iter().map(|memory| memory.id).collect();
    let count = ids.len();
    write::documents::trash(&app, &bank.scope, ids, now).await?;
    records::delete::<DocumentRecord>(&app, &bank.shelf, &id).await?;
    Ok(Json(json!({
        "success": true, "message": "the memories of the document are in the trash",
        "document_id": id, "memory_units_deleted": count,
    })))
}
