//! What can go wrong in Keepsake, without a word of HTTP: statuses are given in `http/problem.rs`.

use crate::chat::ChatError;
use crate::embedding::EmbedError;
use crate::meaning::NotReady;
use crate::memory::MemoryId;
use crate::store::StoreError;

/// A wrong value of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// The field as the client named it.
    pub field: String,
    pub message: String,
}

impl FieldError {
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> FieldError {
        FieldError {
            field: field.into(),
            message: message.into(),
        }
    }
}

/// A failure of an operation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Understood, but wrong.
    #[error("{}", list(.0))]
    Invalid(Vec<FieldError>),
    /// There is no such memory, or the scope does not see it.
    #[error("there is no memory `{0}`")]
    NotFound(String),
    /// Several memories have ids that begin like this.
    #[error("`{reference}` stands for several memories: {}", join(.candidates))]
    Ambiguous {
        reference: String,
        candidates: Vec<MemoryId>,
    },
    /// The same content was said to be wrong.
    #[error("the same content was corrected as `{0}`\nhint: `force` stores it all the same")]
    Corrected(MemoryId),
    /// Another memory has this content.
    #[error("the memory `{0}` has the same content")]
    SameContent(MemoryId),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Asked to search by meaning, which cannot be done now.
    #[error(transparent)]
    Meaning(#[from] NotReady),
    /// The embedder that the settings choose cannot be used.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// Maintenance of this kind is at work, here or elsewhere.
    #[error("`{0}` is running already")]
    Running(&'static str),
    /// The model that consolidates gives no answers.
    #[error(transparent)]
    Chat(#[from] ChatError),
    /// The operating system gives no random bytes for an id.
    #[error("no random bytes for a new id")]
    Random(#[from] getrandom::Error),
}

impl Error {
    /// One wrong field.
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Error {
        Error::Invalid(vec![FieldError::new(field, message)])
    }
}

fn list(errors: &[FieldError]) -> String {
    errors
        .iter()
        .map(|error| format!("{}: {}", error.field, error.message))
        .collect::<Vec<_>>()
        .join("; ")
}

fn join(ids: &[MemoryId]) -> String {
    ids.iter()
        .map(MemoryId::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}
