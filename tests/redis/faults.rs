//! A server that is killed, stopped, emptied, full of other clients: bounded answers, never a silent
//! empty one, nothing acknowledged lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;

use super::support::{Server, add, eventually, search};

/// No answer may take longer than this: the limit of the store and some room on a busy machine.
const LIMIT: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_kill_and_restart() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let arguments = [
        "--folder",
        place,
        "--appendonly",
        "yes",
        "--appendfsync",
        "always",
    ];
    let mut server = Server::start(&arguments);
    let app = server.app();
    let mut acknowledged = Vec::new();
    for round in 0..3 {
        let process = server.process();
        let killer = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(400)).await;
            Server::signal(&process, "-KILL");
        });
        for number in 0.. {
            let content = format!("note{number} of round{round}");
            let began = Instant::now();
            match add(&app, &content).await {
                Ok(_) => acknowledged.push(content),
                Err(_) => {
                    assert!(began.elapsed() < LIMIT);
                    break;
                }
            }
        }
        killer.await.unwrap();
        assert!(
            search(&app, "note0").await.is_err(),
            "down is no empty answer"
        );
        drop(server);
        server = Server::start(&arguments);
    }
    assert!(acknowledged.len() > 10, "some writes must get through");
    eventually("it answers again", async || {
        search(&app, "note0").await.is_ok()
    })
    .await;
    let memories = app.store.scan(None, 1_000_000).await.unwrap();
    for content in &acknowledged {
        let count = memories
            .iter()
            .filter(|memory| memory.content == *content)
            .count();
        assert_eq!(count, 1, "{content}");
    }
    for content in acknowledged.iter().step_by(37) {
        let found = search(&app, content).await.unwrap();
        assert!(found.contains(content), "{content}: {found:?}");
    }
}

