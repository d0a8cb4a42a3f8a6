//! Putting memories back as they were exported.

use crate::app::App;
use crate::error::Error;
use crate::memory::{Memory, NewVector};
use crate::store::{Import, Imported};

use super::attention_gained;

/// Imports memories in one transaction, each with its own outcome, in order.
///
/// # Errors
/// When the store fails.
pub async fn import(app: &App, memories: Vec<Memory>) -> Result<Vec<Imported>, Error> {
    let contents = memories.iter().map(|memory| memory.content.clone());
    let vectors = super::vectors(app, contents.collect()).await;
    let import = |(memory, vector): (Memory, Option<NewVector>)| Import {
        attention: attention_gained(&memory.analysis.emotion, &app.settings),
        memory,
        vector,
    };
    let imports = memories.into_iter().zip(vectors).map(import).collect();
    Ok(app.store.import(imports).await?)
}
