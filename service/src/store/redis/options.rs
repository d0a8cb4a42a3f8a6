//! How to reach Redis.

use std::fmt;
use std::time::Duration;

/// Where Redis is and who asks. Passwords never show in `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct RedisOptions {
    /// `redis://`, `rediss://` (TLS), `redis+unix://` or `unix://`, with user, password, database.
    pub url: String,
    /// With sentinels: their addresses (`host:port`) and the name of the master. `url` then gives
    /// user, password, database and whether TLS is used.
    pub sentinel: Option<Sentinel>,
    /// What every key begins with, so that several stores can share one Redis: its search works in
    /// database 0 alone.
    pub prefix: String,
    /// How long an answer may take.
    pub timeout: Duration,
}

/// Sentinels to ask for the master.
#[derive(Clone, PartialEq, Eq)]
pub struct Sentinel {
    pub addresses: Vec<String>,
    pub master: String,
    /// Password of the sentinels themselves; empty: none.
    pub password: String,
}

/// How long an answer may take by default.
pub const TIMEOUT: Duration = Duration::from_secs(3);

impl RedisOptions {
    /// A single server, no prefix.
    pub fn new(url: impl Into<String>) -> RedisOptions {
        RedisOptions {
            url: url.into(),
            sentinel: None,
            prefix: String::new(),
            timeout: TIMEOUT,
        }
    }

    /// Where Redis is, without user and password.
    pub fn place(&self) -> String {
        match &self.sentinel {
            Some(sentinel) => {
                format!(
                    "{} by sentinels {}",
                    sentinel.master,
                    sentinel.addresses.join(", ")
                )
            }
            None => match (self.url.split_once("://"), self.url.rsplit_once('@')) {
                (Some((scheme, _)), Some((_, place))) => format!("{scheme}://{place}"),
                _ => self.url.clone(),
            },
        }
    }
}

impl fmt::Debug for RedisOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisOptions")
            .field("place", &self.place())
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Sentinel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sentinel")
            .field("addresses", &self.addresses)
            .field("master", &self.master)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_shows() {
        let options = RedisOptions::new("rediss://me:p%40ss@db.example:6380/0");
        assert_eq!(options.place(), "rediss://db.example:6380/0");
        assert!(!format!("{options:?}").contains("p%40ss"));
    }
}
