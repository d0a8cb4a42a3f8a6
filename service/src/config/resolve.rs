//! From written values to checked settings.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::raw::{Environment, Layers, Written};
use super::{ConfigError, Settings, redis};
use crate::ranking::Weights;
use crate::read::gates::pattern;

/// Largest number of hits, depth of a retriever and length that may be configured.
const MOST_HITS: usize = 1_000;
const DEEPEST: usize = 10_000;
const LONGEST: usize = 10_000_000;
/// Range of half-lives in days: none is zero.
const HALF_LIFE: RangeInclusive<f64> = 0.01..=1e6;
const BOOST: RangeInclusive<f64> = 1.0..=10.0;
const SHARE: RangeInclusive<f64> = 0.0..=1.0;
const INCREMENT: RangeInclusive<f64> = 0.0..=1_000.0;

/// Checks every value; a missing one is its default.
pub(super) fn resolve(
    layers: &Layers,
    environment: &Environment,
    warnings: &mut Vec<String>,
) -> Result<Settings, ConfigError> {
    let reader = Reader {
        layers,
        home: environment.get("HOME").map(PathBuf::from),
    };
    let defaults = Settings::default();
    let number = |key, default, range| reader.number(key, default, range);
    let count = |key, default, range| reader.count(key, default, range);
    let settings = Settings {
        store: redis::choose(reader.store()?)?,
        listen: reader.listen(defaults.listen)?,
        data_dir: reader.path("data_dir").unwrap_or_else(|| {
            platform_data_dir(
                reader.home.as_deref(),
                environment.get("XDG_DATA_HOME").map(String::as_str),
            )
        }),
        top_k: count("top_k", defaults.top_k, 1..=MOST_HITS)?,
        candidate_pool: count("candidate_pool", defaults.candidate_pool, 1..=DEEPEST)?,
        bm25_limit: count("bm25_limit", defaults.bm25_limit, 1..=DEEPEST)?.max(count(
            "candidate_k",
            defaults.bm25_limit,
            1..=DEEPEST,
        )?),
        tag_filter: reader
            .text("tag_filter")?
            .map(|tags| {
                tags.split(',')
                    .map(str::trim)
                    .filter(|tag| !tag.is_empty())
                    .map(str::to_owned)
                    .collect()
            })
            .unwrap_or_default(),
        skip_min_length: count("skip_min_length", defaults.skip_min_length, 0..=1_000)?,
        skip_patterns: reader
            .file_lines("skip_patterns_file", warnings)?
            .iter()
            .map(|line| pattern(line))
            .collect::<HashSet<_>>(),
        weights: weights(&defaults.weights, &number)?,
        attention_base_increment: number(
            "attention_base_increment",
            defaults.attention_base_increment,
            INCREMENT,
        )?,
        attention_emotion_factor: number(
            "attention_emotion_factor",
            defaults.attention_emotion_factor,
            INCREMENT,
        )?,
        entity_cooc_top_n: count("entity_cooc_top_n", defaults.entity_cooc_top_n, 0..=100)?,
        entity_cooc_min_count: count("entity_cooc_min_count", 2, 1..=1_000_000)? as u64,
        user_entities: reader.file_lines("entities_file", warnings)?.join("\n"),
        agent_id: reader.text("agent_id")?,
        is_primary: reader.boolean("is_primary", defaults.is_primary)?,
        max_content_chars: count("max_content_chars", defaults.max_content_chars, 1..=LONGEST)?,
        max_context_chars: count("max_context_chars", defaults.max_context_chars, 1..=LONGEST)?,
        signals_max_age: defaults.signals_max_age,
    };
    if !settings.listen.ip().is_loopback() && !reader.boolean("allow_unauthenticated", false)? {
        return Err(ConfigError::Combination(format!(
            "`listen` is `{}`, which other machines can reach\nhint: listen on 127.0.0.1, or set `allow_unauthenticated` to true",
            settings.listen
        )));
    }
    Ok(settings)
}

fn weights(
    defaults: &Weights,
    number: &impl Fn(&'static str, f64, RangeInclusive<f64>) -> Result<f64, ConfigError>,
) -> Result<Weights, ConfigError> {
    Ok(Weights {
        decay_half_days: number("decay_half_days", defaults.decay_half_days, HALF_LIFE)?,
        decay_floor: number("decay_floor", defaults.decay_floor, SHARE)?,
        hot_topic_decay_half_days: number(
            "hot_topic_decay_half_days",
            defaults.hot_topic_decay_half_days,
            HALF_LIFE,
        )?,
        sentiment_boost_positive: number(
            "sentiment_boost_positive",
            defaults.sentiment_boost_positive,
            BOOST,
        )?,
        sentiment_boost_negative: number(
            "sentiment_boost_negative",
            defaults.sentiment_boost_negative,
            BOOST,
        )?,
        emotion_intensity_factor: number(
            "emotion_intensity_factor",
            defaults.emotion_intensity_factor,
            SHARE,
        )?,
        feedback_positive_boost: number(
            "feedback_positive_boost",
            defaults.feedback_positive_boost,
            BOOST,
        )?,
        feedback_negative_penalty: number(
            "feedback_negative_penalty",
            defaults.feedback_negative_penalty,
            SHARE,
        )?,
        hot_topic_boost: number("hot_topic_boost", defaults.hot_topic_boost, BOOST)?,
        attention_boost_max: number("attention_boost_max", defaults.attention_boost_max, BOOST)?,
        factor_influence: number("factor_influence", defaults.factor_influence, SHARE)?,
    })
}

/// Where data goes when nothing else is said: the platform's folder for it.
pub(super) fn platform_data_dir(home: Option<&Path>, xdg_data_home: Option<&str>) -> PathBuf {
    let home = home.unwrap_or(Path::new("."));
    match xdg_data_home.filter(|path| Path::new(path).is_absolute()) {
        Some(path) => Path::new(path).join("keepsake"),
        None if cfg!(target_os = "macos") => home.join("Library/Application Support/keepsake"),
        None => home.join(".local/share/keepsake"),
    }
}

struct Reader<'a> {
    layers: &'a Layers,
    home: Option<PathBuf>,
}

