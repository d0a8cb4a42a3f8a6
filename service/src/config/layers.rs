//! One value for each key, from the strongest layer that has it.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::{Fault, Origin};
use super::file::{self, Files};
use super::keys;
use super::raw::{KEYS, Key, Kind, OTHER_VARIABLES, find};

/// Environment variables by name.
pub type Environment = HashMap<String, String>;

/// Values given on the command line, by key.
pub type Flags = BTreeMap<&'static str, String>;

/// A name is told as a likely spelling of another one from this likeness on, 0.0 to 1.0.
const LIKELY: f64 = 0.4;

/// A value as written. No `Debug`: it may be a secret.
#[derive(Clone, PartialEq)]
pub(super) struct Written {
    pub value: Value,
    pub origin: Origin,
}

/// The value of each key that is written somewhere.
#[derive(Clone, Default)]
pub(super) struct Layers(BTreeMap<&'static str, Written>);

impl Layers {
    /// Gathers flags over environment over file. An empty value is as if unset.
    pub(super) fn gather(
        flags: &Flags,
        environment: &Environment,
        files: &Files,
        warnings: &mut Vec<String>,
        faults: &mut Vec<Fault>,
    ) -> Layers {
        let mut layers = Layers::default();
        if let Some((path, named)) = file_path(environment) {
            layers.add_file(&path, named, files, warnings, faults);
        }
        for key in &KEYS {
            let set = key.environment_names().find_map(|name| {
                environment
                    .get_key_value(&name)
                    .filter(|(_, text)| !text.is_empty())
            });
            if let Some((name, text)) = set {
                let value = match key.kind {
                    Kind::Secrets => layers.with_more(key, name, text),
                    _ => Value::from(text.as_str()),
                };
                layers.put(key, value, Origin::Environment(name.clone()));
            }
        }
        layers.add_provider_key(environment);
        for (name, text) in flags {
            if let Some(key) = find(name) {
                let flag = format!("--{}", name.replace('_', "-"));
                layers.put(key, Value::from(text.as_str()), Origin::Flag(flag));
            }
        }
        warnings.extend(unknown_variables(environment));
        layers
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &Written)> {
        self.0.iter().map(|(name, written)| (*name, written))
    }

    /// Takes the values of keys that need a restart from the layers of the start; the names of those
    /// that differ.
    pub(super) fn keep_fixed(&mut self, start: &Layers) -> Vec<&'static str> {
        let mut kept = Vec::new();
        for key in KEYS.iter().filter(|key| key.restart) {
            let (now, then) = (self.0.get(key.name), start.0.get(key.name));
            if now.map(|written| &written.value) == then.map(|written| &written.value) {
                continue;
            }
            kept.push(key.name);
            match then.cloned() {
                Some(written) => self.0.insert(key.name, written),
                None => self.0.remove(key.name),
            };
        }
        kept
    }

    fn add_file(
        &mut self,
        path: &Path,
        named: bool,
        files: &Files,
        warnings: &mut Vec<String>,
        faults: &mut Vec<Fault>,
    ) {
        let text = match files.read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !named => return,
            Err(source) => {
                let path = path.to_owned();
                return faults.push(Fault::Unreadable { path, source });
            }
        };
        for entry in file::parse(path, &text, faults) {
            match find(&entry.name) {
                Some(key) => self.put(key, entry.value, entry.origin),
                None => {
                    let known = KEYS.iter().map(|key| key.name.to_owned());
                    warnings.push(format!(
                        "{}: unknown key `{}`{}",
                        entry.origin,
                        entry.name,
                        hint(&entry.name, known)
                    ));
                }
            }
        }
    }

    /// The keys of the environment besides those of the file: neither locks the others' holders out.
    fn with_more(&self, key: &Key, name: &str, text: &str) -> Value {
        let more = keys::of_environment(name, text);
        let written = self.0.get(key.name).map(|written| &written.value);
        match (written, more) {
            (Some(Value::Array(written)), Value::Array(more)) => {
                Value::from_iter(written.iter().cloned().chain(more))
            }
            // What is wrong is told as it is.
            (Some(wrong), Value::Array(_)) => wrong.clone(),
            (_, more) => more,
        }
    }

    /// The providers' own variables hold a key for the provider that is chosen and no other: a key
    /// alone chooses nothing, and goes to nobody else.
    fn add_provider_key(&mut self, environment: &Environment) {
        let text = |name| self.0.get(name).and_then(|written| written.value.as_str());
        let name = match text("embedder.provider") {
            Some("openai") => "OPENAI_API_KEY",
            Some("dashscope") => "DASHSCOPE_API_KEY",
            // A model alone is one of OpenAI's.
            None | Some("auto")
                if text("embedder.model").is_some() && text("embedder.base_url").is_none() =>
            {
                "OPENAI_API_KEY"
            }
            _ => return,
        };
        if let (Some(key), Some(text), false) = (
            find("embedder.api_key"),
            environment.get(name),
            self.0.contains_key("embedder.api_key"),
        ) {
            self.put(
                key,
                Value::from(text.as_str()),
                Origin::Environment(name.to_owned()),
            );
        }
    }

    fn put(&mut self, key: &'static Key, value: Value, origin: Origin) {
        if !value.is_null() && value != "" {
            self.0.insert(key.name, Written { value, origin });
        }
    }
}

/// The configuration file, and whether it was named: the one of the environment, else the user's.
pub(super) fn file_path(environment: &Environment) -> Option<(PathBuf, bool)> {
    let home = environment.get("HOME").map(Path::new);
    match environment
        .get("KEEPSAKE_CONFIG")
        .filter(|path| !path.is_empty())
    {
        Some(named) => Some((expanded(named, home), true)),
        None => Some((home?.join(".config/keepsake/config.json"), false)),
    }
}

/// A path whose leading `~` is the home folder.
pub(super) fn expanded(path: &str, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_owned(),
        (Some(rest), Some(home)) if rest.starts_with('/') => home.join(&rest[1..]),
        _ => PathBuf::from(path),
    }
}

/// Warnings about variables that look like ours and mean nothing, in order.
fn unknown_variables(environment: &Environment) -> Vec<String> {
    let known: Vec<String> = KEYS
        .iter()
        .flat_map(Key::environment_names)
        .chain(OTHER_VARIABLES.map(str::to_owned))
        .collect();
    let mut unknown: Vec<&String> = environment
        .keys()
        .filter(|name| name.starts_with("KEEPSAKE_") && !known.contains(name))
        .collect();
    unknown.sort();
    unknown
        .into_iter()
        .map(|name| {
            format!(
                "unknown environment variable `{name}`{}",
                hint(name, known.iter().cloned())
            )
        })
        .collect()
}

/// The known name that is spelt most like an unknown one, if any is.
fn hint(name: &str, known: impl Iterator<Item = String>) -> String {
    known
        .map(|known| (strsim::normalized_damerau_levenshtein(name, &known), known))
        .filter(|(likeness, _)| *likeness >= LIKELY)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, nearest)| format!("\nhint: did you mean `{nearest}`?"))
        .unwrap_or_default()
}
