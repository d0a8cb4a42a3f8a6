//! The conventions of the bank API, seen over HTTP: what its clients send and what they read.

use serde_json::{Value, json};

use crate::answers::{column, header, list, sorted, text};
use crate::support::{Answer, TestServer};

const BANK: &str = "/v1/default/banks/harbour";

fn retain(server: &TestServer, bank: &str, items: Value) -> Answer {
    server.post(&format!("{bank}/memories"), json!({"items": items}))
}

fn stored(server: &TestServer, items: Value) {
    let answer = retain(server, BANK, items);
    assert_eq!(answer.status, 200, "{:#}", answer.body);
}

fn recall(server: &TestServer, fields: Value) -> Value {
    let answer = server.post(&format!("{BANK}/memories/recall"), fields);
    assert_eq!(answer.status, 200, "{:#}", answer.body);
    answer.body
}

fn texts(server: &TestServer, query: &str) -> Vec<String> {
    column(&recall(server, json!({"query": query}))["results"], "text")
}

fn memories(server: &TestServer) -> Vec<Value> {
    list(&server.get(&format!("{BANK}/memories/list")).body["items"]).clone()
}

#[test]
fn a_bank_is_a_namespace() {
    let server = TestServer::start();
    stored(&server, json!([{"content": "The ferry leaves at nine"}]));
    let found = server.search(json!({"query": "ferry", "namespace": "harbour"}));
    assert_eq!(
        column(&found["results"], "content"),
        ["The ferry leaves at nine"]
    );
    assert_eq!(server.found("ferry"), Vec::<String>::new());
    server.add(json!({"content": "The ferry is blue", "namespace": "harbour"}));
    assert_eq!(
        sorted(texts(&server, "ferry")),
        ["The ferry is blue", "The ferry leaves at nine"]
    );
}

#[test]
fn recall_ranks_as_our_own_search() {
    let server = TestServer::start();
    let contents = [
        "Ann likes green tea",
        "Tea is sold at the pier",
        "The pier was built in 1920",
        "Green boats sail faster",
        "Ann built a boat",
    ];
    for content in contents {
        server.add(json!({"content": content, "namespace": "harbour"}));
    }
    for query in ["what tea does Ann like?", "pier", "green boat"] {
        let own = server.search(json!({"query": query, "namespace": "harbour", "top_k": 50}));
        let bank = recall(&server, json!({"query": query}));
        assert_eq!(
            column(&own["results"], "id"),
            column(&bank["results"], "id"),
            "{query}"
        );
        for (own, bank) in list(&own["results"]).iter().zip(list(&bank["results"])) {
            assert_eq!(own["score"], bank["scores"]["final"], "{query}");
            assert_eq!(own["factors"], bank["factors"], "{query}");
        }
    }
}

#[test]
fn nulls_are_absent_and_unknown_fields_are_ignored() {
    let server = TestServer::start();
    let item = json!({
        "content": "The ferry leaves at nine", "timestamp": null, "context": null, "metadata": null, "document_id": null,
        "entities": null, "tags": null, "observation_scopes": null, "strategy": null, "update_mode": null, "colour": "red",
    });
    let body = json!({"items": [item], "async": null, "document_tags": null, "operation_id": null, "colour": "red"});
    let answer = server.post(&format!("{BANK}/memories"), body);
    assert_eq!(answer.status, 200, "{:#}", answer.body);
    let fields = json!({
        "query": "ferry", "types": null, "budget": null, "max_tokens": null, "trace": null, "query_timestamp": null,
        "include": {"entities": null, "chunks": null, "source_facts": null}, "tags": null, "tags_match": null,
        "tag_groups": null, "min_scores": null, "temporal_window": null, "prefer_observations": null, "colour": "red",
    });
    assert_eq!(list(&recall(&server, fields)["results"]).len(), 1);
    let put = server.put(
        BANK,
        json!({"name": null, "mission": null, "disposition": null, "colour": "red"}),
    );
    assert_eq!(put.status, 200, "{:#}", put.body);
}

