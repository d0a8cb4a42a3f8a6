//! /mcp: the tools over streamable HTTP. Each request stands for itself: the scope is in its query
//! string, and who sends it is who sends the requests of its tools.

use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Map, Value};
use tower::ServiceExt;

use super::access::Caller;
use super::limits::MAX_BODY;
use super::problem::Problem;
use crate::mcp::{Routes, Server};

/// Pages of other sites must not speak with a service on this machine through the browser of its
/// owner; those of this machine may.
const OWN_PAGES: [&str; 4] = [
    "http://localhost:*",
    "https://localhost:*",
    "http://127.0.0.1:*",
    "http://[::1]:*",
];

/// Answers one message over these routes.
pub(super) async fn answer(routes: Router, request: Request) -> Response {
    let origin = Origin {
        routes,
        scope: request.uri().query().unwrap_or_default().to_owned(),
        sender: request.extensions().get().cloned(),
    };
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY)
        .disable_allowed_hosts()
        .with_allowed_origins(OWN_PAGES)
        .enforce_origin_validation();
    let service = StreamableHttpService::new(
        move || Ok(Server::new(origin.clone())),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    service.handle(request).await.map(Body::new).into_response()
}

/// Where the message came from: requests go on in the sender's name.
#[derive(Clone)]
struct Origin {
    routes: Router,
    /// The query string, which holds nothing but scope fields: the routes refuse any other.
    scope: String,
    sender: Option<Caller>,
}

impl Origin {
    /// The address with the scope and, if they do not go into the body, the fields.
    fn address(&self, path: &str, fields: &Map<String, Value>) -> String {
        let mut query = form_urlencoded::Serializer::new(self.scope.clone());
        for (name, value) in fields {
            let plain = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            query.append_pair(name, &plain);
        }
        format!("{path}?{}", query.finish())
    }

    async fn exchange(&self, request: Request) -> Result<Value, Problem> {
        let response = match self.routes.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let failed = response.status().as_u16() >= 400;
        if let Some(problem) = response.extensions().get::<Problem>().filter(|_| failed) {
            return Err(problem.clone());
        }
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await;
        let value = body
            .ok()
            .and_then(|body| serde_json::from_slice(&body).ok());
        value.filter(|_| !failed).ok_or_else(Problem::internal)
    }
}

#[async_trait]
impl Routes for Origin {
    async fn send(
        &self,
        method: &'static str,
        path: &str,
        fields: Map<String, Value>,
    ) -> Result<Value, String> {
        let (address, body) = if method == "POST" {
            let body = serde_json::to_vec(&fields).unwrap_or_default();
            (self.address(path, &Map::new()), Body::from(body))
        } else {
            (self.address(path, &fields), Body::empty())
        };
        let uri: Uri = address
            .parse()
            .map_err(|_| "the address of the service holds what no address can".to_owned())?;
        let mut request = Request::new(body);
        *request.uri_mut() = uri;
        *request.method_mut() = method.parse().map_err(|_| "no such method".to_owned())?;
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(header::CONTENT_TYPE, json);
        if let Some(sender) = &self.sender {
            request.extensions_mut().insert(sender.clone());
        }
        let exchanged = self.exchange(request).await;
        exchanged.map_err(|problem| problem.detail().to_owned())
    }
}
