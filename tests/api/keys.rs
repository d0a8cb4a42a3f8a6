//! API keys: who gets in, what each key may do, and that one which is bound to an agent gets nothing
//! of another through any route.

use keepsake::keys::{ApiKey, KeyHash, Reach};
use serde_json::{Value, json};

use crate::cli::Home;
use crate::openapi;
use crate::routes::{self, Sent};
use crate::support::{Answer, TestServer};

const ROOT: &str = "key of root";
const ALICE: &str = "key of alice";
const BOB: &str = "key of bob";
const ANYONE: &str = "key of anyone";
const READER: &str = "key of a reader";
/// What only Bob knows.
const SECRET: &str = "xylophone";

fn key(secret: &str, agent: Option<&str>, admin: bool, read_only: bool) -> ApiKey {
    let bound = |agent: &str| Reach {
        agent: Some(agent.to_owned()),
        namespace: Some("default".to_owned()),
        primary: Some(false),
    };
    ApiKey {
        name: secret.replace(' ', "-"),
        hash: KeyHash::of(secret),
        reach: agent.map(bound).unwrap_or_default(),
        admin,
        read_only,
    }
}

fn server() -> TestServer {
    TestServer::start_with(|settings| {
        settings.api_keys = [
            key(ROOT, None, true, false),
            key(ALICE, Some("alice"), false, false),
            key(BOB, Some("bob"), false, false),
            key(ANYONE, None, false, false),
            key(READER, None, false, true),
        ]
        .into_iter()
        .collect();
    })
}

/// Sends as the holder of a key.
fn send(server: &TestServer, key: &str, method: &str, path: &str, body: Value) -> Answer {
    server.use_key(Some(key));
    match (method, body) {
        (_, Value::Null) => server.request(method, path),
        ("PUT", body) => server.put(path, body),
        ("PATCH", body) => server.patch(path, body),
        (_, body) => server.post(path, body),
    }
}

#[test]
fn without_a_valid_key_nothing_but_the_probes_answers() {
    let server = server();
    for (method, route) in keepsake::http::route_list() {
        let is_open =
            matches!(route, "/healthz" | "/readyz" | "/version") || route.starts_with("/health");
        let path = route.replace("{*id}", "x").replace(['{', '}'], "");
        for key in [None, Some("no such key"), Some("")] {
            server.use_key(key);
            let answer = server.request(method, &path);
            if is_open {
                assert_eq!(answer.status, 200, "{method} {route}");
                continue;
            }
            assert_eq!(answer.status, 401, "{method} {route}");
            assert!(answer.headers.contains_key("www-authenticate"), "{route}");
            let is_bank = route.starts_with("/v1/default/");
            assert_eq!(answer.body["type"].is_null(), is_bank, "{:#}", answer.body);
            assert!(answer.body["detail"].is_string(), "{:#}", answer.body);
        }
    }
    server.use_key(None);
    assert_eq!(server.get("/nothing/here").status, 401);
}

#[test]
fn a_key_does_what_it_may() {
    let server = server();
    let (memory, query) = (json!({"content": "tea"}), json!({"query": "tea"}));
    for (key, method, path, body, status) in [
        (ROOT, "POST", "/v1/memories", &memory, 201),
        (ROOT, "GET", "/v1/export", &Value::Null, 200),
        (ROOT, "DELETE", "/v1/lock", &Value::Null, 200),
        (ANYONE, "POST", "/v1/search", &query, 200),
        (ANYONE, "GET", "/v1/lock", &Value::Null, 200),
        (ANYONE, "GET", "/v1/export", &Value::Null, 403),
        (ANYONE, "PUT", "/v1/lock", &json!({}), 403),
        (
            ANYONE,
            "PUT",
            "/v1/synonyms/a",
            &json!({"terms": ["b"]}),
            403,
        ),
        (
            ANYONE,
            "DELETE",
            "/v1/memories?tag=a&confirm=0",
            &Value::Null,
            403,
        ),
        (
            ANYONE,
            "DELETE",
            "/v1/default/banks/default",
            &Value::Null,
            403,
        ),
        (ALICE, "POST", "/v1/maintenance/backfill", &json!({}), 403),
        (ALICE, "POST", "/v1/import", &json!([]), 403),
        (READER, "POST", "/v1/search", &query, 200),
        (READER, "POST", "/v1/memories", &memory, 403),
        (READER, "DELETE", "/v1/memories/aaaaaaaa", &Value::Null, 403),
        (READER, "GET", "/v1/export", &Value::Null, 403),
    ] {
        let answer = send(&server, key, method, path, body.clone());
        assert_eq!(
            answer.status, status,
            "{key}: {method} {path} {:#}",
            answer.body
        );
    }
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "arguments": {"content": "tea"}}});
    let added = send(&server, READER, "POST", "/mcp", call);
    assert_eq!(added.body["result"]["isError"], true, "{:#}", added.body);
}

