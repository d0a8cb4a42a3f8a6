//! Whatever a body holds, each route answers it: with what it does or with a problem, never with a
//! failure of its own. Seconds here; `PROPTEST_CASES=20000` for minutes.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use crate::hostile::PIECES;
use crate::openapi::operations;
use crate::support::TestServer;

/// Names of fields that routes know.
fn names(document: &Value, found: &mut Vec<String>) {
    match document {
        Value::Object(fields) => {
            if let Some(properties) = fields.get("properties").and_then(Value::as_object) {
                found.extend(properties.keys().cloned());
            }
            fields.values().for_each(|field| names(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| names(item, found)),
        _ => {}
    }
}

/// Any JSON, with known names in it.
fn json_of(names: Vec<String>) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        any::<String>().prop_map(Value::from),
        select(PIECES.to_vec()).prop_map(Value::from),
        Just(json!("2026-06-01T12:00:00Z")),
        Just(json!("aaaaaaaaaaaaaaaa")),
    ];
    leaf.prop_recursive(4, 40, 8, move |inner| {
        let field = (select(names.clone()), inner.clone());
        prop_oneof![
            vec(inner, 0..5).prop_map(Value::Array),
            vec(field, 0..8).prop_map(|fields| Value::Object(Map::from_iter(fields))),
        ]
    })
}

#[test]
fn no_body_makes_a_route_fail() {
    let server = TestServer::start_lexical();
    let document = server.get("/openapi.json").body;
    let mut known = Vec::new();
    names(&document, &mut known);
    known.sort();
    known.dedup();
    let routes: Vec<(String, String)> = operations(&document)
        .into_iter()
        .filter(|(method, ..)| matches!(method.as_str(), "POST" | "PUT" | "PATCH"))
        .map(|(method, path, _)| (method, path.replace(['{', '}'], "")))
        .collect();
    let config = ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 100,
        ..ProptestConfig::default()
    };
    proptest!(config, |(
        (method, path) in select(routes),
        body in prop_oneof![
            4 => json_of(known).prop_map(|body| body.to_string().into_bytes()),
            1 => vec(any::<u8>(), 0..200),
        ],
        kind in select(vec!["application/json", "application/x-ndjson", "text/plain"]),
    )| {
        let answer = server.send_raw(&method, &path, kind, &body);
        prop_assert!(answer.status < 500, "{method} {path}: {} {:#}", answer.status, answer.body);
        prop_assert_eq!(server.get("/healthz").status, 200);
    });
}
