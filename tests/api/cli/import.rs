//! `keepsake import`: what each kind of file becomes, once and again.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::Home;

const RETINUE: &[u8] = include_bytes!("../../data/retinue.db");

fn exported(home: &Home) -> Vec<Value> {
    let output = home.run(&["export"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let lines = output
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line.get("content").is_some()).collect()
}

fn contents(home: &Home) -> Vec<String> {
    let mut contents: Vec<String> = exported(home)
        .iter()
        .map(|memory| memory["content"].as_str().unwrap().to_owned())
        .collect();
    contents.sort();
    contents
}

fn import(home: &Home, args: &[&str]) -> Value {
    let output = home.run(&[&["import", "--json"], args].concat());
    assert_eq!(output.code, 0, "{} {}", output.stdout, output.stderr);
    serde_json::from_str(&output.stdout).unwrap()
}

fn counts(answer: &Value) -> (u64, u64, u64) {
    let count = |name: &str| answer[name].as_u64().unwrap();
    (count("created"), count("unchanged"), count("skipped"))
}

#[test]
fn files_of_hermes_become_an_entry_a_memory() {
    let home = Home::new();
    home.write("MEMORY.md", "The build needs § make\nand gcc 12\n§\nServer pve-01 hosts lxc-103\n§\n\n§\n  用户喜欢乒乓球  ");
    home.write("USER.md", "Prefers green tea\r\n§\r\nLives in Lisbon");
    let answer = import(&home, &["MEMORY.md", "USER.md"]);
    assert_eq!(counts(&answer), (5, 0, 0), "{answer:#}");
    let memories = exported(&home);
    let found: BTreeMap<&str, &str> = memories
        .iter()
        .map(|memory| {
            (
                memory["content"].as_str().unwrap(),
                memory["category"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("The build needs § make\nand gcc 12", "memory"),
        ("Server pve-01 hosts lxc-103", "memory"),
        ("用户喜欢乒乓球", "memory"),
        ("Prefers green tea", "user"),
        ("Lives in Lisbon", "user"),
    ];
    assert_eq!(found, BTreeMap::from(expected));
    assert!(memories.iter().all(|memory| memory["source"] == "hermes"));
}

#[test]
fn a_retinue_database_is_read_without_its_extension() {
    let home = Home::new();
    home.write("retinue.db", RETINUE);
    let answer = import(&home, &["retinue.db"]);
    assert_eq!(counts(&answer), (14, 0, 1), "{answer:#}");
    assert_eq!(
        answer["refused"],
        json!([{"file": "retinue.db", "line": 6, "reason": "has no text"}])
    );
    let memories = exported(&home);
    let of = |content: &str| {
        memories
            .iter()
            .find(|memory| memory["content"] == content)
            .unwrap()
    };
    let tea = of("likes tea");
    assert_eq!(tea["tags"], json!(["drinks", "a,b"]));
    assert_eq!(
        (&tea["category"], &tea["source"], &tea["pinned"]),
        (&json!("fact"), &json!("retinue"), &json!(true))
    );
    assert_eq!(tea["created_at"], "2023-11-14T22:13:20Z");
    assert_eq!(
        tea["metadata"],
        json!({"id": "r1", "owner": "ann", "importance": 0.5})
    );
    assert_eq!(of("twelve bytes")["tags"], json!(["home", "garden"]));
    assert_eq!(of("thirteen byte")["pinned"], json!(false));
    of("王小明的生日是5月2号，他喜欢打乒乓球\n第二行");
    of("The router number 9 stands on the shelf of the long corridor");
    assert!(memories.iter().all(|memory| {
        !memory["content"]
            .as_str()
            .unwrap()
            .contains("deleted long before")
    }));
    assert_eq!(counts(&import(&home, &["retinue.db"])), (0, 14, 1));
}

#[test]
fn what_is_skipped_is_told_with_its_line() {
    let home = Home::new();
    home.write("mixed.ndjson", b"{\"content\": \"one\"}\n\nnot json\n[1]\n{\"text\": \"no content\"}\n\xff\xfe\n{\"content\": \"two\", \"turn\": \"x\"}\n{\"content\": \" \"}\n");
    let answer = import(&home, &["mixed.ndjson"]);
    let lines: Vec<u64> = answer["refused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|refused| refused["line"].as_u64().unwrap())
        .collect();
    assert_eq!(
        (counts(&answer), lines),
        ((1, 0, 6), vec![3, 4, 5, 6, 7, 8]),
        "{answer:#}"
    );
    home.write("bad.ndjson", "[1]\n");
    assert_eq!(home.run(&["import", "bad.ndjson"]).code, 1);
}

#[test]
fn importing_again_neither_doubles_nor_reinforces_nor_undoes() {
    let home = Home::new();
    home.write(
        "notes.txt",
        "The pool opens at nine\nThe pool opens at nine\nThe sauna is hot\nThe gym is shut\n",
    );
    home.run(&["add", "The gym is shut"]);
    assert_eq!(counts(&import(&home, &["notes.txt"])), (2, 2, 0));
    let ids: BTreeMap<String, String> = exported(&home)
        .iter()
        .map(|memory| {
            (
                memory["content"].as_str().unwrap().to_owned(),
                memory["id"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    assert_eq!(home.run(&["delete", &ids["The sauna is hot"]]).code, 0);
    assert_eq!(
        home.run(&["feedback", &ids["The pool opens at nine"], "useful"])
            .code,
        0
    );
    assert_eq!(
        home.run(&["edit", &ids["The gym is shut"], "--tag", "sport"])
            .code,
        0
    );
    let before = home.run(&["export"]).stdout;
    assert_eq!(counts(&import(&home, &["notes.txt"])), (0, 4, 0));
    assert_eq!(home.run(&["export"]).stdout, before);

    home.write("notes.txt", "The pool opens at nine\nThe bar is new\n");
    assert_eq!(counts(&import(&home, &["notes.txt"])), (1, 1, 0));
}

#[test]
fn an_entry_with_an_id_is_put_under_it_and_changes_what_it_says() {
    let home = Home::new();
    let line = |content: &str| format!("{{\"id\": \"house-one\", \"content\": \"{content}\"}}\n");
    home.write("one.ndjson", line("The door is red"));
    assert_eq!(counts(&import(&home, &["one.ndjson"])), (1, 0, 0));
    home.run(&["feedback", "house-one", "useful"]);
    let before = home.run(&["export"]).stdout;
    assert_eq!(counts(&import(&home, &["one.ndjson"])), (0, 1, 0));
    assert_eq!(home.run(&["export"]).stdout, before);
    home.write("one.ndjson", line("The door is blue"));
    assert_eq!(import(&home, &["one.ndjson"])["updated"], 1);
    assert_eq!(contents(&home), ["The door is blue"]);
    home.write("odd.ndjson", "{\"id\": 7, \"content\": \"a\"}\n{\"id\": \"..\", \"content\": \"b\"}\n{\"id\": \"has space\", \"content\": \"c\"}\n");
    let odd = home.run(&["import", "odd.ndjson", "--json"]);
    assert!(
        odd.stdout.contains("must be 1 to 128 characters"),
        "{} {}",
        odd.stdout,
        odd.stderr
    );
}

#[test]
fn a_dry_run_shows_what_would_come_and_stores_nothing() {
    let home = Home::new();
    home.write("notes.txt", "The pool opens at nine\nThe sauna is hot\n");
    let answer = import(&home, &["notes.txt", "--dry-run"]);
    assert_eq!(counts(&answer), (2, 0, 0));
    assert_eq!(answer["preview"][1]["content"], "The sauna is hot");
    assert_eq!(contents(&home), Vec::<String>::new());
}

#[test]
fn formats_can_be_said_and_standard_input_read() {
    let home = Home::new();
    home.write("notes.data", "{\"content\": \"an object\"}\n");
    assert_eq!(
        counts(&import(&home, &["notes.data", "--format", "text"])),
        (1, 0, 0)
    );
    assert_eq!(counts(&import(&home, &["notes.data"])), (1, 0, 0));
    let piped = super::run(home.command(&["import", "-"]), "a line\nanother".as_bytes());
    assert_eq!(
        piped.stdout,
        "2 created, 0 updated, 0 already there, 0 skipped\n"
    );
    assert_eq!(contents(&home).len(), 4);
}

#[test]
fn an_export_imported_elsewhere_exports_the_same() {
    let (home, other) = (Home::new(), Home::new());
    home.write("MEMORY.md", "Uses Redis and Docker\n§\nLikes Redis");
    import(&home, &["MEMORY.md"]);
    home.run(&["add", "Uses Redis and Docker"]);
    home.run(&["synonyms", "set", "k8s", "kubernetes"]);
    let everything = home.run(&["export"]).stdout;
    other.write("backup.ndjson", &everything);
    import(&other, &["backup.ndjson"]);
    assert_eq!(other.run(&["export"]).stdout, everything);
    import(&other, &["backup.ndjson"]);
    assert_eq!(other.run(&["export"]).stdout, everything);
}

#[test]
fn an_import_that_is_killed_goes_on_where_it_was() {
    const LINES: usize = 6_000;
    let home = Home::new();
    let line = |number: usize| format!("The house number {number} has a red door");
    let lines: String = (0..LINES).map(|number| line(number) + "\n").collect();
    home.write("houses.txt", lines);
    let mut killed = 0;
    for attempt in 1..=12 {
        let mut child = home
            .command(&["import", "houses.txt"])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(120 * attempt));
        child.kill().unwrap();
        killed += usize::from(!child.wait().unwrap().success());
    }
    assert!(killed > 0, "every import ended before it was killed");
    let answer = import(&home, &["houses.txt"]);
    let (created, unchanged, skipped) = counts(&answer);
    assert_eq!(
        (created + unchanged, skipped),
        (LINES as u64, 0),
        "{answer:#}"
    );
    let memories = exported(&home);
    assert_eq!(memories.len(), LINES);
    assert!(memories.iter().all(|memory| memory["mentions"] == 1));
    let mut expected: Vec<String> = (0..LINES).map(line).collect();
    expected.sort();
    assert_eq!(contents(&home), expected);
}
