//! …/mental-models: saved searches with what they found, which clients paste into a prompt.

use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::problem::Problem;
use super::super::shapes::rfc3339;
use super::extract::{Bank, Fields, Id, Query};
use super::operations;
use super::recall::{Budget, Search, fitting};
use super::records::{self, Former, ModelRecord};
use super::reflect::told;
use super::tags::{Match, Tags, Wanted};
use crate::app::App;
use crate::clock::new_uuid;
use crate::error::Error;
use crate::write::validate;

/// Budget of text of a model, in tokens: when none is given, the least, and the most.
const TEXT: usize = 2_048;
const LEAST: usize = 256;
const MOST: usize = 8_192;
/// Former texts that are remembered.
const MOST_FORMER: usize = 20;
/// Longest question of a model, in characters, and what is told of when to refresh it, in bytes.
const LONGEST_QUESTION: usize = 4_096;
const LONGEST_TRIGGER: usize = 16_384;
/// Time that a list may spend on models that memories were told after; the others are marked as stale.
const LISTING: Duration = Duration::from_millis(500);

/// How much of a model is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    Metadata,
    Content,
    Full,
}

impl Detail {
    fn of(query: &Query) -> Result<Detail, Problem> {
        match query.text("detail") {
            None | Some("full") => Ok(Detail::Full),
            Some("content") => Ok(Detail::Content),
            Some("metadata") => Ok(Detail::Metadata),
            Some(_) => Err(Problem::invalid_field(
                "detail",
                "must be one of metadata, content, full",
            )),
        }
    }
}

pub(super) async fn list(
    State(app): State<App>,
    bank: Bank,
    query: Query,
) -> Result<Json<Value>, Problem> {
    let (page, detail) = (query.page()?, Detail::of(&query)?);
    let rule = Wanted::of(&query)?.rule()?;
    let mut models: Vec<ModelRecord> = records::all(&app, &bank.shelf).await?;
    if let Some(rule) = rule {
        models.retain(|model| rule.admits(&model.tags));
    }
    models.sort_by(|left, right| {
        left.created_at
            .cmp(&right.created_at)
            .then_with(|| left.id.cmp(&right.id))
    });
    let total = models.len();
    let (written_at, started) = (
        records::written_at(&app, &bank.banks, &bank.name).await?,
        Instant::now(),
    );
    let mut items = Vec::new();
    for mut model in page.of(models) {
        if detail != Detail::Metadata && started.elapsed() < LISTING {
            follow(&app, &bank, &mut model, written_at).await?;
        }
        items.push(shape(&bank, &model, detail, written_at));
    }
    Ok(Json(
        json!({"items": items, "total": total, "limit": page.limit, "offset": page.offset}),
    ))
}

fn is_stale(model: &ModelRecord, written_at: Option<DateTime<Utc>>) -> bool {
    written_at.is_some_and(|written_at| written_at > model.refreshed_at)
}

/// Makes a model anew if something was written after it was made.
async fn follow(
    app: &App,
    bank: &Bank,
    model: &mut ModelRecord,
    written_at: Option<DateTime<Utc>>,
) -> Result<(), Problem> {
    if is_stale(model, written_at) {
        rebuild(app, bank, model, app.clock.now()).await?;
    }
    Ok(())
}

fn shape(
    bank: &Bank,
    model: &ModelRecord,
    detail: Detail,
    written_at: Option<DateTime<Utc>>,
) -> Value {
    let mut shape = json!({
        "id": model.id, "bank_id": bank.name, "name": model.name, "tags": model.tags,
        "last_refreshed_at": rfc3339(model.refreshed_at), "created_at": rfc3339(model.created_at),
        "is_stale": is_stale(model, written_at),
    });
    if detail != Detail::Metadata {
        shape["source_query"] = json!(model.source_query);
        shape["content"] = json!(model.content);
        shape["max_tokens"] = json!(model.max_tokens);
        shape["trigger"] = json!(model.trigger);
    }
    shape
}

/// Searches for what the model is about, and keeps it with what was found.
async fn rebuild(
    app: &App,
    bank: &Bank,
    model: &mut ModelRecord,
    now: DateTime<Utc>,
) -> Result<(), Problem> {
    let how = model.trigger.get("tags_match").cloned().unwrap_or_default();
    let how: Match = serde_json::from_value(how).unwrap_or_default();
    let search = Search {
        query: model.source_query.clone(),
        budget: Budget::Mid,
        tag_rule: how.rule(model.tags.clone()),
        ..Search::default()
    };
    let answer = search.run(app, &bank.scope, now).await?;
    let content = told(&fitting(answer.hits, model.max_tokens));
    if content != model.content {
        let previous_content = std::mem::replace(&mut model.content, content);
        if model.refreshed_at != model.created_at || !previous_content.is_empty() {
            model.history.insert(
                0,
                Former {
                    previous_content,
                    changed_at: now,
                },
            );
            model.history.truncate(MOST_FORMER);
        }
    }
    model.refreshed_at = now;
    records::put(app, &bank.shelf, model).await
}

/// Makes every model of a bank anew.
pub(super) async fn refresh_all(app: &App, bank: &Bank, now: DateTime<Utc>) -> Result<(), Problem> {
    for mut model in records::all::<ModelRecord>(app, &bank.shelf).await? {
        rebuild(app, bank, &mut model, now).await?;
    }
    Ok(())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "NewMentalModel")]
pub(super) struct Create {
    id: Option<String>,
    name: String,
    source_query: String,
    #[serde(default)]
    tags: Tags,
    max_tokens: Option<usize>,
    #[serde(default)]
    trigger: Map<String, Value>,
}

