//! An embedding service with the interface of `OpenAI`: `POST {base_url}/embeddings`.
//!
//! Nothing an answer holds is believed: number, order, dimension and values of its vectors are
//! checked.

use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use super::{EmbedError, Embedder, Model, noise};
use crate::outbound::{Failure, Outbound};
use crate::secret::Secret;

/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Which service, which of its models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// As configured, such as `openai`.
    pub provider: String,
    /// Without `/embeddings`.
    pub base_url: String,
    pub model: String,
    pub api_key: Secret,
    /// Most texts of one request.
    pub batch: usize,
    /// Characters of a text that are embedded; the rest is cut off.
    pub chars: usize,
}

/// A service that is asked for vectors.
pub struct Remote {
    endpoint: Endpoint,
    name: String,
    service: Outbound,
    model: OnceCell<Model>,
    /// What every vector must have, once the first has shown it.
    dimension: OnceLock<usize>,
}

#[derive(Serialize)]
struct Question<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<Option<f64>>,
}

impl Remote {
    /// Asks nothing yet.
    ///
    /// # Errors
    /// When no client can be made.
    pub fn new(endpoint: Endpoint) -> Result<Remote, EmbedError> {
        let service = Outbound::new(&endpoint.base_url, endpoint.api_key.clone(), TIMEOUT)
            .map_err(|error| EmbedError::Load(error.to_string()))?;
        Ok(Remote {
            name: format!("{}/{}", endpoint.provider, endpoint.model),
            endpoint,
            service,
            model: OnceCell::new(),
            dimension: OnceLock::new(),
        })
    }

    /// Asks for one batch.
    async fn batch(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let question = Question {
            model: &self.endpoint.model,
            input: texts,
            encoding_format: "float",
        };
        let body = self.service.post("/embeddings", &question).await?;
        let answer: Answer = serde_json::from_slice(&body)
            .map_err(|error| EmbedError::Malformed(error.to_string()))?;
        self.checked(texts.len(), answer)
    }

    /// The vectors of an answer in the order of the texts, if they can be vectors of this model.
    fn checked(&self, expected: usize, answer: Answer) -> Result<Vec<Vec<f32>>, EmbedError> {
        let wrong_count = |got| EmbedError::WrongCount { expected, got };
        if answer.data.len() != expected {
            return Err(wrong_count(answer.data.len()));
        }
        let mut vectors = vec![Vec::new(); expected];
        for item in answer.data {
            let values: Option<Vec<f32>> = item
                .embedding
                .into_iter()
                .map(|value| value.map(|value| value as f32))
                .collect();
            let values = values.unwrap_or_default();
            let slot = vectors.get_mut(item.index).ok_or(wrong_count(expected))?;
            if values.is_empty()
                || values.iter().any(|value| !value.is_finite())
                || values.iter().all(|value| *value == 0.0)
            {
                return Err(EmbedError::NoDirection);
            }
            let dimension = *self.dimension.get_or_init(|| values.len());
            if values.len() != dimension {
                return Err(EmbedError::WrongDimension {
                    expected: dimension,
                    got: values.len(),
                });
            }
            *slot = values;
        }
        if vectors.iter().any(Vec::is_empty) {
            return Err(EmbedError::Malformed(
                "two vectors have one index".to_owned(),
            ));
        }
        Ok(vectors)
    }

    async fn ask(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let prepared: Vec<String> = texts
            .iter()
            .map(|text| text.chars().take(self.endpoint.chars).collect())
            .collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in prepared.chunks(self.endpoint.batch.max(1)) {
            vectors.extend(self.batch(batch).await?);
        }
        Ok(vectors)
    }
}

impl From<Failure> for EmbedError {
    fn from(failure: Failure) -> EmbedError {
        match failure {
            Failure::Unreachable(url, source) => EmbedError::Unreachable(url, source),
            Failure::Timeout(time) => EmbedError::Timeout(time),
            Failure::Rejected { status, message } => EmbedError::Rejected { status, message },
            Failure::TooLarge(most) => {
                EmbedError::Malformed(format!("it is larger than {most} bytes"))
            }
        }
    }
}

#[async_trait]
impl Embedder for Remote {
    async fn model(&self) -> Result<Model, EmbedError> {
        let ask = || async {
            let vectors = self.ask(&noise::probes()).await?;
            let dimension = vectors.first().map_or(0, Vec::len);
            let endpoint = &self.endpoint;
            let name = format!(
                "{} {} {}/1",
                endpoint.base_url, endpoint.model, endpoint.chars
            );
            Ok(Model::new(&name, dimension, vectors))
        };
        self.model.get_or_try_init(ask).await.cloned()
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.ask(texts).await
    }

    fn destination(&self) -> Option<&str> {
        Some(&self.endpoint.base_url)
    }

    fn name(&self) -> &str {
        &self.name
    }
}