#[test]
fn odd_requests_get_an_answer_that_clients_read() {
    let server = TestServer::start();
    let empty = retain(&server, BANK, json!([]));
    assert_eq!((empty.status, &empty.body["items_count"]), (200, &json!(0)));
    let blank = retain(
        &server,
        BANK,
        json!([{"content": "fine"}, {"content": "   "}]),
    );
    assert_eq!(blank.status, 422);
    assert_eq!(
        blank.body["detail"][0]["loc"],
        json!(["body", "items", "1", "content"])
    );
    assert_eq!(header(&blank, "content-type"), "application/json");
    assert!(memories(&server).is_empty(), "one wrong item stores none");
    for (items, status) in [
        (
            json!([{"content": "x", "document_id": "d"}, {"content": "y", "document_id": "d"}]),
            400,
        ),
        (json!([{"content": "x", "update_mode": "append"}]), 400),
        (json!([{"content": "x", "update_mode": "prepend"}]), 422),
        (json!([{"content": "x", "timestamp": "yesterday"}]), 422),
        (json!([{"content": [{"type": "image", "source": {}}]}]), 422),
        (json!([{"content": "x", "tags": ["agent:y"]}]), 422),
        (json!([{"content": 3}]), 422),
        (json!({"content": "x"}), 422),
    ] {
        let answer = retain(&server, BANK, items.clone());
        assert_eq!(answer.status, status, "{items}: {:#}", answer.body);
        assert!(
            !answer.body["detail"].is_null(),
            "{items}: {:#}",
            answer.body
        );
    }
    for (path, status) in [
        ("/v1/default/banks/harbour/graph", 404),
        ("/v1/default/nothing", 404),
        ("/v1/default/banks/harbour/documents/none", 404),
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, status, "{path}");
        assert!(
            answer.body["detail"].is_string(),
            "{path}: {:#}",
            answer.body
        );
        assert!(answer.headers.contains_key("x-request-id"), "{path}");
    }
    let malformed = server.post_raw(&format!("{BANK}/memories"), Some("application/json"), b"{");
    assert_eq!(malformed.status, 400);
    assert!(malformed.body["detail"].is_string(), "{:#}", malformed.body);
    let wrong_time = json!({"query": "x", "query_timestamp": "soon"});
    assert_eq!(
        server
            .post(&format!("{BANK}/memories/recall"), wrong_time)
            .status,
        400
    );
}

#[test]
fn names_in_paths_are_decoded_once() {
    let server = TestServer::start();
    for (bank, name) in [
        ("team%20a%2Fb", "team a/b"),
        ("bank%3A%3Aproject", "bank::project"),
        ("user%252F1", "user%2F1"),
        ("%E9%93%B6%E8%A1%8C", "银行"),
    ] {
        let path = format!("/v1/default/banks/{bank}");
        let profile = server.put(&path, json!({}));
        assert_eq!(text(&profile.body["bank_id"]), name);
        let items = json!([{"content": "kept", "document_id": "Folder/My Note.md"}]);
        assert_eq!(retain(&server, &path, items).body["bank_id"], name);
        for document in ["Folder/My%20Note.md", "Folder%2FMy%20Note.md"] {
            let answer = server.get(&format!("{path}/documents/{document}"));
            assert_eq!(
                answer.body["id"], "Folder/My Note.md",
                "{document}: {:#}",
                answer.body
            );
        }
    }
    let banks = column(&server.get("/v1/default/banks").body["banks"], "bank_id");
    assert_eq!(banks, ["bank::project", "team a/b", "user%2F1", "银行"]);
}

#[test]
fn a_conversation_is_stored_message_by_message() {
    let server = TestServer::start();
    let talk = json!([[
        {"role": "user", "content": "Is the crane free?", "timestamp": "2026-05-01T08:00:00Z"},
        {"role": "assistant", "content": "Until noon."},
    ]]);
    stored(
        &server,
        json!([{"content": talk.to_string(), "document_id": "s1", "timestamp": "2026-05-02T08:00:00Z"}]),
    );
    let mut items = memories(&server);
    items.sort_by_key(|item| text(&item["text"]));
    assert_eq!(
        column(&json!(items), "text"),
        ["Assistant: Until noon.", "User: Is the crane free?"]
    );
    assert_eq!(
        column(&json!(items), "mentioned_at"),
        ["2026-05-02T08:00:00Z", "2026-05-01T08:00:00Z"]
    );
    // Turns of a conversation lend each other their rank.
    let found = recall(&server, json!({"query": "crane"}));
    assert_eq!(list(&found["results"]).len(), 2, "{found:#}");
}