pub(super) async fn create(
    State(app): State<App>,
    bank: Bank,
    Fields(create): Fields<Create>,
) -> Result<Json<Value>, Problem> {
    let now = app.clock.now();
    let id = match create.id.filter(|id| !id.is_empty()) {
        Some(id) => id,
        None => new_uuid().map_err(Error::from)?,
    };
    if records::get::<ModelRecord>(&app, &bank.shelf, &id)
        .await?
        .is_some()
    {
        return Err(Problem::conflict(format!("there is a mental model `{id}`")));
    }
    let mut model = ModelRecord {
        id,
        name: create.name,
        source_query: create.source_query,
        tags: create.tags.0,
        max_tokens: create.max_tokens.unwrap_or(TEXT),
        trigger: create.trigger,
        content: String::new(),
        history: Vec::new(),
        created_at: now,
        refreshed_at: now,
    };
    check(&model)?;
    rebuild(&app, &bank, &mut model, now).await?;
    let operation = operations::done(&app, &bank, "refresh_mental_model", now).await?;
    Ok(Json(
        json!({"mental_model_id": model.id, "operation_id": operation}),
    ))
}

fn check(model: &ModelRecord) -> Result<(), Problem> {
    let mut errors = Vec::new();
    let names = [("id", &model.id), ("name", &model.name)];
    let checked = names
        .into_iter()
        .map(|(field, value)| validate::name(field, value));
    errors.extend(checked.filter_map(Result::err));
    errors.extend(validate::tags(model.tags.clone()).err());
    if !errors.is_empty() {
        return Err(Problem::invalid(errors));
    }
    if !(LEAST..=MOST).contains(&model.max_tokens) {
        let message = format!("is {}, must be {LEAST} to {MOST}", model.max_tokens);
        return Err(Problem::invalid_field("max_tokens", message));
    }
    if model.source_query.chars().count() > LONGEST_QUESTION {
        let message = format!("is longer than {LONGEST_QUESTION} characters");
        return Err(Problem::invalid_field("source_query", message));
    }
    let trigger = serde_json::to_string(&model.trigger).map_or(0, |json| json.len());
    if trigger > LONGEST_TRIGGER {
        let message = format!("is longer than {LONGEST_TRIGGER} bytes");
        return Err(Problem::invalid_field("trigger", message));
    }
    if !model.source_query.chars().any(char::is_alphanumeric) {
        return Err(Problem::invalid_field("source_query", "must have a word"));
    }
    Ok(())
}

async fn find(app: &App, bank: &Bank, id: &str) -> Result<ModelRecord, Problem> {
    let found = records::get(app, &bank.shelf, id).await?;
    found.ok_or_else(|| Problem::not_found(format!("there is no mental model `{id}`")))
}

pub(super) async fn get(
    State(app): State<App>,
    bank: Bank,
    Id(id): Id,
    query: Query,
) -> Result<Json<Value>, Problem> {
    let detail = Detail::of(&query)?;
    let mut model = find(&app, &bank, &id).await?;
    let written_at = records::written_at(&app, &bank.banks, &bank.name).await?;
    follow(&app, &bank, &mut model, written_at).await?;
    Ok(Json(shape(&bank, &model, detail, written_at)))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "MentalModelPatch")]
pub(super) struct Patch {
    name: Option<String>,
    source_query: Option<String>,
    tags: Option<Tags>,
    max_tokens: Option<usize>,
    trigger: Option<Map<String, Value>>,
}

pub(super) async fn patch(
    State(app): State<App>,
    bank: Bank,
    Id(id): Id,
    Fields(patch): Fields<Patch>,
) -> Result<Json<Value>, Problem> {
    let now = app.clock.now();
    let mut model = find(&app, &bank, &id).await?;
    model.name = patch.name.unwrap_or(model.name);
    model.source_query = patch.source_query.unwrap_or(model.source_query);
    model.tags = patch.tags.map_or(model.tags, |tags| tags.0);
    model.max_tokens = patch.max_tokens.unwrap_or(model.max_tokens);
    model.trigger.extend(patch.trigger.unwrap_or_default());
    check(&model)?;
    rebuild(&app, &bank, &mut model, now).await?;
    Ok(Json(shape(&bank, &model, Detail::Full, None)))
}

pub(super) async fn delete(
    State(app): State<App>,
    bank: Bank,
    Id(id): Id,
) -> Result<Json<Value>, Problem> {
    find(&app, &bank, &id).await?;
    records::delete::<ModelRecord>(&app, &bank.shelf, &id).await?;
    Ok(Json(json!({"status": "deleted"})))
}

pub(super) async fn refresh(
    State(app): State<App>,
    bank: Bank,
    Id(id): Id,
) -> Result<Json<Value>, Problem> {
    let now = app.clock.now();
    let mut model = find(&app, &bank, &id).await?;
    rebuild(&app, &bank, &mut model, now).await?;
    let operation = operations::done(&app, &bank, "refresh_mental_model", now).await?;
    Ok(Json(json!({"operation_id": operation, "status": "queued"})))
}

pub(super) async fn history(
    State(app): State<App>,
    bank: Bank,
    Id(id): Id,
) -> Result<Json<Value>, Problem> {
    let model = find(&app, &bank, &id).await?;
    let former = model.history.iter();
    let former = former.map(|former| json!({"previous_content": former.previous_content, "changed_at": rfc3339(former.changed_at)}));
    Ok(Json(former.collect()))
}
