//! What may be written: every key with its kind, range, default and names in the environment.

/// What a value must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A number in a range.
    Number(f64, f64),
    /// A whole number in a range.
    Count(u64, u64),
    Boolean,
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A file or folder; `~/` is the home folder.
    Path,
    /// A socket address with a port.
    Address,
    /// A text that is never shown.
    Secret,
    /// A list of objects; in the environment also a text that stands for one of them. Never shown.
    Secrets,
}

impl Kind {
    /// What is allowed, in words.
    pub fn allowed(&self) -> String {
        match self {
            Kind::Number(least, most) => format!("a number from {least} to {most}"),
            Kind::Count(least, most) => format!("a whole number from {least} to {most}"),
            Kind::Boolean => "true or false".to_owned(),
            Kind::Text | Kind::Secret => "a text".to_owned(),
            Kind::Choice([one]) => (*one).to_owned(),
            Kind::Choice(words) => {
                let (last, others) = words.split_last().unwrap_or((&"", &[]));
                format!("{} or {last}", others.join(", "))
            }
            Kind::Path => "the path of a file or folder".to_owned(),
            Kind::Address => "an address with a port, such as 127.0.0.1:7437".to_owned(),
            Kind::Secrets => "a list of objects".to_owned(),
        }
    }

    /// Whether values must not be shown.
    pub fn is_secret(&self) -> bool {
        matches!(self, Kind::Secret | Kind::Secrets)
    }
}

/// One key of the configuration.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Nested keys have a dot, as in `embedder.model`.
    pub name: &'static str,
    pub kind: Kind,
    /// As in the file; empty if there is none, or if it depends on the platform.
    pub default: &'static str,
    /// Further names in the environment.
    pub variables: &'static [&'static str],
    /// Whether a change needs a restart.
    pub restart: bool,
}

impl Key {
    /// Its names in the environment, the strongest first.
    pub fn environment_names(&self) -> impl Iterator<Item = String> {
        let own = self.name.to_uppercase().replace('.', "_");
        let further = self.variables.iter().map(|name| (*name).to_owned());
        std::iter::once(format!("KEEPSAKE_{own}")).chain(further)
    }
}

const fn key(name: &'static str, kind: Kind, default: &'static str) -> Key {
    Key {
        name,
        kind,
        default,
        variables: &[],
        restart: false,
    }
}

/// A key whose value is used when the process starts and never again.
const fn fixed(name: &'static str, kind: Kind, default: &'static str) -> Key {
    Key {
        restart: true,
        ..key(name, kind, default)
    }
}

const fn named(variables: &'static [&'static str], key: Key) -> Key {
    Key { variables, ..key }
}

/// Half-lives in days: none is zero.
const HALF_LIFE: Kind = Kind::Number(0.01, 1e6);
const BOOST: Kind = Kind::Number(1.0, 10.0);
const SHARE: Kind = Kind::Number(0.0, 1.0);
const INCREMENT: Kind = Kind::Number(0.0, 1_000.0);
/// Hits, depths of a retriever, lengths in characters, days.
const HITS: Kind = Kind::Count(1, 1_000);
const DEPTH: Kind = Kind::Count(1, 10_000);
const LENGTH: Kind = Kind::Count(1, 10_000_000);
const DAYS: Kind = Kind::Count(0, 100_000);

