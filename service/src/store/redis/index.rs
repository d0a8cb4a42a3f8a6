//! The search index: generations behind an alias, built beside the one in use and switched without a
//! gap. A generation that someone dropped is built again.

use std::sync::LazyLock;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use redis::{Cmd, Value};
use sha2::{Digest, Sha256};

use super::RedisStore;
use super::errors::{explained, is_missing, said};
use super::values::{list, pairs, text};
use super::vectors;
use crate::store::StoreError;

/// How long to wait between two looks at an index that is being built. A request waits for it as long
/// as for an answer.
pub(super) const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// The fields of the index, without the document score.
///
/// `terms` is the only text and holds encoded terms: no stop words, no stemming, no offsets. Tags are
/// tokens of ours, separated by a space and compared to the letter.
const SCHEMA: &str = "terms TEXT NOSTEM \
    facets TAG SEPARATOR _ CASESENSITIVE ktags TAG SEPARATOR _ CASESENSITIVE hidden TAG SEPARATOR _ CASESENSITIVE models TAG SEPARATOR _ CASESENSITIVE \
    created_ts NUMERIC invalid_ts NUMERIC bytes NUMERIC SORTABLE";

/// Tells an index of this schema from one of another version.
static SCHEMA_NAME: LazyLock<String> =
    LazyLock::new(|| HEXLOWER.encode(&Sha256::digest(SCHEMA.as_bytes())[..8]));

/// What is known of an index.
pub(super) struct Found {
    pub is_complete: bool,
    /// How much of it is built, 0.0 to 1.0.
    pub progress: f64,
    /// The names of its fields.
    pub fields: Vec<String>,
}

impl RedisStore {
    /// Makes sure, once, that the server will do and that the index is there.
    pub(super) async fn prepared(&self) -> Result<(), StoreError> {
        if self.inner.ready.load(Ordering::Acquire) {
            return Ok(());
        }
        let _one = self.inner.preparing.lock().await;
        if self.inner.ready.load(Ordering::Acquire) {
            return Ok(());
        }
        self.check_server().await?;
        let in_use = self.index(&self.inner.keys.alias()).await?;
        if in_use.is_none_or(|index| !index.is_complete) {
            self.build().await?;
        }
        self.inner.ready.store(true, Ordering::Release);
        Ok(())
    }

    /// Builds a generation of today's schema if the one in use is not of it.
    pub(super) async fn renew_index(&self) -> Result<(), StoreError> {
        self.prepared().await?;
        let (_, schema) = self.generation().await?;
        if schema == *SCHEMA_NAME {
            return Ok(());
        }
        let _one = self.inner.preparing.lock().await;
        self.build().await
    }

    /// Builds the next generation, or goes on with it, and switches to it when it is complete.
    async fn build(&self) -> Result<(), StoreError> {
        let keys = &self.inner.keys;
        let (number, schema) = self.generation().await?;
        let in_use = keys.generation(number);
        // One of this schema that was dropped or never completed keeps its number.
        let number = match self.index(&in_use).await? {
            Some(_) if schema != *SCHEMA_NAME => number + 1,
            _ => number.max(1),
        };
        let name = keys.generation(number);
        if self.index(&name).await?.is_none() {
            self.create(&name).await?;
        }
        let began = Instant::now();
        loop {
            match self.index(&name).await? {
                Some(index) if index.is_complete => break,
                Some(index) if began.elapsed() > self.inner.search_timeout => {
                    return Err(building(index.progress));
                }
                Some(_) => tokio::time::sleep(BETWEEN_LOOKS).await,
                None => self.create(&name).await?,
            }
        }
        let mut switch = redis::cmd("FT.ALIASUPDATE");
        switch.arg(keys.alias()).arg(&name);
        self.inner.connection.command(&switch).await?;
        let mut note = redis::cmd("HSET");
        note.arg(keys.index()).arg("generation").arg(number);
        note.arg("schema").arg(SCHEMA_NAME.as_str());
        self.inner.connection.command(&note).await?;
        if in_use != name && self.index(&in_use).await?.is_some() {
            let mut drop = redis::cmd("FT.DROPINDEX");
            drop.arg(&in_use);
            tolerate(self.inner.connection.command(&drop).await, "index")?;
        }
        tracing::info!(index = name, "the search index is in use");
        Ok(())
    }

