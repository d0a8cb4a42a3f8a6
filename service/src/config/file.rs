//! The configuration file: JSON with comments and trailing commas, each value with its place.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::error::{Fault, Origin};
use super::raw::KEYS;

/// Comments and trailing commas, and nothing else that is not JSON.
pub(super) fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// A value under its full name, such as `embedder.model`.
pub(super) struct Entry {
    pub name: String,
    pub value: Value,
    pub origin: Origin,
}

/// Every entry of a file, known or not, in order.
pub(super) fn parse(path: &Path, text: &str, faults: &mut Vec<Fault>) -> Vec<Entry> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let place = Place { path, text };
    let root = match parse_to_ast(text, &CollectOptions::default(), &options()) {
        Ok(parsed) => parsed.value,
        Err(error) => {
            faults.push(Fault::Malformed {
                origin: place.origin(error.range().start),
                message: error.kind().to_string().to_lowercase(),
            });
            return Vec::new();
        }
    };
    let mut entries = Vec::new();
    match root {
        None => {}
        Some(Node::Object(object)) => collect("", object, &place, &mut entries, faults),
        Some(other) => faults.push(Fault::Malformed {
            origin: place.origin(other.range().start),
            message: "it must hold one object".to_owned(),
        }),
    }
    entries
}

/// Adds the entries of an object, with those of the groups in it.
fn collect(
    group: &str,
    object: Object<'_>,
    place: &Place<'_>,
    entries: &mut Vec<Entry>,
    faults: &mut Vec<Fault>,
) {
    for property in object.properties {
        let name = format!("{group}{}", property.name.as_str());
        let origin = place.origin(property.range.start);
        let inner = format!("{name}.");
        let is_group = KEYS.iter().any(|key| key.name.starts_with(&inner));
        match property.value {
            Node::Object(members) if is_group => {
                collect(&inner, members, place, entries, faults);
            }
            Node::NullKeyword(_) if is_group => {}
            other if is_group => faults.push(Fault::Value {
                origin,
                key: name,
                found: format!("`{}`", Value::from(other)),
                allowed: "an object".to_owned(),
            }),
            value => {
                if entries.iter().any(|entry: &Entry| entry.name == name) {
                    faults.push(Fault::Value {
                        origin,
                        allowed: "one value".to_owned(),
                        found: "there a second time".to_owned(),
                        key: name,
                    });
                } else {
                    entries.push(Entry {
                        value: Value::from(value),
                        origin,
                        name,
                    });
                }
            }
        }
    }
}

/// Turns positions in a text into places.
struct Place<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Place<'_> {
    fn origin(&self, at: usize) -> Origin {
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Origin::File {
            path: self.path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// Reads files and remembers what was in them, so that a change is seen.
#[derive(Debug, Default)]
pub(super) struct Files(RefCell<Vec<(PathBuf, Result<String, io::ErrorKind>)>>);

impl Files {
    pub(super) fn read(&self, path: &Path) -> io::Result<String> {
        let read = std::fs::read_to_string(path);
        let remembered = read.as_ref().map(String::clone).map_err(io::Error::kind);
        self.0.borrow_mut().push((path.to_owned(), remembered));
        read
    }

    /// Whether a file now reads otherwise.
    pub(super) fn changed(&self) -> bool {
        self.0.borrow().iter().any(|(path, before)| {
            let now = std::fs::read_to_string(path).map_err(|error| error.kind());
            now != *before
        })
    }

    /// The configuration file, if it held something before and is empty or gone now, as it is for a
    /// moment while an editor saves it.
    pub(super) fn emptied(&self, before: &Files) -> Option<PathBuf> {
        let is_blank = |(_, text): &&(PathBuf, Result<String, io::ErrorKind>)| {
            text.as_ref().map_or(true, |text| text.trim().is_empty())
        };
        let (now, before) = (self.0.borrow(), before.0.borrow());
        before.first().filter(|file| !is_blank(file))?;
        now.first().filter(is_blank).map(|(path, _)| path.clone())
    }
}
