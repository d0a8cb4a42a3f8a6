//! `api_keys`: from what is written to keys that can be compared.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::error::{Fault, Origin};
use super::values::Values;
use crate::keys::{ApiKey, ApiKeys, KeyHash, Reach};
use crate::scope::DEFAULT_NAMESPACE;

/// Longest name of a key, in characters.
const MAX_NAME_CHARS: usize = 64;
/// Longest agent or namespace, in characters; as in requests.
const MAX_BOUND_CHARS: usize = 256;
const KEY: &str = "api_keys";

/// A key as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenKey {
    pub name: String,
    pub hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_primary: Option<bool>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub admin: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub read_only: bool,
}

fn is_false(value: &bool) -> bool {
    !*value
}

/// The value of a variable: a list as in the file, or the text of one unbound admin key.
pub(super) fn of_environment(variable: &str, text: &str) -> Value {
    let text = text.trim();
    if text.starts_with('[') {
        return serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    }
    let hash = KeyHash::of(text).to_string();
    json!([{"name": variable, "hash": hash, "admin": true}])
}

/// Every key; what is wrong is told by its place in the list and never quoted.
pub(super) fn resolve(values: &Values, faults: &mut Vec<Fault>) -> ApiKeys {
    let origin = values.origin(KEY).unwrap_or(&Origin::Default).clone();
    let mut keys: Vec<ApiKey> = Vec::new();
    for (index, value) in values.secrets(KEY).into_iter().enumerate() {
        let wrong = |field: &str, found: &str, allowed: &str| Fault::Value {
            origin: origin.clone(),
            key: match field {
                "" => format!("{KEY}[{index}]"),
                field => format!("{KEY}[{index}].{field}"),
            },
            found: found.to_owned(),
            allowed: allowed.to_owned(),
        };
        match read(value, &wrong) {
            Ok(key) if keys.iter().any(|other| other.name == key.name) => {
                faults.push(wrong("name", "there a second time", "one key of each name"));
            }
            Ok(key) => keys.push(key),
            Err(fault) => faults.push(*fault),
        }
    }
    keys.into_iter().collect()
}

/// Reads one key.
fn read(value: Value, wrong: &dyn Fn(&str, &str, &str) -> Fault) -> Result<ApiKey, Box<Fault>> {
    const FIELDS: &str =
        "an object of name, hash, agent_id, namespace, is_primary, admin and read_only";
    let refuse = |field, found, allowed| Err(Box::new(wrong(field, found, allowed)));
    let Ok(written) = serde_json::from_value::<WrittenKey>(value) else {
        return refuse("", "something else", FIELDS);
    };
    if !is_name(&written.name) {
        let allowed = "1 to 64 letters, digits, `-`, `_` and `.`";
        return refuse("name", "something else", allowed);
    }
    let Some(hash) = KeyHash::parse(&written.hash) else {
        let allowed = "`sha256:` and 64 hexadecimal digits, as `keepsake key create` writes it";
        return refuse("hash", "something else", allowed);
    };
    for (field, bound) in [
        ("agent_id", &written.agent_id),
        ("namespace", &written.namespace),
    ] {
        if bound.as_ref().is_some_and(|bound| !is_bound(bound)) {
            let allowed = "1 to 256 characters, not blank, without control characters";
            return refuse(field, "something else", allowed);
        }
    }
    let reach = reach(&written);
    if written.admin && reach.is_bound() {
        return refuse("admin", "true for a key that is bound", "an unbound key");
    }
    Ok(ApiKey {
        name: written.name,
        hash,
        reach,
        admin: written.admin,
        read_only: written.read_only,
    })
}

/// Who is bound to an agent is so in one namespace, and sees that agent's memories and shared ones
/// unless told to see all.
fn reach(written: &WrittenKey) -> Reach {
    let (agent, namespace) = (written.agent_id.clone(), written.namespace.clone());
    match agent {
        None => Reach {
            agent,
            namespace,
            primary: written.is_primary,
        },
        Some(_) => Reach {
            agent,
            namespace: namespace.or_else(|| Some(DEFAULT_NAMESPACE.to_owned())),
            primary: Some(written.is_primary.unwrap_or(false)),
        },
    }
}

/// Whether a key may have this name. Names begin log fields and stored names, so they are plain.
pub(super) fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=MAX_NAME_CHARS).contains(&name.len()) && name.chars().all(plain)
}

fn is_bound(name: &str) -> bool {
    !name.trim().is_empty()
        && name.chars().count() <= MAX_BOUND_CHARS
        && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(written: Value) -> Result<ApiKey, String> {
        let wrong = |field: &str, found: &str, _: &str| Fault::Value {
            origin: Origin::Default,
            key: field.to_owned(),
            found: found.to_owned(),
            allowed: String::new(),
        };
        read(written, &wrong).map_err(|fault| fault.to_string())
    }

    #[test]
    fn an_agent_is_bound_within_one_namespace() {
        let hash = KeyHash::of("secret").to_string();
        let reach = |fields: Value| {
            let mut key = json!({"name": "n", "hash": hash});
            key.as_object_mut()
                .unwrap()
                .extend(fields.as_object().unwrap().clone());
            told(key).unwrap().reach
        };
        let bound = reach(json!({"agent_id": "a"}));
        assert_eq!(bound.namespace.as_deref(), Some("default"));
        assert_eq!(bound.primary, Some(false));
        assert!(!reach(json!({})).is_bound());
        assert_eq!(reach(json!({"namespace": "team"})).primary, None);
        assert_eq!(
            reach(json!({"agent_id": "a", "is_primary": true})).primary,
            Some(true)
        );
    }

    #[test]
    fn what_is_wrong_is_named_and_never_quoted() {
        let hash = KeyHash::of("secret").to_string();
        for (written, field) in [
            (json!({"name": "n", "hash": "hunter2"}), "hash"),
            (json!({"name": "hunter2 ", "hash": hash}), "name"),
            (json!({"name": "n", "hash": hash, "key": "hunter2"}), ""),
            (
                json!({"name": "n", "hash": hash, "agent_id": " "}),
                "agent_id",
            ),
            (
                json!({"name": "n", "hash": hash, "agent_id": "a", "admin": true}),
                "admin",
            ),
        ] {
            let fault = told(written).unwrap_err();
            assert!(fault.contains(&format!("`{field}` is ")), "{fault}");
            assert!(!fault.contains("hunter2"), "{fault}");
        }
    }
}
