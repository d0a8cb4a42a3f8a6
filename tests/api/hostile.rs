//! No text, however strange, makes the service fail: no 5xx and no dropped
//! connection (the harness panics on one), through every door.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use crate::support::{TestServer, encode};
use crate::unrelated::UNRELATED;

/// Pieces that have broken search engines, databases and renderers.
pub(crate) const PIECES: [&str; 40] = [
    "'",
    "\"",
    "\\",
    "\\\\",
    "`",
    "(",
    ")",
    "((",
    "[",
    "]",
    "{",
    "}",
    "|",
    "||",
    "&&",
    "=>",
    "->",
    "*",
    "%",
    "$5",
    "@tags:{x}",
    "@content:(a|b)",
    "-x",
    "~2",
    "^3",
    "AND",
    "OR NOT",
    "NEAR/3",
    "'; DROP TABLE memories; --",
    "\u{0}",
    "\u{202e}",
    "\u{feff}",
    "\u{fffd}",
    "👩‍👩‍👧",
    "e\u{301}\u{301}\u{301}",
    "不是吗？",
    "<keepsake>",
    "\r\n",
    "../../etc/passwd",
    "\u{10ffff}",
];

/// Any text: arbitrary characters, the pieces above, and both mixed.
fn hostile_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => select(PIECES.to_vec()).prop_map(str::to_owned),
        2 => vec(any::<char>(), 0..12).prop_map(String::from_iter),
        1 => "[a-zA-Z0-9 .:/_-]{0,12}",
        1 => "[\u{4e00}-\u{9fff}，。？]{0,8}",
        1 => (select(PIECES.to_vec()), 1..60_usize).prop_map(|(piece, times)| piece.repeat(times)),
    ];
    (vec(piece, 0..6), select(vec!["", " "])).prop_map(|(pieces, glue)| pieces.join(glue))
}

fn cases(count: u32) -> ProptestConfig {
    ProptestConfig {
        cases: count,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    }
}

#[test]
fn any_content_is_stored_exactly_or_refused() {
    let server = TestServer::start();
    proptest!(cases(64), |(content in hostile_text())| {
        let answer = server.post("/v1/memories", json!({"content": content, "is_primary": true}));
        match answer.status {
            200 | 201 => {
                let id = answer.body["id"].as_str().expect("an id");
                let stored = server.get(&format!("/v1/memories/{id}?is_primary=true"));
                prop_assert_eq!(&stored.body["content"], &json!(content));
            }
            status => {
                prop_assert_eq!(status, 422, "{:?}: {:#}", content, answer.body);
                prop_assert!(!content.chars().any(char::is_alphanumeric), "{:?} is not blank", content);
            }
        }
    });
}

#[test]
fn any_query_is_answered() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    proptest!(cases(64), |(stored in hostile_text(), query in hostile_text())| {
        server.post("/v1/memories", json!({"content": stored, "is_primary": true}));
        for text in [&query, &stored] {
            for mode in ["auto", "lexical"] {
                let search = server.post("/v1/search", json!({"query": text, "mode": mode, "min_score": 0, "is_primary": true}));
                prop_assert_eq!(search.status, 200, "{:?}: {:#}", text, search.body);
            }
            let get = server.get(&format!("/v1/search?q={}&is_primary=true", encode(text)));
            prop_assert_eq!(get.status, 200, "{:?}: {:#}", text, get.body);
            let prefetch = server.post("/v1/prefetch", json!({"query": text, "is_primary": true}));
            prop_assert_eq!(prefetch.status, 200, "{:?}: {:#}", text, prefetch.body);
        }
    });
}

#[test]
fn any_edit_is_done_or_refused() {
    let server = TestServer::start();
    let id = server.add(json!({"content": "The pool is open"}));
    let path = format!("/v1/memories/{id}?is_primary=true");
    proptest!(cases(64), |(text in hostile_text())| {
        for fields in [
            json!({"content": text}),
            json!({"tags": [text, "plain"]}),
            json!({"category": text, "source": text, "entry_type": text}),
            json!({"metadata": {text.clone(): [text]}}),
            json!({"invalid_at": text}),
        ] {
            let answer = server.patch(&path, fields.clone());
            prop_assert!(answer.status < 500, "{}: {} {:#}", fields, answer.status, answer.body);
        }
        prop_assert_eq!(server.get(&path).status, 200);
    });
}

#[test]
fn any_field_and_filter_is_taken_or_refused() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    proptest!(cases(64), |(text in hostile_text())| {
        let fields = json!({
            "content": "The pool is open", "tags": [text], "category": text, "source": text,
            "entry_type": text, "session": text, "turn": 1, "agent_id": text, "namespace": text,
        });
        let added = server.post("/v1/memories", fields);
        prop_assert!(added.status < 500, "{:?}: {:#}", text, added.body);

        let value = encode(&text);
        for filter in ["tag", "category", "source", "type", "session", "document", "state", "cursor", "limit", "agent_id", "namespace"] {
            let listed = server.get(&format!("/v1/memories?is_primary=true&{filter}={value}"));
            prop_assert!(listed.status < 500, "{} {:?}: {:#}", filter, text, listed.body);
        }
        for field in ["tag_filter", "category", "source", "session", "agent_id", "namespace", "created_after", "explain"] {
            let mut search = json!({"query": "pool", "is_primary": true});
            search[field] = if field == "tag_filter" { json!([text]) } else { json!(text) };
            let found = server.post("/v1/search", search);
            prop_assert!(found.status < 500, "{} {:?}: {:#}", field, text, found.body);
        }
    });
}