/// The document says what each route needs, and that is what each route asks for.
#[test]
fn every_route_asks_for_the_key_that_its_description_names() {
    let server = server();
    server.use_key(Some(ROOT));
    let document = server.get("/openapi.json").body;
    for (method, path, operation) in openapi::operations(&document) {
        let path = path.replace(['{', '}'], "");
        let status = |key: Option<&str>| {
            server.use_key(key);
            server.request(&method, &path).status
        };
        let needs = operation["x-keepsake-needs"].as_str().unwrap();
        let (nobody, anyone, reader) = match needs {
            "no key" => (true, true, true),
            "a key" => (false, true, true),
            "a key that may write" => (false, true, false),
            "an admin key" | "an admin key that may write" => (false, false, false),
            other => panic!("{other}"),
        };
        assert_eq!(status(None) != 401, nobody, "{method} {path}");
        assert_eq!(status(Some(ANYONE)) != 403, anyone, "{method} {path}");
        assert_eq!(status(Some(READER)) != 403, reader, "{method} {path}");
        assert_ne!(status(Some(ROOT)), 403, "{method} {path}");
        assert_eq!(
            operation["security"] == json!([]),
            nobody,
            "{method} {path}"
        );
    }
}

#[test]
fn a_bound_key_writes_as_its_agent_and_names_no_other() {
    let server = server();
    let mut wish = json!({"content": "Alice drinks tea", "is_primary": true});
    let added = send(&server, ALICE, "POST", "/v1/memories", wish.clone());
    assert_eq!(
        (added.status, &added.body["agent_id"]),
        (201, &json!("alice"))
    );
    wish["agent_id"] = json!("bob");
    let refused = send(&server, ALICE, "POST", "/v1/memories", wish);
    assert_eq!(refused.status, 404, "{:#}", refused.body);
    for path in ["/v1/memories?namespace=other", "/v1/stats?agent_id=bob"] {
        let refused = send(&server, ALICE, "GET", path, Value::Null);
        assert_eq!(refused.status, 404, "{path}");
    }
    let bank = "/v1/default/banks/other/memories/recall";
    let refused = send(&server, ALICE, "POST", bank, json!({"query": "tea"}));
    assert_eq!(refused.status, 404);
    let retain = json!({"items": [{"content": "Alice likes the harbour"}]});
    let bank = "/v1/default/banks/default/memories";
    assert_eq!(send(&server, ALICE, "POST", bank, retain).status, 200);
    let list = send(&server, ALICE, "GET", "/v1/memories", Value::Null);
    for memory in list.body["items"].as_array().unwrap() {
        assert_eq!(memory["agent_id"], "alice", "{memory:#}");
    }
}

/// What is kept of Bob: memories, a document, a saved search, skills, a session, answers that are
/// given again. The id of one memory.
fn give_bob_his(server: &TestServer) -> String {
    let content = format!(
        "Bob hides the zircon ring and the {SECRET} in Berlin, near the Albatross and the crane"
    );
    let bobs = |method: &str, path: &str, body: Value| {
        let answer = send(server, BOB, method, path, body);
        assert!(answer.status < 300, "{path}: {:#}", answer.body);
        answer
    };
    let fields = json!({"content": content, "tags": ["zircon", SECRET], "session": "s"});
    let id = bobs("POST", "/v1/memories", fields).body["id"].clone();
    let bank = "/v1/default/banks/default";
    bobs("PUT", bank, json!({"mission": SECRET}));
    bobs(
        "POST",
        &format!("{bank}/memories"),
        json!({"items": [
        {"content": format!("The {SECRET} is at the pier"), "document_id": "log/May 1.md", "tags": [SECRET]}
    ], "async": true, "operation_id": "6f1c1f0e-4d0f-4f7a-9a52-0d6c5f5f9d11"}),
    );
    bobs(
        "POST",
        &format!("{bank}/mental-models"),
        json!({"id": "ships", "name": SECRET, "source_query": SECRET}),
    );
    let skill = json!({"path": "k8s/SKILL.md", "front_matter": format!("name: k8s\ndescription: Debug pods with a {SECRET}"), "hash": "1"});
    bobs("PUT", "/v1/skills", json!({"skills": [skill]}));
    bobs(
        "POST",
        "/v1/sessions",
        json!({"session_id": "s", "tag_filter": [SECRET]}),
    );
    server.use_key(Some(BOB));
    let once = json!({"content": format!("once more: {SECRET}")}).to_string();
    server.post_once("/v1/memories", "the same", "application/json", &once);
    id.as_str().unwrap().to_owned()
}

/// Everything of Bob, as he sees it.
fn seen_by_bob(server: &TestServer) -> Vec<Value> {
    let bank = "/v1/default/banks/default";
    ["/v1/memories", "/v1/topics", "/v1/skills"]
        .map(str::to_owned)
        .into_iter()
        .chain(
            ["/profile", "/documents", "/mental-models", "/operations"]
                .map(|end| format!("{bank}{end}")),
        )
        .map(|path| send(server, BOB, "GET", &path, Value::Null).body)
        .collect()
}

