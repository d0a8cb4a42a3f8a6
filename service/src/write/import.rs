//! Putting memories back as they were exported.

use crate::app::App;
use crate::memory::Memory;
use crate::store::Import;
use crate::vector::NewVector;

use super::attention_gained;

/// A memory to put back.
#[derive(Debug, Clone, PartialEq)]
pub struct Restored {
    pub memory: Memory,
    /// Whether the counters that are restored with it hold what it was told; else it counts as told
    /// once when it is new.
    pub counted: bool,
}

/// Makes memories ready to be imported: what is long about it but for the storing.
pub async fn ready(app: &App, memories: Vec<Restored>) -> Vec<Import> {
    let contents = memories
        .iter()
        .map(|restored| restored.memory.content.clone());
    let vectors = super::vectors(app, contents.collect()).await;
    let import = |(restored, vector): (Restored, Option<NewVector>)| {
        let emotion = &restored.memory.analysis.emotion;
        let attention = (!restored.counted).then(|| attention_gained(emotion, &app.settings));
        Import {
            memory: restored.memory,
            vector,
            attention,
        }
    };
    memories.into_iter().zip(vectors).map(import).collect()
}
