//! Every verb once as it should be and once as it should not: `verbs.txt` holds the commands with
//! what they print. `$` is a command, `!` a line of standard error, `[n]` the exit code. Ids are `#1`,
//! `#2` … in the order in which they appear; times, days, scores and bars are blanked.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use clap::CommandFactory;
use regex::Regex;
use serde_json::json;

use super::{Home, run};
use crate::models;
use crate::support::Output;

const TRANSCRIPT: &str = include_str!("verbs.txt");

/// A command of the transcript with what it printed.
struct Step {
    command: String,
    code: i32,
}

fn steps(transcript: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut command = None;
    for line in transcript.lines() {
        if let Some(text) = line.strip_prefix("$ ") {
            command = Some(text.to_owned());
        } else if let Some(code) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            && let Some(code) = code.parse().ok().filter(|_| command.is_some())
        {
            let command = command.take().unwrap();
            steps.push(Step { command, code });
        }
    }
    steps
}

/// The words of a command: quotes hold words together, nothing else is special.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quoted, mut begun) = (String::new(), false, false);
    for c in command.chars() {
        match c {
            '"' => (quoted, begun) = (!quoted, true),
            ' ' if !quoted => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            c => {
                word.push(c);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

/// The verbs of a command, such as `lock set`, by the definition of the command line.
fn verb(command: &str) -> String {
    let words = words(command);
    let mut definition = keepsake::cli::Arguments::command();
    let mut path = Vec::new();
    for word in words.iter().skip_while(|word| *word != "keepsake").skip(1) {
        if let Some(found) = definition.find_subcommand(word).cloned() {
            path.push(word.clone());
            definition = found;
        }
    }
    path.join(" ")
}

/// Every verb that does something.
fn all_verbs() -> BTreeSet<String> {
    fn collect(command: &clap::Command, path: &str, verbs: &mut BTreeSet<String>) {
        for verb in command.get_subcommands() {
            let path = format!("{path} {}", verb.get_name());
            match verb.has_subcommands() {
                true => collect(verb, &path, verbs),
                false => drop(verbs.insert(path.trim().to_owned())),
            }
        }
    }
    let mut verbs = BTreeSet::new();
    collect(&keepsake::cli::Arguments::command(), "", &mut verbs);
    verbs
}

/// What only a Redis can show (`tests/redis`).
const SHOWN_ELSEWHERE: &str = "redis drop-python-index";

#[test]
fn every_verb_has_an_example_that_succeeds_and_one_that_fails() {
    let steps = steps(TRANSCRIPT);
    for (what, wanted) in [("succeeds", true), ("fails", false)] {
        let mut shown: BTreeSet<String> = steps
            .iter()
            .filter(|step| (step.code == 0) == wanted)
            .map(|step| verb(&step.command))
            .collect();
        shown.insert(SHOWN_ELSEWHERE.to_owned());
        let missing: Vec<_> = all_verbs().difference(&shown).cloned().collect();
        assert_eq!(missing, Vec::<String>::new(), "no example that {what}");
    }
}

#[test]
fn every_verb_has_a_help_with_an_example() {
    fn check(command: &clap::Command, path: &str) {
        for verb in command.get_subcommands() {
            let path = format!("{path} {}", verb.get_name());
            let help = verb
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(help.starts_with("Example:\n"), "{path} has no example");
            assert!(
                help.contains(&format!("keepsake{path}")),
                "{path} is not in its example"
            );
            assert!(
                verb.get_about().is_some(),
                "{path} says nothing about itself"
            );
            check(verb, &path);
        }
    }
    check(&keepsake::cli::Arguments::command(), "");
}

#[test]
fn commands_print_what_the_transcript_says() {
    let home = Home::new();
    home.write(
        "notes.txt",
        "The pool opens at nine\n\nThe pool closes at eight\n",
    );
    home.write(
        "odd.ndjson",
        "{\"content\": \"The sauna is hot\", \"colour\": \"red\"}\n{\"content\": 3}\n[1]\n",
    );
    home.write(
        "broken.json",
        "{\n  \"top_k\": \"five\",\n  \"is_primary\": \"false\",\n  \"topk\": 3\n}\n",
    );
    home.write("empty.txt", "");
    question_set(&home);
    let (_hub, hub) = models::hub();

    let mut ids: Vec<String> = Vec::new();
    let mut actual = String::new();
    for step in steps(TRANSCRIPT) {
        let mut command = step
            .command
            .replace("HF_ENDPOINT=HUB", &format!("HF_ENDPOINT={hub}"));
        for (number, id) in ids.iter().enumerate().rev() {
            command = command.replace(&format!("#{}", number + 1), id);
        }
        let output = execute(&home, &command);
        let plain = |text: &str| blanked(&home, text);
        find_ids(&output.stdout, &mut ids);
        actual.push_str(&format!("$ {}\n", step.command));
        for line in numbered(&plain(&output.stdout), &ids).lines() {
            actual.push_str(&format!("{line}\n"));
        }
        for line in numbered(&plain(&output.stderr), &ids).lines() {
            actual.push_str(format!("! {line}").trim_end());
            actual.push('\n');
        }
        actual.push_str(&format!("[{}]\n\n", output.code));
    }
    if actual != TRANSCRIPT {
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("verbs.txt");
        std::fs::write(&path, &actual).unwrap();
        panic!(
            "commands print something else: compare tests/api/cli/verbs.txt with {}",
            path.display()
        );
    }
}

/// Runs a line of the transcript: settings, the command, and perhaps `| head -N`.
fn execute(home: &Home, line: &str) -> Output {
    let (line, lines) = match line.split_once(" | head -") {
        Some((line, lines)) => (line, lines.parse().unwrap()),
        None => (line, usize::MAX),
    };
    let words = words(line);
    let (settings, command): (Vec<String>, Vec<String>) = words.into_iter().partition(|word| {
        let name = word.split('=').next().unwrap_or_default();
        word.contains('=')
            && !name.is_empty()
            && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    });
    let args: Vec<&str> = command.iter().skip(1).map(String::as_str).collect();
    let mut process = home.command(&args);
    for setting in &settings {
        let (name, value) = setting.split_once('=').unwrap();
        process.env(name, value);
    }
    let mut output = match args[0] {
        "serve" => serve(process),
        _ => run(process, b""),
    };
    output.stdout = output.stdout.split_inclusive('\n').take(lines).collect();
    output
}

/// Runs a service until it says where it is, and ends it as a service manager would.
fn serve(mut command: Command) -> Output {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut stdout).unwrap();
    if !stdout.is_empty() {
        let pid = child.id().to_string();
        assert!(Command::new("kill").arg(&pid).status().unwrap().success());
    }
    lines.read_to_string(&mut stdout).unwrap();
    let code = child.wait().unwrap().code().unwrap_or(-1);
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    // The log of a service that ends tells times.
    let stderr = if code == 0 { String::new() } else { stderr };
    Output {
        code,
        stdout,
        stderr,
    }
}

fn find_ids(text: &str, ids: &mut Vec<String>) {
    let id = Regex::new(r"\b[a-z2-7]{16}\b").unwrap();
    for found in id.find_iter(text) {
        if !ids.iter().any(|known| known == found.as_str()) {
            ids.push(found.as_str().to_owned());
        }
    }
}

fn numbered(text: &str, ids: &[String]) -> String {
    let numbers = ids.iter().enumerate();
    numbers.fold(text.to_owned(), |text, (number, id)| {
        text.replace(id, &format!("#{}", number + 1))
    })
}

/// The text without what differs from run to run.
fn blanked(home: &Home, text: &str) -> String {
    let text = text.replace(home.path().to_str().unwrap(), "~");
    let blanks = [
        (r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "<time>"),
        (r"20[0-9]{2}-\d\d-\d\d", "<day>"),
        (r"\b\d+\.\d{3}\b", "<n>"),
        (r"[▏▎▍▌▋▊▉█]+ *", "<bar> "),
        (r"127\.0\.0\.1:[0-9]{4,5}", "127.0.0.1:<port>"),
        (r"keepsake \d+\.\d+\.\d+", "keepsake <version>"),
        (r"\bks_[a-z2-7]{52}\b", "<key>"),
        (r"[0-9]+ more seconds", "<n> more seconds"),
    ];
    blanks.iter().fold(text, |text, (pattern, blank)| {
        Regex::new(pattern)
            .unwrap()
            .replace_all(&text, *blank)
            .into_owned()
    })
}

fn question_set(home: &Home) {
    let folder = home.path().join("sets/small/dev");
    std::fs::create_dir_all(&folder).unwrap();
    let memory =
        json!({"id": "m1", "content": "The lighthouse opens in April", "created": "2026-05-02"});
    std::fs::write(folder.join("memories.jsonl"), format!("{memory}\n")).unwrap();
    let query = json!({"id": "q1", "text": "when does the lighthouse open?", "relevant": ["m1"]});
    std::fs::write(folder.join("queries.jsonl"), format!("{query}\n")).unwrap();
}

#[test]
fn json_is_json_for_every_verb_that_answers() {
    let home = Home::new();
    let added = home.run(&["add", "Ann lives in Peru with Redis", "--json"]);
    let id = serde_json::from_str::<serde_json::Value>(&added.stdout).unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    home.write("notes.txt", "a line about Peru\n");
    for args in [
        vec!["search", "Peru"],
        vec!["prefetch", "Where does Ann live?"],
        vec!["list"],
        vec!["show", &id],
        vec!["edit", &id, "--pinned", "true"],
        vec!["feedback", &id, "useful"],
        vec!["correct", &id],
        vec!["correct", "--undo", &id],
        vec!["topics"],
        vec!["attention"],
        vec!["entities", "timeline", "Redis"],
        vec!["entities", "related", "Redis"],
        vec!["synonyms", "set", "k8s", "kubernetes"],
        vec!["synonyms", "list"],
        vec!["synonyms", "remove", "k8s"],
        vec!["lock", "status"],
        vec!["lock", "set"],
        vec!["lock", "clear"],
        vec!["import", "notes.txt"],
        vec!["import", "notes.txt", "--dry-run"],
        vec!["stats"],
        vec!["config", "show"],
        vec!["config", "check"],
        vec!["config", "path"],
        vec!["key", "create", "laptop"],
        vec!["key", "list"],
        vec!["key", "revoke", "laptop"],
        vec!["delete", &id],
        vec!["restore", &id],
        vec!["delete", &id, "--purge"],
        vec!["delete", "--state", "active", "--yes"],
    ] {
        let output = home.run(&[args.as_slice(), &["--json"]].concat());
        assert_eq!(output.code, 0, "{args:?}: {}", output.stderr);
        let parsed = serde_json::from_str::<serde_json::Value>(&output.stdout);
        assert!(parsed.is_ok(), "{args:?}: {}", output.stdout);
    }
}
