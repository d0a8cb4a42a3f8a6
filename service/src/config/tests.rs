use std::collections::BTreeSet;

use serde_json::json;

use super::*;

fn environment(variables: &[(&str, &str)]) -> Environment {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    variables.iter().map(owned).collect()
}

/// A configuration file in a folder of its own.
struct File(tempfile::TempDir);

impl File {
    fn new(text: &str) -> File {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config.json"), text).unwrap();
        File(folder)
    }

    fn path(&self) -> String {
        self.0
            .path()
            .join("config.json")
            .to_str()
            .unwrap()
            .to_owned()
    }

    fn environment(&self, more: &[(&str, &str)]) -> Environment {
        let mut all = environment(more);
        all.insert("KEEPSAKE_CONFIG".to_owned(), self.path());
        all.insert("HOME".to_owned(), "/home/ann".to_owned());
        all
    }
}

fn with_file(text: &str) -> Result<Loaded, ConfigError> {
    load(&Flags::new(), &File::new(text).environment(&[]))
}

fn errors(text: &str) -> String {
    let file = File::new(text);
    let error = load(&Flags::new(), &file.environment(&[]))
        .unwrap_err()
        .to_string();
    error.replace(&file.path(), "config.json")
}

/// The specification's table, a line for each key: name, default, names in the environment, a value
/// that is not the default, one of the wrong type, and one that is out of range or none of the words.
const TABLE: &str = r#"
store | "auto" | KEEPSAKE_STORE | "embedded" | true | "postgres"
listen | "127.0.0.1:7437" | KEEPSAKE_LISTEN | "127.0.0.1:1" | 7437 | "nowhere"
allow_unauthenticated | false | KEEPSAKE_ALLOW_UNAUTHENTICATED | true | "false" |
api_keys | [] | KEEPSAKE_API_KEY KEEPSAKE_API_KEYS | [{"name": "n", "hash": "sha256:0000000000000000000000000000000000000000000000000000000000000000"}] | "key" | [1]
data_dir | "/home/ann/.local/share/keepsake" | KEEPSAKE_DATA_DIR | "/srv/k" | 1 |
redis_url | null | KEEPSAKE_REDIS_URL | "redis://h" | 1 |
redis_host | "127.0.0.1" | KEEPSAKE_REDIS_HOST | "h" | 1 |
redis_port | 6379 | KEEPSAKE_REDIS_PORT | 6380 | "6379" | 65536
redis_username | null | KEEPSAKE_REDIS_USERNAME | "ann" | 1 |
redis_password | null | KEEPSAKE_REDIS_PASSWORD | "pw" | 1 |
redis_db | 0 | KEEPSAKE_REDIS_DB | 3 | 1.5 | -1
redis_mode | "single" | KEEPSAKE_REDIS_MODE | "sentinel" | 1 | "cluster"
redis_sentinels | null | KEEPSAKE_REDIS_SENTINELS | "one:26379,two" | 1 |
redis_sentinel_master | "mymaster" | KEEPSAKE_REDIS_SENTINEL_MASTER | "main" | 1 |
redis_sentinel_password | null | KEEPSAKE_REDIS_SENTINEL_PASSWORD | "pw" | 1 |
redis_prefix | null | KEEPSAKE_REDIS_PREFIX | "mine:" | 1 |
top_k | 5 | KEEPSAKE_TOP_K | 7 | "five" | 0
candidate_pool | 100 | KEEPSAKE_CANDIDATE_POOL | 200 | 2.5 | 10001
candidate_k | 10 | KEEPSAKE_CANDIDATE_K | 20 | "20" | 0
bm25_limit | 10 | KEEPSAKE_BM25_LIMIT | 20 | [20] | 0
tag_filter | "" | KEEPSAKE_TAG_FILTER | "a, b" | ["a"] |
skip_min_length | 2 | KEEPSAKE_SKIP_MIN_LENGTH | 1 | "1" | -1
skip_patterns_file | null | KEEPSAKE_SKIP_PATTERNS_FILE | "LINES" | 1 |
decay_half_days | 60 | KEEPSAKE_DECAY_HALF_DAYS | 7.5 | "60" | 0
decay_floor | 0.5 | KEEPSAKE_DECAY_FLOOR | 0.25 | "0.5" | 1.5
hot_topic_decay_half_days | 30 | KEEPSAKE_HOT_TOPIC_DECAY_HALF_DAYS | 7.5 | true | 0
hot_topic_boost | 1.2 | KEEPSAKE_HOT_TOPIC_BOOST | 1.5 | "1" | 0.5
sentiment_boost_positive | 1.5 | KEEPSAKE_SENTIMENT_BOOST_POSITIVE | 1.25 | "1" | 11
sentiment_boost_negative | 1.3 | KEEPSAKE_SENTIMENT_BOOST_NEGATIVE | 1.25 | "1" | 0
emotion_intensity_factor | 0.4 | KEEPSAKE_EMOTION_INTENSITY_FACTOR | 0.25 | "1" | 2
feedback_positive_boost | 1.3 | KEEPSAKE_FEEDBACK_POSITIVE_BOOST | 1.25 | "1" | 0
feedback_negative_penalty | 0.5 | KEEPSAKE_FEEDBACK_NEGATIVE_PENALTY | 0.25 | "1" | 2
attention_boost_max | 1.5 | KEEPSAKE_ATTENTION_BOOST_MAX | 1.25 | "1" | 0
attention_base_increment | 2.0 | KEEPSAKE_ATTENTION_BASE_INCREMENT | 3.5 | "1" | -1
attention_emotion_factor | 1.5 | KEEPSAKE_ATTENTION_EMOTION_FACTOR | 3.5 | "1" | -1
factor_influence | 0.2 | KEEPSAKE_FACTOR_INFLUENCE | 0.75 | "1" | 1.01
embedder.provider | "auto" | KEEPSAKE_EMBEDDER KEEPSAKE_EMBEDDER_PROVIDER | "none" | 1 |
embedder.base_url | null | KEEPSAKE_EMBEDDER_URL KEEPSAKE_EMBEDDER_BASE_URL | "http://h" | 1 |
embedder.model | null | KEEPSAKE_EMBEDDER_MODEL | "m" | 1 |
embedder.api_key | null | KEEPSAKE_EMBEDDER_API_KEY | "k" | 1 |
embed_cache_ttl | 3600 | KEEPSAKE_EMBED_CACHE_TTL | 60 | "60" | -1
vector_index | "flat" | KEEPSAKE_VECTOR_INDEX | "flat" | 1 | "hnsw"
consolidate_min_group | 2 | KEEPSAKE_CONSOLIDATE_MIN_GROUP | 3 | "3" | 1
consolidate_max_age_hours | 72 | KEEPSAKE_CONSOLIDATE_MAX_AGE_HOURS | 3 | "3" | -1
llm.base_url | null | KEEPSAKE_LLM_URL KEEPSAKE_LLM_BASE_URL | "http://h" | 1 |
llm.model | null | KEEPSAKE_LLM_MODEL | "m" | 1 |
llm.api_key | null | KEEPSAKE_LLM_API_KEY | "k" | 1 |
forget_max_age_days | 30 | KEEPSAKE_FORGET_MAX_AGE_DAYS | 3 | "3" | -1
forget_dry_run | true | KEEPSAKE_FORGET_DRY_RUN | false | "false" |
trash_days | 30 | KEEPSAKE_TRASH_DAYS | 3 | "3" | -1
dedup_threshold | 0.65 | KEEPSAKE_DEDUP_THRESHOLD | 0.75 | "1" | 2
synonym_min_word_freq | 10 | KEEPSAKE_SYNONYM_MIN_WORD_FREQ | 3 | "3" | 0
synonym_jaccard_threshold | 0.5 | KEEPSAKE_SYNONYM_JACCARD_THRESHOLD | 0.75 | "1" | 2
synonym_min_co_occurrence | 3 | KEEPSAKE_SYNONYM_MIN_CO_OCCURRENCE | 4 | "3" | 0
entity_cooc_top_n | 3 | KEEPSAKE_ENTITY_COOC_TOP_N | 4 | "3" | 101
entity_cooc_min_count | 2 | KEEPSAKE_ENTITY_COOC_MIN_COUNT | 4 | "3" | 0
entities_file | null | KEEPSAKE_ENTITIES_FILE | "LINES" | 1 |
redact_secrets | "automatic" | KEEPSAKE_REDACT_SECRETS | "always" | true | "sometimes"
agent_id | "" | KEEPSAKE_AGENT_ID | "alpha" | 1 |
is_primary | false | KEEPSAKE_IS_PRIMARY | true | "false" |
max_content_chars | 65536 | KEEPSAKE_MAX_CONTENT_CHARS | 100 | "100" | 0
max_context_chars | 8000 | KEEPSAKE_MAX_CONTEXT_CHARS | 100 | "100" | 0
"#;

