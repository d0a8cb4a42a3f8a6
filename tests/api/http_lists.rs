//! Lists: pages, their cursor and filters; and the same filters of a search.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::answers::{column, text};
use crate::support::{TestServer, encode};
use crate::unrelated::UNRELATED;

#[test]
fn a_list_pages_through_everything_newest_first() {
    let server = TestServer::start();
    for day in 1..=7 {
        server.add(json!({"content": format!("parcel {day}"), "created_at": format!("2026-05-0{day}T00:00:00Z")}));
    }

    let mut pages = Vec::new();
    let mut page = server.get("/v1/memories?limit=3&is_primary=true").body;
    pages.push(column(&page["items"], "content"));
    while let Some(cursor) = page["next_cursor"].as_str() {
        assert!(pages.len() < 5, "pages without end: {pages:?}");
        page = server
            .get(&format!(
                "/v1/memories?limit=3&is_primary=true&cursor={}",
                encode(cursor)
            ))
            .body;
        pages.push(column(&page["items"], "content"));
    }

    let expected: Vec<_> = (1..=7).rev().map(|day| format!("parcel {day}")).collect();
    assert_eq!(pages.concat(), expected);
    assert_eq!(pages[0].len(), 3);
}

#[test]
fn a_page_is_not_disturbed_by_a_newer_memory() {
    let server = TestServer::start();
    server.add_all(&["parcel 1", "parcel 2", "parcel 3", "parcel 4"]);
    let first = server.get("/v1/memories?limit=2&is_primary=true").body;
    server.set_now("2026-06-01T12:00:05Z");
    server.add(json!({"content": "parcel 5"}));

    let cursor = encode(&text(&first["next_cursor"]));
    let second = server
        .get(&format!(
            "/v1/memories?limit=10&is_primary=true&cursor={cursor}"
        ))
        .body;

    let mut seen = column(&first["items"], "content");
    seen.extend(column(&second["items"], "content"));
    seen.sort();
    assert_eq!(seen, ["parcel 1", "parcel 2", "parcel 3", "parcel 4"]);
    assert_eq!(second["next_cursor"], Value::Null);
}

#[test]
fn a_list_is_filtered_by_each_filter() {
    let server = TestServer::start();
    server.add(json!({
        "content": "wanted", "tags": ["spa"], "category": "places", "source": "notebook",
        "entry_type": "note", "session": "monday", "turn": 1,
    }));
    server.add(json!({"content": "by document", "document": "lease.pdf"}));
    server.add(json!({"content": "plain", "tags": ["spa town"], "category": "place"}));
    server.add(json!({"content": "gone by", "invalid_at": "2026-01-01T00:00:00Z"}));

    for filter in [
        "tag=spa",
        "category=places",
        "source=notebook",
        "type=note",
        "session=monday",
    ] {
        assert_eq!(listed(&server, filter), ["wanted"], "{filter}");
    }
    assert_eq!(listed(&server, "document=lease.pdf"), ["by document"]);
    assert_eq!(listed(&server, "state=expired"), ["gone by"]);
    assert_eq!(listed(&server, "tag=spa&category=place"), [""; 0]);
    assert_eq!(listed(&server, "limit=50").len(), 4);
}

#[test]
fn a_list_holds_fifty_unless_said() {
    let server = TestServer::start();
    let items: Vec<_> = (0..60)
        .map(|number| json!({"content": format!("parcel {number}")}))
        .collect();
    server.post("/v1/memories/batch?is_primary=true", json!(items));

    assert_eq!(listed(&server, "").len(), 50);
    assert_eq!(listed(&server, "limit=100").len(), 60);
}

#[test]
fn search_is_filtered_by_category_source_and_session() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add(json!({"content": "The zircon ring is insured", "category": "jewels", "source": "notebook", "session": "monday"}));
    server.add(json!({"content": "A zircon brooch was lost", "category": "loss", "source": "chat", "session": "tuesday"}));

    for (field, value) in [
        ("category", "jewels"),
        ("source", "notebook"),
        ("session", "monday"),
    ] {
        let mut fields = json!({"query": "zircon"});
        fields[field] = json!(value);
        assert_eq!(
            column(&server.search(fields)["results"], "content"),
            ["The zircon ring is insured"],
            "{field}"
        );
    }
}

#[test]
fn ten_thousand_page_through_while_others_write() {
    let server = TestServer::start();
    let line = |number: usize| {
        // A thousand of them are about the same moment.
        let minute = number / 1_000;
        json!({"content": format!("parcel {number}"), "created_at": format!("2026-05-01T00:{minute:02}:00Z")})
    };
    let body: String = (0..10_000)
        .map(|number| format!("{}\n", line(number)))
        .collect();
    let path = "/v1/memories/batch?is_primary=true";
    server.post_raw(path, Some("application/x-ndjson"), body.as_bytes());

    let stop = AtomicBool::new(false);
    let seen: Vec<String> = std::thread::scope(|scope| {
        // What others write, change, trash and purge meanwhile is never one of the parcels' contents.
        scope.spawn(|| {
            for number in 0.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let created_at = format!("2026-0{}-01T00:05:00Z", 4 + number % 3);
                let id = server.add(json!({"content": format!("letter {number}"), "created_at": created_at}));
                let told_again = json!({"content": format!("parcel {}", number * 37 % 10_000), "is_primary": true, "tags": ["seen"]});
                server.post("/v1/memories", told_again);
                let purge = number % 2 == 0;
                server.delete(&format!("/v1/memories/{id}?is_primary=true&purge={purge}"));
            }
        });
        let mut seen = Vec::new();
        let mut path = "/v1/memories?limit=100&is_primary=true".to_owned();
        loop {
            let page = server.get(&path).body;
            seen.extend(column(&page["items"], "content"));
            let Some(cursor) = page["next_cursor"].as_str() else {
                break;
            };
            path = format!(
                "/v1/memories?limit=100&is_primary=true&cursor={}",
                encode(cursor)
            );
        }
        stop.store(true, Ordering::Relaxed);
        seen
    });

    let mut parcels: Vec<&String> = seen
        .iter()
        .filter(|content| content.starts_with("parcel"))
        .collect();
    assert_eq!(parcels.len(), 10_000);
    parcels.sort();
    parcels.dedup();
    assert_eq!(parcels.len(), 10_000, "one came twice");
}

/// The contents of a list with this filter.
fn listed(server: &TestServer, filter: &str) -> Vec<String> {
    let answer = server.get(&format!("/v1/memories?is_primary=true&{filter}"));
    assert_eq!(answer.status, 200, "{filter}: {:#}", answer.body);
    column(&answer.body["items"], "content")
}
