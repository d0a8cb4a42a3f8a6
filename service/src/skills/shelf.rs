//! Collections ready to be searched, kept for as long as they and the settings stay as they are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::decode;
use super::prepared::Prepared;
use crate::app::App;
use crate::config::Settings;

/// Most collections kept at once; beyond that all are made anew when they are asked for.
const MOST: usize = 256;

/// Shared by all requests.
#[derive(Clone, Default)]
pub struct Shelf(Arc<Mutex<HashMap<(String, String), Kept>>>);

#[derive(Clone)]
struct Kept {
    /// What it was made of.
    text: String,
    settings: Arc<Settings>,
    prepared: Arc<Prepared>,
}

impl Shelf {
    /// The collection whose record is `text`.
    pub(super) async fn get(
        &self,
        app: &App,
        namespace: &str,
        collection: &str,
        text: String,
    ) -> Arc<Prepared> {
        let key = (namespace.to_owned(), collection.to_owned());
        if let Some(kept) = self.lock().get(&key)
            && kept.text == text
            && Arc::ptr_eq(&kept.settings, &app.settings)
        {
            return kept.prepared.clone();
        }
        let prepared = Arc::new(Prepared::new(app, decode(&text)).await);
        let kept = Kept {
            text,
            settings: app.settings.clone(),
            prepared: prepared.clone(),
        };
        let mut shelf = self.lock();
        if shelf.len() >= MOST && !shelf.contains_key(&key) {
            shelf.clear();
        }
        shelf.insert(key, kept);
        prepared
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(String, String), Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