#[test]
fn what_is_appended_again_is_stored_once() {
    let server = TestServer::start();
    let append = |text: &str, time: Option<&str>| {
        let said = json!([{"role": "user", "content": text, "timestamp": time}]);
        stored(
            &server,
            json!([{"content": said.to_string(), "document_id": "s1", "update_mode": "append"}]),
        );
    };
    append("yes", Some("2026-05-01T08:00:00Z"));
    append("yes", Some("2026-05-01T08:00:00Z"));
    append("yes", None);
    server.set_now("2026-06-05T12:00:00Z");
    append("yes", Some("2026-05-01T08:00:00Z"));
    assert_eq!(memories(&server).len(), 1);
    assert_eq!(
        memories(&server)[0]["proof_count"],
        1,
        "it was not told again"
    );
    append("yes", Some("2026-05-01T09:00:00Z"));
    assert_eq!(memories(&server).len(), 2, "another time is another turn");
}

#[test]
fn appends_at_the_same_time_store_each_turn_once() {
    let server = TestServer::start();
    let said =
        json!([{"role": "user", "content": "The tide turns", "timestamp": "2026-05-01T08:00:00Z"}]);
    let items =
        json!([{"content": said.to_string(), "document_id": "s1", "update_mode": "append"}]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| stored(&server, items.clone()));
        }
    });
    assert_eq!(memories(&server).len(), 1, "{:#?}", memories(&server));
}

#[test]
fn what_was_deleted_is_stored_again_when_it_is_appended_again() {
    let server = TestServer::start();
    let said =
        json!([{"role": "user", "content": "The tide turns", "timestamp": "2026-05-01T08:00:00Z"}]);
    let append =
        json!([{"content": said.to_string(), "document_id": "s1", "update_mode": "append"}]);
    for path in [
        format!("{BANK}/documents/s1"),
        format!("{BANK}/memories"),
        BANK.to_owned(),
    ] {
        stored(&server, append.clone());
        assert_eq!(memories(&server).len(), 1, "before {path} is deleted");
        assert_eq!(server.delete(&path).status, 200);
        assert_eq!(memories(&server).len(), 0, "after {path} was deleted");
    }
    stored(&server, append);
    assert_eq!(memories(&server).len(), 1);
}

#[test]
fn a_replaced_document_keeps_what_stayed_and_trashes_the_rest() {
    let server = TestServer::start();
    let talk = |texts: &[&str]| {
        let said: Vec<Value> = texts
            .iter()
            .map(|text| json!({"role": "user", "content": text}))
            .collect();
        json!([{"content": json!(said).to_string(), "document_id": "s1"}])
    };
    stored(&server, talk(&["one red ship", "two blue ships"]));
    let id = |part: &str| {
        let items = memories(&server);
        let item = items.iter().find(|item| text(&item["text"]).contains(part));
        item.map(|item| text(&item["id"]))
    };
    let stayed = id("two blue");
    stored(&server, talk(&["two blue ships", "three green ships"]));
    assert_eq!(id("two blue"), stayed, "what stayed is the same memory");
    assert_eq!(id("one red"), None);
    assert_eq!(memories(&server).len(), 2);
    let trashed = server.get("/v1/memories?namespace=harbour&is_primary=true&state=trashed");
    assert_eq!(list(&trashed.body["items"]).len(), 1);
    stored(&server, talk(&["one red ship"]));
    assert_eq!(memories(&server).len(), 1, "what is told again comes back");
}

#[test]
fn an_operation_is_done_once_and_known_after_a_restart() {
    let server = TestServer::start();
    let name = "6f1c1f0e-4d0f-4f7a-9a52-0d6c5f5f9d11";
    let send = |server: &TestServer, content: &str, id: &str| {
        let body = json!({"items": [{"content": content}], "async": true, "operation_id": id});
        server.post(&format!("{BANK}/memories"), body)
    };
    assert_eq!(
        send(&server, "The ferry leaves at nine", name).body["operation_ids"],
        json!([name])
    );
    let server = server.restart();
    assert_eq!(send(&server, "The ferry leaves at nine", name).status, 200);
    assert_eq!(send(&server, "The ferry leaves at ten", name).status, 409);
    assert_eq!(
        send(&server, "The ferry leaves at ten", "seven").status,
        422
    );
    assert_eq!(memories(&server)[0]["proof_count"], 1);
    let operation = server.get(&format!("{BANK}/operations/{name}"));
    assert_eq!(
        operation.body["status"], "completed",
        "{:#}",
        operation.body
    );
}

