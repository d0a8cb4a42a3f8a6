//! Reads the parts of an answer that many tests look at.

use serde_json::Value;

use crate::support::Answer;

/// One text field of each row of a list: `column(&body["results"], "id")`.
pub(crate) fn column(rows: &Value, field: &str) -> Vec<String> {
    list(rows).iter().map(|row| text(&row[field])).collect()
}

/// The contents of a search answer, best first.
pub(crate) fn contents(body: &Value) -> Vec<String> {
    column(&body["results"], "content")
}

/// The ids of a search answer, best first.
pub(crate) fn ids(body: &Value) -> Vec<String> {
    column(&body["results"], "id")
}

/// The result with this id.
pub(crate) fn hit<'a>(body: &'a Value, id: &str) -> &'a Value {
    list(&body["results"])
        .iter()
        .find(|hit| hit["id"] == id)
        .unwrap_or_else(|| panic!("{id} is not in the answer: {body:#}"))
}

pub(crate) fn list(value: &Value) -> &Vec<Value> {
    value
        .as_array()
        .unwrap_or_else(|| panic!("expected a list: {value}"))
}

pub(crate) fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("expected a text: {value}"))
        .to_owned()
}

pub(crate) fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("expected a number: {value}"))
}

/// Lower-case copies, for names whose capitals are not promised.
pub(crate) fn folded(names: &[String]) -> Vec<String> {
    names.iter().map(|name| name.to_lowercase()).collect()
}

pub(crate) fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

/// The values of an NDJSON answer, one a line.
pub(crate) fn lines(answer: &Answer) -> Vec<Value> {
    match &answer.body {
        Value::String(text) => text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| serde_json::from_str(line).expect("each line is JSON"))
            .collect(),
        Value::Array(values) => values.clone(),
        Value::Null => Vec::new(),
        value => vec![value.clone()],
    }
}

/// The answer is a problem (RFC 9457) with this status.
pub(crate) fn assert_problem(answer: &Answer, status: u16) {
    assert_eq!(answer.status, status, "body: {:#}", answer.body);
    let content_type = header(answer, "content-type");
    assert!(
        content_type.starts_with("application/problem+json"),
        "content type of a problem: {content_type}"
    );
    assert_eq!(answer.body["status"], status, "body: {:#}", answer.body);
    for field in ["type", "title", "detail"] {
        assert!(answer.body[field].is_string(), "{field}: {:#}", answer.body);
    }
}

/// The answer is a 422 that names this field.
pub(crate) fn assert_rejects_field(answer: &Answer, field: &str) {
    assert_problem(answer, 422);
    let named = column(&answer.body["errors"], "field");
    assert!(
        named.iter().any(|name| name.contains(field)),
        "{field} is not named: {:#}",
        answer.body
    );
}

/// The value of a header; empty when there is none.
pub(crate) fn header(answer: &Answer, name: &str) -> String {
    answer
        .headers
        .get(name)
        .map(|value| value.to_str().expect("a header is ASCII").to_owned())
        .unwrap_or_default()
}
