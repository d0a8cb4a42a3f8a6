//! POST /v1/prefetch.

use std::time::Instant;

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::extract::SessionBody;
use super::problem::Problem;
use super::shapes::{HitShape, TagList, TagMatch, Wanted};
use crate::app::App;
use crate::read::{self, context};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Fields {
    query: String,
    top_k: Option<usize>,
    tag_filter: Option<TagList>,
    tag_match: Option<TagMatch>,
    category: Option<String>,
    source: Option<String>,
    session: Option<String>,
    created_after: Option<DateTime<Utc>>,
    created_before: Option<DateTime<Utc>>,
    as_of: Option<DateTime<Utc>>,
    include_expired: Option<bool>,
    /// The client's session; its settings come with `POST /v1/sessions`.
    #[serde(rename = "session_id")]
    _session_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PrefetchAnswer")]
pub(super) struct Found {
    context: String,
    results: Vec<HitShape>,
    skipped: Option<&'static str>,
    empty: Option<&'static str>,
    below_floor: usize,
    degraded: Vec<String>,
    took_ms: f64,
}

pub(super) async fn post(
    State(app): State<App>,
    body: SessionBody<Fields>,
) -> Result<Json<Found>, Problem> {
    let (started, now) = (Instant::now(), app.clock.now());
    let fields = body.value;
    let wanted = Wanted {
        query: fields.query,
        top_k: fields.top_k.or(body.session.top_k),
        tag_filter: fields
            .tag_filter
            .or(body.session.tag_filter.map(TagList::Many)),
        tag_match: fields.tag_match.unwrap_or_default(),
        category: fields.category,
        source: fields.source,
        session: fields.session,
        created_after: fields.created_after,
        created_before: fields.created_before,
        as_of: fields.as_of,
        include_expired: fields.include_expired.unwrap_or_default(),
        ..Wanted::default()
    };
    let answer = read::prefetch(&app, &body.scope, &wanted.request(&app)?, now).await?;
    let (context, entries) = context::render(&answer.hits, app.settings.max_context_chars);
    let left_out = entries < answer.hits.len();
    let mut degraded = answer.degraded.clone();
    degraded.extend(left_out.then(|| "context_full".to_owned()));
    Ok(Json(Found {
        context,
        results: HitShape::all(&answer, now),
        skipped: answer.skipped.map(read::Skipped::as_str),
        empty: answer.empty.map(read::Empty::as_str),
        below_floor: answer.below_floor,
        degraded,
        took_ms: started.elapsed().as_secs_f64() * 1e3,
    }))
}
