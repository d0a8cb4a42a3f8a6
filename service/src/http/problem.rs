//! Errors as clients see them: problem details (RFC 9457). The one place that gives statuses. What
//! they quote is shown without secrets.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::error::{Error, FieldError};
use crate::meaning::NotReady;
use crate::store::StoreError;
use crate::write::secrets::without_secrets;

/// What the type of a problem begins with; clients may match the whole.
const TYPE_PREFIX: &str = "urn:keepsake:problem:";
/// What is told of a path that leads nowhere.
const NO_ROUTE: &str = "there is nothing at this path";
/// Seconds after which a client may try again when the store is down.
const RETRY_AFTER_SECONDS: u32 = 1;

/// A problem answer.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Problem {
    #[serde(rename = "type")]
    kind: String,
    title: &'static str,
    status: u16,
    detail: String,
    errors: Vec<FieldProblem>,
    /// How many there really are, where a client had to say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip)]
    retry_after: Option<u32>,
}

#[derive(Debug, Clone, Serialize)]
struct FieldProblem {
    field: String,
    message: String,
}

impl Problem {
    fn new(
        status: StatusCode,
        kind: &str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Problem {
        let kind = format!("{TYPE_PREFIX}{kind}");
        Problem {
            kind,
            title,
            status: status.as_u16(),
            detail: without_secrets(detail.into()),
            errors: Vec::new(),
            count: None,
            retry_after: None,
        }
    }

    /// The request cannot be read at all.
    pub(super) fn malformed(detail: impl Into<String>) -> Problem {
        Problem::new(
            StatusCode::BAD_REQUEST,
            "malformed",
            "The request is malformed",
            detail,
        )
    }

    /// The request can be read, but values are wrong.
    pub(super) fn invalid(errors: Vec<FieldError>) -> Problem {
        let detail = errors
            .iter()
            .map(|error| format!("{}: {}", error.field, error.message))
            .collect::<Vec<_>>()
            .join("; ");
        let errors = errors
            .into_iter()
            .map(|error| FieldProblem {
                field: without_secrets(error.field),
                message: without_secrets(error.message),
            })
            .collect();
        Problem {
            errors,
            ..Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "invalid",
                "The request has wrong values",
                detail,
            )
        }
    }

    /// One wrong value.
    pub(super) fn invalid_field(field: &str, message: impl Into<String>) -> Problem {
        Problem::invalid(vec![FieldError::new(field, message)])
    }

    /// Nobody whom the service knows.
    pub(super) fn unauthorized() -> Problem {
        Problem::new(
            StatusCode::UNAUTHORIZED,
            "unauthorized",
            "An API key is needed",
            "send a valid API key as `Authorization: Bearer <key>`",
        )
    }

    /// The API key does not allow this.
    pub(super) fn forbidden(detail: impl Into<String>) -> Problem {
        Problem::new(
            StatusCode::FORBIDDEN,
            "forbidden",
            "The API key does not allow this",
            detail,
        )
    }

    /// The API key reaches another agent or namespace than the request names.
    pub(super) fn out_of_reach(field: &str, reach: &str) -> Problem {
        Problem::not_found(format!("the API key reaches only the {field} `{reach}`"))
    }