/// A line of the table.
struct Line {
    key: &'static str,
    default: Value,
    names: Vec<&'static str>,
    value: Value,
    wrong: Value,
    outside: Option<Value>,
}

fn lines() -> Vec<Line> {
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let line = |line: &'static str| {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let [key, default, names, value, wrong, outside] = columns.try_into().unwrap();
        Line {
            key,
            default: json(default),
            names: names.split(' ').collect(),
            value: json(value),
            wrong: json(wrong),
            outside: (!outside.is_empty()).then(|| json(outside)),
        }
    };
    TABLE.trim().lines().map(line).collect()
}

/// A file that sets one key, nested if it has a dot.
fn setting(key: &str, value: &Value) -> String {
    match key.split_once('.') {
        Some((group, name)) => json!({group: {name: value}}).to_string(),
        // Whoever asks sentinels names one.
        None if key == "redis_mode" => json!({key: value, "redis_sentinels": "one"}).to_string(),
        None => json!({key: value}).to_string(),
    }
}

fn shown(report: &Report, key: &str) -> Shown {
    let found = report.shown.iter().find(|shown| shown.key == key);
    found.unwrap().clone()
}

/// Numbers compared as numbers: 60 is 60.0.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => (one - other).abs() < 1e-9,
        _ => one == other,
    }
}

