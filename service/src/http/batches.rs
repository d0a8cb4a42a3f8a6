//! POST /v1/memories/batch: many memories, each with its own outcome.

use axum::Json;
use axum::extract::{FromRequest, Request, State};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::{Value, json};

use super::extract::{ItemDefaults, Items, content_type};
use super::idempotency::OnceKey;
use super::memories::{NewFields, redaction, status};
use super::ndjson::{self, Lines};
use super::problem::Problem;
use crate::app::App;
use crate::scope::Scope;
use crate::write::{self, Draft, Stored};

/// Most items of a JSON array.
pub(super) const MAX_ITEMS: usize = 1_000;

pub(super) async fn add(State(app): State<App>, request: Request) -> Result<Response, Problem> {
    let once = request.extensions().get::<OnceKey>().cloned();
    if content_type(&request).as_deref() != Some(ndjson::CONTENT_TYPE) {
        let Items { items, defaults } = Items::from_request(request, &app).await?;
        let reader = Reader { defaults, once };
        if items.len() > MAX_ITEMS {
            return Err(Problem::too_large(format!(
                "the batch has {} items, at most {MAX_ITEMS} are allowed; NDJSON has no limit",
                items.len()
            )));
        }
        let items = items.into_iter().map(Ok).enumerate().collect();
        let results = store(&app, &reader, items).await;
        return Ok(Json(json!({"results": results})).into_response());
    }
    let defaults = ItemDefaults::of(&request)?;
    let lines = Lines::new(request.into_body());
    let step = move |(app, reader, mut lines, index): (App, Reader, Lines, usize)| async move {
        let read = lines.next().await?;
        let next = index + read.len();
        let items = read
            .into_iter()
            .enumerate()
            .map(|(offset, line)| (index + offset, line.value))
            .collect();
        let results = store(&app, &reader, items).await;
        Some((results, (app, reader, lines, next)))
    };
    let start = (app, Reader { defaults, once }, lines, 0);
    Ok(ndjson::answer(stream::unfold(start, step)))
}

/// What turns items into drafts.
struct Reader {
    defaults: ItemDefaults,
    once: Option<OnceKey>,
}

impl Reader {
    fn read(&self, app: &App, index: usize, item: Value) -> Result<(Scope, Draft), Problem> {
        let once = self.once.as_ref();
        let once = once.map(|key| key.item(index, item.to_string().as_bytes()));
        let (scope, fields) = self.defaults.read::<NewFields>(item, &app.settings)?;
        let draft = Draft {
            once,
            ..Draft::from(fields)
        };
        Ok((scope, draft))
    }
}

/// Stores items, neighbours of one scope in one transaction, and answers for each in order.
async fn store(
    app: &App,
    reader: &Reader,
    items: Vec<(usize, Result<Value, Problem>)>,
) -> Vec<Value> {
    let mut results = Vec::with_capacity(items.len());
    let mut waiting: Vec<(usize, Scope, Draft)> = Vec::new();
    for (index, item) in items {
        match item.and_then(|item| reader.read(app, index, item)) {
            Ok((scope, draft)) => {
                if waiting
                    .last()
                    .is_some_and(|(_, before, _)| *before != scope)
                {
                    results.extend(flush(app, std::mem::take(&mut waiting)).await);
                }
                waiting.push((index, scope, draft));
            }
            Err(problem) => results.push((index, refused(index, problem))),
        }
    }
    results.extend(flush(app, waiting).await);
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Stores what waits in one transaction; a store that fails is told for each item.
async fn flush(app: &App, waiting: Vec<(usize, Scope, Draft)>) -> Vec<(usize, Value)> {
    let Some((_, scope, _)) = waiting.first() else {
        return Vec::new();
    };
    let scope = scope.clone();
    let (indices, drafts): (Vec<usize>, Vec<Draft>) = waiting
        .into_iter()
        .map(|(index, _, draft)| (index, draft))
        .unzip();
    let results: Vec<Result<Stored, Problem>> =
        match write::add_all(app, &scope, drafts, app.clock.now()).await {
            Ok(stored) => stored
                .into_iter()
                .map(|stored| stored.map_err(Problem::from))
                .collect(),
            Err(error) => vec![Err(Problem::from(error)); indices.len()],
        };
    let told = |(index, result): (usize, Result<Stored, Problem>)| match result {
        Ok(stored) => (index, accepted(index, &stored)),
        Err(problem) => (index, refused(index, problem)),
    };
    indices.into_iter().zip(results).map(told).collect()
}

fn accepted(index: usize, stored: &Stored) -> Value {
    let (status, id) = (status(stored).as_u16(), stored.memory.id.as_str());
    let mut result =
        json!({"index": index, "status": status, "id": id, "reinforced": stored.reinforced});
    redaction(&mut result, &stored.redacted);
    result
}

fn refused(index: usize, problem: Problem) -> Value {
    json!({"index": index, "status": problem.status(), "problem": problem})
}
