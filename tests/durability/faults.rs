//! Damaged files, a full disk, a disk that takes no writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{Service, eventually};

/// Enough for an index on disk.
const MEMORIES: usize = 3000;

fn notes() -> impl Iterator<Item = String> {
    (0..MEMORIES).map(|number| format!("note{number} about the harbour"))
}

/// A folder with memories and a whole index.
fn filled() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path());
    service.add_all(notes());
    service.stop();
    assert!(
        !files_of_index(folder.path()).is_empty(),
        "there is an index"
    );
    folder
}

/// The files of the index, the largest first.
fn files_of_index(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder.join("index")) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.metadata().unwrap().len()));
    files
}

fn answers_are_right(service: &Service) {
    for number in [0, 1234, MEMORIES - 1] {
        let found = service.search(&format!("note{number}"));
        assert_eq!(
            found[0]["content"],
            format!("note{number} about the harbour")
        );
    }
    assert_eq!(service.search("harbour").len(), 5);
}

/// What was done to an index, and how.
type Damage = (&'static str, fn(&Path));

#[test]
fn a_damaged_index_is_made_anew_while_answers_are_right() {
    let damages: [Damage; 6] = [
        ("deleted", |folder| {
            fs::remove_dir_all(folder.join("index")).unwrap()
        }),
        ("emptied", |folder| {
            for file in files_of_index(folder) {
                fs::remove_file(file).unwrap();
            }
        }),
        ("one file gone", |folder| {
            fs::remove_file(&files_of_index(folder)[0]).unwrap()
        }),
        ("truncated", |folder| {
            let file = &files_of_index(folder)[0];
            let bytes = fs::read(file).unwrap();
            fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
        }),
        ("a bit flipped in each file", |folder| {
            for file in files_of_index(folder) {
                let mut bytes = fs::read(&file).unwrap();
                let middle = bytes.len() / 2;
                if let Some(byte) = bytes.get_mut(middle) {
                    *byte ^= 4;
                }
                fs::write(file, bytes).unwrap();
            }
        }),
        ("of an older format", |folder| {
            let meta = folder.join("index/meta.json");
            let text = fs::read_to_string(&meta).unwrap();
            let older = text.replace("\\\"format\\\":2", "\\\"format\\\":1");
            assert_ne!(text, older);
            fs::write(meta, older).unwrap();
        }),
    ];
    for (what, damage) in damages {
        let folder = filled();
        damage(folder.path());
        let service = Service::start(folder.path());
        answers_are_right(&service);
        eventually(&format!("a whole index again, {what}"), || {
            folder.path().join("index/meta.json").exists()
                && fs::read_to_string(folder.path().join("index/meta.json"))
                    .is_ok_and(|meta| meta.contains("format\\\":2") && !meta.contains("seq\\\":0"))
        });
        answers_are_right(&service);
        service.stop();
        let service = Service::start(folder.path());
        answers_are_right(&service);
    }
}

#[test]
fn an_index_of_another_store_is_not_believed() {
    let (one, other) = (filled(), tempfile::tempdir().unwrap());
    let service = Service::start(other.path());
    service.add_all((0..MEMORIES).map(|number| format!("letter{number} from the mountain")));
    service.stop();
    fs::remove_dir_all(other.path().join("index")).unwrap();
    fs::rename(one.path().join("index"), other.path().join("index")).unwrap();
    let service = Service::start(other.path());
    assert_eq!(
        service.search("letter77")[0]["content"],
        "letter77 from the mountain"
    );
    assert!(service.search("harbour").is_empty());
}

#[test]
fn a_damaged_page_of_the_store_is_told_and_nothing_is_overwritten() {
    let folder = filled();
    let file = folder.path().join("keepsake.db");
    let mut bytes = fs::read(&file).unwrap();
    // The heads of pages in the middle, where rows and indexes are.
    let page = 4096;
    for number in (bytes.len() / page / 4)..(bytes.len() / page * 3 / 4) {
        bytes[number * page] ^= 0x55;
    }
    fs::write(&file, &bytes).unwrap();
    match Service::try_start(folder.path()) {
        Err(said) => assert!(said.contains("damaged"), "{said}"),
        Ok(service) => {
            eventually("not ready", || {
                !service.get("/readyz").status().is_success()
            });
            let reasons: Value = service.get("/readyz").json().unwrap();
            assert!(reasons.to_string().contains("damaged"), "{reasons}");
            assert_eq!(
                service.get("/healthz").status(),
                200,
                "the service is alive"
            );
            let listed = service.get("/v1/memories?is_primary=true&limit=100");
            if !listed.status().is_success() {
                let problem: Value = listed.json().unwrap();
                assert!(problem["title"].is_string(), "{problem}");
            }
            assert_eq!(service.get("/healthz").status(), 200, "still alive");
        }
    }
    let after = fs::read(&file).unwrap();
    let same = bytes
        .iter()
        .zip(&after)
        .filter(|(before, after)| before == after)
        .count();
    assert!(same * 100 > bytes.len() * 95, "the file was left alone");
}

#[test]
fn a_file_that_is_no_store_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keepsake.db");
    for content in [&b"this is a letter, not a database"[..], &[0; 8192]] {
        fs::write(&file, content).unwrap();
        let said = Service::try_start(folder.path()).err().unwrap();
        assert!(said.starts_with("error: "), "{said}");
        assert_eq!(fs::read(&file).unwrap(), content);
    }
}

