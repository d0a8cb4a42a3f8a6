//! Servers that cannot hold a store: the error says what to do.

use keepsake::error::Error;
use keepsake::store::{ControlStore, MemoryStore, StoreError};

use super::support::{Server, add, adoption, search};

fn causes(error: &StoreError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text.push_str(&format!("; {inner}"));
        cause = inner.source();
    }
    text
}

async fn refusal(
    server: &Server,
    options: Option<keepsake::store::redis::options::RedisOptions>,
) -> String {
    let options = options.unwrap_or_else(|| server.options());
    let store = keepsake::store::redis::RedisStore::new(&options, adoption()).unwrap();
    causes(&store.check().await.unwrap_err())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_the_search_module() {
    let server = Server::start(&["--no-search"]);
    let told = refusal(&server, None).await;
    assert!(
        told.contains("no search module") && told.contains("Redis Stack"),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster() {
    let server = Server::start(&["--no-search", "--cluster-enabled", "yes"]);
    let told = refusal(&server, None).await;
    assert!(
        told.contains("cluster") && told.contains("hint: use a single Redis"),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_and_none() {
    let server = Server::start(&["--requirepass", "secret"]);
    for url in [server.url.clone(), format!("{}?pass=wrong", server.url)] {
        let options = keepsake::store::redis::options::RedisOptions::new(url);
        let told = refusal(&server, Some(options)).await;
        assert!(told.contains("redis_password"), "{told}");
    }
    let right = format!("{}?pass=secret", server.url);
    let options = keepsake::store::redis::options::RedisOptions::new(right);
    let store = keepsake::store::redis::RedisStore::new(&options, adoption()).unwrap();
    store.check().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_without_permission() {
    let server = Server::start(&[]);
    server.run("ACL SETUSER reader on >secret ~* +@read +@connection -@dangerous");
    let url = format!("{}?user=reader&pass=secret", server.url);
    let options = keepsake::store::redis::options::RedisOptions::new(url);
    let told = refusal(&server, Some(options)).await;
    assert!(
        told.contains("no permission") && told.contains("+@write"),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_may_not_use_functions_is_served_all_the_same() {
    let server = Server::start(&[]);
    server.run("ACL SETUSER plain on >secret ~* +@all -fcall -fcall_ro -function");
    let url = format!("{}?user=plain&pass=secret", server.url);
    let options = keepsake::store::redis::options::RedisOptions::new(url);
    let store = keepsake::store::redis::RedisStore::new(&options, adoption()).unwrap();
    let mut app = server.app();
    app.store = std::sync::Arc::new(store);
    add(&app, "stored without functions").await.unwrap();
    assert_eq!(
        search(&app, "functions").await.unwrap(),
        ["stored without functions"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn full_memory_and_a_replica_refuse_writes_and_go_on_reading() {
    let server = Server::start(&[]);
    let app = server.app();
    add(&app, "stored while there was room").await.unwrap();
    server.run("CONFIG SET maxmemory 1mb");
    let error = add(&app, "one too many").await.unwrap_err();
    let Error::Store(error) = error else {
        panic!("{error}")
    };
    assert!(matches!(error, StoreError::Full(_)), "{error:?}");
    assert!(error.to_string().contains("maxmemory"), "{error}");
    assert_eq!(
        search(&app, "room").await.unwrap(),
        ["stored while there was room"]
    );
    server.run("CONFIG SET maxmemory 0");
    add(&app, "room again").await.unwrap();

    server.run("REPLICAOF 127.0.0.1 1");
    server.run("CONFIG SET replica-serve-stale-data yes");
    let error = add(&app, "to a replica").await.unwrap_err();
    let Error::Store(error) = error else {
        panic!("{error}")
    };
    assert!(matches!(error, StoreError::ReadOnly(_)), "{error:?}");
    assert!(causes(&error).contains("master"), "{error}");
    assert!(!search(&app, "room").await.unwrap().is_empty());
    server.run("REPLICAOF NO ONE");
    add(&app, "master again").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn data_of_a_newer_version() {
    let server = Server::start(&[]);
    server.run("SET keepsake:schema 99");
    let store = server.quiet_store();
    let error = store
        .add(
            &keepsake::scope::Scope::owner(),
            vec![],
            super::support::now(),
        )
        .await;
    assert!(
        matches!(error, Err(StoreError::Version { found: 99, .. })),
        "{error:?}"
    );
    assert_eq!(
        server.run("DBSIZE"),
        redis::Value::Int(1),
        "nothing is written"
    );
}
