//! Errors in the words of bank clients: `{"detail": …}` instead of problem details.

use axum::extract::Request;
use axum::http::Method;
use axum::http::header::CONTENT_LENGTH;
use axum::middleware::Next;
use axum::response::Response;
use serde_json::{Value, json};

use super::super::problem::Problem;

/// What every path of the bank API begins with.
pub(in crate::http) const PREFIX: &str = "/v1/default/";

/// Puts every problem of the bank API into its clients' words, wherever it came from: a handler, a
/// limit, or a missing route.
pub(in crate::http) async fn speak(request: Request, next: Next) -> Response {
    if !request.uri().path().starts_with(PREFIX) {
        return next.run(request).await;
    }
    let place = match *request.method() {
        Method::GET | Method::DELETE => "query",
        _ => "body",
    };
    let mut response = next.run(request).await;
    match response.extensions_mut().remove::<Problem>() {
        Some(problem) => {
            let mut told = problem.told_as("application/json", &detail(&problem, place));
            // What others added to the answer stays; what describes its former body does not.
            for (name, value) in response.headers() {
                if name != CONTENT_LENGTH && !told.headers().contains_key(name) {
                    told.headers_mut().insert(name, value.clone());
                }
            }
            told
        }
        None => response,
    }
}

fn detail(problem: &Problem, place: &str) -> Value {
    let mut wrong = problem.wrong_fields().peekable();
    if problem.is_no_route() {
        return json!({"detail": "Not Found"});
    }
    if wrong.peek().is_none() {
        return json!({"detail": problem.detail()});
    }
    let entries: Vec<Value> = wrong
        .map(|(field, message)| {
            let path = field.split('.').filter(|part| !part.is_empty());
            let path: Vec<&str> = std::iter::once(place).chain(path).collect();
            json!({"loc": path, "msg": message, "type": "value_error"})
        })
        .collect();
    json!({"detail": entries})
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::middleware::from_fn;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn a_refusal_keeps_its_status_and_says_when_to_come_again() {
        let busy = || async { Problem::too_many() };
        let routes = Router::new()
            .route("/v1/default/banks", get(busy))
            .route("/v1/memories", get(busy))
            .layer(from_fn(speak));
        for (path, kind, told) in [
            ("/v1/default/banks", "application/json", true),
            ("/v1/memories", "application/problem+json", false),
        ] {
            let request = Request::get(path).body(Body::empty()).unwrap();
            let response = routes.clone().oneshot(request).await.unwrap();
            assert_eq!(response.status(), 429, "{path}");
            assert_eq!(response.headers()["content-type"], kind, "{path}");
            assert!(response.headers().contains_key("retry-after"), "{path}");
            let body = axum::body::to_bytes(response.into_body(), 9_999).await;
            let body: Value = serde_json::from_slice(&body.unwrap()).unwrap();
            assert_eq!(body.as_object().unwrap().len() == 1, told, "{body}");
        }
    }

    #[test]
    fn wrong_fields_are_listed_and_all_else_is_one_text() {
        let wrong = Problem::invalid_field("items[0].content", "must not be blank");
        assert_eq!(
            detail(&wrong, "body"),
            json!({"detail": [{"loc": ["body", "items[0]", "content"], "msg": "must not be blank", "type": "value_error"}]})
        );
        let other = Problem::malformed("no JSON");
        assert_eq!(detail(&other, "body"), json!({"detail": "no JSON"}));
    }
}
