//! POST /v1/memories/batch: many memories, each with its own outcome.

use axum::Json;
use axum::extract::{FromRequest, Request, State};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::extract::{ItemDefaults, Items, content_type};
use super::memories::{NewFields, status};
use super::ndjson::{self, Lines};
use super::problem::Problem;
use crate::app::App;
use crate::scope::Scope;
use crate::write::{self, Draft};

/// Most items of a JSON array.
const MAX_ITEMS: usize = 1_000;

pub(super) async fn add(State(app): State<App>, request: Request) -> Result<Response, Problem> {
    if content_type(&request).as_deref() != Some(ndjson::CONTENT_TYPE) {
        let Items { items, defaults } = Items::from_request(request, &app).await?;
        if items.len() > MAX_ITEMS {
            return Err(Problem::too_large(format!(
                "the batch has {} items, at most {MAX_ITEMS} are allowed; NDJSON has no limit",
                items.len()
            )));
        }
        let results = store(
            &app,
            &defaults,
            items.into_iter().map(Ok).enumerate().collect(),
        )
        .await?;
        return Ok(Json(json!({"results": results})).into_response());
    }
    let defaults = ItemDefaults::from_query(request.uri().query().unwrap_or_default())?;
    let lines = Lines::new(request.into_body());
    let step = move |(app, defaults, mut lines, index): (App, ItemDefaults, Lines, usize)| async move {
        let read = lines.next().await?;
        let next = index + read.len();
        let items = read
            .into_iter()
            .enumerate()
            .map(|(offset, line)| (index + offset, line.value))
            .collect();
        let results = store(&app, &defaults, items)
            .await
            .unwrap_or_else(|problem| vec![json!({"index": index, "problem": problem})]);
        Some((results, (app, defaults, lines, next)))
    };
    Ok(ndjson::answer(ndjson::repeat(
        (app, defaults, lines, 0),
        step,
    )))
}

/// Stores items, neighbours of one scope in one transaction, and answers for each in order.
async fn store(
    app: &App,
    defaults: &ItemDefaults,
    items: Vec<(usize, Result<Value, Problem>)>,
) -> Result<Vec<Value>, Problem> {
    let mut results = Vec::with_capacity(items.len());
    let mut waiting: Vec<(usize, Scope, Draft)> = Vec::new();
    for (index, item) in items {
        match item.and_then(|item| defaults.read::<NewFields>(item, &app.settings)) {
            Ok((scope, fields)) => {
                if waiting
                    .last()
                    .is_some_and(|(_, before, _)| *before != scope)
                {
                    results.extend(flush(app, std::mem::take(&mut waiting)).await?);
                }
                waiting.push((index, scope, fields.into()));
            }
            Err(problem) => results.push((index, refused(index, problem))),
        }
    }
    results.extend(flush(app, waiting).await?);
    results.sort_by_key(|(index, _)| *index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

async fn flush(
    app: &App,
    waiting: Vec<(usize, Scope, Draft)>,
) -> Result<Vec<(usize, Value)>, Problem> {
    let Some((_, scope, _)) = waiting.first() else {
        return Ok(Vec::new());
    };
    let scope = scope.clone();
    let (indices, drafts): (Vec<usize>, Vec<Draft>) = waiting
        .into_iter()
        .map(|(index, _, draft)| (index, draft))
        .unzip();
    let stored = write::add_all(app, &scope, drafts, app.clock.now()).await?;
    let result = |(index, stored): (usize, Result<write::Stored, crate::error::Error>)| match stored
    {
        Ok(stored) => (
            index,
            json!({"index": index, "status": status(&stored).as_u16(), "id": stored.memory.id.as_str(), "reinforced": stored.reinforced}),
        ),
        Err(error) => (index, refused(index, error.into())),
    };
    Ok(indices.into_iter().zip(stored).map(result).collect())
}

fn refused(index: usize, problem: Problem) -> Value {
    json!({"index": index, "status": problem.status(), "problem": problem})
}
