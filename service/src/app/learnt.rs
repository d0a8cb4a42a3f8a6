//! The domain dictionary as it is kept in the store, and how processes take it up.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

use super::App;
use crate::analysis::dictionary::Learnt;
use crate::store::{Record, StoreError};

/// Kind of the records that hold it, and their keys.
pub const KIND: &str = "dictionary";
const VERSION: &str = "version";
const WORDS: &str = "words";

/// Words that were learnt from a store, with their version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LearntWords {
    /// 0 before the first.
    pub version: u64,
    pub words: BTreeSet<String>,
}

impl App {
    /// The learnt words of the store.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn learnt_words(&self) -> Result<LearntWords, StoreError> {
        let version = self.learnt_version().await?;
        let kept = self.store.record(KIND, "", WORDS).await?;
        let words = kept.and_then(|text| serde_json::from_str(&text).ok());
        Ok(LearntWords {
            version,
            words: words.unwrap_or_default(),
        })
    }

    async fn learnt_version(&self) -> Result<u64, StoreError> {
        let kept = self.store.record(KIND, "", VERSION).await?;
        Ok(kept.and_then(|text| text.parse().ok()).unwrap_or(0))
    }

    /// Makes these words the dictionary of the store and of this process.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn learn(&self, learnt: &LearntWords) -> Result<(), StoreError> {
        let words: Vec<&String> = learnt.words.iter().collect();
        let words = serde_json::json!(words).to_string();
        // The version comes last: whoever sees it finds the words.
        for (key, value) in [(WORDS, words), (VERSION, learnt.version.to_string())] {
            let record = Record::new(key, value);
            self.store.put_record(KIND, "", record, None).await?;
        }
        self.take_up(learnt);
        Ok(())
    }

    /// Takes up the dictionary of the store if it is another than this process has;
    /// [`App::current`] has it.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn refresh_dictionary(&self) -> Result<(), StoreError> {
        let version = self.learnt_version().await?;
        let current = self.live.learnt.lock();
        let known = current.unwrap_or_else(PoisonError::into_inner).version;
        if version != known {
            self.take_up(&self.learnt_words().await?);
        }
        Ok(())
    }

    /// The same app with these learnt words instead of its own.
    pub fn with_words(&self, learnt: &LearntWords) -> App {
        let words = Arc::new(Learnt::new(learnt.words.clone()));
        App {
            analyser: self.analyser.with_learnt(words),
            ..self.clone()
        }
    }

    fn take_up(&self, learnt: &LearntWords) {
        let mut known = self
            .live
            .learnt
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut current = self
            .live
            .current
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let words = Arc::new(Learnt::new(learnt.words.clone()));
        // Other settings, so that whoever compares them sees that something is new.
        let settings = Arc::new((*current.0).clone());
        *current = (settings, current.1.with_learnt(words));
        *known = learnt.clone();
    }
}