    async fn create(&self, name: &str) -> Result<(), StoreError> {
        let mut create = redis::cmd("FT.CREATE");
        create.arg(name).arg("ON").arg("HASH");
        create.arg("PREFIX").arg(1).arg(self.inner.keys.fragments());
        create.arg("LANGUAGE").arg("english");
        create.arg("SCORE").arg(0.5).arg("SCORE_FIELD").arg("krank");
        create
            .arg("NOOFFSETS")
            .arg("NOHL")
            .arg("STOPWORDS")
            .arg(0)
            .arg("SCHEMA");
        for word in SCHEMA.split_whitespace() {
            create.arg(if word == "_" { " " } else { word });
        }
        for model in self.models().await? {
            vectors::declare(&mut create, &model);
        }
        tolerate(
            self.inner.connection.command(&create).await,
            "already exists",
        )
    }

    /// The number and the schema of the generation in use; 0 if there is none.
    async fn generation(&self) -> Result<(u64, String), StoreError> {
        let mut get = redis::cmd("HGETALL");
        get.arg(self.inner.keys.index());
        let fields = pairs(self.inner.connection.command(&get).await?)?;
        let of = |name: &str| {
            let found = fields.iter().find(|(field, _)| field == name);
            found.map(|(_, value)| value.clone())
        };
        let number = of("generation").and_then(|number| number.parse().ok());
        Ok((number.unwrap_or(0), of("schema").unwrap_or_default()))
    }

    /// The name of the generation in use.
    pub(super) async fn generation_in_use(&self) -> Result<String, StoreError> {
        Ok(self.inner.keys.generation(self.generation().await?.0))
    }

    pub(super) async fn index(&self, name: &str) -> Result<Option<Found>, StoreError> {
        let mut info = Cmd::new();
        info.arg("FT.INFO").arg(name);
        let told = match self.inner.connection.command(&info).await {
            Err(StoreError::Unavailable(error)) if is_missing(error.as_ref()) => return Ok(None),
            told => list(told?)?,
        };
        let of = |name: &str| {
            let named = told
                .chunks_exact(2)
                .find(|pair| text(pair[0].clone()).as_deref() == Some(name));
            named.map(|pair| pair[1].clone())
        };
        let number = |name: &str| -> Option<f64> { text(of(name)?)?.parse().ok() };
        Ok(Some(Found {
            is_complete: number("indexing").is_none_or(|indexing| indexing < 0.5),
            progress: number("percent_indexed").unwrap_or(0.0),
            fields: of("attributes").map(fields).unwrap_or_default(),
        }))
    }
}

/// The names of the fields that an index tells of.
fn fields(attributes: Value) -> Vec<String> {
    let name = |attribute: Value| {
        let told: Vec<Option<String>> = list(attribute).ok()?.into_iter().map(text).collect();
        let named = told
            .chunks_exact(2)
            .find(|pair| pair[0].as_deref() == Some("identifier"));
        named?[1].clone()
    };
    let attributes = list(attributes).unwrap_or_default();
    attributes.into_iter().filter_map(name).collect()
}

/// The index is not complete yet.
pub(super) fn building(progress: f64) -> StoreError {
    StoreError::Unavailable(explained(format!(
        "the search index is being built: {:.0} %",
        progress * 100.0
    )))
}

/// Leaves an error out that says that what was wanted is so already.
pub(super) fn tolerate(answer: Result<Value, StoreError>, words: &str) -> Result<(), StoreError> {
    match answer {
        Err(StoreError::Unavailable(error)) if said(error.as_ref()).contains(words) => Ok(()),
        answer => answer.map(|_| ()),
    }
}
