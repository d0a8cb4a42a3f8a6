//! Texts that have broken other programs, through every verb that takes a text.

use std::io::Read;
use std::process::{Command, Stdio};

use super::{Home, run};
use crate::hostile::PIECES;
use crate::support::{Output, TestServer};
use crate::unrelated::UNRELATED;

/// A verb that fails says so in its own words, and nothing that it prints commands a terminal.
fn assert_polite(args: &[&str], output: &Output) {
    let shown = format!(
        "{args:?}: {} {:?} {:?}",
        output.code, output.stdout, output.stderr
    );
    assert!((0..=3).contains(&output.code), "{shown}");
    for trouble in ["panicked", "internal", "no JSON", "RUST_BACKTRACE"] {
        assert!(!output.stderr.contains(trouble), "{shown}");
    }
    // clap repeats a usage error as it was typed.
    let printed = if output.code == 2 {
        &output.stdout
    } else {
        &format!("{}{}", output.stdout, output.stderr)
    };
    let commands = |c: char| {
        (c.is_control() && c != '\n' && c != '\t') || ('\u{202a}'..='\u{202e}').contains(&c)
    };
    assert!(!printed.contains(commands), "{shown}");
}

#[test]
fn every_verb_takes_any_text() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let id = server.add(serde_json::json!({"content": "The pool is open"}));
    // No argument of a process holds a zero byte.
    for piece in PIECES.iter().filter(|piece| !piece.contains('\0')) {
        let with = |flag: &str| format!("--{flag}={piece}");
        for args in [
            vec!["add", "--", piece],
            vec![
                "add",
                "a text",
                &with("tag"),
                &with("category"),
                &with("source"),
                &with("session"),
                &with("document"),
            ],
            vec!["search", "--", piece],
            vec![
                "search",
                "pool",
                &with("tag"),
                &with("category"),
                &with("explain"),
            ],
            vec!["prefetch", "--", piece],
            vec!["list", &with("tag"), &with("source")],
            vec!["list", &with("cursor")],
            vec!["show", "--", piece],
            vec!["edit", &id, &with("content"), &with("category")],
            vec!["edit", "--pinned=true", "--", piece],
            vec!["delete", "--", piece],
            vec!["delete", "--yes", &with("document")],
            vec!["restore", "--", piece],
            vec!["feedback", "useful", "--", piece],
            vec!["correct", "--", piece],
            vec!["correct", "--undo", "--", piece],
            vec!["entities", "timeline", "--", piece],
            vec!["entities", "related", "--", piece],
            vec!["synonyms", "set", "--", piece, "pool"],
            vec!["synonyms", "set", "pool", "--", piece],
            vec!["synonyms", "remove", "--", piece],
            vec!["list", &with("namespace"), &with("agent")],
        ] {
            assert_polite(&args, &server.cli(&args));
        }
    }
    assert_polite(&["synonyms", "list"], &server.cli(&["synonyms", "list"]));
    assert_polite(&["list"], &server.cli(&["list", "--limit", "100"]));
    assert_eq!(server.cli(&["show", &id]).code, 0);
}

#[test]
fn what_was_stored_from_standard_input_comes_back_byte_for_byte() {
    let home = Home::new();
    for piece in PIECES {
        let text = format!("pool {piece} end");
        let added = run(home.command(&["add", "-", "--json"]), text.as_bytes());
        assert_eq!(added.code, 0, "{piece:?}: {}", added.stderr);
        let memory: serde_json::Value = serde_json::from_str(&added.stdout).unwrap();
        assert_eq!(memory["content"], text);
        let shown = home.run(&["show", memory["id"].as_str().unwrap()]);
        assert_polite(&["show"], &shown);
    }
    let refused = run(home.command(&["add", "-"]), b"\xff\xfe");
    assert_eq!(
        (refused.code, refused.stderr.trim()),
        (1, "error: standard input is not valid UTF-8")
    );
}

#[test]
fn every_file_is_imported_or_told_why_not() {
    let home = Home::new();
    let pieces = PIECES.join("\n");
    let sqlite = [b"SQLite format 3\0".as_slice(), &[7; 4096]].concat();
    for (name, content) in [
        ("pieces.txt", pieces.as_bytes()),
        ("pieces.ndjson", pieces.as_bytes()),
        ("MEMORY.md", pieces.as_bytes()),
        ("binary.txt", &[0xff, 0xfe, 0x00, b'\n', 0x80]),
        ("binary.md", b"\xff\n\xc2\xa7\n"),
        ("broken.db", &sqlite),
        ("{odd} %s \u{202e}.json", b"{\"content\": {}}"),
    ] {
        home.write(name, content);
        let output = home.run(&["import", "--", name]);
        assert_polite(&[name], &output);
        assert!(
            output.code == 0 || !output.stderr.is_empty(),
            "{name} fails without a word"
        );
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_output_quietly() {
    let home = Home::new();
    let lines: String = (0..5_000)
        .map(|number| format!("The house number {number} has a door\n"))
        .collect();
    home.write("houses.txt", lines);
    assert_eq!(home.run(&["import", "houses.txt"]).code, 0);
    let mut child = home
        .command(&["export"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut some = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn colours_are_for_terminals_unless_they_are_wanted() {
    let home = Home::new();
    home.run(&["add", "The pool is open"]);
    let coloured = |args: &[&str], set: &[(&str, &str)]| {
        let mut command: Command = home.command(args);
        command.envs(set.iter().copied());
        run(command, b"").stdout.contains('\u{1b}')
    };
    assert!(!coloured(&["search", "pool"], &[]));
    assert!(coloured(
        &["search", "pool", "--color", "always"],
        &[("NO_COLOR", "1")]
    ));
    assert!(!coloured(&["search", "pool", "--color", "never"], &[]));
    assert!(!coloured(
        &["search", "pool", "--color", "always", "--json"],
        &[]
    ));
}
