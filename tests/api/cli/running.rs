//! Without `--url` a verb goes to the service that runs on the folder, if one does.

use std::io::Write;
use std::net::TcpListener;

use serde_json::json;

use super::Home;
use crate::support::TestServer;

fn told(home: &Home, url: &str, pid: u32) {
    std::fs::create_dir_all(home.path().join("data")).unwrap();
    let file = json!({"url": url, "pid": pid, "started_at": "2026-06-01T12:00:00Z"});
    home.write("data/service.json", file.to_string());
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
    told(&home, server.url(), std::process::id());
    add(&home, "The pool opens at nine");
    assert_eq!(server.found("pool"), ["The pool opens at nine"]);
    assert_eq!(in_the_folder(&home), 0);
}

#[test]
fn one_that_does_not_is_passed_over() {
    let server = TestServer::start();
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
    for (url, pid) in [
        ("http://127.0.0.1:1", std::process::id()),
        (silence.as_str(), std::process::id()),
        (strange.as_str(), std::process::id()),
        ("no url", std::process::id()),
        // Its process is gone, the port is another's: no process has this number.
        (server.url(), 999_999_999),
    ] {
        let home = Home::new();
        told(&home, url, pid);
        add(&home, "The pool opens at nine");
        assert_eq!(in_the_folder(&home), 1, "{url}");
    }
    assert_eq!(server.found("pool"), Vec::<String>::new());
}
