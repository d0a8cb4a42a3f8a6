//! Values that have the right type and lie in their range.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::{Fault, Origin};
use super::layers::{Layers, Written, expanded};
use super::raw::{KEYS, Key, Kind, find};
use crate::secret::MASK;

/// Checked values by key. Remembers which were asked for: a value that is set and never asked for
/// has no effect, and its owner is told so.
pub(super) struct Values {
    set: BTreeMap<&'static str, Written>,
    asked: RefCell<BTreeSet<&'static str>>,
}

impl Values {
    /// Checks every value; one that is wrong is a fault and counts as unset.
    pub(super) fn check(layers: &Layers, home: Option<&Path>, faults: &mut Vec<Fault>) -> Values {
        let mut set = BTreeMap::new();
        for (name, written) in layers.iter() {
            let Some(key) = find(name) else { continue };
            match checked(key.kind, written, home) {
                Some(value) => {
                    let origin = written.origin.clone();
                    set.insert(name, Written { value, origin });
                }
                None => faults.push(Fault::Value {
                    origin: written.origin.clone(),
                    key: name.to_owned(),
                    found: found(key.kind, &written.value),
                    allowed: key.kind.allowed(),
                }),
            }
        }
        Values {
            set,
            asked: RefCell::default(),
        }
    }

    pub(super) fn number(&self, name: &'static str) -> f64 {
        self.value(name).as_f64().unwrap_or_default()
    }

    pub(super) fn count(&self, name: &'static str) -> usize {
        let count = self.value(name).as_u64().unwrap_or_default();
        usize::try_from(count).unwrap_or(usize::MAX)
    }

    pub(super) fn boolean(&self, name: &'static str) -> bool {
        self.value(name).as_bool().unwrap_or_default()
    }

    /// A text that is not empty.
    pub(super) fn text(&self, name: &'static str) -> Option<String> {
        let value = self.value(name);
        let text = value.as_str().filter(|text| !text.is_empty())?;
        Some(text.to_owned())
    }

    pub(super) fn path(&self, name: &'static str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    /// The objects of a list of secrets.
    pub(super) fn secrets(&self, name: &'static str) -> Vec<Value> {
        match self.value(name) {
            Value::Array(items) => items,
            _ => Vec::new(),
        }
    }

    /// An address; `None` only if the key has no default.
    pub(super) fn address(&self, name: &'static str) -> Option<SocketAddr> {
        self.text(name)?.parse().ok()
    }

    /// Whether a value is an empty text, which is as if unset.
    pub(super) fn is_empty(&self, name: &'static str) -> bool {
        self.value(name).as_str() == Some("")
    }

    /// Where a value is written, if it is.
    pub(super) fn origin(&self, name: &str) -> Option<&Origin> {
        self.set.get(name).map(|written| &written.origin)
    }

    /// The keys that are set and were not asked for.
    pub(super) fn without_effect(&self) -> Vec<(&'static str, &Origin)> {
        let asked = self.asked.borrow();
        let unasked = self.set.iter().filter(|(name, _)| !asked.contains(*name));
        unasked
            .map(|(name, written)| (*name, &written.origin))
            .collect()
    }

    /// The keys that were asked for.
    #[cfg(test)]
    pub(super) fn asked(&self) -> BTreeSet<&'static str> {
        self.asked.borrow().clone()
    }

    /// Every key with its value, secrets masked, and where it comes from.
    pub(super) fn shown(&self) -> Vec<(&'static Key, Value, Origin)> {
        KEYS.iter()
            .map(|key| match self.set.get(key.name) {
                Some(written) if key.kind.is_secret() => {
                    (key, Value::from(MASK), written.origin.clone())
                }
                Some(written) => (key, written.value.clone(), written.origin.clone()),
                None => (key, default(key), Origin::Default),
            })
            .collect()
    }

    fn value(&self, name: &'static str) -> Value {
        self.asked.borrow_mut().insert(name);
        match self.set.get(name) {
            Some(written) => written.value.clone(),
            None => find(name).map(default).unwrap_or_default(),
        }
    }
}

fn default(key: &Key) -> Value {
    serde_json::from_str(key.default).unwrap_or_default()
}

/// The value as its kind has it, or nothing if it is wrong.
fn checked(kind: Kind, written: &Written, home: Option<&Path>) -> Option<Value> {
    let value = &written.value;
    // Flags and environment hold text only; in the file a number in quotes is a mistake.
    let text = match written.origin {
        Origin::Environment(_) | Origin::Flag(_) => value.as_str().map(str::trim),
        Origin::File { .. } | Origin::Default => None,
    };
    match kind {
        Kind::Number(least, most) => {
            let number = text.map_or(value.as_f64(), |text| text.parse().ok())?;
            (least..=most)
                .contains(&number)
                .then(|| Value::from(number))
        }
        Kind::Count(least, most) => {
            let count = text.map_or(value.as_u64(), |text| text.parse().ok())?;
            (least..=most).contains(&count).then(|| Value::from(count))
        }
        Kind::Boolean => match text {
            Some("true") => Some(Value::Bool(true)),
            Some("false") => Some(Value::Bool(false)),
            Some(_) => None,
            None => value.as_bool().map(Value::Bool),
        },
        Kind::Text | Kind::Secret => value.as_str().map(Value::from),
        Kind::Choice(words) => {
            let word = value.as_str().filter(|word| words.contains(word))?;
            Some(Value::from(word))
        }
        Kind::Path => {
            let path = expanded(value.as_str()?, home);
            Some(Value::from(path.to_string_lossy()))
        }
        Kind::Address => {
            let text = value.as_str()?;
            let named = text.strip_prefix("localhost:");
            let text = named.map_or(text.to_owned(), |port| format!("127.0.0.1:{port}"));
            text.parse::<SocketAddr>().ok()?;
            Some(Value::from(text))
        }
        Kind::Secrets => {
            let is_list = value
                .as_array()
                .is_some_and(|items| items.iter().all(Value::is_object));
            is_list.then(|| value.clone())
        }
    }
}

/// A wrong value in words; of a secret only what it is.
fn found(kind: Kind, value: &Value) -> String {
    if !kind.is_secret() {
        return format!("`{value}`");
    }
    let what = match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list of something else",
        Value::Object(_) => "an object",
    };
    what.to_owned()
}
