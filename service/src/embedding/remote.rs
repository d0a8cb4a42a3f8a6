//! An embedding service with the interface of `OpenAI`: `POST {base_url}/embeddings`.
//!
//! Nothing an answer holds is believed: number, order, dimension and values of its vectors are
//! checked. What may pass is asked again, after a while that the service names or that grows.

use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::{OnceCell, Semaphore};

use super::{EmbedError, Embedder, Model, noise};
use crate::secret::Secret;

/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Requests under way at once.
const MOST_REQUESTS: usize = 4;
/// How often a request is sent again, and how long is waited first; it doubles.
const RETRIES: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest that a service may ask us to wait.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Largest answer that is read, in bytes.
const LARGEST_ANSWER: usize = 64 << 20;
/// Characters of an error answer that are told.
const TOLD: usize = 200;

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
    client: reqwest::Client,
    permits: Semaphore,
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
        // A provider that is installed already is the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| EmbedError::Load(error.to_string()))?;
        Ok(Remote {
            name: format!("{}/{}", endpoint.provider, endpoint.model),
            endpoint,
            client,
            permits: Semaphore::new(MOST_REQUESTS),
            model: OnceCell::new(),
            dimension: OnceLock::new(),
        })
    }

    /// Asks for one batch, again and again while there is hope.
    async fn batch(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let _permit = self.permits.acquire().await.ok();
        let mut pause = FIRST_PAUSE;
        for _ in 0..RETRIES {
            match self.once(texts).await {
                Ok(vectors) => return Ok(vectors),
                Err((error, hope)) => {
                    let Hope::After(wish) = hope else {
                        return Err(error);
                    };
                    tokio::time::sleep(wish.unwrap_or(pause).min(LONGEST_PAUSE)).await;
                    pause *= 2;
                }
            }
        }
        self.once(texts).await.map_err(|(error, _)| error)
    }

    async fn once(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, (EmbedError, Hope)> {
        let endpoint = &self.endpoint;
        let question = Question {
            model: &endpoint.model,
            input: texts,
            encoding_format: "float",
        };
        let mut request = self
            .client
            .post(format!("{}/embeddings", endpoint.base_url))
            .json(&question);
        if !endpoint.api_key.expose().is_empty() {
            request = request.bearer_auth(endpoint.api_key.expose());
        }
        let response = request.send().await.map_err(|error| self.lost(error))?;
        let (status, wish) = (response.status(), retry_after(&response));
        let body = self.body(response).await?;
        if !status.is_success() {
            let passes = status.is_server_error() || matches!(status.as_u16(), 408 | 425 | 429);
            let hope = if passes {
                Hope::After(wish)
            } else {
                Hope::None
            };
            let message = String::from_utf8_lossy(&body).chars().take(TOLD).collect();
            let status = status.as_u16();
            return Err((EmbedError::Rejected { status, message }, hope));
        }
        let answer: Answer = serde_json::from_slice(&body)
            .map_err(|error| (EmbedError::Malformed(error.to_string()), Hope::None))?;
        self.checked(texts.len(), answer)
            .map_err(|error| (error, Hope::None))
    }

    async fn body(&self, mut response: reqwest::Response) -> Result<Vec<u8>, (EmbedError, Hope)> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.lost(error))? {
            body.extend_from_slice(&chunk);
            if body.len() > LARGEST_ANSWER {
                let told = format!("it is larger than {LARGEST_ANSWER} bytes");
                return Err((EmbedError::Malformed(told), Hope::None));
            }
        }
        Ok(body)
    }

    /// What a broken connection means.
    fn lost(&self, error: reqwest::Error) -> (EmbedError, Hope) {
        let hope = Hope::After(None);
        if error.is_timeout() {
            (EmbedError::Timeout(TIMEOUT), hope)
        } else {
            let url = self.endpoint.base_url.clone();
            (
                EmbedError::Unreachable(url, Box::new(error.without_url())),
                hope,
            )
        }
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

/// Whether it makes sense to ask again.
enum Hope {
    None,
    /// After the time that the service names, if it names one.
    After(Option<Duration>),
}

/// Seconds that the service asks us to wait.
fn retry_after(response: &reqwest::Response) -> Option<Duration> {
    let header = response.headers().get("retry-after")?;
    header
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()
        .map(Duration::from_secs)
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
