//! Putting memories back as they were exported.

use crate::app::App;
use crate::error::Error;
use crate::memory::Memory;
use crate::store::Imported;

use super::attention_gained;

/// Imports memories in one transaction, each with its own outcome, in order.
///
/// # Errors
/// When the store fails.
pub async fn import(app: &App, memories: Vec<Memory>) -> Result<Vec<Imported>, Error> {
    let with_attention = |memory: Memory| {
        let attention = attention_gained(&memory.analysis.emotion, &app.settings);
        (memory, attention)
    };
    Ok(app
        .store
        .import(memories.into_iter().map(with_attention).collect())
        .await?)
}