#[test]
fn every_key_has_a_line_in_these_tests() {
    let tested: BTreeSet<&str> = lines().iter().map(|line| line.key).collect();
    let known: BTreeSet<&str> = raw::KEYS.iter().map(|key| key.name).collect();
    assert_eq!(tested, known);
}

#[test]
fn every_key_has_its_default() {
    let home = environment(&[("HOME", "/home/ann")]);
    let report = report(&Flags::new(), &home);
    for Line { key, default, .. } in lines() {
        let shown = shown(&report, key);
        assert!(same(&shown.value, &default), "{shown:?}, not {default}");
        assert_eq!(shown.origin, Origin::Default);
    }
    assert!(report.faults.is_empty() && report.warnings.is_empty());
}

#[test]
fn every_key_is_read_from_the_file_and_from_the_environment_which_is_stronger() {
    for line in lines() {
        let Line {
            key,
            default,
            names,
            value,
            ..
        } = line;
        let is_secret = raw::find(key).unwrap().kind.is_secret();
        let expected = |value: &Value| {
            if is_secret {
                json!("***")
            } else {
                value.clone()
            }
        };

        let file = File::new(&setting(key, &value));
        let written = report(&Flags::new(), &file.environment(&[]));
        let found = shown(&written, key);
        assert!(same(&found.value, &expected(&value)), "{found:?}");
        assert!(
            matches!(found.origin, Origin::File { line: 1, .. }),
            "{found:?}"
        );
        assert!(written.faults.is_empty(), "{:?}", written.faults);

        let text = |value: &Value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        };
        let over = File::new(&setting(key, &default));
        for name in &names {
            let set = report(&Flags::new(), &over.environment(&[(name, &text(&value))]));
            let found = shown(&set, key);
            let as_text = if raw::find(key).unwrap().kind == raw::Kind::Secrets {
                json!("***")
            } else {
                expected(&value)
            };
            assert!(same(&found.value, &as_text), "{name}: {found:?}");
            assert_eq!(found.origin, Origin::Environment((*name).to_owned()));
            assert!(set.faults.is_empty(), "{name}: {:?}", set.faults);
        }
        // An empty value is as if unset.
        let empty = report(&Flags::new(), &file.environment(&[(names[0], "")]));
        assert!(same(&shown(&empty, key).value, &expected(&value)), "{key}");
    }
}

