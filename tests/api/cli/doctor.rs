//! `keepsake doctor` finds what is wrong and says how to mend it.

use serde_json::Value;

use super::{Home, run};

/// The findings with a setting or two, and whether the command failed.
fn examined(home: &Home, environment: &[(&str, &str)]) -> (Vec<Value>, i32) {
    let mut command = home.command(&["doctor", "--json"]);
    command.envs(environment.iter().copied());
    let output = run(command, b"");
    let answer: Value = serde_json::from_str(&output.stdout).unwrap();
    let findings = answer["findings"].as_array().unwrap().clone();
    for finding in &findings {
        let is_fine = finding["grade"] == "fine";
        assert_eq!(finding["mend"].is_null(), is_fine, "{finding:#}");
        assert!(
            !finding["found"].as_str().unwrap().is_empty(),
            "{finding:#}"
        );
    }
    assert_eq!(
        answer["sound"] == true,
        output.code == 0,
        "{}",
        output.stderr
    );
    (findings, output.code)
}

/// What is found of one thing.
fn found(findings: &[Value], check: &str, grade: &str) -> String {
    let found = findings
        .iter()
        .find(|finding| finding["check"] == check && finding["grade"] == grade);
    let found = found.unwrap_or_else(|| panic!("no {grade} of {check}: {findings:#?}"));
    found["found"].as_str().unwrap().to_owned()
}

fn home_with_a_memory() -> Home {
    let home = Home::new();
    assert_eq!(home.run(&["add", "The pool opens at nine"]).code, 0);
    home
}

#[test]
fn a_sound_store_has_no_fault() {
    let (findings, code) = examined(&home_with_a_memory(), &[]);
    assert_eq!(code, 0, "{findings:#?}");
    for check in [
        "configuration",
        "access",
        "folder",
        "service",
        "store",
        "persistence",
        "clock",
        "lock",
    ] {
        found(&findings, check, "fine");
    }
    assert!(found(&findings, "embedder", "fine").ends_with("texts stay on this machine"));
}

#[test]
fn what_may_go_wrong_is_a_warning() {
    let home = home_with_a_memory();
    assert_eq!(home.run(&["lock", "set"]).code, 0);
    assert_eq!(
        home.run(&["add", "From afar", "--created-at", "2099-01-01T00:00:00Z"])
            .code,
        0
    );
    let open = [
        ("KEEPSAKE_LISTEN", "0.0.0.0:7437"),
        ("KEEPSAKE_ALLOW_UNAUTHENTICATED", "true"),
    ];
    let (findings, code) = examined(&home, &open);
    assert_eq!(code, 0, "{findings:#?}");
    for check in ["access", "lock", "clock"] {
        found(&findings, check, "warning");
    }
    let (findings, _) = examined(&home, &[("KEEPSAKE_API_KEY", "short")]);
    assert!(!found(&findings, "access", "warning").contains("`short`"));
}

#[test]
fn what_does_not_work_is_a_fault() {
    let home = home_with_a_memory();
    let away = [
        ("KEEPSAKE_EMBEDDER_URL", "http://127.0.0.1:1"),
        ("KEEPSAKE_EMBEDDER_MODEL", "m"),
    ];
    let (findings, code) = examined(&home, &away);
    assert_eq!(code, 1);
    assert!(found(&findings, "embedder", "fault").contains("texts go to http://127.0.0.1:1"));
    let broken = home.write("broken.json", r#"{"top_k": "five"}"#);
    let (findings, code) = examined(&home, &[("KEEPSAKE_CONFIG", broken.to_str().unwrap())]);
    assert_eq!(code, 1);
    assert!(found(&findings, "configuration", "fault").contains("top_k"));
    let file = home.path().join("data/keepsake.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let sound = bytes.len().min(4_096);
    bytes[sound..].fill(0xff);
    std::fs::write(&file, bytes).unwrap();
    let (findings, code) = examined(&home, &[]);
    assert_eq!(code, 1);
    found(&findings, "store", "fault");
}
