//! The same answers as the embedded store, whatever happened to the memories before.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use keepsake::app::App;
use keepsake::clock::Clock;
use keepsake::config::Settings;
use keepsake::memory::{Edit, MemoryId};
use keepsake::read::{self, Mode, Request};
use keepsake::scope::Scope;
use keepsake::write::{self, Draft};

use super::support::Server;

const MEMORIES: usize = 600;
const CHANGES: usize = 1_000;
const QUESTIONS: usize = 60;

const WORDS: [&str; 24] = [
    "harbour",
    "crane",
    "ferry",
    "ticket",
    "garden",
    "tomato",
    "kettle",
    "violin",
    "concert",
    "passport",
    "visa",
    "embassy",
    "docker",
    "redis",
    "backup",
    "invoice",
    "dentist",
    "holiday",
    "数据库",
    "备份",
    "护照",
    "咖啡",
    "旅行",
    "会议",
];

fn text(random: &mut fastrand::Rng, number: usize) -> String {
    let words = (0..random.usize(4..12)).map(|_| WORDS[random.usize(..WORDS.len())]);
    let words: Vec<&str> = words.collect();
    format!("{} note{number}", words.join(" "))
}

/// Two services that are told the same.
struct Both {
    apps: [App; 2],
    /// Ids by content, in each.
    ids: [HashMap<String, MemoryId>; 2],
    contents: Vec<String>,
}

fn start() -> DateTime<Utc> {
    DateTime::from_timestamp(1_770_000_000, 0).unwrap()
}

impl Both {
    async fn new(apps: [App; 2], random: &mut fastrand::Rng) -> Both {
        let contents: Vec<String> = (0..MEMORIES).map(|number| text(random, number)).collect();
        let draft = |(number, content): (usize, &String)| Draft {
            content: content.clone(),
            created_at: Some(start() - TimeDelta::hours(number as i64)),
            ..Draft::default()
        };
        let mut ids = [HashMap::new(), HashMap::new()];
        for (app, ids) in apps.iter().zip(&mut ids) {
            let drafts = contents.iter().enumerate().map(draft).collect();
            let stored = write::add_all(app, &Scope::owner(), drafts, start()).await;
            for stored in stored.unwrap() {
                let memory = stored.unwrap().memory;
                ids.insert(memory.content, memory.id);
            }
        }
        Both {
            apps,
            ids,
            contents,
        }
    }

    /// Clicks, tells again, edits and takes back, in any order, in both; and hashes that someone else
    /// writes, which the first of them takes over, and the second is told of.
    async fn change(&mut self, server: &Server, random: &mut fastrand::Rng) {
        let owner = Scope::owner();
        for number in 0..CHANGES {
            let which = random.usize(..self.contents.len());
            let content = self.contents[which].clone();
            let now = start() + TimeDelta::seconds(number as i64);
            let kind = random.usize(..5);
            if kind == 4 {
                self.write_elsewhere(server, random, number).await;
                continue;
            }
            for (app, ids) in self.apps.iter().zip(&mut self.ids) {
                let id = ids[&content].clone();
                match kind {
                    0 => {
                        let given = app.store.give_feedback(&owner, &id, 1.0, now).await;
                        given.unwrap();
                    }
                    1 => {
                        let draft = Draft {
                            content: content.clone(),
                            created_at: Some(now),
                            ..Draft::default()
                        };
                        write::add(app, &owner, draft, now).await.unwrap();
                    }
                    2 => {
                        let edited = format!("{content} again");
                        let edit = Edit {
                            content: Some((edited.clone(), app.analyser.content(&edited))),
                            ..Edit::default()
                        };
                        app.store.edit(&owner, &id, edit, now).await.unwrap();
                        ids.insert(edited, id);
                    }
                    _ => {
                        app.store.trash(&owner, &id, now).await.unwrap();
                        app.store.restore(&owner, &id, now).await.unwrap();
                    }
                }
            }
            if kind == 2 {
                self.contents[which].push_str(" again");
            }
        }
    }

    async fn write_elsewhere(&self, server: &Server, random: &mut fastrand::Rng, number: usize) {
        let content = text(random, MEMORIES + number);
        let created_at = start() - TimeDelta::minutes(number as i64);
        let (key, created) = (
            format!("memory:frag:{number:012x}"),
            created_at.to_rfc3339(),
        );
        server.run_words(&["HSET", &key, "content", &content, "created", &created]);
        if number.is_multiple_of(3) {
            server.quiet_store().adopt().await.unwrap();
        }
        let draft = Draft {
            content,
            created_at: Some(created_at),
            ..Draft::default()
        };
        let [_, embedded] = &self.apps;
        write::add(embedded, &Scope::owner(), draft, start())
            .await
            .unwrap();
    }

    /// The five best of both for each question, with their scores.
    async fn compare(&self, random: &mut fastrand::Rng, mode: Mode) {
        for _ in 0..QUESTIONS {
            let words = (0..random.usize(1..4)).map(|_| WORDS[random.usize(..WORDS.len())]);
            let query = words.collect::<Vec<_>>().join(" ");
            let mut found = Vec::new();
            for app in &self.apps {
                let request = Request {
                    query: query.clone(),
                    top_k: 5,
                    mode,
                    ..Request::default()
                };
                let now = start() + TimeDelta::days(1);
                let answer = read::search(app, &Scope::owner(), &request, now).await;
                let hits = answer.unwrap().hits.into_iter();
                let hits: Vec<(String, f64)> = hits
                    .map(|hit| (hit.memory.content.clone(), hit.score()))
                    .collect();
                found.push(hits);
            }
            let names = |hits: &[(String, f64)]| -> Vec<String> {
                hits.iter().map(|(content, _)| content.clone()).collect()
            };
            assert_eq!(names(&found[0]), names(&found[1]), "{mode:?} {query}");
            for ((content, score), (_, other)) in found[0].iter().zip(&found[1]) {
                assert!(
                    (score - other).abs() < 1e-9,
                    "{mode:?} {query}: {content}: {score}, {other}"
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn both_stores_find_the_same_with_the_same_scores_before_and_after_a_thousand_changes() {
    let (server, folder) = (Server::start(&[]), tempfile::tempdir().unwrap());
    let mut redis = server.app_with_model();
    redis.store = std::sync::Arc::new(server.quiet_store());
    let settings = Settings {
        data_dir: folder.path().to_owned(),
        ..Settings::default()
    };
    let embedded = App::open(settings, Clock::System).unwrap();
    let mut random = fastrand::Rng::with_seed(11);
    let mut both = Both::new([redis, embedded], &mut random).await;
    for mode in [Mode::Lexical, Mode::Hybrid] {
        both.compare(&mut random, mode).await;
    }
    both.change(&server, &mut random).await;
    server.quiet_store().adopt().await.unwrap();
    both.compare(&mut random, Mode::Lexical).await;
}
