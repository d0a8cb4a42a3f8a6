//! The workflow lock, and what is checked of the server.

use chrono::{DateTime, TimeDelta, Utc};
use redis::{Pipeline, Value};

use super::RedisStore;
use super::errors::{CLUSTER, NO_MODULE, explained};
use super::values::{list, number, pairs, text};
use crate::store::StoreError;

/// The layout of keys and fields that this version writes.
const SCHEMA: i64 = 1;
/// Oldest version of the search module that is known to do, as the module counts.
const OLDEST_SEARCH: i64 = 2_06_00;
/// What a lock of ours begins with; the time until when it holds follows, in milliseconds.
const UNTIL: &str = "until:";

/// Until when a lock holds: `None` not locked, `Some(None)` without end. Anything at its key is a
/// lock; `left` is what is left of the key's life in milliseconds, negative for no end.
pub(super) fn lock_of(
    value: Option<String>,
    left: Option<i64>,
    now: DateTime<Utc>,
) -> Option<Option<DateTime<Utc>>> {
    let value = value?;
    let until = value
        .strip_prefix(UNTIL)
        .and_then(|until| until.parse().ok());
    if let Some(until) = until.and_then(DateTime::from_timestamp_millis) {
        return (until > now).then_some(Some(until));
    }
    let left = left
        .filter(|left| *left >= 0)
        .and_then(TimeDelta::try_milliseconds);
    Some(left.and_then(|left| now.checked_add_signed(left)))
}

impl RedisStore {
    /// See `ControlStore::lock`.
    pub(super) async fn read_lock(
        &self,
        now: DateTime<Utc>,
    ) -> Result<Option<Option<DateTime<Utc>>>, StoreError> {
        let key = self.inner.keys.lock();
        let mut pipeline = Pipeline::new();
        pipeline.cmd("GET").arg(&key);
        pipeline.cmd("PTTL").arg(&key);
        let mut answers = self.inner.connection.pipeline(&pipeline).await?.into_iter();
        let value = answers.next().and_then(text);
        Ok(lock_of(value, answers.next().and_then(number), now))
    }

    /// See `ControlStore::set_lock`. The key ends with the lock where the server's clock agrees that
    /// this is yet to come, for those that look at the key alone.
    pub(super) async fn write_lock(&self, until: DateTime<Utc>) -> Result<(), StoreError> {
        let key = self.inner.keys.lock();
        let millis = until.timestamp_millis();
        let time = self.inner.connection.command(&redis::cmd("TIME")).await?;
        let server_seconds = list(time)?
            .into_iter()
            .next()
            .and_then(number)
            .unwrap_or(i64::MAX);
        let mut command = redis::cmd("SET");
        command.arg(key).arg(format!("{UNTIL}{millis}"));
        if millis / 1000 > server_seconds {
            command.arg("PXAT").arg(millis);
        }
        self.inner.connection.command(&command).await.map(|_| ())
    }

    pub(super) async fn delete_lock(&self) -> Result<(), StoreError> {
        let mut command = redis::cmd("DEL");
        command.arg(self.inner.keys.lock());
        self.inner.connection.command(&command).await.map(|_| ())
    }

    /// Refuses a server that cannot hold a store of ours.
    pub(super) async fn check_server(&self) -> Result<(), StoreError> {
        let mut info = redis::cmd("INFO");
        info.arg("cluster");
        let refused = |message: String| StoreError::Refused(explained(message));
        match self.inner.connection.command(&info).await {
            Ok(told) if text_of(&told).contains("cluster_enabled:1") => {
                return Err(refused(CLUSTER.to_owned()));
            }
            // A user who may not ask: the first write would tell.
            Ok(_) | Err(StoreError::Refused(_)) => {}
            Err(error) => return Err(error),
        }
        let mut modules = redis::cmd("MODULE");
        modules.arg("LIST");
        match self.inner.connection.command(&modules).await {
            Ok(told) => match search_version(told)? {
                Some(version) if version < OLDEST_SEARCH => Err(refused(format!(
                    "the search module of this Redis has version {}.{}.{}, which is too old\nhint: use 2.6 or later: Redis Stack 7, or Redis 8",
                    version / 10_000,
                    version / 100 % 100,
                    version % 100
                ))),
                Some(_) => Ok(()),
                None => Err(refused(NO_MODULE.to_owned())),
            },
            Err(StoreError::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }?;
        self.check_schema().await
    }

    /// Refuses data of a newer version.
    async fn check_schema(&self) -> Result<(), StoreError> {
        let key = self.inner.keys.schema();
        let mut get = redis::cmd("GET");
        get.arg(&key);
        let found = self.inner.connection.command(&get).await?;
        match number(found) {
            Some(found) if found > SCHEMA => Err(StoreError::Version {
                found,
                supported: SCHEMA,
            }),
            Some(_) => Ok(()),
            None => {
                let mut set = redis::cmd("SET");
                set.arg(&key).arg(SCHEMA).arg("NX");
                self.inner.connection.command(&set).await.map(|_| ())
            }
        }
    }
}

pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::VerbatimString { text, .. } => text.clone(),
        other => text(other.clone()).unwrap_or_default(),
    }
}

/// The version of the search module among the modules, if it is there.
fn search_version(modules: Value) -> Result<Option<i64>, StoreError> {
    for module in list(modules)? {
        let fields = pairs(Value::Array(
            list(module)?
                .into_iter()
                .map(|value| match value {
                    Value::Array(_) => Value::BulkString(Vec::new()),
                    other => other,
                })
                .collect(),
        ))?;
        let of = |name: &str| {
            fields
                .iter()
                .find(|(field, _)| field == name)
                .map(|(_, value)| value)
        };
        if of("name").is_some_and(|name| name == "search" || name == "searchlight") {
            return Ok(of("ver").and_then(|version| version.parse().ok()));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anything_at_the_key_is_a_lock() {
        let now = DateTime::from_timestamp(1_000, 0).unwrap();
        let at = |seconds| DateTime::from_timestamp(seconds, 0);
        for (value, left, lock) in [
            (None, None, None),
            (Some("1"), Some(-1), Some(None)),
            (Some(""), Some(60_000), Some(at(1_060))),
            (Some("until:1060000"), Some(-1), Some(at(1_060))),
            (Some("until:999000"), Some(-1), None),
            (Some("until:soon"), Some(-1), Some(None)),
        ] {
            assert_eq!(
                lock_of(value.map(str::to_owned), left, now),
                lock,
                "{value:?}"
            );
        }
    }
}
