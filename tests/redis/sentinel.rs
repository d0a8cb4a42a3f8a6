//! A master, a replica and a sentinel: after the master dies the store goes on with the new one.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use keepsake::store::redis::RedisStore;
use keepsake::store::redis::options::{RedisOptions, Sentinel};

use super::support::{Server, add, adoption, eventually, project, search};

/// A port that was free a moment ago.
fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

struct Watch(Child);

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn sentinel(port: u16, master: u16, folder: &std::path::Path) -> Watch {
    let file = folder.join("sentinel.conf");
    let text = format!(
        "port {port}\ndir {}\nsentinel monitor mymaster 127.0.0.1 {master} 1\n\
         sentinel down-after-milliseconds mymaster 1500\nsentinel failover-timeout mymaster 6000\n",
        folder.display()
    );
    std::fs::write(&file, text).unwrap();
    let started = Command::new(project("target/redis/redis-server"))
        .arg(&file)
        .arg("--sentinel")
        .stdout(Stdio::null())
        .spawn();
    Watch(started.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_failover_the_store_goes_on_with_the_new_master() {
    let (one, two, watch) = (port(), port(), port());
    let folder = tempfile::tempdir().unwrap();
    let master = Server::start(&["--port", &one.to_string()]);
    let replica = Server::start(&[
        "--port",
        &two.to_string(),
        "--replicaof",
        &format!("127.0.0.1 {one}"),
    ]);
    let _watch = sentinel(watch, one, folder.path());
    let options = RedisOptions {
        sentinel: Some(Sentinel {
            addresses: vec!["127.0.0.1:1".to_owned(), format!("127.0.0.1:{watch}")],
            master: "mymaster".to_owned(),
            password: String::new(),
        }),
        ..RedisOptions::new("redis://127.0.0.1")
    };
    let mut app = master.app();
    app.store = std::sync::Arc::new(RedisStore::new(&options, adoption()).unwrap());
    eventually("the master is found", async || {
        add(&app, "the harbour crane before the failover")
            .await
            .is_ok()
    })
    .await;
    eventually("the replica is in step", async || {
        replica.run("DBSIZE") == master.run("DBSIZE")
    })
    .await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    Server::signal(&master.process(), "-KILL");
    eventually("the new master takes writes", async || {
        add(&app, "the ferry ticket after the failover")
            .await
            .is_ok()
    })
    .await;
    eventually("it answers", async || {
        search(&app, "failover")
            .await
            .is_ok_and(|found| found.len() == 2)
    })
    .await;
}
