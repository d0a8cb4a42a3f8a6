//! Two processes use one folder at the same time.

use std::time::{Duration, Instant};

use crate::support::{Service, eventually};

const DURATION: Duration = Duration::from_secs(30);

#[test]
fn two_processes_write_and_search_one_folder_and_see_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (Service::start(folder.path()), Service::start(folder.path()));
    let until = Instant::now() + DURATION;
    // Each writes, and finds at once what it wrote and what the other wrote before.
    let counts: Vec<usize> = std::thread::scope(|scope| {
        let work = |name: &'static str, own: &'static str| {
            let (service, peer) = if name == "one" {
                (&one, &other)
            } else {
                (&other, &one)
            };
            scope.spawn(move || {
                let mut number = 0;
                while Instant::now() < until {
                    let word = format!("{own}{number}");
                    let answer = service.add(&format!("{word} was written by process {name}"));
                    assert_eq!(answer.status(), 201, "{word}");
                    for reader in [service, peer] {
                        assert_finds(reader, &word);
                    }
                    number += 1;
                }
                number
            })
        };
        let workers = [work("one", "apple"), work("other", "pear")];
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect()
    });
    let all = counts[0] + counts[1];
    assert!(all > 20, "{counts:?}");
    for service in [&one, &other] {
        let stats: serde_json::Value = service.get("/v1/stats?is_primary=true").json().unwrap();
        assert_eq!(stats["memories"]["active"], all);
    }
    // When the one that writes the index ends, the other takes over.
    one.kill();
    assert_eq!(other.add("cherry after all").status(), 201);
    assert_finds(&other, "cherry");
    other.add_all((0..2000).map(|number| format!("plum{number} later")));
    eventually("the other writes the index", || {
        std::fs::read_to_string(folder.path().join("index/meta.json"))
            .is_ok_and(|meta| meta.contains("format"))
    });
    assert_finds(&other, "plum1999");
}

/// The best answer is the one entry that has the word.
fn assert_finds(service: &Service, word: &str) {
    let found = service.search(word);
    let best = found.first().map(|best| best["content"].as_str().unwrap());
    let begins = best.is_some_and(|content| content.starts_with(&format!("{word} ")));
    assert!(begins, "{word} in {}: {found:?}", service.url);
}
