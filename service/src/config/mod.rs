//! Settings: what is written in flags, environment and file ([`raw`]), and what it comes to.
//!
//! Precedence: flag, environment, file, default. The environment comes in as data.

pub mod raw;
mod redis;
mod resolve;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::ranking::Weights;
use crate::store::redis::options::RedisOptions;

/// Skip patterns that the project ships.
pub const EXAMPLE_SKIP_PATTERNS: &str = include_str!("../../../skip_patterns.example.txt");

/// Complete, checked settings. What each means is in `config.example.json`.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub store: StoreChoice,
    pub listen: SocketAddr,
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
    pub agent_id: Option<String>,
    pub is_primary: bool,
    pub max_content_chars: usize,
    pub max_context_chars: usize,
    /// How old the topics that a read uses may be. Not configurable; tests want none.
    pub signals_max_age: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            store: StoreChoice::Embedded,
            listen: SocketAddr::from(([127, 0, 0, 1], 7437)),
            data_dir: resolve::platform_data_dir(None, None),
            top_k: 5,
            candidate_pool: 100,
            bm25_limit: 10,
            tag_filter: Vec::new(),
            skip_min_length: 2,
            skip_patterns: HashSet::new(),
            weights: Weights::default(),
            attention_base_increment: 2.0,
            attention_emotion_factor: 1.5,
            entity_cooc_top_n: 3,
            entity_cooc_min_count: 2,
            user_entities: String::new(),
            agent_id: None,
            is_primary: false,
            max_content_chars: 65_536,
            max_context_chars: 8_000,
            signals_max_age: Duration::from_secs(1),
        }
    }
}

/// Where memories are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreChoice {
    /// A folder: `data_dir`.
    Embedded,
    Redis(RedisOptions),
}

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read the configuration `{path}`: {source}")]
    Unreadable {
        path: String,
        source: std::io::Error,
    },
    #[error("the configuration `{path}` is not valid JSON: {message}")]
    Malformed { path: String, message: String },
    #[error("{origin}: `{key}` is {found}, allowed is {allowed}")]
    Value {
        origin: String,
        key: String,
        found: String,
        allowed: String,
    },
    #[error("{0}")]
    Combination(String),
}

/// Settings with what was odd but usable about them.
#[derive(Debug)]
pub struct Loaded {
    pub settings: Settings,
    pub warnings: Vec<String>,
}

/// Loads the settings from flags (by key), the environment and the configuration file.
///
/// # Errors
/// When the file cannot be read or parsed, or a value has the wrong type or is out of range.
pub fn load(flags: &raw::Flags, environment: &raw::Environment) -> Result<Loaded, ConfigError> {
    let (layers, mut warnings) = raw::Layers::gather(flags, environment)?;
    let settings = resolve::resolve(&layers, environment, &mut warnings)?;
    Ok(Loaded { settings, warnings })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> raw::Environment {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        variables.iter().map(owned).collect()
    }

    fn with_file(text: &str) -> Result<Loaded, ConfigError> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.json");
        std::fs::write(&file, text).unwrap();
        let variables = [("KEEPSAKE_CONFIG", file.to_str().unwrap())];
        load(&raw::Flags::new(), &environment(&variables))
    }

    #[test]
    fn the_example_names_every_key_and_holds_the_defaults() {
        let example = include_str!("../../../config.example.json");
        for key in raw::KEYS {
            assert!(example.contains(&format!("\"{key}\":")), "{key} is missing");
        }
        let loaded = with_file(example).unwrap();
        assert_eq!(loaded.settings, Settings::default());
        assert_eq!(loaded.warnings, Vec::<String>::new());
    }

    #[test]
    fn flags_are_stronger_than_the_environment_and_that_than_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.json");
        std::fs::write(
            &file,
            r#"{"top_k": 1, "candidate_pool": 2, "bm25_limit": 3}"#,
        )
        .unwrap();
        let variables = [
            ("KEEPSAKE_CONFIG", file.to_str().unwrap()),
            ("KEEPSAKE_TOP_K", "4"),
            ("KEEPSAKE_CANDIDATE_POOL", "5"),
        ];
        let flags = raw::Flags::from([("top_k", "6".to_owned())]);
        let settings = load(&flags, &environment(&variables)).unwrap().settings;
        let found = (settings.top_k, settings.candidate_pool, settings.bm25_limit);
        assert_eq!(
            found,
            (6, 5, 10),
            "a lower limit of the pool does not lower it"
        );
    }

    #[test]
    fn wrong_values_say_where_and_what_is_allowed() {
        for (file, told) in [
            (
                r#"{"top_k": "five"}"#,
                "`top_k` is `\"five\"`, allowed is a whole number",
            ),
            (
                r#"{"is_primary": "false"}"#,
                "`is_primary` is `\"false\"`, allowed is true or false",
            ),
            (
                r#"{"decay_floor": 2}"#,
                "`decay_floor` is `2`, allowed is a number from 0 to 1",
            ),
            (r#"{"top_k": "#, "is not valid JSON"),
            (
                r#"{"store": "postgres"}"#,
                "allowed is auto, redis or embedded",
            ),
            (r#"{"listen": "0.0.0.0:80"}"#, "other machines can reach"),
        ] {
            let error = with_file(file).unwrap_err().to_string();
            assert!(error.contains(told), "{file}: {error}");
        }
    }

    #[test]
    fn an_unknown_key_is_a_warning_with_the_nearest_name() {
        let loaded = with_file(r#"{"topk": 3}"#).unwrap();
        assert!(
            loaded.warnings[0].contains("`top_k`"),
            "{:?}",
            loaded.warnings
        );
    }

    #[test]
    fn a_missing_file_is_fine_unless_it_was_named() {
        assert!(
            load(
                &raw::Flags::new(),
                &environment(&[("HOME", "/nonexistent")])
            )
            .is_ok()
        );
        let named = environment(&[("KEEPSAKE_CONFIG", "/nonexistent/config.json")]);
        assert!(load(&raw::Flags::new(), &named).is_err());
    }
}
