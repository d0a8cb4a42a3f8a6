//! How often the store asks Redis, as the server's MONITOR tells it.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use keepsake::app::App;
use keepsake::config::Settings;

use super::support::{Server, add, search};

/// Listens to what clients send.
struct Monitor<'a> {
    server: &'a Server,
    lines: BufReader<UnixStream>,
}

impl<'a> Monitor<'a> {
    fn start(server: &'a Server) -> Monitor<'a> {
        let mut stream = UnixStream::connect(server.socket()).unwrap();
        stream.write_all(b"MONITOR\r\n").unwrap();
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        assert_eq!(line, "+OK\r\n");
        Monitor { server, lines }
    }

    /// Commands that were sent since this was last asked, without what scripts run and what this asks.
    fn sent(&mut self) -> usize {
        self.server.run("ECHO until-here");
        let (mut count, mut line) = (0, Vec::new());
        loop {
            line.clear();
            self.lines.read_until(b'\n', &mut line).unwrap();
            let told = String::from_utf8_lossy(&line);
            if told.contains("until-here") {
                return count;
            }
            let ours = ["\"HELLO\"", "\"CLIENT\""];
            if !told.contains(" lua] ") && !ours.iter().any(|name| told.contains(name)) {
                count += 1;
            }
        }
    }
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

    let mut monitor = Monitor::start(server);
    for number in 0..50 {
        let query = format!("which port has Redis number{}", number % 20);
        assert!(!search(&app, &query).await.unwrap().is_empty());
    }
    assert_eq!(monitor.sent(), 50, "commands for 50 searches");
    for number in 0..50 {
        add(&app, &format!("another note about number{number}"))
            .await
            .unwrap();
    }
    assert_eq!(monitor.sent(), 50, "commands for 50 memories");
}
