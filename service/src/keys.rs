//! API keys: who may come in, and what each one reaches. Only hashes are kept.

use std::fmt;
use std::sync::Arc;

use data_encoding::{BASE32_NOPAD, HEXLOWER};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::secret::{MASK, Secret};

/// What a key that we made begins with.
const PREFIX: &str = "ks_";
/// Random bytes of a key that we made: nobody guesses them, so that a plain hash is enough.
const RANDOM_BYTES: usize = 32;
/// What a written hash begins with.
const SCHEME: &str = "sha256:";
/// Between a name and the agent that alone has what is kept under it: no name has it in it.
const OWN: char = '\u{1f}';

/// Makes a key.
///
/// # Errors
/// When the system has no random numbers.
pub fn generate() -> Result<Secret, getrandom::Error> {
    let mut bytes = [0; RANDOM_BYTES];
    getrandom::fill(&mut bytes)?;
    let text = BASE32_NOPAD.encode(&bytes).to_ascii_lowercase();
    Ok(Secret::new(format!("{PREFIX}{text}")))
}

/// The hash of a key. Compared in constant time where somebody presents a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    pub fn of(key: &str) -> KeyHash {
        KeyHash(Sha256::digest(key.as_bytes()).into())
    }

    /// Reads what [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Option<KeyHash> {
        let digits = text.strip_prefix(SCHEME)?.to_ascii_lowercase();
        let bytes = HEXLOWER.decode(digits.as_bytes()).ok()?;
        bytes.try_into().ok().map(KeyHash)
    }
}

impl fmt::Display for KeyHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{SCHEME}{}", HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(MASK)
    }
}

/// Whose memories a caller reaches. What is absent is not bound: the request says it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reach {
    pub agent: Option<String>,
    pub namespace: Option<String>,
    /// `false`: never all of a namespace; `true`: all of it unless the request wants less.
    pub primary: Option<bool>,
}

impl Reach {
    pub fn is_bound(&self) -> bool {
        *self != Reach::default()
    }

    /// Whether a request sees all of a namespace: what it asks for, within what is allowed.
    pub fn primary(&self, asked: Option<bool>, default: bool) -> bool {
        match self.primary {
            Some(false) => false,
            Some(true) => asked.unwrap_or(true),
            None => asked.unwrap_or(default),
        }
    }

    /// The name under which something is kept that is not a memory and so has no agent. Who is bound
    /// to an agent has a name of its own, which nobody else who is bound can say.
    pub fn own(&self, name: &str) -> String {
        match &self.agent {
            Some(agent) if self.primary != Some(true) => format!("{name}{OWN}{agent}"),
            _ => name.to_owned(),
        }
    }
}

/// One key of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    pub name: String,
    pub hash: KeyHash,
    pub reach: Reach,
    /// May use what concerns the whole service. Never bound.
    pub admin: bool,
    pub read_only: bool,
}

/// All keys. Without any, whoever reaches the service may do everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApiKeys(Vec<Arc<ApiKey>>);

impl ApiKeys {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &ApiKey> {
        self.0.iter().map(Arc::as_ref)
    }

    /// The key that is presented. Takes the same time for every wrong one: hashes are compared, all of
    /// them, each in constant time.
    pub fn find(&self, presented: &str) -> Option<Arc<ApiKey>> {
        let presented = KeyHash::of(presented);
        let mut found = None;
        for key in &self.0 {
            if bool::from(key.hash.0.ct_eq(&presented.0)) {
                found = Some(key.clone());
            }
        }
        found
    }
}

impl FromIterator<ApiKey> for ApiKeys {
    fn from_iter<T: IntoIterator<Item = ApiKey>>(keys: T) -> Self {
        ApiKeys(keys.into_iter().map(Arc::new).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str, secret: &str) -> ApiKey {
        ApiKey {
            name: name.to_owned(),
            hash: KeyHash::of(secret),
            reach: Reach::default(),
            admin: false,
            read_only: false,
        }
    }

    #[test]
    fn only_the_key_itself_opens() {
        let keys: ApiKeys = [key("one", "first"), key("two", "second")]
            .into_iter()
            .collect();
        let name = |presented: &str| keys.find(presented).map(|key| key.name.clone());
        assert_eq!(name("second").as_deref(), Some("two"));
        for wrong in [
            "",
            "firs",
            "first ",
            "First",
            &KeyHash::of("first").to_string(),
        ] {
            assert_eq!(name(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_written_hash_reads_back_and_nothing_else_does() {
        let hash = KeyHash::of("first");
        assert_eq!(KeyHash::parse(&hash.to_string()), Some(hash));
        for wrong in ["", "sha256:", "sha256:00", "first", "md5:0000"] {
            assert_eq!(KeyHash::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn keys_differ_and_are_long_and_never_printed() {
        let (one, other) = (generate().unwrap(), generate().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.expose().len(), 55);
        let shown = format!("{:?}", key("one", one.expose()));
        assert!(!shown.contains("sha256:"), "{shown}");
    }

    #[test]
    fn a_bound_caller_asks_for_more_in_vain() {
        let never = Reach {
            primary: Some(false),
            ..Reach::default()
        };
        let always = Reach {
            primary: Some(true),
            ..Reach::default()
        };
        let unbound = Reach::default();
        for (reach, asked, default, expected) in [
            (&never, Some(true), true, false),
            (&never, None, true, false),
            (&always, None, false, true),
            (&always, Some(false), true, false),
            (&unbound, None, true, true),
            (&unbound, Some(false), true, false),
        ] {
            assert_eq!(reach.primary(asked, default), expected, "{reach:?}");
        }
    }
}