#[test]
fn any_name_in_a_path_is_answered() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    proptest!(cases(64), |(text in hostile_text())| {
        let name = encode(&text);
        for path in [
            format!("/v1/memories/{name}"),
            format!("/v1/entities/{name}/timeline"),
            format!("/v1/entities/{name}/related"),
        ] {
            let answer = server.get(&path);
            prop_assert!(answer.status < 500, "{:?}: {} {:#}", text, answer.status, answer.body);
        }
        for answer in [
            server.post("/v1/feedback", json!({"id": text, "useful": true, "is_primary": true})),
            server.post("/v1/corrections", json!({"ids": [text], "is_primary": true})),
        ] {
            prop_assert!(answer.status < 500, "{:?}: {} {:#}", text, answer.status, answer.body);
        }
    });
}

#[test]
fn any_operation_is_done_or_told_to_be_wrong() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    proptest!(cases(64), |(content in hostile_text(), old_text in hostile_text(), name in hostile_text())| {
        let operations = json!([
            {"op_id": name, "op": "add", "content": content, "origin": "automatic"},
            {"op_id": format!("{name}1"), "op": "replace", "old_text": old_text, "content": content},
            {"op_id": format!("{name}2"), "op": "replace", "old_text": content, "content": format!("{old_text} x")},
            {"op_id": format!("{name}3"), "op": "remove", "old_text": old_text, "source": name},
        ]);
        let first = server.post("/v1/memories/operations", operations.clone());
        prop_assert_eq!(first.status, 200, "{:#}", first.body);
        let again = server.post("/v1/memories/operations", operations);
        prop_assert_eq!(again.status, 200, "{:#}", again.body);
        for (one, other) in first.body["results"].as_array().unwrap().iter().zip(again.body["results"].as_array().unwrap()) {
            prop_assert_eq!(&one["id"], &other["id"], "{:#} {:#}", one, other);
            prop_assert_ne!(&other["status"], "done");
        }
        prop_assert_eq!(server.get("/v1/memories?is_primary=true&state=trashed").body["items"].as_array().unwrap().len(), 0);
    });
}

#[test]
fn any_text_is_a_synonym_a_session_and_a_deletion_or_refused() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    proptest!(cases(64), |(text in hostile_text(), other in hostile_text())| {
        let name = encode(&text);
        let set = server.put(&format!("/v1/synonyms/{name}"), json!({"terms": [other, text]}));
        prop_assert!(set.status < 500, "{:?}: {:#}", text, set.body);
        let query = server.post("/v1/search", json!({"query": text, "min_score": 0, "is_primary": true}));
        prop_assert_eq!(query.status, 200, "{:?}: {:#}", text, query.body);
        let removed = server.delete(&format!("/v1/synonyms/{name}"));
        prop_assert!(removed.status < 500, "{:?}: {:#}", text, removed.body);

        let session = server.post("/v1/sessions", json!({"session_id": text, "agent_id": other, "tag_filter": [text, other]}));
        prop_assert!(session.status < 500, "{:?}: {:#}", text, session.body);
        let prefetch = server.post("/v1/prefetch", json!({"query": other, "session_id": text}));
        prop_assert!(matches!(prefetch.status, 200 | 422), "{:?}: {:#}", text, prefetch.body);

        for filter in ["tag", "category", "source", "type", "session", "document"] {
            let deleted = server.delete(&format!("/v1/memories?is_primary=true&{filter}={name}&confirm=0"));
            prop_assert_eq!(deleted.status, 200, "{} {:?}: {:#}", filter, text, deleted.body);
        }
    });
}

#[test]
fn any_line_is_imported_exactly_or_refused() {
    let server = TestServer::start();
    proptest!(cases(64), |(text in hostile_text(), other in hostile_text())| {
        for line in [
            json!({"id": text, "content": other, "tags": [other], "session": text, "turn": 1, "metadata": {other.clone(): text}}),
            json!({"id": "fixed1", "content": text, "updated_at": other, "links": {"sources": [text]}}),
            json!({"kind": text}),
            json!({"kind": "topic", "namespace": text, "agent_id": other, "day": "2026-06-01", "topic": text, "mentions": 1, "attention": 2}),
            json!({"kind": "entity_pair", "namespace": text, "agent_id": other, "entity": text, "other": other, "name": other, "memories": 1}),
            json!({"kind": "synonyms", "namespace": "default", "term": text, "terms": [other], "manual": true}),
        ] {
            let answer = server.post_raw("/v1/import?namespace=imported", Some("application/x-ndjson"), line.to_string().as_bytes());
            prop_assert_eq!(answer.status, 200, "{}: {:#}", line, answer.body);
        }
    });
    let export = server.get("/v1/export?is_primary=true");
    let fresh = TestServer::start();
    let export = export.body.as_str().expect("lines");
    let answer = fresh.post_raw(
        "/v1/import",
        Some("application/x-ndjson"),
        export.as_bytes(),
    );
    assert_eq!(answer.body["refused"], json!([]), "{:#}", answer.body);
    assert_eq!(fresh.get("/v1/export?is_primary=true").body, export);
}

