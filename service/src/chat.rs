//! A model that is asked in words: any service with the interface of `OpenAI`, at
//! `POST {base_url}/chat/completions`. What it says is not believed here; whoever asks checks it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::outbound::{Failure, Outbound};
use crate::secret::Secret;

/// How long one answer may take unless something else is set.
pub const TIMEOUT: Duration = Duration::from_secs(120);

/// Which service, which of its models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Without `/chat/completions`.
    pub base_url: String,
    pub model: String,
    pub api_key: Secret,
    /// How long one request may take.
    pub timeout: Duration,
}

/// A chat model.
pub struct Chat {
    model: String,
    service: Outbound,
}

/// Why a model said nothing.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    #[error("no client for the chat model can be made")]
    Client(#[source] reqwest::Error),
    #[error("the chat model gave no answer: {0}")]
    Failed(#[from] Failure),
    #[error("the chat model's answer cannot be read: {0}")]
    Malformed(String),
}

#[derive(Serialize)]
struct Question<'a> {
    model: &'a str,
    messages: [Message<'a>; 2],
    stream: bool,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    content: Option<String>,
}

impl Chat {
    /// Asks nothing yet.
    ///
    /// # Errors
    /// When no client can be made.
    pub fn new(endpoint: &Endpoint) -> Result<Chat, ChatError> {
        let service = Outbound::new(
            &endpoint.base_url,
            endpoint.api_key.clone(),
            endpoint.timeout,
        );
        Ok(Chat {
            model: endpoint.model.clone(),
            service: service.map_err(ChatError::Client)?,
        })
    }

    /// Asks one thing; the answer, trimmed.
    ///
    /// # Errors
    /// When the service fails, or stops before the answer is complete.
    pub async fn ask(&self, instructions: &str, data: &str) -> Result<String, ChatError> {
        let message = |role, content| Message { role, content };
        let question = Question {
            model: &self.model,
            messages: [message("system", instructions), message("user", data)],
            stream: false,
        };
        let body = self.service.post("/chat/completions", &question).await?;
        let answer: Answer = serde_json::from_slice(&body)
            .map_err(|error| ChatError::Malformed(error.to_string()))?;
        let choice = answer.choices.into_iter().next();
        let choice = choice.ok_or_else(|| ChatError::Malformed("it has no choices".to_owned()))?;
        if choice.finish_reason.as_deref() == Some("length") {
            return Err(ChatError::Malformed("it was cut off".to_owned()));
        }
        let said = choice.message.content.unwrap_or_default();
        Ok(said.trim().to_owned())
    }
}
