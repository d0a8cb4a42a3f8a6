//! /healthz, /readyz, /health…, /version, /v1/stats.

use axum::Json;
use axum::extract::State as Shared;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::extract::{NoFields, Params};
use super::problem::Problem;
use crate::app::App;
use crate::meaning::State;
use crate::memory::State as MemoryState;

/// The bank API that this version speaks. Its clients read `version` or `api_version`, whichever comes
/// first, and compare it with what they need; our own version has a field of its own.
const BANK_API: &str = "0.9.1";
/// What this version can do; clients ask before they rely on it.
const FEATURES: [&str; 15] = [
    "search",
    "prefetch",
    "feedback",
    "corrections",
    "lock",
    "export",
    "operations",
    "idempotency",
    "sessions",
    "synonyms",
    "bulk_delete",
    "redaction",
    "skills",
    "banks",
    "mcp",
];
/// Features that bank clients ask for and that are not here.
const ABSENT: [&str; 10] = [
    "observations",
    "worker",
    "bank_config_api",
    "bank_llm_health",
    "file_upload_api",
    "document_export_api",
    "document_import_api",
    "audit_log",
    "llm_trace",
    "store_document_text",
];

pub(super) async fn healthz() -> Json<Value> {
    Json(json!({"status": "ok"}))
}

pub(super) async fn readyz(Shared(app): Shared<App>) -> Response {
    let (embedder, mut reasons) = embedder(&app);
    // A broken edit of the configuration does not stop the service: the former one is in use.
    let complaints = app.configuration_complaints();
    let complaints = complaints.iter();
    reasons.extend(complaints.map(|complaint| format!("configuration: {complaint}")));
    let checked = match app.store.check().await {
        Ok(()) => app.store.notes().await,
        Err(error) => Err(error),
    };
    match checked {
        Ok(notes) => {
            Json(json!({"ready": true, "store": "ok", "embedder": embedder, "reasons": reasons, "notes": notes}))
                .into_response()
        }
        Err(error) => {
            reasons.push(format!("store: {error}"));
            (
                StatusCode::SERVICE_UNAVAILABLE,
                Json(json!({"ready": false, "store": "failing", "embedder": embedder, "reasons": reasons})),
            )
                .into_response()
        }
    }
}

/// The embedder and how far its vectors are. Words find without it, so it never makes the service
/// unready; but it is said.
fn embedder(app: &App) -> (Value, Vec<String>) {
    let Some(meaning) = &app.meaning else {
        return (json!({"name": "none", "state": "none"}), Vec::new());
    };
    let name = meaning.embedder().name();
    match meaning.state() {
        State::Unknown => (json!({"name": name, "state": "starting"}), Vec::new()),
        State::Ready => (json!({"name": name, "state": "ready"}), Vec::new()),
        State::Switching { with, without } => (
            json!({"name": name, "state": "switching", "with": with, "without": without}),
            vec![format!(
                "embedder: lexical only until {without} more memories have a vector"
            )],
        ),
        State::Failing(why) => (
            json!({"name": name, "state": "failing"}),
            vec![format!("embedder: lexical only: {why}")],
        ),
    }
}

pub(super) async fn version(Shared(app): Shared<App>) -> Json<Value> {
    let there = FEATURES
        .iter()
        .map(|name| ((*name).to_owned(), json!(true)));
    let absent = ABSENT.iter().map(|name| ((*name).to_owned(), json!(false)));
    let mut features: Map<String, Value> = there.chain(absent).collect();
    // Whoever would otherwise have to see to it asks.
    features.insert("scheduled_maintenance".to_owned(), app.maintains.into());
    Json(json!({
        "version": BANK_API,
        "api_version": BANK_API,
        "keepsake_version": env!("CARGO_PKG_VERSION"),
        "features": features,
    }))
}

/// Alive, as bank clients ask for it.
pub(super) async fn live() -> Json<Value> {
    Json(json!({"status": "alive"}))
}

/// Ready, as bank clients and the probes of their containers ask for it.
pub(super) async fn health(Shared(app): Shared<App>) -> Response {
    match app.store.check().await {
        Ok(()) => Json(json!({"status": "healthy", "database": "connected"})).into_response(),
        Err(error) => Problem::from(error).told_as(
            "application/json",
            &json!({"status": "unhealthy", "database": "failing"}),
        ),
    }
}

pub(super) async fn stats(
    Shared(app): Shared<App>,
    params: Params<NoFields>,
) -> Result<Json<Value>, Problem> {
    let stats = app.store.stats(&params.scope, app.clock.now()).await?;
    let mut memories = Map::from_iter([(
        "total".to_owned(),
        Value::from(stats.by_state.iter().sum::<u64>()),
    )]);
    memories.extend(
        MemoryState::ALL
            .iter()
            .zip(stats.by_state)
            .map(|(state, count)| (state.as_str().to_owned(), Value::from(count))),
    );
    let sizes = json!({"content_bytes": stats.content_bytes});
    Ok(Json(json!({"memories": memories, "sizes": sizes})))
}
