//! What a monitor sees: numbers that follow what was done, and a dashboard and alerts whose every
//! number exists.

use std::collections::BTreeSet;

use regex::Regex;
use serde_json::{Value, json};

use crate::support::TestServer;

const DASHBOARD: &str = include_str!("../../service/dashboards/keepsake.json");
const ALERTS: &str = include_str!("../../service/dashboards/alerts.yml");

/// A server that did a bit of everything.
fn busy() -> TestServer {
    let server = TestServer::start();
    let id = server.add(json!({"content": "The zircon ring is insured"}));
    server.add(json!({"content": "The zircon ring is insured"}));
    server.post("/v1/memories", json!({"content": " "}));
    server.search(json!({"query": "zircon"}));
    server.search(json!({"query": "nothing of that kind"}));
    server.prefetch(json!({"query": "a"}));
    server.post(
        "/v1/feedback",
        json!({"id": id, "useful": true, "is_primary": true}),
    );
    server.get("/nothing/here");
    server
}

fn metrics(server: &TestServer) -> String {
    let answer = server.get("/metrics");
    assert_eq!(answer.status, 200, "{:#}", answer.body);
    answer.body.as_str().unwrap().to_owned()
}

/// The value of one line.
fn value(text: &str, line: &str) -> f64 {
    let found = text.lines().find_map(|found| found.strip_prefix(line));
    found
        .unwrap_or_else(|| panic!("{line}\n{text}"))
        .trim()
        .parse()
        .unwrap()
}

#[test]
fn numbers_follow_what_was_done() {
    let text = metrics(&busy());
    for (line, expected) in [
        (
            r#"keepsake_requests_total{method="POST",route="/v1/memories",status="201"}"#,
            1.0,
        ),
        (
            r#"keepsake_requests_total{method="POST",route="/v1/memories",status="200"}"#,
            1.0,
        ),
        (
            r#"keepsake_requests_total{method="",route="none",status="404"}"#,
            1.0,
        ),
        (r#"keepsake_problems_total{kind="invalid"}"#, 1.0),
        (r#"keepsake_stored_total{outcome="created"}"#, 1.0),
        (r#"keepsake_stored_total{outcome="reinforced"}"#, 1.0),
        (r#"keepsake_stored_total{outcome="refused"}"#, 1.0),
        (r#"keepsake_answers_total{kind="search"}"#, 2.0),
        (
            r#"keepsake_skipped_total{kind="prefetch",reason="too_short"}"#,
            1.0,
        ),
        (r#"keepsake_feedback_total{verdict="useful"}"#, 1.0),
        (
            r#"keepsake_memories{namespace="default",state="active"}"#,
            1.0,
        ),
        (
            r#"keepsake_stage_duration_seconds_count{line="read",stage="retrieve"}"#,
            2.0,
        ),
    ] {
        let found = value(&text, line);
        assert!((found - expected).abs() < 1e-9, "{line} {found}");
    }
    assert!(text.ends_with("# EOF\n"), "{text}");
    assert!(!text.contains("zircon"), "{text}");
}

/// Names as queries write them, by what `# TYPE` says.
fn names(text: &str) -> BTreeSet<String> {
    let types = Regex::new(r"(?m)^# TYPE (\w+) (\w+)$").unwrap();
    let written = types.captures_iter(text).flat_map(|found| {
        let endings: &[&str] = match &found[2] {
            "counter" => &["_total"],
            "histogram" => &["_bucket", "_sum", "_count"],
            _ => &[""],
        };
        let name = found[1].to_owned();
        endings.iter().map(move |ending| format!("{name}{ending}"))
    });
    written.collect()
}

#[test]
fn the_dashboard_and_the_alerts_name_only_what_is_there() {
    let text = metrics(&busy());
    let known = names(&text);
    let labels = Regex::new(r#"(\w+)=~?""#).unwrap();
    let asked = Regex::new(r"\bkeepsake_\w+").unwrap();
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let queries = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().unwrap());
    let mut queries: Vec<String> = queries
        .map(|target| target["expr"].as_str().unwrap().to_owned())
        .collect();
    let alerts = ALERTS.lines().filter(|line| line.contains("keepsake_"));
    queries.extend(alerts.map(str::to_owned));
    let mut used = BTreeSet::new();
    for query in queries {
        for name in asked.find_iter(&query) {
            assert!(
                known.contains(name.as_str()),
                "{} is no metric: {query}",
                name.as_str()
            );
            used.insert(name.as_str().to_owned());
        }
        for label in labels.captures_iter(&query) {
            assert!(text.contains(&format!("{}=\"", &label[1])), "{query}");
        }
    }
    assert!(used.len() >= 12, "{used:?}");
}