/// Ways in which a request may say that it is Bob's, or everybody's.
const LIES: [&[(&str, &str)]; 4] = [
    &[],
    &[("agent_id", "bob")],
    &[("is_primary", "true")],
    &[
        ("namespace", "default"),
        ("agent_id", "bob"),
        ("is_primary", "true"),
    ],
];

/// The request, with a lie in its query string and in its body.
fn with(lie: &[(&str, &str)], path: &str, body: &Sent) -> (String, Sent) {
    let mut path = path
        .replace("harbour", "default")
        .replace("is_primary=true", "");
    for (name, value) in lie {
        let joint = if path.contains('?') { '&' } else { '?' };
        path = format!("{path}{joint}{name}={value}");
    }
    let tell = |fields: &mut Value| {
        for (name, value) in lie {
            let value = if *value == "true" {
                json!(true)
            } else {
                json!(value)
            };
            fields[*name] = value;
        }
    };
    let body = match body {
        Sent::Nothing => Sent::Nothing,
        Sent::Lines(lines) => Sent::Lines(lines),
        Sent::Json(body) => {
            let mut body = body.clone();
            match &mut body {
                Value::Array(items) => items.iter_mut().for_each(tell),
                Value::Object(fields) => {
                    fields.remove("is_primary");
                    fields.remove("agent_id");
                    tell(&mut body);
                }
                _ => {}
            }
            Sent::Json(body)
        }
    };
    (path, body)
}

#[test]
fn a_key_bound_to_one_agent_gets_nothing_of_another_through_any_route() {
    let server = server();
    let id = give_bob_his(&server);
    let before = seen_by_bob(&server);
    let telling = before
        .iter()
        .filter(|seen| seen.to_string().contains(SECRET));
    assert_eq!(telling.count(), 6, "{before:#?}");
    server.use_key(Some(ALICE));
    for lie in LIES {
        for mut example in routes::table() {
            (example.path, example.body) = with(lie, &example.path, &example.body);
            let answer = routes::send(&server, &example, &id);
            let told = format!("{} {:?}", answer.body, answer.headers);
            let (method, path) = (example.method, &example.path);
            assert!(!told.contains(SECRET), "{method} {path}: {told}");
        }
    }
    let once = json!({"content": format!("once more: {SECRET}")}).to_string();
    let answer = server.post_once("/v1/memories", "the same", "application/json", &once);
    assert!(
        !answer.headers.contains_key("idempotent-replayed"),
        "{}",
        answer.body
    );
    assert_eq!(seen_by_bob(&server), before);
}

#[test]
fn answers_are_for_whoever_asked_and_for_nobody_elses_page() {
    let server = TestServer::start();
    for path in [
        "/v1/stats",
        "/nothing/here",
        "/v1/default/banks",
        "/healthz",
    ] {
        let headers = server.get(path).headers;
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(headers["cache-control"], "no-store", "{path}");
        assert!(
            headers["content-security-policy"]
                .to_str()
                .unwrap()
                .contains("'none'")
        );
        assert!(
            !headers.contains_key("access-control-allow-origin"),
            "{path}"
        );
    }
    assert_eq!(server.request("OPTIONS", "/v1/memories").status, 405);
}

/// A key that nobody may read: made, used, and sought in everything that the program says.
#[test]
fn a_key_is_shown_once_and_never_again() {
    let home = Home::new();
    let made = home.run(&["key", "create", "laptop", "--agent", "alice", "--json"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let made: Value = serde_json::from_str(&made.stdout).unwrap();
    let secret = made["key"].as_str().unwrap();
    let file = home.path().join(".config/keepsake/config.json");
    let hash = KeyHash::of(secret).to_string();
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept.contains(&hash) && !kept.contains(secret), "{kept}");
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
    let clear = "a key that is given in clear";
    for args in [
        &["key", "list"][..],
        &["key", "list", "--json"],
        &["config", "show"],
        &["config", "show", "--json"],
        &["config", "check"],
        &["key", "create", "laptop"],
        &["key", "revoke", "desktop"],
        &["key", "create", "root", "--admin", "--agent", "alice"],
    ] {
        let mut command = home.command(args);
        command
            .env("KEEPSAKE_API_KEY", clear)
            .env("KEEPSAKE_LOG", "trace");
        let output = crate::cli::run(command, b"");
        let told = format!("{}{}", output.stdout, output.stderr);
        for hidden in [secret, &hash, clear, &KeyHash::of(clear).to_string()] {
            assert!(!told.contains(hidden), "{args:?}: {told}");
        }
    }
    let revoked = home.run(&["key", "revoke", "laptop"]);
    assert_eq!(revoked.code, 0, "{}", revoked.stderr);
    assert!(!std::fs::read_to_string(&file).unwrap().contains(&hash));
}
