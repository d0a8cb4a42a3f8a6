//! `Idempotency-Key`: a write that is sent again gets its first answer and is not done again
//! (draft-ietf-httpapi-idempotency-key-header).
//!
//! Two things work together. Each memory is written under a name made of the key, its place in the
//! request and what was sent, and remembered in the transaction that stores it: so a crash between
//! the write and its answer doubles nothing. And the whole answer is kept: so the same request gets
//! the same bytes, and another body under the key is refused. While the first is at work, a second
//! gets 409, as the draft wants. Lines of NDJSON have no end to wait for: they are each done once, and
//! answered anew.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use super::access::Caller;
use super::extract::content_type;
use super::ndjson;
use super::problem::Problem;
use crate::app::App;
use crate::store::KeptAnswer;

const HEADER: HeaderName = HeaderName::from_static("idempotency-key");
/// Tells that an answer is the first one, given again.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// Longest key, in bytes.
const MAX_KEY: usize = 255;
/// Where the header counts; elsewhere it is read over.
const PATHS: [&str; 3] = [
    "/v1/memories",
    "/v1/memories/batch",
    "/v1/memories/operations",
];

/// What the middleware works with.
#[derive(Clone)]
pub(super) struct Idempotency {
    app: App,
    at_work: AtWork,
}

/// Keys of the requests that are at work.
type AtWork = Arc<Mutex<HashSet<String>>>;

impl Idempotency {
    pub(super) fn new(app: App) -> Idempotency {
        Idempotency {
            app,
            at_work: AtWork::default(),
        }
    }
}

/// The key of a request, for handlers that write.
#[derive(Debug, Clone)]
pub(super) struct OnceKey(String);

impl OnceKey {
    /// The name under which one item of the request is written once.
    pub(super) fn item(&self, index: usize, sent: &[u8]) -> String {
        format!("key {} {index} {}", self.0, digest(&[sent]))
    }
}

/// Gives requests with a key their first answer again, or keeps it.
pub(super) async fn once(
    State(idempotency): State<Idempotency>,
    mut request: Request,
    next: Next,
) -> Response {
    if request.method() != Method::POST || !PATHS.contains(&request.uri().path()) {
        return next.run(request).await;
    }
    let Some(given) = request.headers().get(&HEADER) else {
        return next.run(request).await;
    };
    let sound = given.len() <= MAX_KEY && !given.is_empty();
    let Some(key) = given.to_str().ok().filter(|_| sound) else {
        let message = format!("must be 1 to {MAX_KEY} visible ASCII characters");
        return Problem::invalid_field("Idempotency-Key", message).into_response();
    };
    let caller = request.extensions().get::<Caller>();
    // Of two API keys neither gets the answers of the other.
    let whose = caller.and_then(Caller::key_name).unwrap_or_default();
    let key = OnceKey(format!("{whose}{} {key}", request.uri().path()));
    request.extensions_mut().insert(key.clone());
    if content_type(&request).as_deref() == Some(ndjson::CONTENT_TYPE) {
        return next.run(request).await;
    }
    let Some(_working) = Working::begin(&idempotency.at_work, &key.0) else {
        return Problem::at_work().into_response();
    };
    answer_once(&idempotency.app, &key.0, request, next)
        .await
        .unwrap_or_else(Problem::into_response)
}

async fn answer_once(
    app: &App,
    key: &str,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let query = request.uri().query().unwrap_or_default().to_owned();
    let kind = content_type(&request).unwrap_or_default();
    let (parts, body) = request.into_parts();
    let mut whole = Request::new(body);
    *whole.extensions_mut() = parts.extensions.clone();
    let bytes = Bytes::from_request(whole, &())
        .await
        .map_err(|_| Problem::body_too_large())?;
    let fingerprint = digest(&[query.as_bytes(), kind.as_bytes(), &bytes]);
    if let Some(kept) = app.store.answer(key, app.clock.now()).await? {
        return if kept.fingerprint == fingerprint {
            Ok(again(kept))
        } else {
            Err(Problem::invalid_field(
                "Idempotency-Key",
                "was sent with another request in the last 24 hours",
            ))
        };
    }
    let response = next
        .run(Request::from_parts(parts, Body::from(bytes)))
        .await;
    if response.status().is_server_error() {
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX)
        .await
        .map_err(|_| Problem::internal())?;
    let text = |value: Option<&HeaderValue>| {
        value
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_owned()
    };
    let answer = KeptAnswer {
        fingerprint,
        status: parts.status.as_u16(),
        content_type: text(parts.headers.get(header::CONTENT_TYPE)),
        body: String::from_utf8_lossy(&bytes).into_owned(),
    };
    if let Err(error) = app.store.keep_answer(key, answer, app.clock.now()).await {
        // The write is done and remembered; only these bytes cannot be given again.
        tracing::warn!(%error, "an answer could not be kept");
    }
    Ok(Response::from_parts(parts, Body::from(bytes)))
}

fn again(kept: KeptAnswer) -> Response {
    let status = StatusCode::from_u16(kept.status).unwrap_or(StatusCode::OK);
    let replayed = (REPLAYED, HeaderValue::from_static("true"));
    let kind = HeaderValue::from_str(&kept.content_type)
        .unwrap_or(HeaderValue::from_static("application/json"));
    (status, [(header::CONTENT_TYPE, kind), replayed], kept.body).into_response()
}

fn digest(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    HEXLOWER.encode(&hash.finalize())
}

/// Marks a key as at work until it is dropped, however the request ends.
struct Working {
    at_work: AtWork,
    key: String,
}

impl Working {
    fn begin(at_work: &AtWork, key: &str) -> Option<Working> {
        let mut keys = at_work.lock().unwrap_or_else(PoisonError::into_inner);
        keys.insert(key.to_owned()).then(|| Working {
            at_work: at_work.clone(),
            key: key.to_owned(),
        })
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        let mut keys = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        keys.remove(&self.key);
    }
}
