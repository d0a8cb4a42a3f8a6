//! The real binaries of maintenance: killed at any moment, run twice, run beside a writer.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use keepsake::app::App;
use keepsake::clock::Clock;
use keepsake::config::Settings;
use keepsake::maintenance::Job;
use keepsake::maintenance::lease::Lease;
use keepsake::memory::{Memory, MemoryId};
use keepsake::scope::Scope;
use keepsake::write::{self, Draft};
use serde_json::Value;

/// Rounds of kills of each job; `KEEPSAKE_KILL_ROUNDS`, when the tests are built, makes them more.
fn rounds() -> u64 {
    let more = option_env!("KEEPSAKE_KILL_ROUNDS");
    more.and_then(|rounds| rounds.parse().ok()).unwrap_or(6)
}

/// Sets of memories in the store that is killed over.
const SETS: usize = 60;

fn now() -> DateTime<Utc> {
    Clock::System.now()
}

fn open(folder: &Path) -> App {
    let settings = Settings {
        data_dir: folder.to_owned(),
        ..Settings::default()
    };
    App::open(settings, Clock::System).unwrap()
}

fn draft(content: String, days: i64) -> Draft {
    Draft {
        content,
        created_at: Some(now() - TimeDelta::days(days)),
        ..Draft::default()
    }
}

/// Memories of each kind that a job works on: duplicates, new values, what is about the same, what
/// is old, words that say the same.
async fn fill(app: &App) {
    let mut drafts = Vec::new();
    for number in 0..SETS {
        let place = format!("warehouse{number}");
        for (days, content) in [
            (60, format!("{place} visited")),
            (9, format!("The {place} alarm code is kept by Ann")),
            (8, format!("The {place} alarm code is kept by Ann.")),
            (7, format!("The {place} port is {}", 6_000 + number)),
            (6, format!("The {place} port is {}", 7_000 + number)),
            (
                90,
                format!("We deploy the {place} router on the northern roof"),
            ),
            (
                80,
                format!("We release the {place} router on the northern roof"),
            ),
        ] {
            drafts.push(draft(content, days));
        }
    }
    for chunk in drafts.chunks(200) {
        let stored = write::add_all(app, &Scope::owner(), chunk.to_vec(), now()).await;
        stored
            .unwrap()
            .into_iter()
            .for_each(|one| drop(one.unwrap()));
    }
}

/// A store to work on, as it was before the job.
async fn store() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fill(&open(folder.path())).await;
    folder
}

fn copy(folder: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, to.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    to
}

