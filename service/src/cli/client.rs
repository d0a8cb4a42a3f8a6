//! Requests of the command line, to the routes of this process or to a service.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use futures_util::StreamExt;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde_json::{Map, Value};

use super::presence;
use super::printer::Printer;
use crate::http::local::{self, Local};
use crate::secret::Secret;

/// How long a service may be silent.
const TIMEOUT: Duration = Duration::from_secs(120);
/// How long a service that a data folder names may take to say that it is there.
const GREETING: Duration = Duration::from_millis(500);

/// Where requests go.
pub(super) enum Transport {
    Local(Local),
    Remote {
        client: reqwest::Client,
        url: String,
    },
}

impl Transport {
    /// A service at an address.
    pub(super) fn remote(url: &str, key: Option<&Secret>) -> anyhow::Result<Transport> {
        // A provider that is installed already is the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            let value = HeaderValue::from_str(&format!("Bearer {}", key.expose()));
            let mut value = value.context("the API key has characters that no header can hold")?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let client = reqwest::Client::builder()
            .connect_timeout(TIMEOUT)
            .read_timeout(TIMEOUT)
            .default_headers(headers)
            .no_proxy()
            .build()?;
        Ok(Transport::Remote {
            client,
            url: url.trim_end_matches('/').to_owned(),
        })
    }

    /// The service that runs on a data folder, if one answers.
    pub(super) async fn running(data_dir: &Path, key: Option<&Secret>) -> Option<Transport> {
        let url = presence::announced(data_dir)?;
        let transport = Transport::remote(&url, key).ok()?;
        let greeting = transport.send("GET", "/version", "", Vec::new());
        let (status, body) = tokio::time::timeout(GREETING, greeting).await.ok()?.ok()?;
        let version: Value = serde_json::from_slice(&body).ok()?;
        (status == 200 && version["keepsake_version"].is_string()).then_some(transport)
    }

    pub(super) async fn send(
        &self,
        method: &str,
        path: &str,
        content_type: &str,
        body: Vec<u8>,
    ) -> anyhow::Result<(u16, Vec<u8>)> {
        match self {
            Transport::Local(local) => Ok(local.send(method, path, content_type, body).await?),
            Transport::Remote { client, url } => {
                let mut request = client.request(method.parse()?, format!("{url}{path}"));
                if !body.is_empty() {
                    request = request.header("content-type", content_type).body(body);
                }
                let response = request.send().await.with_context(|| absent(url))?;
                let status = response.status().as_u16();
                Ok((status, response.bytes().await?.to_vec()))
            }
        }
    }
}

fn absent(url: &str) -> String {
    format!("no service answers at `{url}`\nhint: start one with `keepsake serve`")
}

/// Whose memories are read and written.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    pub namespace: Option<String>,
    pub agent: Option<String>,
    pub primary: bool,
}

/// Sends requests as one identity.
pub(super) struct Client {
    transport: Transport,
    identity: Identity,
}

impl Client {
    pub(super) fn new(transport: Transport, identity: Identity) -> Client {
        Client {
            transport,
            identity,
        }
    }

    pub(super) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Sends fields as a JSON body.
    pub(super) async fn send(
        &self,
        method: &str,
        path: &str,
        mut fields: Map<String, Value>,
    ) -> anyhow::Result<Value> {
        let Identity {
            namespace,
            agent,
            primary,
        } = self.identity.clone();
        fields.insert("is_primary".to_owned(), Value::Bool(primary));
        fields.extend(namespace.map(|name| ("namespace".to_owned(), Value::from(name))));
        fields.extend(agent.map(|agent| ("agent_id".to_owned(), Value::from(agent))));
        let body = serde_json::to_vec(&fields)?;
        let (status, body) = self
            .transport
            .send(method, path, "application/json", body)
            .await?;
        answer(status, &body)
    }

