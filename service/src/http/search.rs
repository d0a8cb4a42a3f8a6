//! POST and GET /v1/search.

use std::time::Instant;

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::extract::{Body, Params};
use super::problem::Problem;
use super::shapes::{ExplanationShape, HitShape, Mode, TagList, TagMatch, Wanted};
use crate::app::App;
use crate::read;
use crate::scope::Scope;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Fields {
    /// Called `q` in a query string.
    #[serde(alias = "q")]
    query: String,
    top_k: Option<usize>,
    mode: Option<Mode>,
    tag_filter: Option<TagList>,
    tag_match: Option<TagMatch>,
    category: Option<String>,
    source: Option<String>,
    session: Option<String>,
    created_after: Option<DateTime<Utc>>,
    created_before: Option<DateTime<Utc>>,
    as_of: Option<DateTime<Utc>>,
    include_expired: Option<bool>,
    min_score: Option<f64>,
    explain: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SearchAnswer")]
pub(super) struct Found {
    results: Vec<HitShape>,
    mode: &'static str,
    skipped: Option<&'static str>,
    empty: Option<&'static str>,
    below_floor: usize,
    degraded: Vec<String>,
    took_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<ExplanationShape>,
}

pub(super) async fn post(
    State(app): State<App>,
    body: Body<Fields>,
) -> Result<Json<Found>, Problem> {
    run(&app, &body.scope, body.value).await
}

pub(super) async fn get(
    State(app): State<App>,
    params: Params<Fields>,
) -> Result<Json<Found>, Problem> {
    run(&app, &params.scope, params.value).await
}

async fn run(app: &App, scope: &Scope, fields: Fields) -> Result<Json<Found>, Problem> {
    let (started, now) = (Instant::now(), app.clock.now());
    let wanted = Wanted {
        query: fields.query,
        top_k: fields.top_k,
        mode: fields.mode.unwrap_or_default(),
        tag_filter: fields.tag_filter,
        tag_match: fields.tag_match.unwrap_or_default(),
        category: fields.category,
        source: fields.source,
        session: fields.session,
        created_after: fields.created_after,
        created_before: fields.created_before,
        as_of: fields.as_of,
        include_expired: fields.include_expired.unwrap_or_default(),
        min_score: fields.min_score,
        explain: fields.explain,
    };
    let answer = read::search(app, scope, &wanted.request(app)?, now).await?;
    Ok(Json(Found {
        results: HitShape::all(&answer, now),
        mode: answer.mode.as_str(),
        skipped: answer.skipped.map(read::Skipped::as_str),
        empty: answer.empty.map(read::Empty::as_str),
        below_floor: answer.below_floor,
        degraded: answer.degraded,
        took_ms: started.elapsed().as_secs_f64() * 1e3,
        explanation: answer.explanation.map(ExplanationShape::from),
    }))
}