#[test]
fn what_clients_keep_survives_a_restart() {
    let server = TestServer::start();
    server.put(BANK, json!({"name": "Harbour", "disposition_empathy": 5}));
    stored(
        &server,
        json!([{"content": "The crane is free", "document_id": "d", "tags": ["t"]}]),
    );
    let model = json!({"id": "m", "name": "Crane", "source_query": "crane"});
    assert_eq!(
        server.post(&format!("{BANK}/mental-models"), model).status,
        200
    );
    let paths = [
        "/profile",
        "/documents",
        "/documents/d",
        "/mental-models",
        "/operations",
        "/config",
    ];
    let read = |server: &TestServer| paths.map(|path| server.get(&format!("{BANK}{path}")).body);
    let before = read(&server);
    let server = server.restart();
    assert_eq!(read(&server), before);
}

#[test]
fn a_deleted_bank_leaves_nothing() {
    let server = TestServer::start();
    stored(
        &server,
        json!([{"content": "The crane is free", "document_id": "d"}, {"content": "The pier is long"}]),
    );
    stored(
        &server,
        json!([{"content": "The crane is taken", "document_id": "d"}]),
    );
    let deleted = server.delete(BANK);
    assert_eq!(deleted.body["deleted_count"], 3, "{:#}", deleted.body);
    assert_eq!(server.get(&format!("{BANK}/profile")).status, 404);
    assert_eq!(server.get(&format!("{BANK}/documents/d")).status, 404);
    let stats = server.get("/v1/stats?namespace=harbour&is_primary=true");
    assert_eq!(stats.body["memories"]["total"], 0);
}

#[test]
fn a_memory_is_edited_invalidated_and_restored() {
    let server = TestServer::start();
    stored(
        &server,
        json!([{"content": "The crane is free", "metadata": {"page": "3"}, "context": "log"}]),
    );
    let id = text(&memories(&server)[0]["id"]);
    let path = format!("{BANK}/memories/{id}");
    let edited = server.patch(
        &path,
        json!({"text": "The crane is taken", "fact_type": "experience"}),
    );
    assert_eq!(
        edited.body["text"], "The crane is taken",
        "{:#}",
        edited.body
    );
    assert_eq!(
        (&edited.body["context"], &edited.body["fact_type"]),
        (&json!("log"), &json!("experience"))
    );
    assert_eq!(edited.body["metadata"], json!({"page": "3"}));
    assert_eq!(edited.body["id"], id, "ids stay");
    let wrong = server.patch(&path, json!({"state": "invalidated", "reason": "hearsay"}));
    assert_eq!(
        (&wrong.body["state"], &wrong.body["invalidation_reason"]),
        (&json!("invalidated"), &json!("hearsay"))
    );
    assert_eq!(texts(&server, "crane"), Vec::<String>::new());
    server.patch(&path, json!({"state": "valid"}));
    assert_eq!(texts(&server, "crane"), ["The crane is taken"]);
    assert_eq!(
        server
            .get("/v1/default/banks/other/memories/".to_owned().as_str())
            .status,
        404
    );
    assert_eq!(
        server
            .get(&format!("/v1/default/banks/other/memories/{id}"))
            .status,
        404
    );
}

#[test]
fn every_memory_is_of_every_kind_that_is_asked_for() {
    let server = TestServer::start();
    stored(&server, json!([{"content": "The crane is free"}]));
    for (types, kind) in [
        (json!(null), "world"),
        (json!(["observation"]), "observation"),
        (json!(["experience", "world"]), "world"),
    ] {
        let found = recall(&server, json!({"query": "crane", "types": types}));
        assert_eq!(column(&found["results"], "type"), [kind], "{types}");
    }
}

