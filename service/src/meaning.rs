//! The embedder of a running Keepsake, with the state of its vectors in the store.
//!
//! Vectors of two models are never compared. After a change of model everything is found by its words
//! until each memory has a vector of the new one; those of the old one stay, so that going back costs
//! nothing. What has no vector yet, because the embedder was too slow or away, gets it in the
//! background.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::embedding::{EmbedError, Embedder, Model};
use crate::memory::{MemoryId, content_hash};
use crate::store::{LateVector, Store, StoreError};
use crate::vector::NewVector;

/// How long a query waits for its vector; prefetch runs before each answer of an agent.
const QUERY_BUDGET: Duration = Duration::from_millis(700);
/// How long a write waits for its vectors.
const WRITE_BUDGET: Duration = Duration::from_millis(1_500);
/// How long an embedder that failed is left alone by queries and writes.
const REST: Duration = Duration::from_secs(10);
/// Memories that get their vectors in one step of the background work.
const STEP: usize = 256;
/// How long the background work waits after a failure, and when nothing calls it.
const RETRY: Duration = Duration::from_secs(5);
const IDLE: Duration = Duration::from_secs(60);
/// How long it waits when it is called: a write calls before it has stored its memory.
const SETTLE: Duration = Duration::from_secs(1);
/// Missing vectors of a model that was complete: less than one memory in so many.
const NEARLY_ALL: u64 = 100;

/// How far the vectors of the current model are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum State {
    /// Nobody has looked yet.
    #[default]
    Unknown,
    /// Memories are getting vectors of this model; until all have one, words alone find.
    Switching {
        with: u64,
        without: u64,
    },
    Ready,
    /// The embedder gives nothing; why.
    Failing(String),
}

/// The embedder with its state. Shared by everything that reads and writes.
pub struct Meaning {
    embedder: Arc<dyn Embedder>,
    state: Mutex<State>,
    /// Until when the embedder is left alone.
    rest: Mutex<Option<Instant>>,
    wake: Notify,
}

/// What became of the background work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backfilled {
    /// Memories that had no vector.
    pub examined: u64,
    /// Memories that got one, or of which the model makes nothing.
    pub changed: u64,
}

/// The vector of a query.
pub struct QueryVector {
    pub model: Model,
    /// Of unit length.
    pub values: Vec<f32>,
}

impl Meaning {
    pub fn new(embedder: Arc<dyn Embedder>) -> Meaning {
        Meaning {
            embedder,
            state: Mutex::default(),
            rest: Mutex::default(),
            wake: Notify::new(),
        }
    }

    pub fn embedder(&self) -> &dyn Embedder {
        &*self.embedder
    }

    pub fn state(&self) -> State {
        unpoisoned(&self.state).clone()
    }

    /// The vector of a query; `None` if the model makes nothing of it.
    ///
    /// # Errors
    /// Why there is none: the vectors are not complete, or the embedder fails or is too slow.
    pub async fn query(
        &self,
        store: &dyn Store,
        text: &str,
    ) -> Result<Option<QueryVector>, NotReady> {
        if let State::Switching { with, without } = self.settled(store).await? {
            return Err(NotReady::Switching { with, without });
        }
        Ok(self.text(text).await?)
    }

    /// The vector of a text, for comparisons with others than the memories' vectors; `None` if the
    /// model makes nothing of it.
    ///
    /// # Errors
    /// When the embedder fails or is too slow.
    pub async fn text(&self, text: &str) -> Result<Option<QueryVector>, EmbedError> {
        let texts = [text.to_owned()];
        let asked = async {
            let model = self.embedder.model().await?;
            Ok((model, self.embedder.embed(&texts).await?))
        };
        let (model, mut vectors) = self.within(QUERY_BUDGET, asked).await?;
        let values = vectors.pop().unwrap_or_default();
        if values.is_empty() {
            return Ok(None);
        }
        let values = model.id.unit(values).ok_or(EmbedError::NoDirection)?;
        Ok(Some(QueryVector { model, values }))
    }

    /// Vectors for contents that are being written, in their order; none if the embedder has no time:
    /// they follow.
    pub async fn contents(&self, texts: &[String]) -> Vec<Option<NewVector>> {
        let asked = async {
            let model = self.embedder.model().await?;
            Ok((model, self.embedder.embed(texts).await?))
        };
        match self.within(WRITE_BUDGET, asked).await {
            Ok((model, vectors)) => vectors
                .into_iter()
                .map(|values| {
                    Some(NewVector {
                        model: model.id.clone(),
                        values,
                    })
                })
                .collect(),
            Err(_) => {
                self.wake.notify_one();
                vec![None; texts.len()]
            }
        }
    }

    /// Waits for a remote embedder no longer than `budget`, and not at all if it failed a moment ago.
    async fn within<T>(
        &self,
        budget: Duration,
        asked: impl Future<Output = Result<T, EmbedError>>,
    ) -> Result<T, EmbedError> {
        if self.embedder.destination().is_none() {
            return asked.await;
        }
        if unpoisoned(&self.rest).is_some_and(|until| Instant::now() < until) {
            return Err(EmbedError::Resting);
        }
        let answer = tokio::time::timeout(budget, asked)
            .await
            .unwrap_or(Err(EmbedError::Timeout(budget)));
        match &answer {
            Ok(_) => *unpoisoned(&self.rest) = None,
            Err(error) => {
                *unpoisoned(&self.rest) = Some(Instant::now() + REST);
                tracing::warn!(%error, embedder = self.embedder.name(), "no vectors for now");
            }
        }
        answer
    }

