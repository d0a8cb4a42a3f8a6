//! What is written, before it is checked: one value for each key, from the strongest layer.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::ConfigError;

/// Environment variables by name.
pub type Environment = HashMap<String, String>;

/// Values given on the command line, by key.
pub type Flags = BTreeMap<&'static str, String>;

/// Every key of the configuration file that this version reads.
pub const KEYS: [&str; 42] = [
    "store",
    "redis_url",
    "redis_host",
    "redis_port",
    "redis_username",
    "redis_password",
    "redis_db",
    "redis_mode",
    "redis_sentinels",
    "redis_sentinel_master",
    "redis_sentinel_password",
    "redis_prefix",
    "listen",
    "allow_unauthenticated",
    "data_dir",
    "top_k",
    "candidate_pool",
    "candidate_k",
    "bm25_limit",
    "tag_filter",
    "skip_min_length",
    "skip_patterns_file",
    "decay_half_days",
    "decay_floor",
    "hot_topic_decay_half_days",
    "sentiment_boost_positive",
    "sentiment_boost_negative",
    "emotion_intensity_factor",
    "feedback_positive_boost",
    "feedback_negative_penalty",
    "hot_topic_boost",
    "factor_influence",
    "attention_boost_max",
    "attention_base_increment",
    "attention_emotion_factor",
    "entity_cooc_top_n",
    "entity_cooc_min_count",
    "entities_file",
    "agent_id",
    "is_primary",
    "max_content_chars",
    "max_context_chars",
];

/// A value as written, with where it was.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    pub value: Value,
    /// Such as "the environment variable `KEEPSAKE_TOP_K`".
    pub origin: String,
}

/// The value of each key that is written somewhere.
#[derive(Debug, Default)]
pub struct Layers(BTreeMap<String, Written>);

impl Layers {
    /// Gathers flags over environment over file; also warnings about unknown keys.
    pub fn gather(
        flags: &Flags,
        environment: &Environment,
    ) -> Result<(Layers, Vec<String>), ConfigError> {
        let mut layers = BTreeMap::new();
        let mut warnings = Vec::new();
        if let Some(path) = file_path(environment) {
            for (key, value) in read_file(&path, environment.contains_key("KEEPSAKE_CONFIG"))? {
                if KEYS.contains(&key.as_str()) {
                    layers.insert(
                        key,
                        Written {
                            value,
                            origin: format!("`{}`", path.display()),
                        },
                    );
                } else {
                    warnings.push(format!(
                        "`{}`: unknown key `{key}`\nhint: did you mean `{}`?",
                        path.display(),
                        nearest(&key)
                    ));
                }
            }
        }
        for key in KEYS {
            let variable = format!("KEEPSAKE_{}", key.to_uppercase());
            if let Some(text) = environment.get(&variable).filter(|text| !text.is_empty()) {
                layers.insert(
                    key.to_owned(),
                    Written {
                        value: Value::String(text.clone()),
                        origin: format!("the environment variable `{variable}`"),
                    },
                );
            }
        }
        for (key, text) in flags {
            layers.insert(
                (*key).to_owned(),
                Written {
                    value: Value::String(text.clone()),
                    origin: format!("the flag `--{}`", key.replace('_', "-")),
                },
            );
        }
        Ok((Layers(layers), warnings))
    }

    pub fn get(&self, key: &str) -> Option<&Written> {
        self.0.get(key)
    }
}

/// The configuration file: the one that the environment names, else the user's.
fn file_path(environment: &Environment) -> Option<PathBuf> {
    let named = environment
        .get("KEEPSAKE_CONFIG")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from);
    named.or_else(|| Some(Path::new(environment.get("HOME")?).join(".config/keepsake/config.json")))
}

/// Reads an object with comments and trailing commas. A missing file is empty unless it was named.
fn read_file(path: &Path, named: bool) -> Result<serde_json::Map<String, Value>, ConfigError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !named => {
            return Ok(serde_json::Map::new());
        }
        Err(source) => {
            return Err(ConfigError::Unreadable {
                path: path.display().to_string(),
                source,
            });
        }
    };
    let malformed = |message: String| ConfigError::Malformed {
        path: path.display().to_string(),
        message,
    };
    match jsonc_parser::parse_to_serde_value::<Value>(&text, &jsonc_parser::ParseOptions::default())
    {
        Ok(Value::Object(object)) => Ok(object),
        Ok(Value::Null) if text.trim().is_empty() => Ok(serde_json::Map::new()),
        Ok(_) => Err(malformed("it must hold one object".to_owned())),
        Err(error) => Err(malformed(error.to_string())),
    }
}

/// The known key with the most neighbouring letters in common.
fn nearest(key: &str) -> &'static str {
    let pairs = |text: &str| {
        text.as_bytes()
            .windows(2)
            .map(<[u8]>::to_vec)
            .collect::<std::collections::HashSet<_>>()
    };
    let wanted = pairs(key);
    let likeness = |known: &&&str| {
        let known = pairs(known);
        1000 * wanted.intersection(&known).count() / wanted.union(&known).count().max(1)
    };
    KEYS.iter()
        .max_by_key(likeness)
        .copied()
        .unwrap_or_default()
}
