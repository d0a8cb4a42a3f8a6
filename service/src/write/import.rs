//! Putting memories back as they were exported.

use crate::app::App;
use crate::error::Error;
use crate::memory::Memory;
use crate::store::Imported;

use super::attention_gained;

/// A memory to put back.
#[derive(Debug, Clone, PartialEq)]
pub struct Restored {
    pub memory: Memory,
    /// Whether the counters that are restored with it hold what it was told; else it counts as told
    /// once when it is new.
    pub counted: bool,
}

/// Imports memories in one transaction, each with its own outcome, in order.
///
/// # Errors
/// When the store fails.
pub async fn import(app: &App, memories: Vec<Restored>) -> Result<Vec<Imported>, Error> {
    let with_attention = |restored: Restored| {
        let emotion = &restored.memory.analysis.emotion;
        let attention = (!restored.counted).then(|| attention_gained(emotion, &app.settings));
        (restored.memory, attention)
    };
    Ok(app
        .store
        .import(memories.into_iter().map(with_attention).collect())
        .await?)
}