/// How long a server is stopped.
const PAUSE: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs_for_half_a_minute_gives_errors_in_time_and_loses_nothing() {
    let server = Server::start(&[]);
    let app = server.app();
    add(&app, "before the pause").await.unwrap();
    let process = server.process();
    Server::signal(&process, "-STOP");
    let stopped = Instant::now();
    for number in 0.. {
        let began = Instant::now();
        let content = format!("told{number} in the pause");
        let (found, stored) =
            futures_util::future::join(search(&app, "before"), add(&app, &content)).await;
        assert!(found.is_err() && stored.is_err());
        assert!(began.elapsed() < LIMIT, "{:?}", began.elapsed());
        if stopped.elapsed() > PAUSE {
            assert!(
                number > 0,
                "an error comes in time, not at the end of the pause"
            );
            break;
        }
    }
    Server::signal(&process, "-CONT");
    eventually("it answers again", async || {
        search(&app, "pause").await.is_ok()
    })
    .await;
    assert_eq!(search(&app, "before").await.unwrap(), ["before the pause"]);
    add(&app, "after the pause").await.unwrap();
    assert_eq!(search(&app, "after").await.unwrap(), ["after the pause"]);
    // What was sent before the pause ended may have been done, but once.
    let memories = app.store.scan(None, 1_000).await.unwrap();
    assert!(memories.iter().all(|memory| memory.mentions == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_fill_the_memory_and_what_was_acknowledged_is_there() {
    let server = Server::start(&[]);
    let app = server.app();
    add(&app, "the first note").await.unwrap();
    let used: String = redis::cmd("INFO")
        .arg("memory")
        .query(&mut server.raw())
        .unwrap();
    let used = used
        .lines()
        .find_map(|line| line.strip_prefix("used_memory:"));
    let used: usize = used.unwrap().trim().parse().unwrap();
    let most = (used + (4 << 20)).to_string();
    server.run_words(&["CONFIG", "SET", "maxmemory", &most]);
    let writers = (0..8).map(|writer| {
        let app = app.clone();
        tokio::spawn(async move {
            let mut stored = Vec::new();
            for number in 0..10_000 {
                let content = format!("note{number} of writer{writer} {}", "filler ".repeat(50));
                match add(&app, &content).await {
                    Ok(_) => stored.push(content),
                    Err(error) => {
                        assert!(error.to_string().contains("maxmemory"), "{error}");
                        assert!(!search(&app, "first").await.unwrap().is_empty());
                        return stored;
                    }
                }
            }
            panic!("the memory never was full")
        })
    });
    let mut stored = Vec::new();
    for writer in join_all(writers.collect::<Vec<_>>()).await {
        stored.extend(writer.unwrap());
    }
    server.run("CONFIG SET maxmemory 0");
    add(&app, "there is room again").await.unwrap();
    let memories = app.store.scan(None, 100_000).await.unwrap();
    assert_eq!(memories.len(), stored.len() + 2, "all of them, and no more");
    for content in &stored {
        assert!(memories.iter().any(|memory| memory.content == *content));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn under_traffic_index_functions_and_connections_may_vanish() {
    let server = Server::start(&[]);
    let app = server.app();
    for number in 0..200 {
        add(&app, &format!("port of machine{number}"))
            .await
            .unwrap();
    }
    let done = Arc::new(AtomicBool::new(false));
    let readers = (0..4).map(|_| {
        let (app, done) = (app.clone(), done.clone());
        tokio::spawn(async move {
            let mut answers = 0;
            while !done.load(Ordering::Relaxed) {
                let began = Instant::now();
                if let Ok(found) = search(&app, "machine7 port").await {
                    assert!(!found.is_empty(), "a silent empty answer");
                    answers += 1;
                }
                assert!(began.elapsed() < LIMIT);
            }
            answers
        })
    });
    let readers: Vec<_> = readers.collect();
    for round in 0..5 {
        server.run("FT.DROPINDEX keepsake:idx:1");
        tokio::time::sleep(Duration::from_millis(200)).await;
        server.run("FUNCTION FLUSH");
        tokio::time::sleep(Duration::from_millis(200)).await;
        server.run("CLIENT KILL TYPE normal SKIPME yes");
        let content = format!("written in round{round}");
        add(&app, &content).await.unwrap();
        assert_eq!(
            search(&app, &format!("round{round}")).await.unwrap(),
            [content]
        );
    }
    done.store(true, Ordering::Relaxed);
    for reader in join_all(readers).await {
        assert!(reader.unwrap() > 0, "each reader had answers");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_emptied_server_starts_anew() {
    let server = Server::start(&[]);
    let app = server.app();
    add(&app, "gone soon").await.unwrap();
    server.run("FLUSHALL");
    eventually("it answers", async || search(&app, "gone").await.is_ok()).await;
    assert_eq!(
        search(&app, "gone").await.unwrap(),
        [""; 0],
        "there is nothing any more"
    );
    add(&app, "a new beginning").await.unwrap();
    assert_eq!(
        search(&app, "beginning").await.unwrap(),
        ["a new beginning"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_emptied_under_traffic_finds_what_comes_after() {
    let server = Server::start(&[]);
    let app = server.app();
    for round in 0..5 {
        for number in 0..50 {
            add(&app, &format!("note{number} of round{round}"))
                .await
                .unwrap();
        }
        let writers = (0..4).map(|writer| {
            let app = app.clone();
            tokio::spawn(async move {
                for number in 0..40 {
                    // Only the time is bounded: it may fall together with the emptying.
                    let began = Instant::now();
                    let content = format!("traffic{number} of writer{writer} in round{round}");
                    let _ = add(&app, &content).await;
                    let _ = search(&app, "note").await;
                    assert!(began.elapsed() < LIMIT);
                }
            })
        });
        let writers: Vec<_> = writers.collect();
        server.run("FLUSHALL");
        for writer in writers {
            writer.await.unwrap();
        }
        let content = format!("told after the emptying in round{round}");
        add(&app, &content).await.unwrap();
        let found = search(&app, "emptying").await.unwrap();
        assert_eq!(found, [content]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_clients_are_all_served() {
    let server = Server::start(&[]);
    let app = server.app();
    for number in 0..50 {
        add(&app, &format!("port of machine{number}"))
            .await
            .unwrap();
    }
    let clients = (0..64).map(|client| {
        let app = app.clone();
        tokio::spawn(async move {
            for number in 0..10 {
                let found = search(&app, &format!("machine{}", (client + number) % 50)).await;
                assert_eq!(found.unwrap().len(), 1);
                add(&app, &format!("note{number} of client{client}"))
                    .await
                    .unwrap();
            }
        })
    });
    for client in join_all(clients.collect::<Vec<_>>()).await {
        client.unwrap();
    }
    assert_eq!(app.store.scan(None, 10_000).await.unwrap().len(), 50 + 640);
}
