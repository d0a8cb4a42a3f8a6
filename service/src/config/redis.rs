//! Which store the settings choose, and how to reach Redis.

use form_urlencoded::byte_serialize;

use super::{ConfigError, StoreChoice};
use crate::store::redis::options::{RedisOptions, Sentinel};

/// What is written about the store; an empty text is as if unset.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub store: Option<String>,
    pub url: Option<String>,
    pub host: Option<String>,
    pub port: Option<usize>,
    pub username: Option<String>,
    pub password: Option<String>,
    pub db: Option<usize>,
    pub mode: Option<String>,
    pub sentinels: Option<String>,
    pub sentinel_master: Option<String>,
    pub sentinel_password: Option<String>,
    pub prefix: Option<String>,
}

const PORT: usize = 6379;
const MASTER: &str = "mymaster";

/// `auto` means Redis if and only if anything about Redis is set.
pub(super) fn choose(written: Written) -> Result<StoreChoice, ConfigError> {
    let is_redis_set = [
        &written.url,
        &written.host,
        &written.username,
        &written.password,
        &written.mode,
        &written.sentinels,
        &written.sentinel_master,
        &written.sentinel_password,
        &written.prefix,
    ]
    .into_iter()
    .any(Option::is_some)
        || written.port.is_some()
        || written.db.is_some();
    match written.store.as_deref() {
        Some("embedded") => Ok(StoreChoice::Embedded),
        Some("redis") => Ok(StoreChoice::Redis(options(written)?)),
        None | Some("auto") if is_redis_set => Ok(StoreChoice::Redis(options(written)?)),
        None | Some("auto") => Ok(StoreChoice::Embedded),
        Some(other) => Err(wrong("store", other, "auto, redis or embedded")),
    }
}

fn options(written: Written) -> Result<RedisOptions, ConfigError> {
    let sentinel = match written.mode.as_deref() {
        None | Some("single") => None,
        Some("sentinel") => Some(sentinel(&written)?),
        Some("cluster") => {
            return Err(ConfigError::Combination(
                "`redis_mode` is `cluster`, which Keepsake does not support: what must change in one step would be spread over servers\nhint: use single or sentinel"
                    .to_owned(),
            ));
        }
        Some(other) => return Err(wrong("redis_mode", other, "single or sentinel")),
    };
    let url = written.url.clone().unwrap_or_else(|| url(&written));
    Ok(RedisOptions {
        sentinel,
        prefix: written.prefix.unwrap_or_default(),
        ..RedisOptions::new(url)
    })
}

fn sentinel(written: &Written) -> Result<Sentinel, ConfigError> {
    let addresses: Vec<String> = written
        .sentinels
        .as_deref()
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .filter(|address| !address.is_empty())
        .map(str::to_owned)
        .collect();
    if addresses.is_empty() {
        return Err(ConfigError::Combination(
            "`redis_mode` is `sentinel`, but `redis_sentinels` names none\nhint: such as \"one:26379,two:26379\""
                .to_owned(),
        ));
    }
    Ok(Sentinel {
        addresses,
        master: written
            .sentinel_master
            .clone()
            .unwrap_or_else(|| MASTER.to_owned()),
        password: written.sentinel_password.clone().unwrap_or_default(),
    })
}

/// The address that the single keys come to.
fn url(written: &Written) -> String {
    let encoded = |text: &Option<String>| -> String {
        let text = text.as_deref().unwrap_or_default();
        byte_serialize(text.as_bytes())
            .collect::<String>()
            .replace('+', "%20")
    };
    let login = match (&written.username, &written.password) {
        (None, None) => String::new(),
        (username, password) => format!("{}:{}@", encoded(username), encoded(password)),
    };
    let host = written.host.as_deref().unwrap_or("127.0.0.1");
    let host = if host.contains(':') && !host.starts_with('[') {
        format!("[{host}]")
    } else {
        host.to_owned()
    };
    let (port, db) = (written.port.unwrap_or(PORT), written.db.unwrap_or(0));
    format!("redis://{login}{host}:{port}/{db}")
}

fn wrong(key: &str, found: &str, allowed: &str) -> ConfigError {
    ConfigError::Value {
        origin: "the configuration".to_owned(),
        key: key.to_owned(),
        found: format!("`{found}`"),
        allowed: allowed.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn anything_about_redis_chooses_redis() {
        assert_eq!(choose(Written::default()).unwrap(), StoreChoice::Embedded);
        for (written, place) in [
            (
                Written {
                    host: text("db"),
                    ..Written::default()
                },
                "redis://db:6379/0",
            ),
            (
                Written {
                    port: Some(6380),
                    ..Written::default()
                },
                "redis://127.0.0.1:6380/0",
            ),
            (
                Written {
                    store: text("redis"),
                    ..Written::default()
                },
                "redis://127.0.0.1:6379/0",
            ),
            (
                Written {
                    url: text("rediss://db"),
                    ..Written::default()
                },
                "rediss://db",
            ),
            (
                Written {
                    password: text("p@s s"),
                    ..Written::default()
                },
                "redis://127.0.0.1:6379/0",
            ),
        ] {
            let StoreChoice::Redis(options) = choose(written).unwrap() else {
                panic!("{place} is not chosen");
            };
            assert_eq!(options.place(), place);
        }
        let embedded = Written {
            store: text("embedded"),
            host: text("db"),
            ..Written::default()
        };
        assert_eq!(choose(embedded).unwrap(), StoreChoice::Embedded);
    }

    #[test]
    fn user_and_password_are_encoded() {
        let written = Written {
            username: text("me"),
            password: text("p@s s:/"),
            ..Written::default()
        };
        assert_eq!(url(&written), "redis://me:p%40s%20s%3A%2F@127.0.0.1:6379/0");
    }

    #[test]
    fn sentinels_need_an_address_and_clusters_are_refused() {
        let mode = |mode: &str| Written {
            mode: text(mode),
            ..Written::default()
        };
        assert!(
            choose(mode("sentinel"))
                .unwrap_err()
                .to_string()
                .contains("redis_sentinels")
        );
        assert!(
            choose(mode("cluster"))
                .unwrap_err()
                .to_string()
                .contains("does not support")
        );
        let written = Written {
            sentinels: text("one:26379, two"),
            ..mode("sentinel")
        };
        let StoreChoice::Redis(options) = choose(written).unwrap() else {
            panic!()
        };
        assert_eq!(options.sentinel.unwrap().addresses, ["one:26379", "two"]);
    }
}
