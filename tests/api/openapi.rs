//! The document of the routes: complete, as it was, and true about who may do what.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::TestServer;

const SNAPSHOT: &str = include_str!("openapi.json");

fn document() -> Value {
    TestServer::start().get("/openapi.json").body
}

/// Method, path and operation of everything in the document.
pub(crate) fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let operations = paths.iter().flat_map(|(path, item)| {
        let item = item.as_object().unwrap();
        item.iter()
            .map(|(method, operation)| (method.to_uppercase(), path.clone(), operation.clone()))
    });
    operations.collect()
}

#[test]
fn every_route_is_in_the_document_with_its_purpose() {
    let document = document();
    let mut described = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for (method, path, operation) in operations(&document) {
        let purpose = operation["summary"].as_str().unwrap();
        assert!(
            !purpose.is_empty(),
            "say in `http/openapi/purposes.txt` what {method} {path} is for"
        );
        assert!(ids.insert(operation["operationId"].to_string()), "{path}");
        described.insert((method, path));
    }
    let routes = keepsake::http::route_list().into_iter();
    let routes: BTreeSet<_> = routes
        .map(|(method, path)| (method.to_owned(), path.replace("{*", "{")))
        .collect();
    assert_eq!(described, routes);
}

#[test]
fn the_document_is_as_it_was() {
    let document = format!("{:#}\n", document());
    if document != SNAPSHOT {
        let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/openapi.json");
        std::fs::write(path, &document).unwrap();
        let mut lines = document.lines().zip(SNAPSHOT.lines());
        let change = lines.find(|(new, old)| new != old);
        panic!(
            "the document changed, first {change:#?}; it is in {path}: copy it to tests/api/openapi.json if the change is meant"
        );
    }
}

/// What a reference points to is there.
#[test]
fn every_reference_leads_somewhere() {
    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                if let Some(reference) = fields.get("$ref") {
                    found.insert(reference.as_str().unwrap().to_owned());
                }
                fields.values().for_each(|field| references(field, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
    let document = document();
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.len() > 10, "{found:?}");
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}

#[test]
fn the_page_tells_every_route_and_loads_nothing() {
    let server = TestServer::start();
    let answer = server.get("/docs");
    let page = answer.body.as_str().unwrap();
    for (_, path) in keepsake::http::route_list() {
        assert!(
            page.contains(&format!("<code>{}</code>", path.replace("{*", "{"))),
            "{path}"
        );
    }
    for tag in ["<script", "src=", "http://", "https://", "@import"] {
        assert!(!page.contains(tag), "{tag}");
    }
    let policy = answer.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
}
