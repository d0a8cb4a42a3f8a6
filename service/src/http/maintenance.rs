//! POST /v1/maintenance/{job} does a job now and answers when it is done; GET /v1/maintenance tells the
//! last answer of each.

use axum::Json;
use axum::extract::{FromRequest, Request, State};
use axum::http::Method;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Routes;
use super::extract::{AnyScope, Body};
use super::problem::Problem;
use crate::app::App;
use crate::error::Error;
use crate::maintenance::{self, Job, Options, silent};

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "MaintenanceFields")]
#[serde(deny_unknown_fields)]
pub(super) struct Fields {
    dry_run: Option<bool>,
    limit: Option<u64>,
    since: Option<DateTime<Utc>>,
    /// Consolidate without a model.
    extractive: Option<bool>,
}

/// Adds a route for each job, and the one that tells of them.
pub(super) fn routes(routes: Routes) -> Routes {
    let jobs = Job::ALL.into_iter().fold(routes, |routes, job| {
        routes.on(
            Method::POST,
            path(job),
            move |State(app): State<App>, request: Request| run(app, request, job),
        )
    });
    jobs.on(Method::GET, "/v1/maintenance", list)
}

fn path(job: Job) -> &'static str {
    match job {
        Job::Consolidate => "/v1/maintenance/consolidate",
        Job::Forget => "/v1/maintenance/forget",
        Job::Dedup => "/v1/maintenance/dedup",
        Job::Synonyms => "/v1/maintenance/synonyms",
        Job::Dictionary => "/v1/maintenance/dictionary",
        Job::Backfill => "/v1/maintenance/backfill",
    }
}

async fn run(app: App, request: Request, job: Job) -> Result<Json<Value>, Problem> {
    let fields = if axum::body::HttpBody::is_end_stream(request.body()) {
        AnyScope::from_request(request, &app).await?;
        Fields::default()
    } else {
        Body::from_request(request, &app).await?.value
    };
    let options = Options {
        dry_run: fields.dry_run,
        limit: fields.limit,
        since: fields.since,
        extractive: fields.extractive.unwrap_or_default(),
    };
    // A client that goes away does not stop what it began.
    let done = tokio::spawn(async move { maintenance::run(&app, job, options, silent()).await });
    match done.await {
        Ok(report) => Ok(Json(report?.to_json())),
        Err(error) => {
            tracing::error!(%error, job = job.name(), "maintenance broke off");
            Err(Problem::internal())
        }
    }
}

async fn list(State(app): State<App>, _: AnyScope) -> Result<Json<Value>, Problem> {
    let answers = maintenance::last_answers(&app).await?;
    let jobs: Map<String, Value> = answers
        .into_iter()
        .map(|(job, answer)| (job.name().to_owned(), answer.unwrap_or_default()))
        .collect();
    Ok(Json(json!({ "jobs": jobs })))
}

/// Does the jobs again and again for as long as it is polled: what the binaries do with `--every`.
pub(super) async fn keep_up(app: App) {
    let mut rounds = tokio::time::interval(ROUND);
    rounds.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    for round in 0u64.. {
        rounds.tick().await;
        for (every, job) in SCHEDULE {
            if round % every != 0 {
                continue;
            }
            match maintenance::run(&app.current(), job, Options::default(), silent()).await {
                Ok(_) => {}
                Err(error @ Error::Running(_)) => tracing::info!("{error}"),
                Err(error) => {
                    tracing::error!(%error, job = job.name(), "maintenance failed");
                }
            }
        }
    }
}

/// How often jobs are looked at, and after how many rounds each is done.
const ROUND: std::time::Duration = std::time::Duration::from_secs(3_600);
const SCHEDULE: [(u64, Job); 5] = [
    (1, Job::Dedup),
    (2, Job::Consolidate),
    (2, Job::Forget),
    (8, Job::Synonyms),
    (8, Job::Dictionary),
];
