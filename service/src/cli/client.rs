//! Requests of the command line, to the routes of this process or to a service.

use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::{Map, Value};

use super::printer::Printer;
use crate::http::local::Local;

/// How long a service may take to answer.
const TIMEOUT: Duration = Duration::from_secs(120);

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
    pub(super) fn remote(url: &str) -> anyhow::Result<Transport> {
        // A provider that is installed already is the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .no_proxy()
            .build()?;
        Ok(Transport::Remote {
            client,
            url: url.trim_end_matches('/').to_owned(),
        })
    }

    async fn send(
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
                let response = request.send().await.with_context(|| {
                    format!("no service answers at `{url}`\nhint: start one with `keepsake serve`")
                })?;
                let status = response.status().as_u16();
                Ok((status, response.bytes().await?.to_vec()))
            }
        }
    }
}

/// Sends requests as one identity.
pub(super) struct Client {
    transport: Transport,
    scope: Map<String, Value>,
}

impl Client {
    pub(super) fn new(
        transport: Transport,
        namespace: Option<String>,
        agent: Option<String>,
        primary: bool,
    ) -> Client {
        let mut scope = Map::from_iter([("is_primary".to_owned(), Value::Bool(primary))]);
        scope.extend(namespace.map(|namespace| ("namespace".to_owned(), Value::from(namespace))));
        scope.extend(agent.map(|agent| ("agent_id".to_owned(), Value::from(agent))));
        Client { transport, scope }
    }

    /// Sends fields as a JSON body.
    pub(super) async fn send(
        &self,
        method: &str,
        path: &str,
        mut fields: Map<String, Value>,
    ) -> anyhow::Result<Value> {
        fields.extend(self.scope.clone());
        fields.retain(|_, value| !value.is_null());
        let body = serde_json::to_vec(&fields)?;
        answer(
            self.transport
                .send(method, path, "application/json", body)
                .await?,
        )
    }

    /// Sends fields in the query string.
    pub(super) async fn query(
        &self,
        method: &str,
        path: &str,
        fields: &[(&str, Option<String>)],
    ) -> anyhow::Result<Value> {
        answer(
            self.transport
                .send(method, &self.path(path, fields), "", Vec::new())
                .await?,
        )
    }

    /// Sends lines.
    pub(super) async fn send_lines(&self, path: &str, lines: Vec<u8>) -> anyhow::Result<Vec<u8>> {
        let (status, body) = self
            .transport
            .send("POST", &self.path(path, &[]), "application/x-ndjson", lines)
            .await?;
        if status >= 400 {
            answer((status, body.clone()))?;
        }
        Ok(body)
    }

    /// Copies every memory to standard output.
    pub(super) async fn export(&self, printer: &Printer) -> anyhow::Result<()> {
        let path = self.path("/v1/export", &[]);
        match &self.transport {
            Transport::Remote { client, url } => {
                let mut response = client
                    .get(format!("{url}{path}"))
                    .send()
                    .await
                    .with_context(|| format!("no service answers at `{url}`"))?;
                if !response.status().is_success() {
                    let status = response.status().as_u16();
                    answer((status, response.bytes().await?.to_vec()))?;
                    return Ok(());
                }
                while let Some(chunk) = response.chunk().await? {
                    printer.raw(&chunk)?;
                }
            }
            Transport::Local(local) => {
                printer.raw(&local.send("GET", &path, "", Vec::new()).await?.1)?
            }
        }
        Ok(())
    }

    fn path(&self, path: &str, fields: &[(&str, Option<String>)]) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in &self.scope {
            query.append_pair(
                name,
                value.as_str().unwrap_or(if *value == Value::Bool(true) {
                    "true"
                } else {
                    "false"
                }),
            );
        }
        for (name, value) in fields {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        format!("{path}?{}", query.finish())
    }
}

/// The value of an answer, or the problem in words.
fn answer((status, body): (u16, Vec<u8>)) -> anyhow::Result<Value> {
    let value: Value = serde_json::from_slice(&body)
        .with_context(|| format!("the service answered with status {status} and no JSON"))?;
    if status < 400 {
        return Ok(value);
    }
    match value["detail"].as_str() {
        Some(detail) => bail!("{detail}"),
        None => bail!("the service answered with status {status}"),
    }
}

/// An id as one segment of a path.
pub(super) fn segment(id: &str) -> String {
    form_urlencoded::byte_serialize(id.as_bytes())
        .collect::<String>()
        .replace('+', "%20")
}