    /// The state, looked up in the store the first time.
    async fn settled(&self, store: &dyn Store) -> Result<State, NotReady> {
        let state = self.state();
        if !matches!(state, State::Unknown | State::Failing(_)) {
            return Ok(state);
        }
        let asked = async { self.embedder.model().await };
        let model = self.within(QUERY_BUDGET, asked).await?;
        let (with, without) = store.vector_counts(&model.id).await?;
        let state = if without == 0 || without * NEARLY_ALL < with {
            State::Ready
        } else {
            State::Switching { with, without }
        };
        self.become_(state.clone());
        Ok(state)
    }

    fn become_(&self, state: State) {
        let before = std::mem::replace(&mut *unpoisoned(&self.state), state.clone());
        let name = self.embedder.name();
        match (&before, &state) {
            (State::Switching { .. }, State::Ready) => {
                tracing::info!(
                    embedder = name,
                    "every memory has its vector: meaning counts from now on"
                );
            }
            (State::Unknown | State::Failing(_), State::Switching { with, without }) => {
                tracing::info!(
                    embedder = name,
                    with,
                    without,
                    "memories are getting their vectors; words alone find until all have one"
                );
            }
            _ => {}
        }
    }

    /// How many memories have a vector of the current model, and how many have none.
    ///
    /// # Errors
    /// When the embedder does not say which model it is, or the store fails.
    pub async fn counts(&self, store: &dyn Store) -> Result<(u64, u64), NotReady> {
        let model = self.embedder.model().await?;
        Ok(store.vector_counts(&model.id).await?)
    }

    /// Gives vectors to all memories that have none of the current model. What it has done is stored,
    /// so that it can be stopped at any time and goes on from there.
    ///
    /// # Errors
    /// When the embedder or the store fails.
    pub async fn backfill(&self, store: &dyn Store) -> Result<Backfilled, NotReady> {
        let model = self.embedder.model().await?;
        self.settled(store).await?;
        let (mut done, mut after) = (Backfilled::default(), None);
        loop {
            let missing = store
                .without_vector(&model.id, after.as_ref(), STEP)
                .await?;
            let Some((last, _)) = missing.last() else {
                break;
            };
            after = Some(last.clone());
            done.examined += missing.len() as u64;
            done.changed += self.step(store, &model, missing).await? as u64;
            if let State::Switching { .. } = self.state() {
                let (with, without) = store.vector_counts(&model.id).await?;
                self.become_(State::Switching { with, without });
            }
        }
        self.become_(State::Ready);
        *unpoisoned(&self.rest) = None;
        Ok(done)
    }

    async fn step(
        &self,
        store: &dyn Store,
        model: &Model,
        missing: Vec<(MemoryId, String)>,
    ) -> Result<usize, NotReady> {
        let (ids, texts): (Vec<_>, Vec<String>) = missing.into_iter().unzip();
        let vectors = match self.embedder.embed(&texts).await {
            Ok(vectors) => vectors.into_iter().map(Some).collect(),
            // One content may be the reason: each is asked for alone.
            Err(EmbedError::Rejected { .. }) => self.one_by_one(&texts).await?,
            Err(error) => return Err(error.into()),
        };
        let late = ids.into_iter().zip(texts).zip(vectors);
        let late = late.filter_map(|((id, text), values)| {
            Some(LateVector {
                id,
                content_hash: content_hash(&text),
                values: values?,
            })
        });
        Ok(store.put_vectors(&model.id, late.collect()).await?)
    }

    /// A vector for each text that the embedder takes; an error if it takes none.
    async fn one_by_one(&self, texts: &[String]) -> Result<Vec<Option<Vec<f32>>>, EmbedError> {
        let (mut vectors, mut refusal) = (Vec::with_capacity(texts.len()), None);
        for text in texts {
            match self.embedder.embed(std::slice::from_ref(text)).await {
                Ok(mut vector) => vectors.push(vector.pop()),
                Err(error @ EmbedError::Rejected { .. }) => {
                    refusal = Some(error);
                    vectors.push(None);
                }
                Err(error) => return Err(error),
            }
        }
        match refusal {
            Some(error) if vectors.iter().all(Option::is_none) => Err(error),
            _ => Ok(vectors),
        }
    }

    /// Keeps the vectors complete for as long as it is polled.
    pub async fn keep_complete(&self, store: Arc<dyn Store>) {
        let mut failed = false;
        loop {
            let wait = match self.backfill(&*store).await {
                Ok(done) => {
                    if done.changed > 0 {
                        tracing::info!(memories = done.changed, "memories got their vectors");
                    }
                    failed = false;
                    IDLE
                }
                Err(error) => {
                    // Once for each time that it goes wrong.
                    if !failed {
                        tracing::warn!(%error, embedder = self.embedder.name(), "memories wait for their vectors");
                    }
                    if matches!(self.state(), State::Unknown | State::Failing(_)) {
                        self.become_(State::Failing(error.to_string()));
                    }
                    failed = true;
                    RETRY
                }
            };
            let woken = tokio::time::timeout(wait, self.wake.notified())
                .await
                .is_ok();
            if woken {
                tokio::time::sleep(if failed { RETRY } else { SETTLE }).await;
            }
        }
    }
}

/// Why meaning does not count in a search.
#[derive(Debug, thiserror::Error)]
pub enum NotReady {
    #[error("memories are getting their vectors: {with} have one, {without} have none yet")]
    Switching { with: u64, without: u64 },
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