#[test]
fn every_value_of_the_wrong_type_or_out_of_range_is_told_with_its_place() {
    for line in lines() {
        let Line {
            key,
            names,
            wrong,
            outside,
            ..
        } = line;
        let allowed = raw::find(key).unwrap().kind.allowed();
        for value in [Some(wrong), outside.clone()].into_iter().flatten() {
            let told = errors(&setting(key, &value));
            assert!(told.contains(&format!("`{key}` is ")), "{told}");
            assert!(told.starts_with("`config.json`, line 1, column "), "{told}");
            assert!(told.ends_with(&format!("allowed is {allowed}")), "{told}");
        }
        let text = outside.map(|value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        });
        if let Some(text) = text.filter(|_| key != "api_keys") {
            let told = load(&Flags::new(), &environment(&[(names[0], &text)])).unwrap_err();
            let place = format!("the environment variable `{}`: `{key}` is ", names[0]);
            assert!(told.to_string().starts_with(&place), "{told}");
        }
    }
}

#[test]
fn every_key_has_an_effect_or_says_that_it_has_none() {
    let more = File::new("a line");
    for Line {
        key,
        default,
        value,
        ..
    } in lines()
    {
        let value = if value == "LINES" {
            json!(more.path())
        } else {
            value
        };
        if same(&value, &default) || matches!(key, "store" | "allow_unauthenticated") {
            continue;
        }
        let loaded = with_file(&setting(key, &value)).unwrap();
        let plain = with_file("{}").unwrap().settings;
        let none = loaded
            .warnings
            .iter()
            .any(|warning| warning.ends_with("has no effect with these settings"));
        assert_eq!(
            loaded.settings == plain,
            none,
            "{key}: {:?}",
            loaded.warnings
        );
    }
}

#[test]
fn the_defaults_of_the_weights_are_those_of_the_ranking() {
    assert_eq!(Settings::default().weights, Weights::default());
}

#[test]
fn the_example_names_every_key_that_has_an_effect_with_its_default() {
    let example = include_str!("../../../config.example.json");
    let file = File::new(example);
    let environment = file.environment(&[]);
    let (_, read) = Read::gather(&Flags::new(), &environment);
    for key in read.values.asked() {
        let name = key.split('.').next_back().unwrap();
        assert!(
            example.contains(&format!("\"{name}\":")),
            "{key} is missing"
        );
    }
    assert_eq!(read.warnings, Vec::<String>::new());
    assert!(read.faults.is_empty());
    let home = environment.get("HOME").unwrap();
    let unset = load(&Flags::new(), &self::environment(&[("HOME", home)])).unwrap();
    assert_eq!(read.settings, unset.settings);
}

