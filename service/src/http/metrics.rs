//! GET /metrics, and the counting of requests.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::access::{Caller, Route};
use super::problem::Problem;
use crate::app::App;
use crate::memory::State as MemoryState;
use crate::metrics::Metrics;
use crate::scope::Scope;

pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// What is told of a request that no route took.
const NOWHERE: Route = Route {
    method: "",
    path: "none",
};

/// Counts every request by its route and its status.
pub(super) async fn observe(
    State(metrics): State<Arc<Metrics>>,
    request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let response = next.run(request).await;
    let route = response.extensions().get::<Route>().unwrap_or(&NOWHERE);
    let problem = response.extensions().get::<Problem>().map(Problem::kind);
    let status = response.status().as_u16();
    metrics.requested(route.method, route.path, status, problem, started.elapsed());
    response
}

/// Every number; memories are counted as they are now.
pub(super) async fn metrics(State(app): State<App>, _: Caller) -> Result<Response, Problem> {
    let metrics = &app.metrics;
    let now = app.clock.now();
    for namespace in metrics.used() {
        let scope = Scope {
            namespace,
            agent: None,
            primary: true,
        };
        let stats = app.store.stats(&scope, now).await?;
        for (state, count) in MemoryState::ALL.iter().zip(stats.by_state) {
            metrics.count_memories(&scope.namespace, state.as_str(), count);
        }
    }
    let embedder = app.meaning.as_ref().map(|meaning| meaning.embedder());
    if let Some(used) = embedder.and_then(|embedder| embedder.cache_use()) {
        metrics.count_cache("vectors", used);
    }
    metrics.count_cache("signals", app.signals_use());
    let text = metrics.text().map_err(|_| Problem::internal())?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}
