//! Every route with a success and a failure, as a snapshot of status and body, so that no answer
//! changes unseen. What a change of the snapshot should be is written beside the test's output.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::answers::text;
use crate::bank_routes;
use crate::support::{Answer, TestServer};

const SNAPSHOT: &str = include_str!("routes.snapshot");

/// A request of the table: method, path (with `{id}` of a memory of the server), body.
pub(crate) struct Example {
    pub(crate) method: &'static str,
    /// As the router has it.
    pub(crate) route: &'static str,
    pub(crate) path: String,
    pub(crate) body: Sent,
    /// Whether it should succeed.
    pub(crate) good: bool,
}

pub(crate) enum Sent {
    Nothing,
    Json(Value),
    Lines(&'static str),
}

/// Two examples of a route, one good, one bad.
pub(crate) fn pair(
    method: &'static str,
    route: &'static str,
    good: (&str, Sent),
    bad: (&str, Sent),
) -> [Example; 2] {
    let example = |(path, body): (&str, Sent), good| Example {
        method,
        route,
        path: path.to_owned(),
        body,
        good,
    };
    [example(good, true), example(bad, false)]
}

pub(crate) fn table() -> Vec<Example> {
    use Sent::{Json, Lines, Nothing};
    let unknown = "/v1/memories/aaaaaaaaaaaaaaaa";
    let rows = [
        pair(
            "GET",
            "/healthz",
            ("/healthz", Nothing),
            ("/healthz/x", Nothing),
        ),
        pair(
            "GET",
            "/readyz",
            ("/readyz", Nothing),
            ("/readyz/x", Nothing),
        ),
        pair(
            "GET",
            "/version",
            ("/version", Nothing),
            ("/version/x", Nothing),
        ),
        pair(
            "GET",
            "/openapi.json",
            ("/openapi.json", Nothing),
            ("/openapi.json/x", Nothing),
        ),
        pair(
            "GET",
            "/metrics",
            ("/metrics", Nothing),
            ("/metrics/x", Nothing),
        ),
        pair("GET", "/docs", ("/docs", Nothing), ("/docs/x", Nothing)),
        pair(
            "POST",
            "/v1/memories",
            (
                "/v1/memories",
                Json(
                    json!({"content": "Anna met Carl in Berlin", "tags": ["trip"], "agent_id": "alpha", "session": "monday", "turn": 1}),
                ),
            ),
            (
                "/v1/memories",
                Json(json!({"content": " ", "turn": 1, "tags": ["agent:x"]})),
            ),
        ),
        pair(
            "GET",
            "/v1/memories",
            ("/v1/memories?limit=1&is_primary=true", Nothing),
            ("/v1/memories?limit=1000", Nothing),
        ),
        pair(
            "DELETE",
            "/v1/memories",
            ("/v1/memories?tag=draft&confirm=1&is_primary=true", Nothing),
            ("/v1/memories?tag=zircon&confirm=5&is_primary=true", Nothing),
        ),
        pair(
            "POST",
            "/v1/memories/batch",
            (
                "/v1/memories/batch",
                Json(
                    json!([{"content": "The gym is open"}, {"content": ""}, {"content": "The gym is open"}]),
                ),
            ),
            ("/v1/memories/batch", Json(json!({"content": "no list"}))),
        ),
        pair(
            "POST",
            "/v1/memories/operations",
            (
                "/v1/memories/operations",
                Json(json!([
                    {"op_id": "1", "op": "add", "content": "User lives in Paris"},
                    {"op_id": "2", "op": "replace", "old_text": "Paris", "content": "User lives in Rome"},
                    {"op_id": "3", "op": "remove", "old_text": "London"},
                    {"op_id": "4", "op": "remove"},
                    {"op_id": "1", "op": "add", "content": "User lives in Paris"},
                ])),
            ),
            ("/v1/memories/operations", Lines("{}")),
        ),
        pair(
            "GET",
            "/v1/memories/{id}",
            ("/v1/memories/{id}?is_primary=true", Nothing),
            (unknown, Nothing),
        ),
        pair(
            "PATCH",
            "/v1/memories/{id}",
            (
                "/v1/memories/{id}?is_primary=true",
                Json(json!({"pinned": true, "category": "jewels"})),
            ),
            (
                "/v1/memories/{id}?is_primary=true",
                Json(json!({"content": "The pool is open"})),
            ),
        ),
        pair(
            "DELETE",
            "/v1/memories/{id}",
            ("/v1/memories/{id}?is_primary=true", Nothing),
            (unknown, Nothing),
        ),
        pair(
            "POST",
            "/v1/memories/{id}/restore",
            (
                "/v1/memories/{id}/restore",
                Json(json!({"is_primary": true})),
            ),
            ("/v1/memories/aaaaaaaaaaaaaaaa/restore", Nothing),
        ),
        pair(
            "POST",
            "/v1/search",
            (
                "/v1/search",
                Json(json!({"query": "zircon", "is_primary": true, "explain": "aaaaaaaaaaaaaaaa"})),
            ),
            ("/v1/search", Json(json!({"query": "zircon", "top_k": 0}))),
        ),
        pair(
            "GET",
            "/v1/search",
            ("/v1/search?q=nothing+of+that+kind", Nothing),
            ("/v1/search", Nothing),
        ),
        pair(
            "POST",
            "/v1/prefetch",
            (
                "/v1/prefetch",
                Json(
                    json!({"query": "where is the zircon ring?", "session_id": "s", "is_primary": true}),
                ),
            ),
            (
                "/v1/prefetch",
                Json(json!({"query": "zircon", "mode": "lexical"})),
            ),
        ),
        pair(
            "POST",
            "/v1/feedback",
            (
                "/v1/feedback",
                Json(json!({"id": "{id}", "useful": true, "is_primary": true})),
            ),
            (
                "/v1/feedback",
                Json(json!({"id": "aaaaaaaaaaaaaaaa", "useful": true})),
            ),
        ),
        pair(
            "POST",
            "/v1/corrections",
            (
                "/v1/corrections",
                Json(json!({"ids": ["{id}", "aaaaaaaaaaaaaaaa"], "is_primary": true})),
            ),
            ("/v1/corrections", Json(json!({"ids": "{id}"}))),
        ),
        pair(
            "DELETE",
            "/v1/corrections/{id}",
            ("/v1/corrections/{id}?is_primary=true", Nothing),
            ("/v1/corrections/aaaaaaaaaaaaaaaa", Nothing),
        ),
        pair(
            "PUT",
            "/v1/lock",
            ("/v1/lock", Json(json!({"ttl_seconds": 60}))),
            ("/v1/lock", Json(json!({"ttl_seconds": 0}))),
        ),
        pair(
            "GET",
            "/v1/lock",
            ("/v1/lock", Nothing),
            ("/v1/lock?colour=red", Nothing),
        ),
        pair(
            "DELETE",
            "/v1/lock",
            ("/v1/lock", Nothing),
            ("/v1/lock?colour=red", Nothing),
        ),
        pair(
            "GET",
            "/v1/topics",
            ("/v1/topics?is_primary=true&limit=2&period=daily", Nothing),
            ("/v1/topics?period=yearly", Nothing),
        ),
        pair(
            "GET",
            "/v1/attention",
            ("/v1/attention?is_primary=true&limit=2", Nothing),
            ("/v1/attention?limit=0", Nothing),
        ),
        pair(
            "GET",
            "/v1/entities/{name}/timeline",
            ("/v1/entities/berlin/timeline?is_primary=true", Nothing),
            ("/v1/entities/berlin/timeline?limit=101", Nothing),
        ),
        pair(
            "GET",
            "/v1/entities/{name}/related",
            ("/v1/entities/Berlin/related?is_primary=true", Nothing),
            ("/v1/entities/berlin/related?limit=x", Nothing),
        ),
        pair(
            "PUT",
            "/v1/synonyms/{term}",
            ("/v1/synonyms/K8s", Json(json!({"terms": ["Kubernetes"]}))),
            ("/v1/synonyms/k8s", Json(json!({"terms": []}))),
        ),
        pair(
            "GET",
            "/v1/synonyms",
            ("/v1/synonyms", Nothing),
            ("/v1/synonyms?namespace=%20", Nothing),
        ),
        pair(
            "DELETE",
            "/v1/synonyms/{term}",
            ("/v1/synonyms/k8s", Nothing),
            ("/v1/synonyms/k8s", Nothing),
        ),
        pair(
            "PUT",
            "/v1/skills",
            (
                "/v1/skills",
                Json(json!({"skills": [
                    {"path": "k8s/SKILL.md", "front_matter": "name: k8s\ndescription: Debug pods", "hash": "1"},
                    {"path": "b/SKILL.md", "front_matter": "- nothing", "hash": "1"},
                ]})),
            ),
            (
                "/v1/skills",
                Json(json!({"skills": [{"path": "k8s/SKILL.md"}]})),
            ),
        ),
        pair(
            "GET",
            "/v1/skills",
            ("/v1/skills?collection=default", Nothing),
            ("/v1/skills?collection=", Nothing),
        ),
        pair(
            "POST",
            "/v1/skills/search",
            (
                "/v1/skills/search",
                Json(json!({"query": "which pods need to be debugged?", "top_k": 3})),
            ),
            (
                "/v1/skills/search",
                Json(json!({"query": "pods", "top_k": 0})),
            ),
        ),
        pair(
            "POST",
            "/v1/sessions",
            (
                "/v1/sessions",
                Json(json!({"session_id": "s", "agent_id": "alpha", "top_k": 3})),
            ),
            ("/v1/sessions", Json(json!({"agent_id": "alpha"}))),
        ),
        pair(
            "GET",
            "/v1/stats",
            ("/v1/stats?is_primary=true", Nothing),
            ("/v1/stats?is_primary=perhaps", Nothing),
        ),
        pair(
            "GET",
            "/v1/export",
            ("/v1/export?agent_id=alpha", Nothing),
            ("/v1/export?agent_id=%00", Nothing),
        ),
        pair(
            "POST",
            "/v1/import",
            (
                "/v1/import",
                Lines(
                    "{\"id\": \"imported1\", \"content\": \"from afar\"}\nno JSON\n{\"kind\": \"topic\"}",
                ),
            ),
            ("/v1/import", Json(json!([]))),
        ),
        pair(
            "POST",
            "/v1/maintenance/backfill",
            ("/v1/maintenance/backfill", Json(json!({"dry_run": true}))),
            ("/v1/maintenance/backfill", Json(json!({"dry_run": "yes"}))),
        ),
        pair(
            "POST",
            "/v1/maintenance/consolidate",
            (
                "/v1/maintenance/consolidate",
                Json(json!({"dry_run": true})),
            ),
            ("/v1/maintenance/consolidate", Json(json!({"limit": -1}))),
        ),
        pair(
            "POST",
            "/v1/maintenance/forget",
            ("/v1/maintenance/forget", Json(json!({"dry_run": true}))),
            ("/v1/maintenance/forget", Json(json!({"limit": -1}))),
        ),
        pair(
            "POST",
            "/v1/maintenance/dedup",
            ("/v1/maintenance/dedup", Json(json!({"dry_run": true}))),
            ("/v1/maintenance/dedup", Json(json!({"limit": -1}))),
        ),
        pair(
            "POST",
            "/v1/maintenance/synonyms",
            ("/v1/maintenance/synonyms", Json(json!({"dry_run": true}))),
            ("/v1/maintenance/synonyms", Json(json!({"limit": -1}))),
        ),
        pair(
            "POST",
            "/v1/maintenance/dictionary",
            ("/v1/maintenance/dictionary", Json(json!({"dry_run": true}))),
            ("/v1/maintenance/dictionary", Json(json!({"limit": -1}))),
        ),
        pair(
            "GET",
            "/v1/maintenance",
            ("/v1/maintenance", Nothing),
            ("/v1/maintenance?job=dedup", Nothing),
        ),
    ];
    rows.into_iter()
        .chain(bank_routes::rows())
        .flatten()
        .collect()
}

#[test]
fn every_route_is_in_the_table() {
    let routes: BTreeSet<_> = keepsake::http::route_list().into_iter().collect();
    let table: BTreeSet<_> = table().iter().map(|row| (row.method, row.route)).collect();
    assert_eq!(table, routes);
}

#[test]
fn every_answer_is_as_it_was() {
    let server = TestServer::start();
    let id = server.add(json!({"content": "The zircon ring is insured", "tags": ["zircon"]}));
    server.set_now("2026-06-01T12:00:01Z");
    server.add(json!({"content": "The pool is open", "tags": ["draft"]}));
    server.set_now("2026-06-01T12:00:02Z");
    server.add(json!({"content": "The pool is open", "session": "monday", "turn": 7}));
    let mut shown = Shown::default();
    for (number, example) in table().into_iter().enumerate() {
        // Later ones are newer, so that lists have one order.
        server.set_now(&format!(
            "2026-06-01T12:{:02}:{:02}Z",
            1 + number / 60,
            number % 60
        ));
        let answer = send(&server, &example, &id);
        let failed = answer.status >= 400;
        assert_eq!(
            failed, !example.good,
            "{} {}: {:#}",
            example.method, example.path, answer.body
        );
        shown.add(&example, &answer);
    }
    if shown.text != SNAPSHOT {
        let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/routes.snapshot");
        std::fs::write(path, &shown.text).unwrap();
        let change = shown
            .text
            .lines()
            .zip(SNAPSHOT.lines())
            .find(|(new, old)| new != old);
        panic!(
            "answers changed, first {change:#?}; all are in {path}: compare it with tests/api/routes.snapshot, and copy it there if the change is meant"
        );
    }
}

pub(crate) fn send(server: &TestServer, example: &Example, id: &str) -> Answer {
    let path = example.path.replace("{id}", id);
    match &example.body {
        Sent::Nothing => server.request(example.method, &path),
        Sent::Lines(body) => server.post_raw(&path, Some("application/x-ndjson"), body.as_bytes()),
        Sent::Json(body) => {
            let body: Value = serde_json::from_str(&body.to_string().replace("{id}", id)).unwrap();
            match example.method {
                "PUT" => server.put(&path, body),
                "PATCH" => server.patch(&path, body),
                _ => server.post(&path, body),
            }
        }
    }
}

/// A UUID that the service made, not one of the table.
fn is_new_uuid(text: &str) -> bool {
    text.len() == 36 && !text.contains("0000-4000") && !text.starts_with("6f1c1f0e")
}

/// The text of the snapshot so far. Ids are random, so each is shown by its number.
#[derive(Default)]
struct Shown {
    text: String,
    ids: Vec<String>,
}

impl Shown {
    fn add(&mut self, example: &Example, answer: &Answer) {
        let body = match &answer.body {
            // The document has a snapshot of its own, and the page is made of it.
            _ if matches!(
                example.path.as_str(),
                "/openapi.json" | "/docs" | "/metrics"
            ) =>
            {
                String::new()
            }
            Value::String(lines) => lines
                .lines()
                .map(|line| self.shown(&serde_json::from_str(line).unwrap()))
                .collect::<Vec<_>>()
                .join("\n"),
            body => self.shown(body),
        };
        let kind = text(&json!(answer.headers["content-type"].to_str().unwrap()));
        let (method, path, status) = (example.method, &example.path, answer.status);
        writeln!(self.text, "## {method} {path}\n{status} {kind}\n{body}\n").unwrap();
    }

