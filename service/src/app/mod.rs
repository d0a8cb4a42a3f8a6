//! The long-lived parts of a running Keepsake, put together once.

pub mod learnt;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

use crate::analysis::{Analyser, Ingredients};
use crate::clock::Clock;
use crate::config::reload::{Reloaded, Source};
use crate::config::{Settings, StoreChoice};
use crate::error::Error;
use crate::meaning::Meaning;
use crate::metrics::{CacheUse, Metrics};
use crate::ranking::Weights;
use crate::recalls::Recalls;
use crate::scope::Scope;
use crate::session::Sessions;
use crate::signals::Signals;
use crate::store::embedded::EmbeddedStore;
use crate::store::redis::RedisStore;
use crate::store::redis::adoption::Adoption;
use crate::store::{Store, StoreError};
use learnt::LearntWords;

/// Everything that a read or a write needs. Cheap to clone; a clone keeps the settings that it has,
/// so that a request sees one state from beginning to end.
#[derive(Clone)]
pub struct App {
    pub settings: Arc<Settings>,
    pub store: Arc<dyn Store>,
    /// Absent when words alone are to find.
    pub meaning: Option<Arc<Meaning>>,
    pub analyser: Analyser,
    pub clock: Clock,
    pub switches: Switches,
    pub sessions: Sessions,
    pub recalls: Recalls,
    /// Whether whoever serves this app also does its maintenance.
    pub maintains: bool,
    pub metrics: Arc<Metrics>,
    signals: SignalCache,
    live: Arc<Live>,
}

/// What changes while the process runs.
struct Live {
    /// Where settings are read from; absent if they were given.
    source: Option<Source>,
    current: RwLock<(Arc<Settings>, Analyser)>,
    /// Why the newest configuration is not, or not wholly, in use.
    complaints: Mutex<Vec<String>>,
    learnt: Mutex<LearntWords>,
}

/// Parts of retrieval and ranking that the evaluation can switch off to measure what they gain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switches {
    pub ingredients: Ingredients,
    pub dates: bool,
    pub neighbours: bool,
    pub floor: bool,
    pub factors: bool,
}

impl Default for Switches {
    fn default() -> Self {
        Switches {
            ingredients: Ingredients::default(),
            dates: true,
            neighbours: true,
            floor: true,
            factors: true,
        }
    }
}

impl App {
    /// Opens the store and chooses the embedder that the settings name.
    ///
    /// # Errors
    /// When the store cannot be opened or the embedder cannot be used.
    pub fn open(settings: Settings, clock: Clock) -> Result<App, Error> {
        App::with_switches(settings, clock, Switches::default())
    }

    /// Like [`App::open`], with some parts switched off.
    ///
    /// # Errors
    /// As [`App::open`].
    pub fn with_switches(
        settings: Settings,
        clock: Clock,
        switches: Switches,
    ) -> Result<App, Error> {
        App::assemble(settings, None, clock, switches)
    }

    /// Like [`App::open`], with the source of the settings, so that [`App::reload_if_changed`] follows it.
    ///
    /// # Errors
    /// As [`App::open`].
    pub fn following(source: Source, settings: Settings, clock: Clock) -> Result<App, Error> {
        App::assemble(settings, Some(source), clock, Switches::default())
    }

    fn assemble(
        settings: Settings,
        source: Option<Source>,
        clock: Clock,
        switches: Switches,
    ) -> Result<App, Error> {
        let embedder = settings.open_embedder()?;
        let analyser = Analyser::new(&settings.user_entities, switches.ingredients);
        let store = open_store(&settings, &analyser)?;
        let settings = Arc::new(settings);
        Ok(App {
            live: Arc::new(Live {
                source,
                current: RwLock::new((settings.clone(), analyser.clone())),
                complaints: Mutex::default(),
                learnt: Mutex::default(),
            }),
            settings,
            store,
            meaning: embedder.map(|embedder| Arc::new(Meaning::new(embedder))),
            analyser,
            clock,
            switches,
            sessions: Sessions::default(),
            recalls: Recalls::default(),
            maintains: false,
            metrics: Arc::default(),
            signals: SignalCache::default(),
        })
    }

    /// The same app with the settings that hold now.
    pub fn current(&self) -> App {
        let current = self.live.current.read();
        let (settings, analyser) = current.unwrap_or_else(PoisonError::into_inner).clone();
        App {
            settings,
            analyser,
            ..self.clone()
        }
    }

    /// Reads the configuration again if one of its files changed, and says whether other settings
    /// hold now; [`App::current`] has them. A broken edit changes nothing. Reads files, so it may
    /// block for a moment.
    pub fn reload_if_changed(&self) -> bool {
        let Some(source) = &self.live.source else {
            return false;
        };
        let (loaded, complaints) = match source.reload() {
            Reloaded::Unchanged => return false,
            Reloaded::Broken(error) => {
                tracing::error!(
                    "the configuration changed and cannot be used, the former one stays in use: {error}"
                );
                (None, error.0.iter().map(ToString::to_string).collect())
            }
            Reloaded::Changed(loaded) => {
                loaded
                    .warnings
                    .iter()
                    .for_each(|warning| tracing::warn!("{warning}"));
                (Some(loaded.settings), loaded.warnings)
            }
        };
        *self
            .live
            .complaints
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = complaints;
        let Some(settings) = loaded else { return false };
        let mut current = self
            .live
            .current
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if *current.0 == settings {
            return false;
        }
        let words = current.1.learnt();
        let analyser = Analyser::new(&settings.user_entities, self.switches.ingredients);
        let analyser = analyser.with_learnt(words);
        *current = (Arc::new(settings), analyser);
        // Made with the half-life of before.
        self.signals.clear();
        tracing::info!("the configuration changed and is in use");
        true
    }

