//! How often the store asks Redis, by what the server says of the store's connection.

use std::sync::Arc;
use std::time::Duration;

use keepsake::app::App;
use keepsake::config::Settings;

use super::support::{Server, add, search};

/// Commands that the one connection of the store sent so far, as the server counts them.
fn sent(server: &Server) -> u64 {
    let list: String = redis::cmd("CLIENT")
        .arg("LIST")
        .query(&mut server.raw())
        .unwrap();
    let count = |line: &str| -> u64 {
        let words = line.split_whitespace();
        let field = words
            .filter_map(|word| word.strip_prefix("tot-cmds="))
            .next();
        field.unwrap().parse().unwrap()
    };
    let others = list
        .lines()
        .filter(|line| !line.contains("cmd=client|list"));
    others.map(count).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_and_a_store_are_one_exchange_each() {
    let server = Server::start(&[]);
    count(&server, server.app()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn meaning_takes_no_exchange_of_its_own() {
    let server = Server::start(&[]);
    count(&server, server.app_with_model()).await;
}

async fn count(server: &Server, mut app: App) {
    app.settings = Arc::new(Settings {
        // Whether topics changed is asked once in this time, whatever is searched.
        signals_max_age: Duration::from_secs(3600),
        ..Settings::default()
    });
    app.store = Arc::new(server.quiet_store());
    for number in 0..20 {
        let content = format!("Redis and Docker run on port number{number}");
        add(&app, &content).await.unwrap();
    }
    // The first search asks for topics and synonyms, and for relatives of the entities.
    search(&app, "which port has Redis").await.unwrap();

    let before = sent(server);
    for number in 0..50 {
        let query = format!("which port has Redis number{}", number % 20);
        assert!(!search(&app, &query).await.unwrap().is_empty());
    }
    let searched = sent(server);
    assert_eq!(searched - before, 50, "commands for 50 searches");
    for number in 0..50 {
        add(&app, &format!("another note about number{number}"))
            .await
            .unwrap();
    }
    assert_eq!(sent(server) - searched, 50, "commands for 50 memories");
}
