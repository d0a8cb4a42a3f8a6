//! Entities: names and what occurs with them.

use serde_json::{Value, json};

use crate::answers::{column, contents, folded, list, text};
use crate::support::{TestServer, encode};
use crate::unrelated::UNRELATED;

#[test]
fn entities_are_names_and_never_words_or_parts_of_words() {
    let server = TestServer::start();
    for (content, expected) in [
        (
            "We use Python and Django version 0",
            vec!["python", "django"],
        ),
        ("Keep the small MySQL box", vec!["mysql"]),
        ("They went there and then came back", vec![]),
        ("PYTHON, Python and python again", vec!["python"]),
    ] {
        let answer = server.post(
            "/v1/memories",
            json!({"content": content, "is_primary": true}),
        );
        let entities: Vec<_> = list(&answer.body["entities"]).iter().map(text).collect();
        assert_eq!(folded(&entities), expected, "{content}");
    }
}

#[test]
fn a_memory_pairs_at_most_ten_entities() {
    let server = TestServer::start();
    let names: Vec<_> = (10..50).map(|number| format!("widget_{number}")).collect();
    server.add(json!({"content": names.join(" ")}));

    for name in &names {
        let count = list(&related(&server, name)["items"]).len();
        assert!(count <= 9, "{name} is paired with {count}");
    }
}

#[test]
fn related_entities_are_counted_whatever_the_capitals() {
    let server = TestServer::start();
    server.add_all(&[
        "We use Python with Django",
        "They teach Python with Django too",
        "He likes Python",
    ]);

    for name in ["Python", "PYTHON", "python"] {
        let body = related(&server, name);
        assert_eq!(
            folded(&column(&body["items"], "entity")),
            ["django"],
            "{body:#}"
        );
        assert_eq!(body["items"][0]["count"], 2, "{body:#}");
    }
}

#[test]
fn an_entity_recalls_what_occurs_with_it_however_many_pairs_there_are() {
    let server = TestServer::start();
    let crowd: Vec<_> = (0..112)
        .map(|group| {
            let names: Vec<_> = (0..10)
                .map(|place| format!("widget_{group}_{place}"))
                .collect();
            json!({"content": names.join(" "), "is_primary": true})
        })
        .collect();
    assert_eq!(server.post("/v1/memories/batch", json!(crowd)).status, 200);
    server.add_all(&[
        "We use Python with Django",
        "They teach Python with Django too",
        "He runs Python with Django there",
    ]);
    let alone = server.add(json!({"content": "The Django admin password is in the vault"}));

    let body =
        server.search(json!({"query": "Python", "mode": "lexical", "min_score": 0, "top_k": 50}));

    let found = list(&body["results"])
        .iter()
        .find(|hit| hit["id"] == json!(alone));
    let found = found.unwrap_or_else(|| panic!("Django is not recalled: {body:#}"));
    assert!(
        column(&found["found_by"], "kind").contains(&"cooccurrence".to_owned()),
        "{found:#}"
    );
}

#[test]
fn an_entity_is_not_recalled_by_a_part_of_its_name() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add_all(&[
        "We pair JavaScript with React",
        "They pair JavaScript with React too",
        "He pairs JavaScript with React there",
    ]);
    server.add_all(&["Some React hooks primer", "The Java island has volcanoes"]);

    let body =
        server.search(json!({"query": "Java", "mode": "lexical", "min_score": 0, "top_k": 50}));

    assert_eq!(contents(&body), ["The Java island has volcanoes"]);
}

#[test]
fn a_timeline_is_newest_first_whatever_the_capitals() {
    let server = TestServer::start();
    server.add(json!({"content": "We chose Python early", "created_at": "2026-01-05T00:00:00Z"}));
    server.add(json!({"content": "We left Python again", "created_at": "2026-05-05T00:00:00Z"}));
    server.add(json!({"content": "We use Django instead"}));

    for name in ["Python", "PYTHON", "python"] {
        let body = timeline(&server, name);
        assert_eq!(
            column(&body["items"], "content"),
            ["We left Python again", "We chose Python early"]
        );
    }
}

#[test]
fn a_chinese_entity_has_a_timeline() {
    let server = TestServer::start();
    server.add(json!({"content": "他去年加入了北京大学"}));

    let body = timeline(&server, "北京大学");

    assert_eq!(column(&body["items"], "content"), ["他去年加入了北京大学"]);
}

#[test]
fn a_purged_memory_leaves_its_timeline() {
    let server = TestServer::start();
    let id = server.add(json!({"content": "We chose Python early"}));

    server.delete(&format!("/v1/memories/{id}?purge=true&is_primary=true"));

    assert_eq!(column(&timeline(&server, "Python")["items"], "id"), [""; 0]);
}

#[test]
fn an_unknown_entity_has_empty_lists() {
    let server = TestServer::start();

    assert_eq!(timeline(&server, "Nobody")["items"], json!([]));
    assert_eq!(related(&server, "Nobody")["items"], json!([]));
}

fn related(server: &TestServer, name: &str) -> Value {
    entity(server, name, "related")
}

fn timeline(server: &TestServer, name: &str) -> Value {
    entity(server, name, "timeline")
}

fn entity(server: &TestServer, name: &str, list: &str) -> Value {
    let answer = server.get(&format!(
        "/v1/entities/{}/{list}?is_primary=true",
        encode(name)
    ));
    assert_eq!(answer.status, 200, "{name}: {:#}", answer.body);
    answer.body
}
