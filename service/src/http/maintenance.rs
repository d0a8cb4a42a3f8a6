//! POST /v1/maintenance/backfill: vectors for the memories that have none of the current model.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::extract::Body;
use super::problem::Problem;
use super::shapes::rfc3339;
use crate::app::App;
use crate::error::Error;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Fields {
    /// Only count.
    dry_run: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BackfillAnswer")]
pub(super) struct Done {
    job: &'static str,
    dry_run: bool,
    started_at: String,
    finished_at: String,
    examined: u64,
    changed: u64,
    /// Memories that have a vector of the current model, and those that have none.
    with_vector: u64,
    without_vector: u64,
}

pub(super) async fn backfill(
    State(app): State<App>,
    body: Body<Fields>,
) -> Result<Json<Done>, Problem> {
    let started = app.clock.now();
    let dry_run = body.value.dry_run.unwrap_or_default();
    let meaning = app.meaning.as_ref().ok_or_else(|| {
        Problem::invalid_field("embedder", "is `none`: there are no vectors to make")
    })?;
    let store = &*app.store;
    let done = if dry_run {
        let (_, without) = meaning.counts(store).await.map_err(Error::from)?;
        crate::meaning::Backfilled {
            examined: without,
            changed: 0,
        }
    } else {
        meaning.backfill(store).await.map_err(Error::from)?
    };
    let (with_vector, without_vector) = meaning.counts(store).await.map_err(Error::from)?;
    Ok(Json(Done {
        job: "backfill",
        dry_run,
        started_at: rfc3339(started),
        finished_at: rfc3339(app.clock.now()),
        examined: done.examined,
        changed: done.changed,
        with_vector,
        without_vector,
    }))
}