#[test]
fn any_text_is_kept_in_any_bank_or_refused() {
    let server = TestServer::start();
    proptest!(cases(64), |(text in hostile_text(), other in hostile_text())| {
        let bank = format!("/v1/default/banks/{}", encode(&text));
        let name = encode(&other);
        let turns = json!([[{"role": text, "content": other, "timestamp": text}, {"role": "user", "content": text}]]);
        let items = json!([
            {"content": other, "tags": [text, other], "context": text, "metadata": {text.clone(): other}, "entities": [{"text": text}]},
            {"content": turns.to_string(), "document_id": other, "update_mode": "append", "tags": text},
        ]);
        for body in [json!({"items": items, "async": true}), json!({"items": [items[0]]}), json!({"items": [items[1]]})] {
            let answer = server.post(&format!("{bank}/memories"), body);
            prop_assert!(answer.status < 500, "{:?} {:?}: {:#}", text, other, answer.body);
        }
        for (end, body) in [
            ("/memories/recall", json!({"query": other, "tags": [text], "tags_match": "exact", "types": ["world"], "query_timestamp": text})),
            ("/memories/recall", json!({"query": text, "tag_groups": [{"not": {"tags": [other]}}], "temporal_window": {"start": "0001-01-01", "end": "9999-12-31"}})),
            ("/reflect", json!({"query": text, "tags": other})),
            ("/mental-models", json!({"id": text, "name": other, "source_query": text, "tags": [other]})),
        ] {
            let answer = server.post(&format!("{bank}{end}"), body);
            prop_assert!(answer.status < 500, "{} {:?} {:?}: {:#}", end, text, other, answer.body);
        }
        for end in ["/profile".to_owned(), "/stats".into(), format!("/memories/list?q={name}&tags={name}&document_id={name}&entity_id={name}"), format!("/documents/{name}"), format!("/entities/{name}"), format!("/tags?q={name}"), format!("/operations/{name}"), format!("/mental-models/{name}"), format!("/memories/{name}")] {
            let answer = server.get(&format!("{bank}{end}"));
            prop_assert!(answer.status < 500, "{} {:?} {:?}: {:#}", end, text, other, answer.body);
        }
        let put = server.put(&bank, json!({"name": other, "mission": text, text.clone(): other}));
        prop_assert!(put.status < 500, "{:?}: {:#}", text, put.body);
        for path in [format!("{bank}/documents/{name}"), format!("{bank}/mental-models/{name}"), bank.clone()] {
            let answer = server.delete(&path);
            prop_assert!(answer.status < 500, "{}: {:#}", path, answer.body);
        }
    });
}

#[test]
fn any_text_is_an_argument_of_a_tool_or_refused() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    proptest!(cases(64), |(text in hostile_text(), other in hostile_text())| {
        for (tool, arguments) in [
            ("add", json!({"content": text, "tags": [other]})),
            ("search", json!({"query": text, "tag_filter": [other]})),
            ("forget", json!({"id": text})),
            ("feedback", json!({"id": other, "useful": true})),
            ("topics", json!({"period": text})),
            (other.as_str(), json!({text.clone(): other})),
        ] {
            let call = json!({"jsonrpc": "2.0", "id": text, "method": "tools/call", "params": {"name": tool, "arguments": arguments}});
            let answer = server.post(&format!("/mcp?is_primary=true&namespace={}", encode(&other)), call);
            prop_assert_eq!(answer.status, 200, "{} {:?} {:?}: {:#}", tool, text, other, answer.body);
            prop_assert_eq!(&answer.body["id"], &json!(text));
        }
    });
}

#[test]
fn any_bytes_are_refused_politely() {
    let server = TestServer::start();
    proptest!(cases(64), |(bytes in vec(any::<u8>(), 0..200))| {
        for path in ["/v1/memories", "/v1/memories/batch", "/v1/memories/operations", "/v1/search", "/v1/prefetch", "/v1/feedback", "/v1/corrections", "/v1/sessions", "/v1/default/banks/b/memories", "/v1/default/banks/b/memories/recall", "/v1/default/banks/b/reflect", "/mcp"] {
            let answer = server.post_raw(path, Some("application/json"), &bytes);
            prop_assert!((400..500).contains(&answer.status), "{}: {} {:#}", path, answer.status, answer.body);
        }
        for path in ["/v1/memories/batch", "/v1/import"] {
            let answer = server.post_raw(path, Some("application/x-ndjson"), &bytes);
            prop_assert!(answer.status < 500, "{}: {} {:#}", path, answer.status, answer.body);
        }
    });
}