    /// Sends fields in the query string.
    pub(super) async fn query(
        &self,
        method: &str,
        path: &str,
        fields: &[(&str, Option<String>)],
    ) -> anyhow::Result<Value> {
        let (status, body) = self.exchange(method, path, fields).await?;
        match body {
            Some(body) if status < 400 => Ok(body),
            Some(problem) => Err(failure(status, &problem)),
            None => Err(no_json(status)),
        }
    }

    /// Sends fields in the query string; whatever the status of the answer is.
    pub(super) async fn exchange(
        &self,
        method: &str,
        path: &str,
        fields: &[(&str, Option<String>)],
    ) -> anyhow::Result<(u16, Option<Value>)> {
        let path = self.path(path, fields);
        let (status, body) = self.transport.send(method, &path, "", Vec::new()).await?;
        Ok((status, serde_json::from_slice(&body).ok()))
    }

    /// Sends lines; one JSON value comes back.
    pub(super) async fn send_lines(&self, path: &str, lines: Vec<u8>) -> anyhow::Result<Value> {
        let path = self.path(path, &[]);
        let sent = self
            .transport
            .send("POST", &path, "application/x-ndjson", lines);
        let (status, body) = sent.await?;
        answer(status, &body)
    }

    /// Copies an answer of any length to standard output, as it comes; `on_chunk` sees each piece.
    pub(super) async fn copy(
        &self,
        path: &str,
        printer: &Printer,
        mut on_chunk: impl FnMut(&[u8]),
    ) -> anyhow::Result<()> {
        let path = self.path(path, &[]);
        match &self.transport {
            Transport::Remote { client, url } => {
                let sent = client.get(format!("{url}{path}")).send();
                let mut response = sent.await.with_context(|| absent(url))?;
                let status = response.status().as_u16();
                if status >= 400 {
                    return answer(status, &response.bytes().await?).map(drop);
                }
                while let Some(chunk) = response.chunk().await? {
                    on_chunk(&chunk);
                    printer.raw(&chunk)?;
                }
            }
            Transport::Local(local) => {
                let (status, chunks) = local.stream(&path).await?;
                let mut chunks = std::pin::pin!(chunks);
                let mut refused = Vec::new();
                while let Some(chunk) = chunks.next().await {
                    let chunk = chunk?;
                    if status >= 400 {
                        refused.extend(chunk);
                    } else {
                        on_chunk(&chunk);
                        printer.raw(&chunk)?;
                    }
                }
                if status >= 400 {
                    return answer(status, &refused).map(drop);
                }
            }
        }
        Ok(())
    }

    fn path(&self, path: &str, fields: &[(&str, Option<String>)]) -> String {
        let Identity {
            namespace,
            agent,
            primary,
        } = &self.identity;
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("is_primary", if *primary { "true" } else { "false" });
        let scope = [("namespace", namespace), ("agent_id", agent)];
        for (name, value) in scope
            .into_iter()
            .chain(fields.iter().map(|(name, value)| (*name, value)))
        {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        format!("{path}?{}", query.finish())
    }
}

/// The value of an answer, or the problem in words.
fn answer(status: u16, body: &[u8]) -> anyhow::Result<Value> {
    let value: Value = serde_json::from_slice(body).map_err(|_| no_json(status))?;
    match status {
        400.. => Err(failure(status, &value)),
        _ => Ok(value),
    }
}

fn no_json(status: u16) -> anyhow::Error {
    anyhow::anyhow!("the service answered with status {status} and no JSON")
}

/// A problem in words.
pub(super) fn failure(status: u16, problem: &Value) -> anyhow::Error {
    match problem["detail"].as_str() {
        Some(detail) if status == 401 => {
            anyhow::anyhow!("{detail}\nhint: put the key into `KEEPSAKE_API_KEY`")
        }
        Some(detail) => anyhow::anyhow!("{detail}"),
        None => anyhow::anyhow!("the service answered with status {status}"),
    }
}

/// An id or a name as one segment of a path.
pub(super) fn segment(id: &str) -> anyhow::Result<String> {
    local::segment(id).with_context(|| format!("`{id}` is no id or name"))
}