    pub(super) fn no_route() -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "not-found", "Not found", NO_ROUTE)
    }

    /// Whether there is no such path at all.
    pub(super) fn is_no_route(&self) -> bool {
        self.detail == NO_ROUTE
    }

    pub(super) fn method_not_allowed() -> Problem {
        Problem::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method-not-allowed",
            "Method not allowed",
            "this path does not answer to that method",
        )
    }

    pub(super) fn unsupported_media_type(expected: &str) -> Problem {
        let detail = format!("the content type must be {expected}");
        Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported-media-type",
            "Unsupported content type",
            detail,
        )
    }

    pub(super) fn too_large(detail: impl Into<String>) -> Problem {
        Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too-large",
            "The request is too large",
            detail,
        )
    }

    pub(super) fn body_too_large() -> Problem {
        Problem::too_large("the body is larger than 16 MiB, or was cut off")
    }

    /// Something that is no memory is not there.
    pub(super) fn not_found(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "not-found", "Not found", detail)
    }

    /// A name is taken by something else.
    pub(super) fn conflict(detail: impl Into<String>) -> Problem {
        Problem::new(
            StatusCode::CONFLICT,
            "conflict",
            "The name is taken",
            detail,
        )
    }

    pub(super) fn no_synonyms() -> Problem {
        Problem::new(
            StatusCode::NOT_FOUND,
            "not-found",
            "Not found",
            "the term has no synonyms",
        )
    }

    /// A bulk deletion named another number than there is.
    pub(super) fn wrong_count(expected: u64, count: u64) -> Problem {
        let detail =
            format!("the filters name {count} memories, not {expected}: nothing was deleted");
        Problem {
            count: Some(count),
            ..Problem::new(
                StatusCode::CONFLICT,
                "wrong-count",
                "The count is wrong",
                detail,
            )
        }
    }

    /// A request with the same idempotency key is at work.
    pub(super) fn at_work() -> Problem {
        Problem {
            retry_after: Some(RETRY_AFTER_SECONDS),
            ..Problem::new(
                StatusCode::CONFLICT,
                "idempotency-key-at-work",
                "The first request is at work",
                "a request with this `Idempotency-Key` is still at work",
            )
        }
    }

    /// More requests are at work than the service takes.
    pub(super) fn too_many() -> Problem {
        Problem {
            retry_after: Some(RETRY_AFTER_SECONDS),
            ..Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too-many-requests",
                "Too many requests",
                "the service is busy with other requests",
            )
        }
    }

    pub(super) fn deadline() -> Problem {
        Problem::new(
            StatusCode::GATEWAY_TIMEOUT,
            "deadline",
            "The deadline has passed",
            "the request took too long and was given up",
        )
    }

    /// Something is wrong here; the cause is in the log.
    pub(super) fn internal() -> Problem {
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "Internal error",
            "something went wrong in the service; its log tells more",
        )
    }

    /// What clients match, without what all have in common.
    pub(super) fn kind(&self) -> &str {
        self.kind.strip_prefix(TYPE_PREFIX).unwrap_or(&self.kind)
    }

    pub(super) fn status(&self) -> u16 {
        self.status
    }

    pub(super) fn detail(&self) -> &str {
        &self.detail
    }

    /// The wrong fields with what is wrong with each.
    pub(super) fn wrong_fields(&self) -> impl Iterator<Item = (&str, &str)> {
        let errors = self.errors.iter();
        errors.map(|error| (error.field.as_str(), error.message.as_str()))
    }

    /// The problem in other words, with its status.
    pub(super) fn told_as<T: Serialize>(&self, content_type: &'static str, body: &T) -> Response {
        let body = serde_json::to_vec(body).unwrap_or_default();
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, [(header::CONTENT_TYPE, content_type)], body).into_response();
        if let Some(seconds) = self.retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer realm=\"keepsake\"");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        let detail = error.to_string();
        match error {
            Error::Invalid(errors) => Problem::invalid(errors),
            Error::NotFound(_) => {
                Problem::new(StatusCode::NOT_FOUND, "not-found", "Not found", detail)
            }
            Error::Ambiguous { .. } => Problem::new(
                StatusCode::CONFLICT,
                "ambiguous",
                "The id is ambiguous",
                detail,
            ),
            Error::Corrected(_) => Problem::new(
                StatusCode::CONFLICT,
                "corrected",
                "This content was corrected",
                detail,
            ),
            Error::SameContent(_) => Problem::new(
                StatusCode::CONFLICT,
                "same-content",
                "Another memory has this content",
                detail,
            ),
            Error::Running(_) => Problem {
                retry_after: Some(RETRY_AFTER_SECONDS),
                ..Problem::new(
                    StatusCode::CONFLICT,
                    "maintenance-running",
                    "The job is running",
                    detail,
                )
            },
            Error::Chat(_) => Problem {
                retry_after: Some(RETRY_AFTER_SECONDS),
                ..Problem::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "chat-unavailable",
                    "The chat model gives no answers",
                    detail,
                )
            },
            Error::Store(error) | Error::Meaning(NotReady::Store(error)) => Problem::from(error),
            Error::Meaning(NotReady::Switching { .. } | NotReady::Embed(_)) | Error::Embed(_) => {
                Problem {
                    retry_after: Some(RETRY_AFTER_SECONDS),
                    ..Problem::new(
                        StatusCode::SERVICE_UNAVAILABLE,
                        "embedder-unavailable",
                        "Meaning cannot be searched now",
                        detail,
                    )
                }
            }
            Error::Random(_) => logged(&error, Problem::internal()),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        let down = |kind: &str| Problem {
            retry_after: Some(RETRY_AFTER_SECONDS),
            ..Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                kind,
                "The store cannot serve",
                error.to_string(),
            )
        };
        let problem = match &error {
            StoreError::Unavailable(_) => down("store-unavailable"),
            StoreError::Timeout(_) => down("store-timeout"),
            StoreError::Refused(_) => down("store-refused"),
            StoreError::Full(_) => down("store-full"),
            StoreError::ReadOnly(_) => down("store-read-only"),
            StoreError::Corrupt { .. } => down("store-damaged"),
            StoreError::Version { .. } | StoreError::Foreign { .. } => Problem::internal(),
        };
        logged(&error, problem)
    }
}

/// Logs a failure of ours once, with its causes, where it becomes an answer.
fn logged(error: &dyn std::error::Error, problem: Problem) -> Problem {
    let mut causes = Vec::new();
    let mut cause = error.source();
    while let Some(inner) = cause {
        causes.push(inner.to_string());
        cause = inner.source();
    }
    tracing::error!(error = %error, causes = ?causes, status = problem.status, "request failed");
    problem
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.told_as("application/problem+json", &self);
        // For those who tell it in other words.
        response.extensions_mut().insert(self);
        response
    }
}
