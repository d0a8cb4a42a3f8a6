//! Texts in, vectors out: what a text means, as a direction in space.
//!
//! [`builtin`] is compiled in, [`model2vec`] reads a folder or what was downloaded once, [`remote`] asks
//! a service; [`cache`] spares the last two the same question twice. Nothing here knows of stores;
//! [`open`] chooses by what is set.

#[cfg(feature = "builtin-model")]
pub mod builtin;
pub mod cache;
pub mod choice;
pub mod download;
pub mod model2vec;
pub mod noise;
pub mod remote;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::metrics::CacheUse;
use crate::ranking::noise::{Hearing, Noise};
use crate::vector::ModelId;
pub use choice::Choice;

/// What embeds texts. Vectors come in the order of the texts; a text of which the model makes nothing
/// has an empty one.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Which model it is. May ask the model, until it has answered once.
    ///
    /// # Errors
    /// When the model cannot be loaded or does not answer.
    async fn model(&self) -> Result<Model, EmbedError>;

    /// The vectors of many texts.
    ///
    /// # Errors
    /// When the model cannot be loaded, does not answer, or answers something unusable.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// Where texts are sent to be embedded; `None` when they stay on this machine.
    fn destination(&self) -> Option<&str>;

    /// How it is called in configuration and logs.
    fn name(&self) -> &str;

    /// How its memory of vectors was used, if it has one.
    fn cache_use(&self) -> Option<CacheUse> {
        None
    }
}

/// An embedding model as it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    pub id: ModelId,
    pub noise: Noise,
    /// Vectors, of unit length, of what people say in passing.
    pub small_talk: Arc<[Vec<f32>]>,
}

impl Model {
    /// A model that made `probes` of [`noise::probes`].
    pub fn new(name: &str, dimension: usize, probes: Vec<Vec<f32>>) -> Model {
        let id = ModelId::new(name, dimension);
        let (unrelated, small_talk) = probes.split_at(noise::UNRELATED.len().min(probes.len()));
        Model {
            noise: noise::measure(unrelated),
            small_talk: small_talk
                .iter()
                .filter_map(|vector| id.unit(vector.clone()))
                .collect(),
            id,
        }
    }

    /// How a query sounds, by its vector of unit length.
    pub fn hearing(&self, query: &[f32]) -> Hearing {
        let cosine = |said: &Vec<f32>| -> f32 { said.iter().zip(query).map(|(x, y)| x * y).sum() };
        Hearing {
            noise: self.noise,
            small_talk: f64::from(self.small_talk.iter().map(cosine).fold(0.0, f32::max)),
        }
    }
}

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error("the embedding model cannot be loaded: {0}")]
    Load(String),
    #[error("the embedder `{0}` cannot be reached")]
    Unreachable(String, #[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the embedder did not answer within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// It failed a moment ago; it is asked again later.
    #[error("the embedder failed a moment ago and is left alone for now")]
    Resting,
    #[error("the embedder answered with status {status}: {message}")]
    Rejected { status: u16, message: String },
    #[error("the embedder's answer cannot be read: {0}")]
    Malformed(String),
    #[error("the embedder gave {got} vectors for {expected} texts")]
    WrongCount { expected: usize, got: usize },
    #[error("the embedder gave a vector of {got} numbers instead of {expected}")]
    WrongDimension { expected: usize, got: usize },
    #[error("the embedder gave a vector that is empty, zero or not finite")]
    NoDirection,
}

/// The embedder that was chosen. Nothing is loaded or asked yet.
///
/// # Errors
/// When no client for a remote service can be made.
pub fn open(
    choice: &Choice,
    models: &std::path::Path,
    cache_ttl: Duration,
) -> Result<Option<Arc<dyn Embedder>>, EmbedError> {
    Ok(match choice {
        Choice::None => None,
        #[cfg(feature = "builtin-model")]
        Choice::Builtin => Some(Arc::new(builtin::Builtin)),
        Choice::Model2Vec(name) => Some(Arc::new(model2vec::Folder::new(name, models))),
        Choice::Remote(endpoint) => Some(Arc::new(cache::Cached::new(
            remote::Remote::new(endpoint.clone())?,
            cache_ttl,
        ))),
    })
}
