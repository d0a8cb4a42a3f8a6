//! Settings: what is written in flags, environment and file, and what it comes to.
//!
//! [`raw`] is the table of keys. `layers` takes the strongest value of each, `values` checks its
//! type and range, `resolve` puts [`Settings`] together; all that is wrong is found at once.
//! [`reload`] follows the files of a running process. Precedence: flag, environment, file, default.
//! The environment comes in as data.

mod edit;
mod error;
mod file;
mod keys;
mod layers;
pub mod raw;
mod redis;
pub mod reload;
mod resolve;
#[cfg(test)]
mod tests;
mod values;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::chat;
use crate::embedding::{self, Choice, EmbedError, Embedder};
use crate::keys::ApiKeys;
use crate::ranking::Weights;
use crate::store::redis::options::RedisOptions;
use file::Files;
use layers::Layers;
use values::Values;

pub use edit::{EditError, NewKey, add_key, remove_key};
pub use error::{ConfigError, Fault, Origin};
pub use layers::{Environment, Flags};

/// Skip patterns that the project ships.
pub const EXAMPLE_SKIP_PATTERNS: &str = include_str!("../../../skip_patterns.example.txt");

/// Complete, checked settings. What each means is in `config.example.json`.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub store: StoreChoice,
    pub listen: SocketAddr,
    /// Who may come in; nobody is asked if there are none.
    pub api_keys: ApiKeys,
    pub data_dir: PathBuf,
    pub top_k: usize,
    pub candidate_pool: usize,
    pub bm25_limit: usize,
    pub tag_filter: Vec<String>,
    pub skip_min_length: usize,
    /// Folded, as `read::gates` compares them.
    pub skip_patterns: HashSet<String>,
    pub weights: Weights,
    pub attention_base_increment: f64,
    pub attention_emotion_factor: f64,
    pub entity_cooc_top_n: usize,
    pub entity_cooc_min_count: u64,
    /// Names of the user's gazetteer, one a line.
    pub user_entities: String,
    pub embedder: Choice,
    /// How long the vectors of a service are kept.
    pub embed_cache_ttl: Duration,
    pub agent_id: Option<String>,
    pub is_primary: bool,
    pub max_content_chars: usize,
    pub max_context_chars: usize,
    pub redact_secrets: RedactSecrets,
    pub maintenance: Maintenance,
    /// How old the topics that a read uses may be. Not configurable; tests want none.
    pub signals_max_age: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        let unset = Read::new(&Layers::default(), &Environment::new(), Files::default());
        unset.settings
    }
}

/// Where memories are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreChoice {
    /// A folder: `data_dir`.
    Embedded,
    Redis(RedisOptions),
}

impl Settings {
    /// Where downloaded embedding models lie.
    pub fn models_dir(&self) -> PathBuf {
        self.data_dir.join("models")
    }

    /// Opens the embedder that is chosen, if one is.
    ///
    /// # Errors
    /// As [`embedding::open`].
    pub fn open_embedder(&self) -> Result<Option<Arc<dyn Embedder>>, EmbedError> {
        embedding::open(&self.embedder, &self.models_dir(), self.embed_cache_ttl)
    }
}

/// What maintenance goes by.
#[derive(Debug, Clone, PartialEq)]
pub struct Maintenance {
    /// Smallest group that is consolidated.
    pub consolidate_min_group: usize,
    /// Hours that a memory must be old to be consolidated.
    pub consolidate_max_age_hours: u32,
    /// The model that consolidates; it needs an address and a name.
    pub llm: Option<chat::Endpoint>,
    pub forget_max_age_days: u32,
    pub forget_dry_run: bool,
    pub trash_days: u32,
    pub dedup_threshold: f64,
    pub synonym_min_word_freq: u32,
    pub synonym_jaccard_threshold: f64,
    pub synonym_min_co_occurrence: u32,
}

/// In which writes secrets are masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedactSecrets {
    Never,
    /// In those that no person or model asked for.
    Automatic,
    Always,
}

/// A key as it stands, for people to see.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    pub key: &'static str,
    /// Secrets are masked.
    pub value: Value,
    pub origin: Origin,
}

/// Settings with what was odd but usable about them.
#[derive(Debug)]
pub struct Loaded {
    pub settings: Settings,
    pub warnings: Vec<String>,
}

/// Everything that can be said about a configuration.
#[derive(Debug)]
pub struct Report {
    /// Where the file is, if anywhere, and whether it is there.
    pub file: Option<(PathBuf, bool)>,
    /// Every key of the table, in its order; a wrong value as if unset.
    pub shown: Vec<Shown>,
    pub warnings: Vec<String>,
    pub faults: Vec<Fault>,
}

/// Loads the settings from flags (by key), the environment and the configuration file.
///
/// # Errors
/// When the file cannot be read or parsed, or a value has the wrong type or is out of range: with
/// every fault.
pub fn load(flags: &Flags, environment: &Environment) -> Result<Loaded, ConfigError> {
    let (_, read) = Read::gather(flags, environment);
    read.loaded()
}

/// Examines a configuration without using it.
pub fn report(flags: &Flags, environment: &Environment) -> Report {
    let (_, read) = Read::gather(flags, environment);
    let shown = read.values.shown().into_iter();
    Report {
        file: layers::file_path(environment).map(|(path, _)| {
            let there = path.exists();
            (path, there)
        }),
        shown: shown
            .map(|(key, value, origin)| Shown {
                value: match key.name {
                    "data_dir" => Value::from(read.settings.data_dir.to_string_lossy()),
                    _ => value,
                },
                key: key.name,
                origin,
            })
            .collect(),
        warnings: read.warnings,
        faults: read.faults,
    }
}

/// One reading of all layers.
struct Read {
    settings: Settings,
    values: Values,
    files: Files,
    warnings: Vec<String>,
    faults: Vec<Fault>,
}

impl Read {
    fn gather(flags: &Flags, environment: &Environment) -> (Layers, Read) {
        let files = Files::default();
        let (mut warnings, mut faults) = (Vec::new(), Vec::new());
        let layers = Layers::gather(flags, environment, &files, &mut warnings, &mut faults);
        let mut read = Read::new(&layers, environment, files);
        // What was found first is told first.
        warnings.append(&mut read.warnings);
        faults.append(&mut read.faults);
        (
            layers,
            Read {
                warnings,
                faults,
                ..read
            },
        )
    }

    fn new(layers: &Layers, environment: &Environment, files: Files) -> Read {
        let (mut warnings, mut faults) = (Vec::new(), Vec::new());
        let home = environment.get("HOME").map(Path::new);
        let values = Values::check(layers, home, &mut faults);
        let settings = resolve::resolve(&values, environment, &files, &mut warnings, &mut faults);
        for (name, origin) in values.without_effect() {
            warnings.push(format!(
                "{origin}: `{name}` has no effect with these settings"
            ));
        }
        Read {
            settings,
            values,
            files,
            warnings,
            faults,
        }
    }

    fn loaded(self) -> Result<Loaded, ConfigError> {
        if self.faults.is_empty() {
            let (settings, warnings) = (self.settings, self.warnings);
            Ok(Loaded { settings, warnings })
        } else {
            Err(ConfigError(self.faults))
        }
    }
}
