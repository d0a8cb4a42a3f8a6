//! Several services over one Redis, and people with `redis-cli` beside them.

use super::support::{Server, add, eventually, search};

#[tokio::test(flavor = "multi_thread")]
async fn what_one_service_writes_the_other_finds_at_once() {
    let server = Server::start(&[]);
    let (one, other) = (server.app(), server.app());
    for number in 0..20 {
        let content = format!("port of machine{number}");
        add(&one, &content).await.unwrap();
        let query = format!("machine{number}");
        assert_eq!(search(&other, &query).await.unwrap(), [content]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_holds_at_once_whoever_sets_it() {
    let server = Server::start(&[]);
    let (one, other) = (server.app(), server.app());
    add(&one, "the port is 6379").await.unwrap();
    let now = super::support::now();
    let later = now + chrono::TimeDelta::hours(1);
    one.store.set_lock(later).await.unwrap();
    assert_eq!(search(&other, "port").await.unwrap(), [""; 0]);
    assert_eq!(other.store.lock(now).await.unwrap(), Some(Some(later)));
    other.store.clear_lock().await.unwrap();
    assert_eq!(search(&one, "port").await.unwrap().len(), 1);

    server.run("SET keepsake:workflow_lock 1 EX 3600");
    for app in [&one, &other] {
        assert_eq!(search(app, "port").await.unwrap(), [""; 0]);
        let until = app.store.lock(now).await.unwrap().unwrap().unwrap();
        assert!((until - later).num_seconds().abs() < 60, "{until}");
    }
    server.run("DEL keepsake:workflow_lock");
    assert_eq!(search(&other, "port").await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn synonyms_and_corrections_reach_the_other_service() {
    let server = Server::start(&[]);
    let (one, other) = (server.app(), server.app());
    let stored = add(&one, "kubernetes runs the cluster").await.unwrap();
    assert_eq!(search(&other, "k8s").await.unwrap(), [""; 0]);
    server.run_words(&["HSET", "keepsake:synonyms", "k8s", "[\"kubernetes\"]"]);
    eventually("the synonym of redis-cli is known", async || {
        search(&other, "k8s").await.unwrap().len() == 1
    })
    .await;
    let owner = keepsake::scope::Scope::owner();
    let wrong = one
        .store
        .correct(&owner, &stored.memory.id, true, super::support::now());
    wrong.await.unwrap();
    assert_eq!(search(&other, "kubernetes").await.unwrap(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_told_through_both_is_one_memory() {
    let server = Server::start(&[]);
    let (one, other) = (server.app(), server.app());
    let told = (0..64).map(|number| {
        let app = if number % 2 == 0 { &one } else { &other };
        add(app, "told by all at once")
    });
    for stored in futures_util::future::join_all(told).await {
        stored.unwrap();
    }
    let memories = one.store.scan(None, 10).await.unwrap();
    assert_eq!((memories.len(), memories[0].mentions), (1, 64));
}
