//! POST /v1/corrections and DELETE /v1/corrections/{id}.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::extract::{Body, NoFields, Params, Segment};
use super::problem::Problem;
use super::shapes::MemoryShape;
use crate::app::App;
use crate::error::Error;
use crate::write;

/// Most memories of one request.
const MAX_IDS: usize = 1_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Fields {
    ids: Vec<String>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Corrected {
    corrected: usize,
    unknown: Vec<String>,
}

pub(super) async fn correct(
    State(app): State<App>,
    body: Body<Fields>,
) -> Result<Json<Corrected>, Problem> {
    let now = app.clock.now();
    if body.value.ids.len() > MAX_IDS {
        return Err(Problem::too_large(format!(
            "at most {MAX_IDS} ids are allowed"
        )));
    }
    let mut answer = Corrected::default();
    for reference in body.value.ids {
        match write::correct(&app, &body.scope, &reference, true, now).await {
            Ok(_) => answer.corrected += 1,
            Err(Error::NotFound(_)) => answer.unknown.push(reference),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Json(answer))
}

pub(super) async fn undo(
    State(app): State<App>,
    Segment(id): Segment,
    params: Params<NoFields>,
) -> Result<Json<MemoryShape>, Problem> {
    let now = app.clock.now();
    let memory = write::correct(&app, &params.scope, &id, false, now).await?;
    Ok(Json(MemoryShape::new(&memory, now)))
}