    fn shown(&mut self, body: &Value) -> String {
        let mut body = body.clone();
        self.redact(&mut body);
        format!("{body:#}")
    }

    /// Replaces what differs from run to run, after a look whether it is what it should be.
    fn redact(&mut self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact(item)),
            Value::Object(fields) => {
                for (name, field) in fields {
                    match name.as_str() {
                        "took_ms" => {
                            assert!(field.as_f64().is_some_and(|took| took >= 0.0), "{field}");
                            *field = json!("<milliseconds>");
                        }
                        "operation_id" if field.as_str().is_some_and(is_new_uuid) => {
                            *field = json!("<uuid>");
                        }
                        "next_cursor" if field.is_string() => *field = json!("<cursor>"),
                        "keepsake_version" => {
                            assert_eq!(field, env!("CARGO_PKG_VERSION"));
                            *field = json!("<version>");
                        }
                        _ => self.redact(field),
                    }
                }
            }
            Value::String(text) => *text = self.without_ids(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Ids are runs of 16 characters of base 32 with a digit, or known ones.
    fn without_ids(&mut self, text: &str) -> String {
        let is_id = |word: &str| {
            word.len() == 16
                && word
                    .bytes()
                    .all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7'))
                && word != "aaaaaaaaaaaaaaaa"
        };
        let mut shown = String::new();
        for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
            let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            if is_id(bare) {
                let known = self.ids.iter().position(|id| id == bare);
                let number = known.unwrap_or_else(|| {
                    self.ids.push(bare.to_owned());
                    self.ids.len() - 1
                });
                write!(shown, "<id {}>{}", number + 1, &word[bare.len()..]).unwrap();
            } else {
                shown.push_str(word);
            }
        }
        shown
    }
}
