//! Requests to the routes of this process, without a socket: the command line uses them when no
//! service is asked, so that both ways in are one.

use axum::Router;
use axum::body::Body;
use axum::http::request::Builder;
use axum::http::{Request, header};
use futures_util::{Stream, StreamExt};
use tower::ServiceExt;

use super::access::Caller;
use super::router;
use crate::app::App;

/// An id or a name as one segment of a path, unless it is empty or one that routers and clients
/// resolve, whatever it is encoded as.
pub fn segment(name: &str) -> Option<String> {
    if matches!(name, "" | "." | "..") {
        return None;
    }
    let encoded: String = form_urlencoded::byte_serialize(name.as_bytes()).collect();
    Some(encoded.replace('+', "%20"))
}

/// A request of whoever runs this process: it has the store itself and needs no key.
fn owners() -> Builder {
    Request::builder().extension(Caller::owner())
}

/// The routes of an app in this process.
#[derive(Clone)]
pub struct Local(Router, App);

impl Local {
    pub fn new(app: App) -> Local {
        Local(router(app.clone()), app)
    }

    /// Sends one request; the status and the whole body of the answer.
    ///
    /// # Errors
    /// When the path is no path, or the answer breaks off.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        content_type: &str,
        body: Vec<u8>,
    ) -> Result<(u16, Vec<u8>), axum::Error> {
        if let Err(error) = self.1.refresh_dictionary().await {
            tracing::debug!(%error, "the dictionary cannot be looked at");
        }
        let mut request = owners().method(method).uri(path);
        if !body.is_empty() {
            request = request.header(header::CONTENT_TYPE, content_type);
        }
        let request = request.body(Body::from(body)).map_err(axum::Error::new)?;
        let response = self
            .0
            .clone()
            .oneshot(request)
            .await
            .map_err(axum::Error::new)?;
        let status = response.status().as_u16();
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await?;
        // A command is over too soon to gather any; that they are lost spoils no answer.
        if let Err(error) = self.1.store_recalls().await {
            tracing::debug!(%error, "when memories were found is not stored");
        }
        Ok((status, bytes.to_vec()))
    }

    /// Sends a GET request whose answer may be long; its status, and the body as it comes.
    ///
    /// # Errors
    /// When the path is no path.
    pub async fn stream(
        &self,
        path: &str,
    ) -> Result<(u16, impl Stream<Item = Result<Vec<u8>, axum::Error>>), axum::Error> {
        let request = owners().uri(path).body(Body::empty());
        let request = request.map_err(axum::Error::new)?;
        let sent = self.0.clone().oneshot(request);
        let response = sent.await.map_err(axum::Error::new)?;
        let status = response.status().as_u16();
        let chunks = response.into_body().into_data_stream();
        Ok((
            status,
            chunks.map(|chunk| chunk.map(|bytes| bytes.to_vec())),
        ))
    }
}
