//! One fact appears once, and only as it is now; facts that differ all appear.

use serde_json::json;

use crate::answers::{contents, sorted};
use crate::support::TestServer;
use crate::unrelated::UNRELATED;

#[test]
fn near_identical_memories_appear_once() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add_all(&[
        "User likes rooibos",
        "The user likes rooibos.",
        "user likes ROOIBOS",
        "Ｕｓｅｒ likes rooibos！",
    ]);

    let search =
        server.search(json!({"query": "who likes rooibos", "min_score": 0, "mode": "lexical"}));
    let prefetch = server.prefetch(json!({"query": "does the user like rooibos?"}));

    assert_eq!(contents(&search).len(), 1, "{search:#}");
    assert_eq!(contents(&prefetch).len(), 1, "{prefetch:#}");
}

#[test]
fn memories_that_differ_in_a_number_a_negation_or_a_name_all_appear() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    for twins in [
        [
            "The locker code of the sauna is 4417",
            "The locker code of the sauna is 4471",
        ],
        [
            "Oskar likes coriander in his curry",
            "Oskar does not like coriander in his curry",
        ],
        [
            "Meet Anna at the observatory tonight",
            "Meet Boris at the observatory tonight",
        ],
        ["小明喜欢猫", "小明不喜欢猫"],
    ] {
        server.add_all(&twins);
        let body = server
            .search(json!({"query": twins[0], "mode": "lexical", "top_k": 20, "min_score": 0}));
        for twin in twins {
            assert!(
                contents(&body).contains(&twin.to_owned()),
                "{twin} is missing: {body:#}"
            );
        }
    }
}

#[test]
fn a_superseded_memory_is_shown_only_to_those_who_ask() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let old = server.add(json!({"content": "DB is MySQL"}));
    server.add(json!({"content": "DB is PostgreSQL", "supersedes": old}));

    let now = server.search(json!({"query": "which DB"}));
    let all = server.search(json!({"query": "which DB", "include_expired": true}));

    assert_eq!(contents(&now), ["DB is PostgreSQL"]);
    assert_eq!(sorted(contents(&all)), ["DB is MySQL", "DB is PostgreSQL"]);
}

#[test]
fn a_superseded_memory_is_never_injected() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    let old = server.add(json!({"content": "The database is MySQL on odin"}));
    server.add(json!({"content": "The database is PostgreSQL on odin", "supersedes": old}));

    let body = server.prefetch(json!({"query": "which database runs on odin?"}));

    assert_eq!(contents(&body), ["The database is PostgreSQL on odin"]);
}
