//! Answers of Redis as what they are expected to be, in either protocol.

use redis::Value;

use super::transaction::unexpected;
use crate::store::StoreError;

/// A list of answers.
pub(super) fn list(value: Value) -> Result<Vec<Value>, StoreError> {
    match value {
        Value::Array(items) | Value::Set(items) => Ok(items),
        Value::Map(pairs) => Ok(pairs
            .into_iter()
            .flat_map(|(key, value)| [key, value])
            .collect()),
        Value::Nil => Ok(Vec::new()),
        _ => Err(unexpected()),
    }
}

/// The values of a hash's fields; `None` for what is not a list.
pub(super) fn answers(value: Value) -> Option<Vec<Option<Vec<u8>>>> {
    let bytes = |value| match value {
        Value::BulkString(bytes) => Some(bytes),
        Value::SimpleString(text) => Some(text.into_bytes()),
        Value::Int(number) => Some(number.to_string().into_bytes()),
        Value::Double(number) => Some(number.to_string().into_bytes()),
        _ => None,
    };
    Some(list(value).ok()?.into_iter().map(bytes).collect())
}

/// A text, or a number as one; `None` for anything else.
pub(super) fn text(value: Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => String::from_utf8(bytes).ok(),
        Value::SimpleString(text) => Some(text),
        Value::Int(number) => Some(number.to_string()),
        Value::Double(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The texts of a list; what is none is left out.
pub(super) fn texts(value: Value) -> Result<Vec<String>, StoreError> {
    Ok(list(value)?.into_iter().filter_map(text).collect())
}

/// The texts of a list two by two: a hash, or members with scores.
pub(super) fn pairs(value: Value) -> Result<Vec<(String, String)>, StoreError> {
    let mut flat = Vec::new();
    for item in list(value)? {
        match item {
            Value::Array(pair) => flat.extend(pair.into_iter().map(text)),
            other => flat.push(text(other)),
        }
    }
    Ok(flat
        .chunks_exact(2)
        .filter_map(|pair| Some((pair[0].clone()?, pair[1].clone()?)))
        .collect())
}

/// A whole number.
pub(super) fn number(value: Value) -> Option<i64> {
    text(value)?.parse().ok()
}
