//! What can go wrong in a store, in words that both stores share.

/// A failure of a store. Sources are kept.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Cannot be reached now; trying again may help.
    #[error("the store cannot be reached")]
    Unavailable(#[source] Source),
    /// Did not answer in time.
    #[error("the store did not answer in time")]
    Timeout(#[source] Source),
    /// Cannot be used as it is set up; the cause says what to do.
    #[error("{0}")]
    Refused(#[source] Source),
    /// No room left.
    #[error("the store is full: {0}")]
    Full(#[source] Source),
    /// Takes no writes.
    #[error("the store is read-only: {0}")]
    ReadOnly(#[source] Source),
    /// What is stored cannot be understood.
    #[error("the store is damaged: {what}")]
    Corrupt {
        what: String,
        source: Option<Source>,
    },
    /// Made by a newer version of Keepsake.
    #[error(
        "the store has schema version {found}, this binary knows versions up to {supported}\nhint: upgrade keepsake, or use another data folder"
    )]
    Version { found: i64, supported: i64 },
    /// The file is something else.
    #[error("`{path}` is not a Keepsake store\nhint: choose another data folder")]
    Foreign { path: String },
}

/// The cause of a failure, from the library that met it.
pub type Source = Box<dyn std::error::Error + Send + Sync>;

impl StoreError {
    /// Whether the same call may succeed a moment later.
    pub fn is_retryable(&self) -> bool {
        matches!(self, StoreError::Unavailable(_) | StoreError::Timeout(_))
    }
}
