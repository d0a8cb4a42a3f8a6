//! A real Redis with the search module for the tests of this folder: one server for the process, a
//! prefix of its own for each test.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::RedisStore;
use super::adoption::Adoption;
use super::options::RedisOptions;
use crate::analysis::{Analyser, Ingredients};

/// The script of the project that starts a server and stops it when its standard input closes.
fn script() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/redis/server")
}

/// The address of the server, started when it is first asked for.
pub(super) fn url() -> &'static str {
    static SERVER: OnceLock<(Child, String)> = OnceLock::new();
    let (_, url) = SERVER.get_or_init(|| {
        let mut server = Command::new(script())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("tests/redis/server starts");
        let mut line = String::new();
        let output = server.stdout.take().expect("its output is piped");
        BufReader::new(output)
            .read_line(&mut line)
            .expect("it tells its address");
        assert!(line.contains("://"), "tests/redis/server told `{line}`");
        (server, line.trim().to_owned())
    });
    url
}

/// A store of its own, empty.
pub(super) fn fresh(parameters: &str) -> RedisStore {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let options = RedisOptions {
        prefix: format!("test{}:", NEXT.fetch_add(1, Ordering::Relaxed)),
        timeout: std::time::Duration::from_secs(60),
        ..RedisOptions::new(format!("{}{parameters}", url()))
    };
    RedisStore::new(&options, adoption()).expect("the address is one")
}

pub(super) fn adoption() -> Adoption {
    Adoption {
        analyser: Analyser::new("", Ingredients::default()),
        attention: (2.0, 1.5),
    }
}