#[test]
fn flags_are_stronger_than_the_environment_and_that_than_the_file() {
    let file = File::new(r#"{"top_k": 1, "candidate_pool": 2, "bm25_limit": 3}"#);
    let environment =
        file.environment(&[("KEEPSAKE_TOP_K", "4"), ("KEEPSAKE_CANDIDATE_POOL", "5")]);
    let flags = Flags::from([("top_k", "6".to_owned())]);
    let settings = load(&flags, &environment).unwrap().settings;
    let found = (settings.top_k, settings.candidate_pool, settings.bm25_limit);
    assert_eq!(found, (6, 5, 10), "a lower limit does not lower the other");
}

#[test]
fn every_problem_is_told_at_once_with_line_and_column() {
    let told = errors(
        "{\n  // a comment\n  \"top_k\": \"five\",\n  \"is_primary\": \"false\", \"decay_floor\": 2,\n  \"llm\": 3,\n  \"top_k\": 4,\n}",
    );
    assert_eq!(
        told,
        "`config.json`, line 5, column 3: `llm` is `3`, allowed is an object\n\
         `config.json`, line 6, column 3: `top_k` is there a second time, allowed is one value\n\
         `config.json`, line 4, column 26: `decay_floor` is `2`, allowed is a number from 0 to 1\n\
         `config.json`, line 4, column 3: `is_primary` is `\"false\"`, allowed is true or false\n\
         `config.json`, line 3, column 3: `top_k` is `\"five\"`, allowed is a whole number from 1 to 1000"
    );
}

#[test]
fn broken_json_is_told_with_line_and_column() {
    for (text, told) in [
        (
            "{\n  \"top_k\": \n}",
            "`config.json`, line 3, column 1: not valid JSON: ",
        ),
        (
            "{\"top_k\": 5",
            "`config.json`, line 1, column 1: not valid JSON: unterminated object",
        ),
        (
            "{\"top_k\" 5}",
            "`config.json`, line 1, column 10: not valid JSON: ",
        ),
        (
            "{\"a\": 1 \"b\": 2}",
            "`config.json`, line 1, column 8: not valid JSON: expected comma",
        ),
        (
            "{'top_k': 5}",
            "not valid JSON: single-quoted strings are not allowed",
        ),
        ("{top_k: 5}", "not valid JSON: "),
        (
            "[1]",
            "`config.json`, line 1, column 1: not valid JSON: it must hold one object",
        ),
        (
            "{} {}",
            "not valid JSON: text cannot contain more than one json value",
        ),
    ] {
        let error = errors(text);
        assert!(error.contains(told), "{text}: {error}");
    }
    let deep = format!("{{\"api_keys\": {}", "[".repeat(100_000));
    assert!(errors(&deep).contains("nesting depth"));
}

#[test]
fn comments_trailing_commas_and_a_byte_order_mark_are_no_fault() {
    let text = "\u{feff}// one\n{ /* two */ \"top_k\": 9, // three\n}\n";
    assert_eq!(with_file(text).unwrap().settings.top_k, 9);
    for empty in [
        "",
        "  \n",
        "// nothing",
        "{}",
        "{\"top_k\": null}",
        "{\"agent_id\": \"\"}",
        "{\"embedder\": null}",
    ] {
        assert_eq!(
            with_file(empty).unwrap().warnings,
            Vec::<String>::new(),
            "{empty}"
        );
    }
}

#[test]
fn an_address_that_others_reach_is_refused_unless_it_is_wanted() {
    let told = errors(r#"{"listen": "0.0.0.0:80"}"#);
    assert!(told.starts_with("`config.json`, line 1, column 2: `listen` is `0.0.0.0:80`, which other machines can reach without an API key\nhint: "), "{told}");
    let wanted = r#"{"listen": "[::]:80", "allow_unauthenticated": true}"#;
    assert_eq!(with_file(wanted).unwrap().settings.listen.port(), 80);
    let local = with_file(r#"{"listen": "localhost:80"}"#).unwrap().settings;
    assert_eq!(local.listen.to_string(), "127.0.0.1:80");
}

#[test]
fn unknown_names_are_warnings_with_the_nearest_name() {
    let file = File::new(r#"{"topk": 3, "embedder": {"modle": "m"}, "zzzzzz": 1}"#);
    let environment = file.environment(&[
        ("KEEPSAKE_TOPK", "3"),
        ("KEEPSAKE_LOG", "info"),
        ("UNRELATED", "1"),
    ]);
    let warnings = load(&Flags::new(), &environment).unwrap().warnings;
    let warnings: Vec<String> = warnings
        .iter()
        .map(|warning| warning.replace(&file.path(), "config.json"))
        .collect();
    assert_eq!(
        warnings,
        [
            "`config.json`, line 1, column 2: unknown key `topk`\nhint: did you mean `top_k`?",
            "`config.json`, line 1, column 26: unknown key `embedder.modle`\nhint: did you mean `embedder.model`?",
            "`config.json`, line 1, column 41: unknown key `zzzzzz`",
            "unknown environment variable `KEEPSAKE_TOPK`\nhint: did you mean `KEEPSAKE_TOP_K`?",
        ]
    );
}

#[test]
fn secrets_are_in_no_message() {
    let text = r#"{"redis_password": ["hunter2"], "llm": {"api_key": {"a": "hunter2"}}, "api_keys": "hunter2", "redis_url": 1}"#;
    let file = File::new(text);
    let report = report(
        &Flags::new(),
        &file.environment(&[("KEEPSAKE_EMBEDDER_API_KEY", "hunter2")]),
    );
    let debugged = format!("{report:?}");
    let everything = format!("{debugged} {}", ConfigError(report.faults));
    assert!(!everything.contains("hunter2"), "{everything}");
    assert!(everything.contains("`redis_password` is a list of something else, allowed is a text"));
}

#[test]
fn a_key_of_a_provider_goes_to_that_provider_alone() {
    let keys = [("OPENAI_API_KEY", "o"), ("DASHSCOPE_API_KEY", "d")];
    for (provider, origin) in [
        ("auto", None),
        ("ollama", None),
        ("openai", Some("OPENAI_API_KEY")),
        ("dashscope", Some("DASHSCOPE_API_KEY")),
    ] {
        let file = File::new(&setting("embedder.provider", &json!(provider)));
        let report = report(&Flags::new(), &file.environment(&keys));
        let expected = origin.map_or(Origin::Default, |name| Origin::Environment(name.to_owned()));
        assert_eq!(
            shown(&report, "embedder.api_key").origin,
            expected,
            "{provider}"
        );
    }
}

#[test]
fn a_model_alone_is_one_of_openais_and_gets_its_key() {
    let file = File::new(&setting("embedder.model", &json!("text-embedding-3-large")));
    let loaded = load(
        &Flags::new(),
        &file.environment(&[("OPENAI_API_KEY", "hunter2")]),
    );
    let Choice::Remote(endpoint) = loaded.unwrap().settings.embedder else {
        panic!("a model is a reason to ask a service");
    };
    assert_eq!(endpoint.api_key.expose(), "hunter2");
    assert!(!format!("{endpoint:?}").contains("hunter2"));
}

#[test]
fn a_tilde_is_the_home_folder_where_a_path_is_meant() {
    for (written, path) in [
        ("~/k", "/home/ann/k"),
        ("~", "/home/ann"),
        ("~bob/k", "~bob/k"),
        ("/a/~/k", "/a/~/k"),
    ] {
        let loaded = with_file(&setting("data_dir", &json!(written))).unwrap();
        assert_eq!(loaded.settings.data_dir, Path::new(path));
    }
    assert_eq!(
        with_file(r#"{"agent_id": "~/x"}"#)
            .unwrap()
            .settings
            .agent_id
            .unwrap(),
        "~/x"
    );
}

#[test]
fn a_missing_file_is_fine_unless_it_was_named() {
    assert!(load(&Flags::new(), &environment(&[("HOME", "/nonexistent")])).is_ok());
    let named = environment(&[("KEEPSAKE_CONFIG", "/nonexistent/config.json")]);
    let error = load(&Flags::new(), &named).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot read the configuration `/nonexistent/config.json`: "),
        "{error}"
    );
    let missing = with_file(r#"{"skip_patterns_file": "/nonexistent/skip"}"#).unwrap();
    assert!(
        missing.warnings[0].starts_with("`skip_patterns_file`: cannot read `/nonexistent/skip`"),
        "{:?}",
        missing.warnings
    );
}

#[test]
fn the_skip_patterns_that_are_shipped_are_read() {
    let file = File::new(EXAMPLE_SKIP_PATTERNS);
    let loaded = with_file(&setting("skip_patterns_file", &json!(file.path()))).unwrap();
    let patterns = loaded.settings.skip_patterns;
    assert_eq!(
        patterns.len(),
        EXAMPLE_SKIP_PATTERNS.lines().count() - 1,
        "{patterns:?}"
    );
    assert!(patterns.contains("ok") && patterns.contains("好的"));
}

mod reloading {
    use super::super::reload::{Reloaded, Source};
    use super::*;

    fn source(file: &File) -> (Source, Settings) {
        let (source, loaded) = Source::load(Flags::new(), file.environment(&[])).unwrap();
        (source, loaded.settings)
    }

    fn edit(file: &File, text: &str) {
        std::fs::write(file.path(), text).unwrap();
    }

    fn changed(source: &Source) -> Loaded {
        match source.reload() {
            Reloaded::Changed(loaded) => *loaded,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_change_is_seen_once() {
        let file = File::new(r#"{"top_k": 3}"#);
        let (source, _) = source(&file);
        assert!(matches!(source.reload(), Reloaded::Unchanged));
        edit(&file, r#"{"top_k": 4}"#);
        assert_eq!(changed(&source).settings.top_k, 4);
        assert!(matches!(source.reload(), Reloaded::Unchanged));
    }

    #[test]
    fn a_broken_edit_is_told_once_and_a_sound_one_heals_it() {
        let file = File::new(r#"{"top_k": 3}"#);
        let (source, _) = source(&file);
        for broken in ["{", r#"{"top_k": 0}"#, "", r#"{"listen": "0.0.0.0:1"}"#] {
            edit(&file, broken);
            assert!(matches!(source.reload(), Reloaded::Broken(_)), "{broken}");
            assert!(matches!(source.reload(), Reloaded::Unchanged), "{broken}");
            edit(&file, r#"{"top_k": 3}"#);
            assert_eq!(changed(&source).settings.top_k, 3);
        }
        std::fs::remove_file(file.path()).unwrap();
        assert!(matches!(source.reload(), Reloaded::Broken(_)));
    }

    #[test]
    fn what_cannot_change_stays_and_says_that_it_needs_a_restart() {
        let file = File::new(r#"{"listen": "127.0.0.1:1", "top_k": 3}"#);
        let (source, start) = source(&file);
        edit(
            &file,
            r#"{"listen": "127.0.0.1:2", "data_dir": "/elsewhere", "top_k": 4}"#,
        );
        let loaded = changed(&source);
        assert_eq!(loaded.settings, Settings { top_k: 4, ..start });
        assert_eq!(
            loaded.warnings,
            [
                "`listen` changed: restart to use it",
                "`data_dir` changed: restart to use it"
            ]
        );
    }

    #[test]
    fn files_that_the_file_names_are_followed_too() {
        let patterns = File::new("ok");
        let file = File::new(&setting("skip_patterns_file", &json!(patterns.path())));
        let (source, _) = source(&file);
        edit(&patterns, "ok\nfine");
        assert_eq!(changed(&source).settings.skip_patterns.len(), 2);
    }
}
