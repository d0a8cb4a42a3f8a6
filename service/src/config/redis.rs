//! Which store the settings choose, and how to reach Redis.

use form_urlencoded::byte_serialize;

use super::StoreChoice;
use super::error::{Fault, Origin};
use super::values::Values;
use crate::store::redis::options::{RedisOptions, Sentinel};

/// The keys that say something about Redis: one of them is enough for `auto` to choose it.
const KEYS: [&str; 11] = [
    "redis_url",
    "redis_host",
    "redis_port",
    "redis_username",
    "redis_password",
    "redis_db",
    "redis_mode",
    "redis_sentinels",
    "redis_sentinel_master",
    "redis_sentinel_password",
    "redis_prefix",
];

/// `auto` means Redis if and only if anything about Redis is set. An empty text is as if unset.
pub(super) fn choose(values: &Values, faults: &mut Vec<Fault>) -> StoreChoice {
    let options = options(values, faults);
    let is_redis_set = KEYS
        .iter()
        .any(|key| values.origin(key).is_some() && !values.is_empty(key));
    match values.text("store").as_deref() {
        Some("redis") => StoreChoice::Redis(options),
        Some("embedded") => StoreChoice::Embedded,
        _ if is_redis_set => StoreChoice::Redis(options),
        _ => StoreChoice::Embedded,
    }
}

/// Asks for every key, so that none is said to have no effect.
fn options(values: &Values, faults: &mut Vec<Fault>) -> RedisOptions {
    let login = match (values.text("redis_username"), values.text("redis_password")) {
        (None, None) => String::new(),
        (username, password) => format!("{}:{}@", encoded(username), encoded(password)),
    };
    let host = values.text("redis_host").unwrap_or_default();
    let host = if host.contains(':') && !host.starts_with('[') {
        format!("[{host}]")
    } else {
        host
    };
    let parts = format!(
        "redis://{login}{host}:{}/{}",
        values.count("redis_port"),
        values.count("redis_db")
    );
    let url = values.text("redis_url");
    RedisOptions {
        sentinel: sentinel(values, faults),
        prefix: values.text("redis_prefix").unwrap_or_default(),
        ..RedisOptions::new(url.unwrap_or(parts))
    }
}

fn sentinel(values: &Values, faults: &mut Vec<Fault>) -> Option<Sentinel> {
    let named = values.text("redis_sentinels").unwrap_or_default();
    let addresses: Vec<String> = named
        .split(',')
        .map(str::trim)
        .filter(|address| !address.is_empty())
        .map(str::to_owned)
        .collect();
    let sentinel = Sentinel {
        addresses,
        master: values.text("redis_sentinel_master").unwrap_or_default(),
        password: values.text("redis_sentinel_password").unwrap_or_default(),
    };
    if values.text("redis_mode").as_deref() != Some("sentinel") {
        return None;
    }
    if sentinel.addresses.is_empty() {
        faults.push(Fault::Combination {
            origin: values
                .origin("redis_mode")
                .unwrap_or(&Origin::Default)
                .clone(),
            key: "redis_mode",
            found: "`sentinel`".to_owned(),
            problem: "but `redis_sentinels` names none".to_owned(),
            hint: "set it, such as \"one:26379,two:26379\"",
        });
    }
    Some(sentinel)
}

fn encoded(text: Option<String>) -> String {
    let text = text.unwrap_or_default();
    let encoded: String = byte_serialize(text.as_bytes()).collect();
    encoded.replace('+', "%20")
}
