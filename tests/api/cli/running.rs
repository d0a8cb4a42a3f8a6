//! Without `--url` a verb goes to the service that runs on the folder, if one does.

use std::fs::File;
use std::io::Write;
use std::net::TcpListener;

use serde_json::json;

use super::Home;
use crate::support::TestServer;

/// Says that a service is at an address; it is believed for as long as the file is locked.
fn told(home: &Home, url: &str) -> File {
    std::fs::create_dir_all(home.path().join("data")).unwrap();
    let told = json!({"url": url, "pid": 1, "started_at": "2026-06-01T12:00:00Z"});
    let file = File::open(home.write("data/service.json", told.to_string())).unwrap();
    file.lock().unwrap();
    file
}

fn add(home: &Home, content: &str) {
    let output = home.run(&["add", content]);
    assert_eq!(output.code, 0, "{}", output.stderr);
}

fn in_the_folder(home: &Home) -> usize {
    std::fs::remove_file(home.path().join("data/service.json")).unwrap();
    home.run(&["list"]).stdout.lines().count().saturating_sub(1)
}

#[test]
fn a_service_that_answers_is_used() {
    let (server, home) = (TestServer::start(), Home::new());
    let _held = told(&home, server.url());
    add(&home, "The pool opens at nine");
    assert_eq!(server.found("pool"), ["The pool opens at nine"]);
    assert_eq!(in_the_folder(&home), 0);
}

#[test]
fn one_that_does_not_is_passed_over() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = |listener: &TcpListener| format!("http://{}", listener.local_addr().unwrap());
    let (silence, strange) = (address(&silent), address(&stranger));
    // Another program that speaks HTTP.
    std::thread::spawn(move || {
        for connection in stranger.incoming() {
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
            drop(connection.unwrap().write_all(answer));
        }
    });
    for url in ["http://127.0.0.1:1", &silence, &strange, "no url"] {
        let home = Home::new();
        let _held = told(&home, url);
        add(&home, "The pool opens at nine");
        assert_eq!(in_the_folder(&home), 1, "{url}");
    }
}

#[test]
fn a_file_that_a_killed_service_left_is_passed_over() {
    let (server, home) = (TestServer::start(), Home::new());
    drop(told(&home, server.url()));
    add(&home, "The pool opens at nine");
    assert_eq!(server.found("pool"), Vec::<String>::new());
    assert_eq!(in_the_folder(&home), 1);
}
