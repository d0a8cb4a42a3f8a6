//! What the bank API keeps beside the memories, as records of the store.

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::problem::Problem;
use super::extract::Banks;
use crate::app::App;
use crate::store::Record;

/// Most operations of a bank that are remembered.
const MOST_OPERATIONS: usize = 1_000;
/// Records that are read together.
const TOGETHER: usize = 1_000;

/// A form of record, and where those are kept.
pub(super) trait Kept: Serialize + DeserializeOwned {
    const KIND: &'static str;
    /// How many of a namespace are kept; the oldest go first.
    const MOST: Option<usize> = None;

    fn key(&self) -> &str;
}

/// One record.
pub(super) async fn get<T: Kept>(
    app: &App,
    namespace: &str,
    key: &str,
) -> Result<Option<T>, Problem> {
    let value = app.store.record(T::KIND, namespace, key).await?;
    Ok(value.and_then(|value| serde_json::from_str(&value).ok()))
}

/// Every record, the newest put first. One that cannot be read is as if it were not there.
pub(super) async fn all<T: Kept>(app: &App, namespace: &str) -> Result<Vec<T>, Problem> {
    let mut all = Vec::new();
    let mut skip = 0;
    loop {
        let page = app
            .store
            .records(T::KIND, namespace, skip, TOGETHER)
            .await?;
        let is_last = page.len() < TOGETHER;
        skip += page.len();
        let read = page
            .into_iter()
            .filter_map(|record| serde_json::from_str(&record.value).ok());
        all.extend(read);
        if is_last {
            return Ok(all);
        }
    }
}

/// Keeps a record in place of the one with its key.
pub(super) async fn put<T: Kept>(app: &App, namespace: &str, kept: &T) -> Result<(), Problem> {
    let value = serde_json::to_string(kept).map_err(|_| Problem::internal())?;
    let record = Record::new(kept.key(), value);
    app.store
        .put_record(T::KIND, namespace, record, T::MOST)
        .await?;
    Ok(())
}

/// Deletes a record; whether there was one.
pub(super) async fn delete<T: Kept>(
    app: &App,
    namespace: &str,
    key: &str,
) -> Result<bool, Problem> {
    Ok(app.store.delete_record(T::KIND, namespace, key).await?)
}

/// Deletes every record.
pub(super) async fn delete_all<T: Kept>(app: &App, namespace: &str) -> Result<(), Problem> {
    for kept in all::<T>(app, namespace).await? {
        delete::<T>(app, namespace, kept.key()).await?;
    }
    Ok(())
}

/// What a client told about a bank. Banks are kept in no namespace, so that they can be listed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BankRecord {
    pub bank_id: String,
    pub name: Option<String>,
    pub mission: Option<String>,
    pub background: Option<String>,
    pub disposition: Disposition,
    /// Settings of the clients' own, without effect here.
    #[serde(default)]
    pub config: Map<String, Value>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// When a client last wrote a memory to a bank. Apart from what it tells of the bank, so that neither
/// overwrites the other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct WrittenRecord {
    pub bank_id: String,
    pub at: DateTime<Utc>,
}

impl Kept for WrittenRecord {
    const KIND: &'static str = "bank written";

    fn key(&self) -> &str {
        &self.bank_id
    }
}

/// When a client last wrote to a bank.
pub(super) async fn written_at(
    app: &App,
    banks: &Banks,
    bank_id: &str,
) -> Result<Option<DateTime<Utc>>, Problem> {
    let record: Option<WrittenRecord> = get(app, &banks.shelf, bank_id).await?;
    Ok(record.map(|record| record.at))
}

/// The namespace of what belongs to none.
pub(super) const NOWHERE: &str = "";

impl Kept for BankRecord {
    const KIND: &'static str = "bank";

    fn key(&self) -> &str {
        &self.bank_id
    }
}

impl BankRecord {
    /// A bank of which nothing is told.
    pub(super) fn new(bank_id: &str, now: DateTime<Utc>) -> BankRecord {
        BankRecord {
            bank_id: bank_id.to_owned(),
            name: None,
            mission: None,
            background: None,
            disposition: Disposition::default(),
            config: Map::new(),
            created_at: now,
            updated_at: now,
        }
    }
}

/// How a bank thinks: 1 to 5 each. Kept for clients that ask for it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Disposition {
    pub skepticism: i64,
    pub literalism: i64,
    pub empathy: i64,
}

impl Default for Disposition {
    fn default() -> Self {
        Disposition {
            skepticism: 3,
            literalism: 3,
            empathy: 3,
        }
    }
}

/// A document. Its text is that of its memories.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct DocumentRecord {
    pub id: String,
    pub tags: Vec<String>,
    pub metadata: Map<String, Value>,
    pub context: Option<String>,
    /// As of the last write.
    pub text_length: usize,
    pub memory_unit_count: usize,
    pub content_hash: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

impl Kept for DocumentRecord {
    const KIND: &'static str = "document";

    fn key(&self) -> &str {
        &self.id
    }
}

/// Something that a client asked to be done; it is done when it is answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct OperationRecord {
    pub id: String,
    pub kind: String,
    /// What tells one request from another.
    pub fingerprint: String,
    pub items_count: usize,
    pub document_id: Option<String>,
    pub created_at: DateTime<Utc>,
}

impl Kept for OperationRecord {
    const KIND: &'static str = "operation";
    const MOST: Option<usize> = Some(MOST_OPERATIONS);

    fn key(&self) -> &str {
        &self.id
    }
}

/// A saved search with what it found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ModelRecord {
    pub id: String,
    pub name: String,
    pub source_query: String,
    pub tags: Vec<String>,
    pub max_tokens: usize,
    pub trigger: Map<String, Value>,
    pub content: String,
    /// What it said before, the newest first.
    pub history: Vec<Former>,
    pub created_at: DateTime<Utc>,
    pub refreshed_at: DateTime<Utc>,
}

/// What a mental model said until it changed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Former {
    pub previous_content: String,
    pub changed_at: DateTime<Utc>,
}

impl Kept for ModelRecord {
    const KIND: &'static str = "mental model";

    fn key(&self) -> &str {
        &self.id
    }
}
