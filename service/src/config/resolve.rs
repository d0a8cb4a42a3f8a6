//! From checked values to complete settings.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::{Fault, Origin};
use super::file::Files;
use super::keys;
use super::layers::Environment;
use super::values::Values;
use super::{Maintenance, RedactSecrets, Settings, redis};
use crate::chat;
use crate::embedding::Choice;
use crate::embedding::choice::{At, Wish};
use crate::ranking::Weights;
use crate::read::gates::pattern;
use crate::secret::Secret;

/// How old the topics that a read uses may be.
const SIGNALS_MAX_AGE: Duration = Duration::from_secs(1);

/// Puts settings together and checks what must fit together.
pub(super) fn resolve(
    values: &Values,
    environment: &Environment,
    files: &Files,
    warnings: &mut Vec<String>,
    faults: &mut Vec<Fault>,
) -> Settings {
    let lines = |key, warnings: &mut Vec<String>| file_lines(values, key, files, warnings);
    let settings = Settings {
        store: redis::choose(values, faults),
        listen: listen(values),
        api_keys: keys::resolve(values, faults),
        data_dir: values
            .path("data_dir")
            .unwrap_or_else(|| platform_data_dir(environment)),
        top_k: values.count("top_k"),
        candidate_pool: values.count("candidate_pool"),
        bm25_limit: values.count("bm25_limit").max(values.count("candidate_k")),
        tag_filter: listed(values.text("tag_filter")),
        skip_min_length: values.count("skip_min_length"),
        skip_patterns: lines("skip_patterns_file", warnings)
            .iter()
            .map(|line| pattern(line))
            .collect(),
        weights: weights(values),
        attention_base_increment: values.number("attention_base_increment"),
        attention_emotion_factor: values.number("attention_emotion_factor"),
        entity_cooc_top_n: values.count("entity_cooc_top_n"),
        entity_cooc_min_count: values.count("entity_cooc_min_count") as u64,
        user_entities: lines("entities_file", warnings).join("\n"),
        embedder: embedder(values, faults),
        embed_cache_ttl: Duration::from_secs(values.count("embed_cache_ttl") as u64),
        agent_id: values.text("agent_id"),
        is_primary: values.boolean("is_primary"),
        max_content_chars: values.count("max_content_chars"),
        max_context_chars: values.count("max_context_chars"),
        redact_secrets: match values.text("redact_secrets").as_deref() {
            Some("never") => RedactSecrets::Never,
            Some("always") => RedactSecrets::Always,
            _ => RedactSecrets::Automatic,
        },
        maintenance: maintenance(values),
        signals_max_age: SIGNALS_MAX_AGE,
    };
    check_listen(values, &settings, faults);
    settings
}

/// The embedder that is asked for on purpose.
fn embedder(values: &Values, faults: &mut Vec<Fault>) -> Choice {
    let text = |key| values.text(key).unwrap_or_default();
    let wish = Wish {
        provider: text("embedder.provider"),
        base_url: text("embedder.base_url"),
        model: text("embedder.model"),
    };
    let mut choice = wish.clone().choice().unwrap_or_else(|refused| {
        let (key, found) = match refused.at {
            At::Provider => ("embedder.provider", wish.provider),
            At::BaseUrl => ("embedder.base_url", wish.base_url),
        };
        faults.push(Fault::Combination {
            origin: values.origin(key).unwrap_or(&Origin::Default).clone(),
            key,
            found: format!("`{found}`"),
            problem: refused.problem.to_owned(),
            hint: refused.hint,
        });
        Choice::None
    });
    if let Choice::Remote(endpoint) = &mut choice {
        endpoint.api_key = Secret::new(text("embedder.api_key"));
    }
    choice
}