/// Every key.
pub const KEYS: [Key; 62] = [
    fixed(
        "store",
        Kind::Choice(&["auto", "redis", "embedded"]),
        r#""auto""#,
    ),
    fixed("listen", Kind::Address, r#""127.0.0.1:7437""#),
    fixed("allow_unauthenticated", Kind::Boolean, "false"),
    named(&["KEEPSAKE_API_KEY"], key("api_keys", Kind::Secrets, "[]")),
    fixed("data_dir", Kind::Path, ""),
    fixed("redis_url", Kind::Secret, ""),
    fixed("redis_host", Kind::Text, r#""127.0.0.1""#),
    fixed("redis_port", Kind::Count(1, 65_535), "6379"),
    fixed("redis_username", Kind::Text, ""),
    fixed("redis_password", Kind::Secret, ""),
    fixed("redis_db", Kind::Count(0, 65_535), "0"),
    fixed(
        "redis_mode",
        Kind::Choice(&["single", "sentinel"]),
        r#""single""#,
    ),
    fixed("redis_sentinels", Kind::Text, ""),
    fixed("redis_sentinel_master", Kind::Text, r#""mymaster""#),
    fixed("redis_sentinel_password", Kind::Secret, ""),
    fixed("redis_prefix", Kind::Text, ""),
    key("top_k", HITS, "5"),
    key("candidate_pool", DEPTH, "100"),
    key("candidate_k", DEPTH, "10"),
    key("bm25_limit", DEPTH, "10"),
    key("tag_filter", Kind::Text, r#""""#),
    key("skip_min_length", Kind::Count(0, 1_000), "2"),
    key("skip_patterns_file", Kind::Path, ""),
    key("decay_half_days", HALF_LIFE, "60"),
    key("decay_floor", SHARE, "0.5"),
    key("hot_topic_decay_half_days", HALF_LIFE, "30"),
    key("hot_topic_boost", BOOST, "1.2"),
    key("sentiment_boost_positive", BOOST, "1.5"),
    key("sentiment_boost_negative", BOOST, "1.3"),
    key("emotion_intensity_factor", SHARE, "0.4"),
    key("feedback_positive_boost", BOOST, "1.3"),
    key("feedback_negative_penalty", SHARE, "0.5"),
    key("attention_boost_max", BOOST, "1.5"),
    key("attention_base_increment", INCREMENT, "2.0"),
    key("attention_emotion_factor", INCREMENT, "1.5"),
    key("factor_influence", SHARE, "0.2"),
    named(
        &["KEEPSAKE_EMBEDDER"],
        fixed("embedder.provider", Kind::Text, r#""auto""#),
    ),
    named(
        &["KEEPSAKE_EMBEDDER_URL"],
        fixed("embedder.base_url", Kind::Text, ""),
    ),
    fixed("embedder.model", Kind::Text, ""),
    fixed("embedder.api_key", Kind::Secret, ""),
    key("embed_cache_ttl", Kind::Count(0, 31_536_000), "3600"),
    fixed("vector_index", Kind::Choice(&["flat"]), r#""flat""#),
    key("consolidate_min_group", Kind::Count(2, 1_000), "2"),
    key("consolidate_max_age_hours", Kind::Count(0, 1_000_000), "72"),
    named(&["KEEPSAKE_LLM_URL"], key("llm.base_url", Kind::Text, "")),
    key("llm.model", Kind::Text, ""),
    key("llm.api_key", Kind::Secret, ""),
    key("forget_max_age_days", DAYS, "30"),
    key("forget_dry_run", Kind::Boolean, "true"),
    key("trash_days", DAYS, "30"),
    key("dedup_threshold", SHARE, "0.65"),
    key("synonym_min_word_freq", Kind::Count(1, 1_000_000), "10"),
    key("synonym_jaccard_threshold", SHARE, "0.5"),
    key("synonym_min_co_occurrence", Kind::Count(1, 1_000_000), "3"),
    key("entity_cooc_top_n", Kind::Count(0, 100), "3"),
    key("entity_cooc_min_count", Kind::Count(1, 1_000_000), "2"),
    key("entities_file", Kind::Path, ""),
    key(
        "redact_secrets",
        Kind::Choice(&["never", "automatic", "always"]),
        r#""automatic""#,
    ),
    key("agent_id", Kind::Text, r#""""#),
    key("is_primary", Kind::Boolean, "false"),
    key("max_content_chars", LENGTH, "65536"),
    key("max_context_chars", LENGTH, "8000"),
];

/// Variables that are no keys: where the file is, where a service is, what is logged.
pub const OTHER_VARIABLES: [&str; 3] = ["KEEPSAKE_CONFIG", "KEEPSAKE_URL", "KEEPSAKE_LOG"];

/// The key of a name.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}