impl Reader<'_> {
    fn number(
        &self,
        key: &str,
        default: f64,
        range: RangeInclusive<f64>,
    ) -> Result<f64, ConfigError> {
        let Some(written) = self.layers.get(key) else {
            return Ok(default);
        };
        let number = match &written.value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) if is_text_layer(written) => text.trim().parse().ok(),
            _ => None,
        };
        let allowed = || format!("a number from {} to {}", range.start(), range.end());
        number
            .filter(|number| range.contains(number))
            .ok_or_else(|| wrong(key, written, &allowed()))
    }

    fn count(
        &self,
        key: &str,
        default: usize,
        range: RangeInclusive<usize>,
    ) -> Result<usize, ConfigError> {
        let Some(written) = self.layers.get(key) else {
            return Ok(default);
        };
        let count = match &written.value {
            Value::Number(number) => number
                .as_u64()
                .and_then(|count| usize::try_from(count).ok()),
            Value::String(text) if is_text_layer(written) => text.trim().parse().ok(),
            _ => None,
        };
        let allowed = || format!("a whole number from {} to {}", range.start(), range.end());
        count
            .filter(|count| range.contains(count))
            .ok_or_else(|| wrong(key, written, &allowed()))
    }

    fn boolean(&self, key: &str, default: bool) -> Result<bool, ConfigError> {
        let Some(written) = self.layers.get(key) else {
            return Ok(default);
        };
        match &written.value {
            Value::Bool(value) => Ok(*value),
            Value::String(text) if is_text_layer(written) && text == "true" => Ok(true),
            Value::String(text) if is_text_layer(written) && text == "false" => Ok(false),
            _ => Err(wrong(key, written, "true or false")),
        }
    }

    /// A text; an empty one is as if unset.
    fn text(&self, key: &str) -> Result<Option<String>, ConfigError> {
        match self.layers.get(key) {
            None => Ok(None),
            Some(Written {
                value: Value::String(text),
                ..
            }) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
            Some(written) => Err(wrong(key, written, "a text")),
        }
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        let text = self.text(key).ok().flatten()?;
        match (text.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => Some(home.join(rest)),
            _ => Some(PathBuf::from(text)),
        }
    }

    /// The lines of a file that a key names, without comments and blank ones; a missing file is a
    /// warning.
    fn file_lines(
        &self,
        key: &str,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<String>, ConfigError> {
        self.text(key)?;
        let Some(path) = self.path(key) else {
            return Ok(Vec::new());
        };
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(text
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty() && !line.starts_with('#'))
                .map(str::to_owned)
                .collect()),
            Err(error) => {
                warnings.push(format!(
                    "`{key}`: cannot read `{}`: {error}",
                    path.display()
                ));
                Ok(Vec::new())
            }
        }
    }

    fn listen(&self, default: SocketAddr) -> Result<SocketAddr, ConfigError> {
        let Some(written) = self.layers.get("listen") else {
            return Ok(default);
        };
        let address = self
            .text("listen")?
            .and_then(|text| text.replace("localhost", "127.0.0.1").parse().ok());
        address.ok_or_else(|| {
            wrong(
                "listen",
                written,
                "an address with a port, such as 127.0.0.1:7437",
            )
        })
    }

    /// What is written about the store.
    fn store(&self) -> Result<redis::Written, ConfigError> {
        let count = |key: &str, most: usize| {
            let is_set = self.layers.get(key).is_some();
            let count = self.count(key, 0, 0..=most)?;
            Ok::<_, ConfigError>(is_set.then_some(count))
        };
        Ok(redis::Written {
            store: self.text("store")?,
            url: self.text("redis_url")?,
            host: self.text("redis_host")?,
            port: count("redis_port", 65_535)?,
            username: self.text("redis_username")?,
            password: self.text("redis_password")?,
            db: count("redis_db", 1_000_000)?,
            mode: self.text("redis_mode")?,
            sentinels: self.text("redis_sentinels")?,
            sentinel_master: self.text("redis_sentinel_master")?,
            sentinel_password: self.text("redis_sentinel_password")?,
            prefix: self.text("redis_prefix")?,
        })
    }
}

/// Flags and environment hold text only, so a number there is a text; in the file it is a mistake.
fn is_text_layer(written: &Written) -> bool {
    written.origin.starts_with("the ")
}

fn wrong(key: &str, written: &Written, allowed: &str) -> ConfigError {
    ConfigError::Value {
        origin: written.origin.clone(),
        key: key.to_owned(),
        found: format!("`{}`", written.value),
        allowed: allowed.to_owned(),
    }
}
