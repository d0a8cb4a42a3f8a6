//! `keepsake mcp`: tools for a model over standard input and output.

use anyhow::Context;
use async_trait::async_trait;
use clap::Args;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio;
use serde_json::{Map, Value};

use super::Outcome;
use super::client::Client;
use crate::mcp::{Routes, Server};

#[derive(Debug, Args)]
pub(super) struct Mcp {}

impl Mcp {
    /// Serves until the host closes standard input. Standard output belongs to the protocol, so
    /// nothing is printed.
    pub(super) async fn run(self, client: Client) -> anyhow::Result<Outcome> {
        match rmcp::serve_server(Server::new(client), stdio()).await {
            Ok(service) => drop(service.waiting().await?),
            // A host that only looked whether the program starts.
            Err(ServerInitializeError::ConnectionClosed(_)) => {}
            Err(error) => return Err(error).context("the host does not speak MCP"),
        }
        Ok(Outcome::Done)
    }
}

#[async_trait]
impl Routes for Client {
    async fn send(
        &self,
        method: &'static str,
        path: &str,
        fields: Map<String, Value>,
    ) -> Result<Value, String> {
        let sent = if method == "POST" {
            Client::send(self, method, path, fields).await
        } else {
            let plain = |value: &Value| match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let fields: Vec<_> = fields
                .iter()
                .map(|(name, value)| (name.as_str(), Some(plain(value))))
                .collect();
            self.query(method, path, &fields).await
        };
        sent.map_err(|error| format!("{error:#}"))
    }
}