    /// Why the newest configuration is not, or not wholly, in use: faults of a broken edit, and what
    /// waits for a restart.
    pub fn configuration_complaints(&self) -> Vec<String> {
        let complaints = self.live.complaints.lock();
        complaints.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stores when memories were last found, as far as this process noted it.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn store_recalls(&self) -> Result<(), StoreError> {
        let noted = self.recalls.take();
        if noted.is_empty() {
            return Ok(());
        }
        self.store.note_retrieved(noted).await
    }

    /// The constants of the six factors.
    pub fn weights(&self) -> Weights {
        if self.switches.factors {
            self.settings.weights
        } else {
            Weights::off()
        }
    }

    /// How often the signals of a scope were at hand.
    pub fn signals_use(&self) -> CacheUse {
        *self
            .signals
            .1
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// What the scope keeps coming back to, at most `signals_max_age` old.
    ///
    /// # Errors
    /// When the store cannot answer.
    pub async fn signals(
        &self,
        scope: &Scope,
        now: DateTime<Utc>,
    ) -> Result<Arc<Signals>, StoreError> {
        let fresh = self
            .signals
            .fresh(scope, now, self.settings.signals_max_age);
        self.signals.count(fresh.is_some());
        if let Some(signals) = fresh {
            return Ok(signals);
        }
        let version = self.store.signals_version().await?;
        if let Some(signals) = self.signals.renewed(scope, now, version) {
            return Ok(signals);
        }
        let topics = self.store.topics(scope, None).await?;
        let synonyms = both_directions(self.store.synonyms(&scope.namespace).await?);
        let half_days = self.settings.weights.hot_topic_decay_half_days;
        let signals = Arc::new(Signals::new(&topics, synonyms, now.date_naive(), half_days));
        self.signals.put(scope, now, version, signals.clone());
        Ok(signals)
    }
}

/// The store that the settings choose.
fn open_store(settings: &Settings, analyser: &Analyser) -> Result<Arc<dyn Store>, StoreError> {
    match &settings.store {
        StoreChoice::Embedded => Ok(Arc::new(EmbeddedStore::open(&settings.data_dir)?)),
        StoreChoice::Redis(options) => {
            let adoption = Adoption {
                analyser: analyser.clone(),
                attention: (
                    settings.attention_base_increment,
                    settings.attention_emotion_factor,
                ),
            };
            Ok(Arc::new(RedisStore::open(options, adoption)?))
        }
    }
}

/// Each term with its synonyms and with the terms that it is a synonym of.
fn both_directions(synonyms: Vec<crate::store::Synonyms>) -> HashMap<String, Vec<String>> {
    let mut all: HashMap<String, Vec<String>> = HashMap::new();
    for entry in synonyms {
        for synonym in entry.terms {
            for (from, to) in [(&entry.term, &synonym), (&synonym, &entry.term)] {
                let known = all.entry(from.clone()).or_default();
                if from != to && !known.contains(to) {
                    known.push(to.clone());
                }
            }
        }
    }
    all
}

/// Most scopes whose signals are kept.
const MOST_SCOPES: usize = 1024;

/// Signals by scope, so that a read asks the store for them only when they changed.
#[derive(Clone, Default)]
struct SignalCache(Arc<Mutex<HashMap<Scope, Entry>>>, Arc<Mutex<CacheUse>>);

struct Entry {
    signals: Arc<Signals>,
    version: i64,
    /// Topics cool by the day.
    day: chrono::NaiveDate,
    checked: Instant,
}

impl SignalCache {
    fn count(&self, found: bool) {
        let mut used = self.1.lock().unwrap_or_else(PoisonError::into_inner);
        match found {
            true => used.hits += 1,
            false => used.misses += 1,
        }
    }

    fn fresh(&self, scope: &Scope, now: DateTime<Utc>, max_age: Duration) -> Option<Arc<Signals>> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.get(scope)?;
        (entry.day == now.date_naive() && entry.checked.elapsed() < max_age)
            .then(|| entry.signals.clone())
    }

    /// The signals of a version that is still the newest.
    fn renewed(&self, scope: &Scope, now: DateTime<Utc>, version: i64) -> Option<Arc<Signals>> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries
            .get_mut(scope)
            .filter(|entry| entry.version == version && entry.day == now.date_naive())?;
        entry.checked = Instant::now();
        Some(entry.signals.clone())
    }

    fn clear(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    fn put(&self, scope: &Scope, now: DateTime<Utc>, version: i64, signals: Arc<Signals>) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= MOST_SCOPES {
            entries.clear();
        }
        entries.insert(
            scope.clone(),
            Entry {
                signals,
                version,
                day: now.date_naive(),
                checked: Instant::now(),
            },
        );
    }
}