fn command(binary: &str, folder: &Path, arguments: &[&str]) -> Command {
    let program = match binary {
        "consolidate" => env!("CARGO_BIN_EXE_keepsake-consolidate"),
        "dedup" => env!("CARGO_BIN_EXE_keepsake-dedup"),
        _ => env!("CARGO_BIN_EXE_keepsake-synonyms"),
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .arg("--data-dir")
        .arg(folder)
        .env_clear()
        .env("HOME", "/nonexistent")
        .env("KEEPSAKE_FORGET_DRY_RUN", "false")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(binary: &str, folder: &Path, arguments: &[&str]) -> Output {
    command(binary, folder, arguments).output().unwrap()
}

fn done(binary: &str, folder: &Path) {
    let output = run(binary, folder, &["--extractive", "--json"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
}

/// All that a job decides: states, links, what was taken over, words. What a job makes has ids and
/// times of its own, so it is named by its content.
async fn outcome(folder: &Path) -> BTreeMap<String, String> {
    let app = open(folder);
    let memories = app.store.scan(None, 100_000).await.unwrap();
    let named: BTreeMap<MemoryId, String> = memories
        .iter()
        .map(|memory| (memory.id.clone(), memory.content.clone()))
        .collect();
    let name = |id: &Option<MemoryId>| id.as_ref().map(|id| named[id].clone());
    let told = |memory: &Memory| {
        let fate = &memory.fate;
        format!(
            "{:?} {:?} {:?} trashed {} tags {:?} mentions {} level {} sources {}",
            memory.state(now()),
            name(&fate.superseded_by),
            name(&fate.consumed_by),
            fate.trashed_at.is_some(),
            memory.details.tags,
            memory.mentions,
            memory.level,
            memory.sources.len(),
        )
    };
    let mut found: BTreeMap<String, String> = memories
        .iter()
        .map(|memory| (memory.content.clone(), told(memory)))
        .collect();
    assert_eq!(found.len(), memories.len(), "nothing is doubled");
    for entry in app.store.synonyms("default").await.unwrap() {
        found.insert(
            format!("synonyms of {}", entry.term),
            format!("{:?}", entry.terms),
        );
    }
    let learnt = app.learnt_words().await.unwrap();
    found.insert("dictionary".to_owned(), format!("{:?}", learnt.words));
    found
}

async fn survives_kills(binary: &str) {
    let before = store().await;
    let undisturbed = copy(before.path());
    done(binary, undisturbed.path());
    let expected = outcome(undisturbed.path()).await;
    assert_ne!(
        expected,
        outcome(before.path()).await,
        "the job does something"
    );
    for round in 0..rounds() {
        let killed = copy(before.path());
        // Kills at moments all over a run, the last ones after what the first ones left.
        for kill in 0..3 {
            let mut child = command(binary, killed.path(), &["--extractive"])
                .spawn()
                .unwrap();
            let wait = 40 + (round * 61 + kill * 173) % 700;
            std::thread::sleep(Duration::from_millis(wait));
            // It may have ended already.
            let _ = child.kill();
            child.wait().unwrap();
        }
        done(binary, killed.path());
        assert_eq!(outcome(killed.path()).await, expected, "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn consolidation_and_forgetting_survive_kills() {
    survives_kills("consolidate").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deduplication_survives_kills() {
    survives_kills("dedup").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn synonyms_and_dictionary_survive_kills() {
    survives_kills("synonyms").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_at_once_one_works_and_the_other_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let app = open(folder.path());
    for (binary, job) in [
        ("consolidate", Job::Forget),
        ("dedup", Job::Dedup),
        ("synonyms", Job::Dictionary),
    ] {
        let held = Lease::take(&app, job).await.unwrap();
        let refused = run(binary, folder.path(), &[]);
        assert_eq!(refused.status.code(), Some(75), "{binary}");
        let told = String::from_utf8_lossy(&refused.stderr);
        assert!(told.contains("is running already"), "{told}");
        held.give_back().await;
        done(binary, folder.path());
    }
    let mut both: Vec<Option<i32>> = (0..2)
        .map(|_| command("dedup", folder.path(), &[]).spawn().unwrap())
        .collect::<Vec<_>>()
        .into_iter()
        .map(|mut child| child.wait().unwrap().code())
        .collect();
    both.sort();
    assert!(
        both[0] == Some(0) && matches!(both[1], Some(0 | 75)),
        "{both:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_works_while_a_service_writes() {
    let folder = store().await;
    let app = open(folder.path());
    let path = folder.path().to_owned();
    let job = std::thread::spawn(move || {
        for binary in ["dedup", "consolidate", "synonyms"] {
            done(binary, &path);
        }
    });
    let mut written = 0;
    while !job.is_finished() {
        let content = format!("tide table number {written} of the harbour");
        write::add(&app, &Scope::owner(), draft(content, 0), now())
            .await
            .unwrap();
        written += 1;
    }
    job.join().unwrap();
    let memories = app.store.scan(None, 100_000).await.unwrap();
    let told = |memory: &&Memory| memory.content.starts_with("tide table");
    assert_eq!(memories.iter().filter(told).count(), written);
}

#[test]
fn the_command_line_says_what_it_did() {
    let folder = tempfile::tempdir().unwrap();
    for binary in ["consolidate", "dedup", "synonyms"] {
        let quiet = run(binary, folder.path(), &["--quiet"]);
        assert_eq!(
            (quiet.status.code(), quiet.stdout),
            (Some(0), vec![]),
            "{binary}"
        );
        let json = run(binary, folder.path(), &["--json", "--dry-run"]);
        for line in String::from_utf8(json.stdout).unwrap().lines() {
            let answer: Value = serde_json::from_str(line).unwrap();
            assert_eq!(
                (&answer["dry_run"], &answer["changed"]),
                (&true.into(), &0.into())
            );
        }
        let help = run(binary, folder.path(), &["--help"]);
        let help = String::from_utf8(help.stdout).unwrap();
        assert!(
            help.contains("Exit codes") && help.contains("--every"),
            "{help}"
        );
        let wrong = run(binary, folder.path(), &["--every", "2 fortnights"]);
        assert_eq!(wrong.status.code(), Some(2));
        let lost = run(binary, Path::new("/proc/nowhere"), &[]);
        assert_eq!(lost.status.code(), Some(1));
    }
    let told = run("consolidate", folder.path(), &[]);
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(
        told.starts_with("consolidate: 0 examined, 0 changed; no chat model is configured")
            && told.contains("forget: 0 examined, 0 changed"),
        "{told}"
    );
}
