//! Records beside the memories: a hash of values and a sorted set of their order for each kind and
//! namespace.

use async_trait::async_trait;
use redis::{Pipeline, Value};
use serde_json::json;

use super::RedisStore;
use super::commands::Commands;
use super::errors::from_redis;
use super::scripts::Name;
use super::transaction::unexpected;
use super::values::{list, number, text, texts};
use crate::store::{Record, RecordStore, StoreError};

#[async_trait]
impl RecordStore for RedisStore {
    async fn put_record(
        &self,
        kind: &str,
        namespace: &str,
        record: Record,
        most: Option<usize>,
    ) -> Result<(), StoreError> {
        self.prepared().await?;
        let keys = &self.inner.keys;
        let most = most.map(|most| most.to_string()).unwrap_or_default();
        let mut commands = Commands::default();
        commands.push([
            "RECORD".to_owned(),
            keys.records(kind, namespace),
            keys.record_order(kind, namespace),
            record.key,
            record.value,
            most,
        ]);
        let place = json!([kind, namespace]).to_string();
        commands.push(["SADD".to_owned(), keys.record_places(), place]);
        let arguments = self.unguarded(commands);
        let done = self.inner.connection.script(Name::Apply, &arguments).await;
        done.map(|_| ()).map_err(from_redis)
    }

    async fn record(
        &self,
        kind: &str,
        namespace: &str,
        key: &str,
    ) -> Result<Option<String>, StoreError> {
        let mut get = redis::cmd("HGET");
        get.arg(self.inner.keys.records(kind, namespace)).arg(key);
        Ok(text(self.inner.connection.command(&get).await?))
    }

    async fn records(
        &self,
        kind: &str,
        namespace: &str,
        skip: usize,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        let keys = &self.inner.keys;
        if limit == 0 {
            return Ok(Vec::new());
        }
        let place = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let last = skip.saturating_add(limit).saturating_sub(1);
        let mut order = redis::cmd("ZREVRANGE");
        order.arg(keys.record_order(kind, namespace));
        order.arg(place(skip)).arg(place(last));
        let order = texts(self.inner.connection.command(&order).await?)?;
        if order.is_empty() {
            return Ok(Vec::new());
        }
        let mut values = redis::cmd("HMGET");
        values.arg(keys.records(kind, namespace)).arg(&order);
        let values = list(self.inner.connection.command(&values).await?)?;
        // One that was deleted meanwhile has no value.
        let found = order.into_iter().zip(values);
        let found = found.filter_map(|(key, value)| Some(Record::new(key, text(value)?)));
        Ok(found.collect())
    }

    async fn record_places(&self) -> Result<Vec<(String, String)>, StoreError> {
        let keys = &self.inner.keys;
        let mut members = redis::cmd("SMEMBERS");
        members.arg(keys.record_places());
        let members = texts(self.inner.connection.command(&members).await?)?;
        let read = |member: &String| serde_json::from_str(member).ok();
        let mut places: Vec<(String, String)> = members.iter().filter_map(read).collect();
        places.sort();
        let mut pipeline = Pipeline::new();
        for (kind, namespace) in &places {
            pipeline.cmd("EXISTS").arg(keys.records(kind, namespace));
        }
        if places.is_empty() {
            return Ok(places);
        }
        // Nobody forgets a place whose last record was deleted.
        let answers = self.inner.connection.pipeline(&pipeline).await?;
        let there = places.into_iter().zip(answers);
        let there = there.filter(|(_, answer)| *answer == Value::Int(1));
        Ok(there.map(|(place, _)| place).collect())
    }

    async fn delete_record(
        &self,
        kind: &str,
        namespace: &str,
        key: &str,
    ) -> Result<bool, StoreError> {
        let keys = &self.inner.keys;
        let mut delete = Pipeline::new();
        delete.atomic();
        let records = keys.records(kind, namespace);
        delete.cmd("HDEL").arg(records).arg(key);
        let order = keys.record_order(kind, namespace);
        delete.cmd("ZREM").arg(order).arg(key);
        let answers = self.inner.connection.pipeline(&delete).await?;
        let ended = answers.into_iter().next().ok_or_else(unexpected)?;
        let deleted = list(ended)?.into_iter().next().and_then(number);
        Ok(deleted.ok_or_else(unexpected)? > 0)
    }
}
