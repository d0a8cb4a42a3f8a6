//! /v1/topics, /v1/attention, /v1/entities/{name}/….

use axum::Json;
use axum::extract::State;
use chrono::{Days, NaiveDate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::extract::{Params, Segment};
use super::problem::Problem;
use super::shapes::rfc3339;
use crate::app::App;
use crate::scope::Scope;
use crate::signals::Topic;

const DEFAULT_LIMIT: usize = 10;
const MAX_LIMIT: usize = 100;

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Period {
    #[default]
    All,
    Daily,
    Weekly,
}

impl Period {
    fn as_str(self) -> &'static str {
        match self {
            Period::All => "all",
            Period::Daily => "daily",
            Period::Weekly => "weekly",
        }
    }

    /// The first day that counts: a day is today, a week the seven days up to it.
    fn since(self, today: NaiveDate) -> Option<NaiveDate> {
        match self {
            Period::All => None,
            Period::Daily => Some(today),
            Period::Weekly => today.checked_sub_days(Days::new(6)),
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TopicParams {
    period: Option<Period>,
    limit: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EntityParams {
    limit: Option<usize>,
}

pub(super) async fn topics(
    State(app): State<App>,
    params: Params<TopicParams>,
) -> Result<Json<Value>, Problem> {
    ranked(&app, &params.scope, &params.value, "topics", |topic| {
        topic.mentions
    })
    .await
}

pub(super) async fn attention(
    State(app): State<App>,
    params: Params<TopicParams>,
) -> Result<Json<Value>, Problem> {
    ranked(&app, &params.scope, &params.value, "attention", |topic| {
        topic.attention
    })
    .await
}

async fn ranked(
    app: &App,
    scope: &Scope,
    params: &TopicParams,
    name: &str,
    score: impl Fn(&Topic) -> f64,
) -> Result<Json<Value>, Problem> {
    let limit = limit(params.limit)?;
    let period = params.period.unwrap_or_default();
    let mut topics = app
        .store
        .topics(scope, period.since(app.clock.now().date_naive()))
        .await?;
    topics.sort_by(|left, right| {
        score(right)
            .total_cmp(&score(left))
            .then_with(|| left.name.cmp(&right.name))
    });
    let items: Vec<Value> = topics
        .iter()
        .take(limit)
        .map(|topic| json!({"topic": topic.name, "score": score(topic)}))
        .collect();
    Ok(Json(json!({"period": period.as_str(), name: items})))
}

pub(super) async fn timeline(
    State(app): State<App>,
    Segment(entity): Segment,
    params: Params<EntityParams>,
) -> Result<Json<Value>, Problem> {
    let entries = app
        .store
        .entity_timeline(
            &params.scope,
            &entity,
            limit(params.value.limit)?,
            app.clock.now(),
        )
        .await?;
    let items: Vec<Value> = entries
        .iter()
        .map(|entry| json!({"id": entry.id.as_str(), "content": entry.content, "created_at": rfc3339(entry.created_at), "state": entry.state.as_str()}))
        .collect();
    Ok(Json(json!({"entity": entity, "items": items})))
}

pub(super) async fn related(
    State(app): State<App>,
    Segment(entity): Segment,
    params: Params<EntityParams>,
) -> Result<Json<Value>, Problem> {
    let related = app
        .store
        .related_entities(&params.scope, &entity, limit(params.value.limit)?, 1)
        .await?;
    let items: Vec<Value> = related
        .iter()
        .map(|(other, count)| json!({"entity": other, "count": count}))
        .collect();
    Ok(Json(json!({"entity": entity, "items": items})))
}

fn limit(given: Option<usize>) -> Result<usize, Problem> {
    let limit = given.unwrap_or(DEFAULT_LIMIT);
    if (1..=MAX_LIMIT).contains(&limit) {
        Ok(limit)
    } else {
        Err(Problem::invalid_field(
            "limit",
            format!("is {limit}, must be 1 to {MAX_LIMIT}"),
        ))
    }
}
