//! Vectors of texts asked a moment ago, so that a service is not asked the same twice.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use sha2::{Digest, Sha256};

use super::{EmbedError, Embedder, Model};
use crate::metrics::CacheUse;

/// Vectors of each of the two generations that are kept.
const GENERATION: usize = 2048;

/// SHA-256 of the model's name and a text.
type Key = [u8; 32];

/// An embedder with a memory.
pub struct Cached<E> {
    embedder: E,
    ttl: Duration,
    entries: Mutex<Generations>,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// What was put in lately, and what was before; when the young are many they become the old.
#[derive(Default)]
struct Generations {
    young: HashMap<Key, (Instant, Vec<f32>)>,
    old: HashMap<Key, (Instant, Vec<f32>)>,
}

impl<E: Embedder> Cached<E> {
    /// Entries live for `ttl`.
    pub fn new(embedder: E, ttl: Duration) -> Cached<E> {
        Cached {
            embedder,
            ttl,
            entries: Mutex::default(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    fn key(&self, text: &str) -> Key {
        Sha256::new()
            .chain_update(self.embedder.name())
            .chain_update([0])
            .chain_update(text)
            .finalize()
            .into()
    }

    fn get(&self, key: &Key) -> Option<Vec<f32>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, vector) = entries.young.get(key).or_else(|| entries.old.get(key))?;
        (since.elapsed() < self.ttl).then(|| vector.clone())
    }

    fn put(&self, key: Key, vector: Vec<f32>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.young.len() >= GENERATION {
            entries.old = std::mem::take(&mut entries.young);
        }
        entries.young.insert(key, (Instant::now(), vector));
    }
}

#[async_trait]
impl<E: Embedder> Embedder for Cached<E> {
    async fn model(&self) -> Result<Model, EmbedError> {
        self.embedder.model().await
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let keys: Vec<Key> = texts.iter().map(|text| self.key(text)).collect();
        let mut vectors: Vec<Option<Vec<f32>>> = keys.iter().map(|key| self.get(key)).collect();
        let missing: Vec<usize> = (0..texts.len())
            .filter(|index| vectors[*index].is_none())
            .collect();
        let (missed, asked) = (missing.len() as u64, texts.len() as u64);
        self.hits.fetch_add(asked - missed, Ordering::Relaxed);
        self.misses.fetch_add(missed, Ordering::Relaxed);
        if !missing.is_empty() {
            let asked: Vec<String> = missing.iter().map(|index| texts[*index].clone()).collect();
            for (index, vector) in missing.iter().zip(self.embedder.embed(&asked).await?) {
                self.put(keys[*index], vector.clone());
                vectors[*index] = Some(vector);
            }
        }
        Ok(vectors.into_iter().map(Option::unwrap_or_default).collect())
    }

    fn destination(&self) -> Option<&str> {
        self.embedder.destination()
    }

    fn name(&self) -> &str {
        self.embedder.name()
    }

    fn cache_use(&self) -> Option<CacheUse> {
        Some(CacheUse {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
        })
    }
}