fn maintenance(values: &Values) -> Maintenance {
    let count = |key| u32::try_from(values.count(key)).unwrap_or(u32::MAX);
    Maintenance {
        consolidate_min_group: values.count("consolidate_min_group"),
        consolidate_max_age_hours: count("consolidate_max_age_hours"),
        llm: llm(values),
        forget_max_age_days: count("forget_max_age_days"),
        forget_dry_run: values.boolean("forget_dry_run"),
        trash_days: count("trash_days"),
        dedup_threshold: values.number("dedup_threshold"),
        synonym_min_word_freq: count("synonym_min_word_freq"),
        synonym_jaccard_threshold: values.number("synonym_jaccard_threshold"),
        synonym_min_co_occurrence: count("synonym_min_co_occurrence"),
    }
}

/// The chat model. One of address and name alone has no effect, and is said to have none.
fn llm(values: &Values) -> Option<chat::Endpoint> {
    let set = |key| values.origin(key).is_some();
    if !set("llm.base_url") || !set("llm.model") {
        return None;
    }
    let (base_url, model) = (values.text("llm.base_url")?, values.text("llm.model")?);
    Some(chat::Endpoint {
        base_url,
        model,
        api_key: Secret::new(values.text("llm.api_key").unwrap_or_default()),
        timeout: chat::TIMEOUT,
    })
}

fn weights(values: &Values) -> Weights {
    Weights {
        decay_half_days: values.number("decay_half_days"),
        decay_floor: values.number("decay_floor"),
        hot_topic_decay_half_days: values.number("hot_topic_decay_half_days"),
        sentiment_boost_positive: values.number("sentiment_boost_positive"),
        sentiment_boost_negative: values.number("sentiment_boost_negative"),
        emotion_intensity_factor: values.number("emotion_intensity_factor"),
        feedback_positive_boost: values.number("feedback_positive_boost"),
        feedback_negative_penalty: values.number("feedback_negative_penalty"),
        hot_topic_boost: values.number("hot_topic_boost"),
        attention_boost_max: values.number("attention_boost_max"),
        factor_influence: values.number("factor_influence"),
    }
}

/// Items between commas.
fn listed(text: Option<String>) -> Vec<String> {
    text.unwrap_or_default()
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The lines of a file that a key names, without comments and blank ones; a missing file is a
/// warning.
fn file_lines(
    values: &Values,
    key: &'static str,
    files: &Files,
    warnings: &mut Vec<String>,
) -> Vec<String> {
    let Some(path) = values.path(key) else {
        return Vec::new();
    };
    match files.read(&path) {
        Ok(text) => text
            .lines()
            .map(|line| line.trim_start_matches('\u{feff}').trim())
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(str::to_owned)
            .collect(),
        Err(error) => {
            warnings.push(format!(
                "`{key}`: cannot read `{}`: {error}",
                path.display()
            ));
            Vec::new()
        }
    }
}

fn listen(values: &Values) -> SocketAddr {
    let default = SocketAddr::from(([127, 0, 0, 1], 7437));
    values.address("listen").unwrap_or(default)
}

fn check_listen(values: &Values, settings: &Settings, faults: &mut Vec<Fault>) {
    // Asked for in any case, so that it is never said to have no effect.
    let allowed = values.boolean("allow_unauthenticated");
    let listen = settings.listen;
    if !listen.ip().is_loopback() && settings.api_keys.is_empty() && !allowed {
        faults.push(Fault::Combination {
            origin: values.origin("listen").unwrap_or(&Origin::Default).clone(),
            key: "listen",
            found: format!("`{listen}`"),
            problem: "which other machines can reach without an API key".to_owned(),
            hint: "make a key with `keepsake key create`, listen on 127.0.0.1, or set `allow_unauthenticated` to true",
        });
    }
}

/// Where data goes when nothing else is said: the platform's folder for it.
pub(super) fn platform_data_dir(environment: &Environment) -> PathBuf {
    let home = environment.get("HOME").map_or(Path::new("."), Path::new);
    let named = environment.get("XDG_DATA_HOME").map(Path::new);
    match named.filter(|path| path.is_absolute()) {
        Some(path) => path.join("keepsake"),
        None if cfg!(target_os = "macos") => home.join("Library/Application Support/keepsake"),
        None => home.join(".local/share/keepsake"),
    }
}