/// A small disk of its own; `None`, said on standard error, where this user may not mount one.
struct Disk(tempfile::TempDir);

impl Disk {
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    fn of(size: &str) -> Option<Disk> {
        let folder = tempfile::tempdir().unwrap();
        let options = format!("size={size},mode=700");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(folder.path())
            .output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Disk(folder));
        }
        eprintln!("SKIPPED: this needs the right to mount a small disk");
        None
    }

    fn remount(&self, options: &str) {
        let remounted = Command::new("mount")
            .args(["-o", &format!("remount,{options}")])
            .arg(self.0.path())
            .status();
        assert!(remounted.unwrap().success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_is_an_error_answer_and_what_was_stored_stays() {
    let Some(disk) = Disk::of("6m") else { return };
    let service = Service::start(disk.0.path());
    let long = "word ".repeat(4000);
    let mut stored = 0;
    let refused = loop {
        let answer = service.add(&format!("number{stored} {long}"));
        if answer.status() != 201 {
            break answer;
        }
        stored += 1;
        assert!(stored < 10_000, "the disk never fills up");
    };
    assert_eq!(refused.status(), 503);
    let problem: Value = refused.json().unwrap();
    assert!(
        problem["detail"].as_str().unwrap().contains("full"),
        "{problem}"
    );
    assert!(stored > 10);
    let found = service.search(&format!("number{}", stored - 1));
    assert!(
        found[0]["content"]
            .as_str()
            .unwrap()
            .starts_with(&format!("number{} ", stored - 1))
    );
    disk.remount("size=40m");
    eventually("it stores again", || {
        service.add("after the rain").status() == 201
    });
    assert_eq!(
        service.search("after the rain")[0]["content"],
        "after the rain"
    );
    service.stop();
}

#[test]
fn a_disk_that_takes_no_writes_is_told_and_nothing_changes() {
    let Some(disk) = Disk::of("40m") else { return };
    let service = Service::start(disk.0.path());
    service.add_all(notes());
    service.stop();
    let file = disk.0.path().join("keepsake.db");
    let before = fs::read(&file).unwrap();
    disk.remount("ro");
    let said = Service::try_start(disk.0.path()).err().unwrap();
    assert!(said.contains("read-only"), "{said}");
    assert_eq!(fs::read(&file).unwrap(), before);
    disk.remount("rw");
    answers_are_right(&Service::start(disk.0.path()));
}
