//! /healthz, /readyz, /version, /v1/stats.

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

/// What this version can do; clients ask before they rely on it.
const FEATURES: [&str; 12] = [
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

pub(super) async fn version() -> Json<Value> {
    Json(json!({"version": env!("CARGO_PKG_VERSION"), "api_version": "v1", "features": FEATURES}))
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
