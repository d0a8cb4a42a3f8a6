//! The invariants of ARCHITECTURE.md that the compiler does not check, read from the source.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};

/// Top modules from the bottom up: each may use itself, its own row and the rows before it.
const LAYERS: [&[&str]; 13] = [
    &[
        "clock", "keys", "memory", "metrics", "parallel", "query", "recalls", "scope", "secret",
        "session", "signals", "vector", "analysis",
    ],
    &["ranking"],
    &["store"],
    &["outbound", "embedding", "chat"],
    &["meaning"],
    &["error"],
    &["config"],
    &["app"],
    &["write"],
    &["read"],
    &["maintenance"],
    &["evaluation", "skills"],
    &["http", "mcp", "cli"],
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every Rust file below a folder, relative to the source, with its text up to the first test module.
fn files() -> Vec<(String, String)> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    collect(&source(), &mut found);
    let name = |path: &Path| {
        path.strip_prefix(source())
            .unwrap()
            .to_string_lossy()
            .into_owned()
    };
    let is_test = |name: &str| {
        ["conformance", "properties", "test_tokens", "/tests.rs"]
            .iter()
            .any(|part| name.contains(part))
    };
    found
        .iter()
        .map(|path| (name(path), std::fs::read_to_string(path).unwrap()))
        .filter(|(name, _)| !is_test(name))
        .map(|(name, text)| (name, code(&text)))
        .collect()
}

/// The lines of a file that are neither comments nor tests.
fn code(text: &str) -> String {
    let before_tests = text
        .split("#[cfg(test)]\nmod tests")
        .next()
        .unwrap_or_default();
    let lines = before_tests
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Files that hold one of the words although they are not below the given folders or files.
fn strays(words: &[&str], allowed: &[&str]) -> Vec<String> {
    let outside = |name: &str| !allowed.iter().any(|place| name.starts_with(place));
    let mut strays = Vec::new();
    for (name, text) in files().iter().filter(|(name, _)| outside(name)) {
        let found = words.iter().filter(|word| text.contains(**word));
        strays.extend(found.map(|word| format!("{name} has `{word}`")));
    }
    strays
}

fn check(words: &[&str], allowed: &[&str]) {
    assert_eq!(strays(words, allowed), Vec::<String>::new());
}

#[test]
fn modules_use_only_what_lies_below_them() {
    let layer = |module: &str| LAYERS.iter().position(|row| row.contains(&module));
    let mut strays = Vec::new();
    for (name, text) in files() {
        let module = name.split(['/', '.']).next().unwrap_or_default();
        let Some(own) = layer(module) else { continue };
        for (at, _) in text.match_indices("crate::") {
            let used: String = text[at + 7..]
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            // Both ways in are for people and programs; the command line calls the routes.
            let allowed = layer(&used).is_none_or(|used_layer| used_layer <= own);
            if !allowed {
                strays.push(format!("{name} uses `crate::{used}`"));
            }
        }
    }
    // Skip patterns are folded as the gate compares them, so that both agree.
    strays.retain(|stray| stray != "config/resolve.rs uses `crate::read`");
    assert_eq!(strays, Vec::<String>::new());
}

#[test]
fn every_module_has_a_layer() {
    for (name, _) in files() {
        let module = name.split(['/', '.']).next().unwrap_or_default();
        let known =
            LAYERS.iter().any(|row| row.contains(&module)) || matches!(module, "lib" | "main");
        assert!(known, "{name} belongs to no layer of this test");
    }
}

#[test]
fn analysis_and_ranking_are_pure() {
    let effects = [
        "async ", "Result<", "serde", "Utc::now", "Instant", "std::fs", "tokio",
    ];
    let pure: Vec<String> = files()
        .into_iter()
        .filter(|(name, _)| name.starts_with("analysis/") || name.starts_with("ranking/"))
        .flat_map(|(name, text)| {
            let found = effects.iter().filter(|word| text.contains(**word));
            found
                .map(|word| format!("{name} has `{word}`"))
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(pure, Vec::<String>::new());
}

#[test]
fn sql_stays_in_its_store() {
    check(
        &["rusqlite", "SELECT ", "INSERT INTO", "UPDATE "],
        // The importer of another memory's database reads a file that is no store of ours.
        &["store/embedded/", "cli/import/retinue.rs"],
    );
}

#[test]
fn http_stays_in_its_folder() {
    check(&["axum"], &["http/"]);
    check(
        &["StatusCode"],
        &[
            "http/problem.rs",
            "http/memories.rs",
            "http/health.rs",
            // Gives an answer again as it was.
            "http/idempotency.rs",
        ],
    );
}

#[test]
fn domain_types_have_no_wire_format() {
    let domain = ["memory.rs", "query.rs", "scope.rs", "signals.rs"];
    for (name, text) in files()
        .iter()
        .filter(|(name, _)| domain.contains(&name.as_str()))
    {
        assert!(
            !text.contains("Serialize") && !text.contains("Deserialize"),
            "{name} derives serde"
        );
    }
}

#[test]
fn time_and_environment_are_read_at_the_rim() {
    check(&["Utc::now", "SystemTime"], &["clock.rs"]);
    check(&["std::env::"], &["main.rs"]);
}

/// Long files have two jobs; each one here has a reason.
#[test]
fn files_are_short() {
    for (name, text) in files() {
        assert!(
            text.lines().count() <= 450,
            "{name} is longer than 450 lines of code"
        );
    }
}
