//! The service: all routes, what wraps them, and serving.
//!
//! A handler extracts, calls one function of the library, converts, and returns. Statuses are given
//! in `problem.rs` and nowhere else.

mod batches;
mod corrections;
mod extract;
mod feedback;
mod health;
mod limits;
pub mod local;
mod lock;
mod maintenance;
mod memories;
mod ndjson;
mod prefetch;
mod problem;
mod search;
mod shapes;
mod signals;
mod transfer;

use std::future::Future;

use axum::Router;
use axum::routing::{delete, get, post};
use tokio::net::TcpListener;

use crate::app::App;
use problem::Problem;

/// Every route of the service.
pub fn router(app: App) -> Router {
    let routes = Router::new()
        .route("/v1/memories", post(memories::add).get(memories::list))
        .route("/v1/memories/batch", post(batches::add))
        .route(
            "/v1/memories/{id}",
            get(memories::get)
                .patch(memories::edit)
                .delete(memories::delete),
        )
        .route("/v1/memories/{id}/restore", post(memories::restore))
        .route("/v1/search", post(search::post).get(search::get))
        .route("/v1/prefetch", post(prefetch::post))
        .route("/v1/feedback", post(feedback::give))
        .route("/v1/corrections", post(corrections::correct))
        .route("/v1/corrections/{id}", delete(corrections::undo))
        .route(
            "/v1/lock",
            get(lock::get).put(lock::set).delete(lock::clear),
        )
        .route("/v1/topics", get(signals::topics))
        .route("/v1/attention", get(signals::attention))
        .route("/v1/entities/{name}/timeline", get(signals::timeline))
        .route("/v1/entities/{name}/related", get(signals::related))
        .route("/v1/stats", get(health::stats))
        .route("/v1/maintenance/backfill", post(maintenance::backfill))
        .route("/v1/export", get(transfer::export))
        .route("/v1/import", post(transfer::import))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/version", get(health::version))
        .fallback(|| async { Problem::no_route() })
        .method_not_allowed_fallback(|| async { Problem::method_not_allowed() });
    limits::wrap(routes).with_state(app)
}

/// Serves until `shutdown` ends, then finishes what was accepted. Meanwhile memories without a vector
/// get one.
///
/// # Errors
/// When the listener fails.
pub async fn serve(
    listener: TcpListener,
    app: App,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let background = app.meaning.clone().map(|meaning| {
        let store = app.store.clone();
        tokio::spawn(async move { meaning.keep_complete(store).await })
    });
    let served = axum::serve(listener, router(app))
        .with_graceful_shutdown(shutdown)
        .await;
    if let Some(background) = background {
        background.abort();
    }
    served
}
