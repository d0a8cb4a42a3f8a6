//! Changes of the configuration file: comments and all else stay as they are, and what could not be
//! used afterwards is not written.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jsonc_parser::cst::{CstArray, CstInputValue, CstRootNode};
use serde_json::Value;

use super::keys::{WrittenKey, is_name};
use super::layers::{Environment, file_path};
use super::{Flags, file, load};

/// A key of the list.
pub type NewKey = WrittenKey;

/// Why the file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error("no file is named by `KEEPSAKE_CONFIG`, and there is no home folder")]
    Nowhere,
    #[error("cannot change `{}`", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("`{}` is not understood: {problem}", path.display())]
    Malformed { path: PathBuf, problem: String },
    #[error("`{0}` is no name for a key: 1 to 64 letters, digits, `-`, `_` and `.`")]
    Name(String),
    #[error("there is a key `{0}` already\nhint: `keepsake key revoke {0}` takes it away")]
    Known(String),
    #[error("no key `{name}` is in `{}`\nhint: `keepsake key list` shows all keys", path.display())]
    Unknown { name: String, path: PathBuf },
    #[error("the service could not use the configuration any more, so nothing was changed:\n{0}")]
    Unusable(String),
}

/// Adds a key to the list; the file.
///
/// # Errors
/// When there is one of that name, or the file cannot be changed.
pub fn add_key(environment: &Environment, key: &NewKey) -> Result<PathBuf, EditError> {
    if !is_name(&key.name) {
        return Err(EditError::Name(key.name.clone()));
    }
    edit(environment, |keys, _| {
        if position(keys, &key.name).is_some() {
            return Err(EditError::Known(key.name.clone()));
        }
        let written = serde_json::to_value(key).unwrap_or_default();
        keys.ensure_multiline();
        keys.append(input(&written));
        Ok(())
    })
}

/// Takes a key out of the list; the file.
///
/// # Errors
/// When there is none of that name, or the file cannot be changed.
pub fn remove_key(environment: &Environment, name: &str) -> Result<PathBuf, EditError> {
    edit(environment, |keys, path| {
        let unknown = || EditError::Unknown {
            name: name.to_owned(),
            path: path.to_owned(),
        };
        let at = position(keys, name).ok_or_else(unknown)?;
        if let Some(element) = keys.elements().into_iter().nth(at) {
            element.remove();
        }
        Ok(())
    })
}

/// Where in the list a key is.
fn position(keys: &CstArray, name: &str) -> Option<usize> {
    let is_it = |value: Value| value["name"] == name;
    let mut elements = keys.elements().into_iter();
    elements.position(|element| element.to_serde_value().is_some_and(is_it))
}

fn edit(
    environment: &Environment,
    change: impl FnOnce(&CstArray, &Path) -> Result<(), EditError>,
) -> Result<PathBuf, EditError> {
    let (path, _) = file_path(environment).ok_or(EditError::Nowhere)?;
    let failed = |source| EditError::File {
        path: path.clone(),
        source,
    };
    let malformed = |problem: String| EditError::Malformed {
        path: path.clone(),
        problem,
    };
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read.map_err(failed)?,
    };
    let root = CstRootNode::parse(text.trim_start_matches('\u{feff}'), &file::options())
        .map_err(|error| malformed(error.to_string()))?;
    let keys = root
        .object_value_or_create()
        .ok_or_else(|| malformed("it must hold one object".to_owned()))?
        .array_value_or_create("api_keys")
        .ok_or_else(|| malformed("`api_keys` must be a list".to_owned()))?;
    change(&keys, &path)?;
    let mut text = root.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    replace(&path, &text, environment)?;
    Ok(path)
}

/// Puts a text in the place of the file, at once and only if it can be used.
fn replace(path: &Path, text: &str, environment: &Environment) -> Result<(), EditError> {
    let failed = |source| EditError::File {
        path: path.to_owned(),
        source,
    };
    // What a link points to is replaced, not the link.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = target
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    // Only its owner reads a new file; one that is there keeps its permissions.
    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    new.write_all(text.as_bytes()).map_err(failed)?;
    if let Ok(metadata) = target.metadata() {
        let permissions = metadata.permissions();
        new.as_file().set_permissions(permissions).map_err(failed)?;
    }
    new.as_file().sync_all().map_err(failed)?;
    let tried = new.path().to_string_lossy().into_owned();
    let mut environment = environment.clone();
    environment.insert("KEEPSAKE_CONFIG".to_owned(), tried.clone());
    if let Err(error) = load(&Flags::new(), &environment) {
        let told = error.to_string().replace(&tried, &path.to_string_lossy());
        return Err(EditError::Unusable(told));
    }
    new.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => {
            let fields = fields.iter();
            CstInputValue::Object(
                fields
                    .map(|(name, value)| (name.clone(), input(value)))
                    .collect(),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::KeyHash;

    fn key(name: &str) -> NewKey {
        NewKey {
            name: name.to_owned(),
            hash: KeyHash::of(name).to_string(),
            agent_id: Some("anna".to_owned()),
            namespace: None,
            is_primary: None,
            admin: false,
            read_only: true,
        }
    }

    /// A configuration file with a text.
    fn place(text: &str) -> (tempfile::TempDir, Environment) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        std::fs::write(&path, text).unwrap();
        let path = path.to_string_lossy().into_owned();
        let environment = Environment::from([("KEEPSAKE_CONFIG".to_owned(), path)]);
        (folder, environment)
    }

    #[test]
    fn comments_and_everything_else_stay() {
        let before = "{\n  // as many as fit on a page\n  \"top_k\": 7, // fine\n}\n";
        let (_folder, environment) = place(before);
        let path = add_key(&environment, &key("one")).unwrap();
        add_key(&environment, &key("two")).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(before.trim_end_matches("}\n")), "{text}");
        let settings = load(&Flags::new(), &environment).unwrap().settings;
        let names: Vec<_> = settings.api_keys.iter().map(|key| &key.name).collect();
        assert_eq!(names, ["one", "two"]);
        assert_eq!(settings.top_k, 7);
        remove_key(&environment, "one").unwrap();
        remove_key(&environment, "two").unwrap();
        let settings = load(&Flags::new(), &environment).unwrap().settings;
        assert!(settings.api_keys.is_empty());
        assert!(std::fs::read_to_string(&path).unwrap().contains("// fine"));
    }

    #[test]
    fn a_refused_change_leaves_the_file_alone() {
        let open = r#"{"listen": "0.0.0.0:7437", "api_keys": []}"#;
        for (before, told) in [
            (r#"{"top_k": 0}"#, "top_k"),
            (r#"{"api_keys": 3}"#, "must be a list"),
            ("[]", "one object"),
            ("{", "not understood"),
        ] {
            let (_folder, environment) = place(before);
            let error = add_key(&environment, &key("one")).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
            let path = &environment["KEEPSAKE_CONFIG"];
            assert_eq!(std::fs::read_to_string(path).unwrap(), before);
        }
        let (_folder, environment) = place(open);
        add_key(&environment, &key("one")).unwrap();
        let again = add_key(&environment, &key("one")).unwrap_err();
        assert!(matches!(again, EditError::Known(_)), "{again}");
        let none = remove_key(&environment, "two").unwrap_err();
        assert!(matches!(none, EditError::Unknown { .. }), "{none}");
        // Without its last key the service would be open to other machines.
        let last = remove_key(&environment, "one").unwrap_err();
        assert!(last.to_string().contains("without an API key"), "{last}");
        let spaced = add_key(&environment, &key("a b")).unwrap_err();
        assert!(matches!(spaced, EditError::Name(_)), "{spaced}");
    }
}
