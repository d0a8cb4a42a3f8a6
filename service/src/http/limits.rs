//! What wraps every route: request ids, size and time limits, panics, logs.

use std::any::Any;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use tower_http::catch_panic::CatchPanicLayer;
use tracing::Instrument;

use super::problem::Problem;
use crate::app::App;
use crate::clock::new_id;

/// Largest body of a request that is read whole.
const MAX_BODY: usize = 16 * 1024 * 1024;
/// Time for a request up to its first byte of answer.
const DEADLINE: Duration = Duration::from_secs(30);
/// Longest request id that is taken from a client.
const MAX_REQUEST_ID: usize = 128;
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Wraps routes.
pub(super) fn wrap(routes: Router<App>) -> Router<App> {
    routes
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn(deadline))
        .layer(middleware::from_fn(identify))
}

fn panicked(panic: Box<dyn Any + Send + 'static>) -> Response {
    let message = panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    tracing::error!(panic = message.unwrap_or_default(), "a handler panicked");
    Problem::internal().into_response()
}

/// Gives up on a request that takes too long. Uploads of any length and maintenance have
/// their own pace.
async fn deadline(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if matches!(path, "/v1/memories/batch" | "/v1/import") || path.starts_with("/v1/maintenance/") {
        return next.run(request).await;
    }
    tokio::time::timeout(DEADLINE, next.run(request))
        .await
        .unwrap_or_else(|_| Problem::deadline().into_response())
}

/// Gives each request an id, the client's own if it sent a sound one, and logs it: the path, never
/// the query.
async fn identify(request: Request, next: Next) -> Response {
    let given = request
        .headers()
        .get(&REQUEST_ID)
        .filter(|id| id.len() <= MAX_REQUEST_ID)
        .cloned();
    let id = given
        .or_else(|| HeaderValue::from_str(new_id().ok()?.as_str()).ok())
        .unwrap_or(HeaderValue::from_static("unknown"));
    let span = tracing::info_span!("request", request.id = ?id, http.method = %request.method(), http.path = request.uri().path());
    let mut response = async {
        let started = std::time::Instant::now();
        let response = next.run(request).await;
        tracing::debug!(
            http.status = response.status().as_u16(),
            duration_ms = started.elapsed().as_secs_f64() * 1e3,
            "answered"
        );
        response
    }
    .instrument(span)
    .await;
    response.headers_mut().insert(REQUEST_ID, id);
    response
}
