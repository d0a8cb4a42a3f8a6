//! What wraps every route: request ids, size and time limits, panics, logs.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;
use tower_http::catch_panic::CatchPanicLayer;
use tracing::Instrument;

use super::access::OPEN;
use super::problem::Problem;
use crate::clock::new_id;
use crate::write::secrets::without_secrets;

/// Largest body of a request that is read whole.
pub(super) const MAX_BODY: usize = 16 * 1024 * 1024;
/// Time for a request up to its first byte of answer.
const DEADLINE: Duration = Duration::from_secs(30);
/// Requests that are at work at once; others wait so long for their turn.
const MOST_AT_WORK: usize = 256;
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// Paths whose requests have their own pace: uploads of any length, and maintenance.
const OWN_PACE: [&str; 3] = ["/v1/memories/batch", "/v1/import", "/v1/maintenance/"];
/// Longest request id that is taken from a client.
const MAX_REQUEST_ID: usize = 128;
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Tells browsers to do nothing with an answer but show it to whoever asked, and nobody to keep it.
/// That no page of another origin may read one is what they do unless told otherwise.
const SAFE: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; frame-ancestors 'none'",
    ),
    (header::CACHE_CONTROL, "no-store"),
];

/// Wraps routes.
pub(super) fn wrap<S: Clone + Send + Sync + 'static>(routes: Router<S>) -> Router<S> {
    wrap_with(routes, DEADLINE, MOST_AT_WORK, LONGEST_WAIT)
}

fn wrap_with<S: Clone + Send + Sync + 'static>(
    routes: Router<S>,
    time: Duration,
    most_at_work: usize,
    longest_wait: Duration,
) -> Router<S> {
    let turns = Turns {
        permits: Arc::new(Semaphore::new(most_at_work)),
        longest_wait,
    };
    routes
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn_with_state(time, deadline))
        .layer(middleware::from_fn_with_state(turns, take_turns))
        .layer(middleware::from_fn(identify))
}

/// Who may be at work.
#[derive(Clone)]
struct Turns {
    permits: Arc<Semaphore>,
    longest_wait: Duration,
}

/// Lets a bounded number of requests be at work, so that their bodies and answers fit into memory.
async fn take_turns(State(turns): State<Turns>, request: Request, next: Next) -> Response {
    if OPEN.contains(&request.uri().path()) {
        return next.run(request).await;
    }
    match tokio::time::timeout(turns.longest_wait, turns.permits.acquire()).await {
        Ok(_permit) => next.run(request).await,
        Err(_) => Problem::too_many().into_response(),
    }
}

fn panicked(panic: Box<dyn Any + Send + 'static>) -> Response {
    let message = panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    tracing::error!(panic = message.unwrap_or_default(), "a handler panicked");
    Problem::internal().into_response()
}

/// Gives up on a request that takes too long.
async fn deadline(State(time): State<Duration>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if OWN_PACE.iter().any(|own| path.starts_with(own)) {
        return next.run(request).await;
    }
    tokio::time::timeout(time, next.run(request))
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
    let path = without_secrets(request.uri().path().to_owned());
    let span = tracing::info_span!("request", request.id = ?id, http.method = %request.method(), http.path = path);
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
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id);
    for (name, value) in SAFE {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;

    const MOMENT: Duration = Duration::from_millis(20);

    /// One route that never answers, one that panics.
    fn routes(time: Duration, most_at_work: usize) -> Router {
        let routes = Router::new()
            .route("/stuck", get(std::future::pending::<()>))
            .route("/panics", get(panics))
            .route("/healthz", get(|| async {}));
        wrap_with(routes, time, most_at_work, MOMENT)
    }

    async fn panics() -> &'static str {
        panic!("in a handler")
    }

    async fn get_path(routes: &Router, path: &str) -> Response {
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        routes.clone().oneshot(request).await.unwrap()
    }

    #[tokio::test]
    async fn a_request_that_takes_too_long_is_given_up() {
        let response = get_path(&routes(MOMENT, 9), "/stuck").await;
        assert_eq!(response.status(), 504);
        assert!(response.headers().contains_key(REQUEST_ID));
    }

    #[tokio::test]
    async fn a_panic_is_an_answer_that_tells_nothing_of_it() {
        let response = get_path(&routes(MOMENT, 9), "/panics").await;
        assert_eq!(response.status(), 500);
        let body = axum::body::to_bytes(response.into_body(), 1_000)
            .await
            .unwrap();
        assert!(!String::from_utf8_lossy(&body).contains("in a handler"));
    }

    #[tokio::test]
    async fn more_requests_than_can_be_at_work_are_told_to_come_again() {
        let routes = routes(Duration::from_secs(60), 1);
        let first = tokio::spawn({
            let routes = routes.clone();
            async move { get_path(&routes, "/stuck").await }
        });
        tokio::time::sleep(MOMENT).await;
        let second = get_path(&routes, "/stuck").await;
        assert_eq!(second.status(), 429);
        assert!(second.headers().contains_key("retry-after"));
        assert_eq!(get_path(&routes, "/healthz").await.status(), 200);
        first.abort();
    }
}