#[test]
fn a_budget_of_text_holds_whole_memories() {
    let server = TestServer::start();
    for number in 0..30 {
        let content = format!("crane report {number}: {}", "the hook is worn ".repeat(10));
        stored(&server, json!([{"content": content}]));
    }
    let found = recall(&server, json!({"query": "crane report", "max_tokens": 500}));
    let texts = column(&found["results"], "text");
    assert!((5..15).contains(&texts.len()), "{}", texts.len());
    assert!(
        texts.iter().all(|text| text.ends_with("worn ")),
        "{texts:?}"
    );
    let low = recall(
        &server,
        json!({"query": "crane report", "budget": "low", "max_tokens": 100_000}),
    );
    assert_eq!(list(&low["results"]).len(), 20);
    let least = json!({"query": "crane report", "min_scores": {"final": 99.0}});
    assert_eq!(list(&recall(&server, least)["results"]).len(), 0);
    let near = json!({"query": "crane report", "min_scores": {"semantic": 0.01, "keyword": 0.01, "reranker": 0.01}});
    assert!(!list(&recall(&server, near)["results"]).is_empty());
}

#[test]
fn a_window_of_time_ranks_and_leaves_nothing_out() {
    let server = TestServer::start();
    for (day, content) in [
        ("2026-03-10", "The crane was oiled in the yard"),
        ("2026-04-10", "The crane was oiled at the pier"),
    ] {
        stored(&server, json!([{"content": content, "timestamp": day}]));
    }
    let first = |start: &str, end: &str| {
        let window = json!({"query": "when was the crane oiled?", "temporal_window": {"start": start, "end": end}});
        column(&recall(&server, window)["results"], "text")
    };
    let march = first("2026-03-05T00:00:00Z", "2026-03-15T00:00:00Z");
    let april = first("2026-04-05T00:00:00", "2026-04-15");
    assert_eq!((march.len(), april.len()), (2, 2));
    assert!(
        march[0].contains("yard") && april[0].contains("pier"),
        "{march:?} {april:?}"
    );
}

#[test]
fn a_query_is_asked_at_its_time_but_not_past_a_lock() {
    let server = TestServer::start();
    stored(&server, json!([{"content": "The crane is free"}]));
    server.put("/v1/lock", json!({"ttl_seconds": 60}));
    let found = recall(
        &server,
        json!({"query": "crane", "query_timestamp": "2030-01-01", "trace": true}),
    );
    assert_eq!(
        (&found["results"], &found["trace"]["skipped"]),
        (&json!([]), &json!("workflow_lock"))
    );
    server.delete("/v1/lock");
    let found = recall(
        &server,
        json!({"query": "crane", "query_timestamp": "2026-05-30T23:40:00"}),
    );
    assert_eq!(list(&found["results"]).len(), 1);
}

#[test]
fn long_texts_are_cut_where_they_pause_and_short_ones_are_not() {
    let server = TestServer::start();
    let line = |number: usize| format!("Line {number} of the tide table of the strait.\n\n");
    let long: String = (0..500).map(line).collect();
    stored(
        &server,
        json!([{"content": long, "document_id": "tides"}, {"content": " kept \n as it is "}]),
    );
    let items = memories(&server);
    assert!(
        items
            .iter()
            .all(|item| text(&item["text"]).chars().count() <= 4_000)
    );
    assert!(
        items
            .iter()
            .any(|item| item["text"] == " kept \n as it is ")
    );
    assert!(items.len() > 3, "{}", items.len());
    let held = text(&server.get(&format!("{BANK}/documents/tides")).body["original_text"]);
    let letters = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(letters(&held), letters(&long), "nothing but blanks is lost");
}

#[test]
fn secrets_are_masked_in_memories_and_in_what_is_kept_beside_them() {
    let server = TestServer::start();
    // In two parts, so that no scanner takes it for one that was lost.
    let key = ["sk-ant-", "api03-", &"Ab1".repeat(31), "AA"].concat();
    let item = json!({
        "content": format!("The key is {key}"), "document_id": "d", "metadata": {"key": key}, "context": key,
    });
    stored(&server, json!([item]));
    stored(&server, json!([item]));
    assert_eq!(memories(&server).len(), 1, "masked, it is known again");
    for path in ["/memories/list", "/documents", "/documents/d"] {
        let body = server.get(&format!("{BANK}{path}")).body;
        assert!(!body.to_string().contains("Ab1Ab1Ab1"), "{path}: {body:#}");
    }
}
