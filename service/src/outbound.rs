//! Asking a service over HTTP with good manners: few requests at once, limits of time and size, and
//! what may pass is asked again, after a while that the service names or that grows.

use std::time::Duration;

use serde::Serialize;
use tokio::sync::Semaphore;

use crate::secret::Secret;

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

/// A service that is asked.
pub struct Outbound {
    base_url: String,
    api_key: Secret,
    timeout: Duration,
    client: reqwest::Client,
    permits: Semaphore,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("`{0}` cannot be reached")]
    Unreachable(String, #[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("no answer within {} ms", .0.as_millis())]
    Timeout(Duration),
    #[error("status {status}: {message}")]
    Rejected { status: u16, message: String },
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
}

/// Whether it makes sense to ask again.
enum Hope {
    None,
    /// After the time that the service names, if it names one.
    After(Option<Duration>),
}

impl Outbound {
    /// Asks nothing yet. `timeout` is how long one request may take.
    ///
    /// # Errors
    /// When no client can be made.
    pub fn new(
        base_url: &str,
        api_key: Secret,
        timeout: Duration,
    ) -> Result<Outbound, reqwest::Error> {
        // A provider that is installed already is the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(timeout)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Outbound {
            base_url: base_url.trim_end_matches('/').to_owned(),
            api_key,
            timeout,
            client,
            permits: Semaphore::new(MOST_REQUESTS),
        })
    }

    /// Posts JSON to a path below the base address, again and again while there is hope; the body of
    /// the answer.
    ///
    /// # Errors
    /// When the service does not answer, or not with success.
    pub async fn post(&self, path: &str, question: &impl Serialize) -> Result<Vec<u8>, Failure> {
        let _permit = self.permits.acquire().await.ok();
        let mut pause = FIRST_PAUSE;
        for _ in 0..RETRIES {
            match self.once(path, question).await {
                Ok(body) => return Ok(body),
                Err((error, Hope::None)) => return Err(error),
                Err((_, Hope::After(wish))) => {
                    tokio::time::sleep(wish.unwrap_or(pause).min(LONGEST_PAUSE)).await;
                    pause *= 2;
                }
            }
        }
        self.once(path, question).await.map_err(|(error, _)| error)
    }

    async fn once(
        &self,
        path: &str,
        question: &impl Serialize,
    ) -> Result<Vec<u8>, (Failure, Hope)> {
        let mut request = self
            .client
            .post(format!("{}{path}", self.base_url))
            .json(question);
        if !self.api_key.expose().is_empty() {
            request = request.bearer_auth(self.api_key.expose());
        }
        let response = request.send().await.map_err(|error| self.lost(error))?;
        let (status, wish) = (response.status(), retry_after(&response));
        let body = self.body(response).await?;
        if status.is_success() {
            return Ok(body);
        }
        let passes = status.is_server_error() || matches!(status.as_u16(), 408 | 425 | 429);
        let hope = if passes {
            Hope::After(wish)
        } else {
            Hope::None
        };
        let message = String::from_utf8_lossy(&body).chars().take(TOLD).collect();
        let status = status.as_u16();
        Err((Failure::Rejected { status, message }, hope))
    }

    async fn body(&self, mut response: reqwest::Response) -> Result<Vec<u8>, (Failure, Hope)> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.lost(error))? {
            body.extend_from_slice(&chunk);
            if body.len() > LARGEST_ANSWER {
                return Err((Failure::TooLarge(LARGEST_ANSWER), Hope::None));
            }
        }
        Ok(body)
    }

    /// What a broken connection means.
    fn lost(&self, error: reqwest::Error) -> (Failure, Hope) {
        let hope = Hope::After(None);
        if error.is_timeout() {
            (Failure::Timeout(self.timeout), hope)
        } else {
            let url = self.base_url.clone();
            (
                Failure::Unreachable(url, Box::new(error.without_url())),
                hope,
            )
        }
    }
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
