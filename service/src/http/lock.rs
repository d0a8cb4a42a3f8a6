//! /v1/lock: one lock for the whole store.

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::extract::{Body, NoFields, Params};
use super::problem::Problem;
use crate::app::App;

const DEFAULT_TTL_SECONDS: i64 = 3_600;
/// Longest lock: a year.
const MAX_TTL_SECONDS: i64 = 366 * 86_400;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Fields {
    ttl_seconds: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LockState {
    locked: bool,
    remaining_seconds: Option<i64>,
}

pub(super) async fn get(
    State(app): State<App>,
    _params: Params<NoFields>,
) -> Result<Json<LockState>, Problem> {
    let now = app.clock.now();
    Ok(Json(state(app.store.lock(now).await?, now)))
}

pub(super) async fn set(
    State(app): State<App>,
    body: Body<Fields>,
) -> Result<Json<LockState>, Problem> {
    let now = app.clock.now();
    let seconds = body.value.ttl_seconds.unwrap_or(DEFAULT_TTL_SECONDS);
    if !(1..=MAX_TTL_SECONDS).contains(&seconds) {
        return Err(Problem::invalid_field(
            "ttl_seconds",
            format!("is {seconds}, must be 1 to {MAX_TTL_SECONDS}"),
        ));
    }
    let until = now + TimeDelta::seconds(seconds);
    app.store.set_lock(until).await?;
    Ok(Json(state(Some(Some(until)), now)))
}

pub(super) async fn clear(
    State(app): State<App>,
    _params: Params<NoFields>,
) -> Result<Json<LockState>, Problem> {
    app.store.clear_lock().await?;
    Ok(Json(state(None, app.clock.now())))
}

fn state(lock: Option<Option<DateTime<Utc>>>, now: DateTime<Utc>) -> LockState {
    LockState {
        locked: lock.is_some(),
        remaining_seconds: lock
            .flatten()
            .map(|until| (until - now).num_seconds().max(0)),
    }
}
