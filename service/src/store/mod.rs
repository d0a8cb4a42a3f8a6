//! What Keepsake asks of a store: eight small traits in domain words, whose sum is [`Store`].
//!
//! Each sentence in the documentation of a method holds for every store and has a test in the folder
//! `conformance`. A method is atomic: what it changes is changed together or not at all, counters and
//! statistics included. A store never reads the clock and knows nothing of HTTP. Absent is an
//! `Option`; a memory that the scope does not see is absent.

#[cfg(test)]
pub mod conformance;
pub mod counter;
pub mod embedded;
pub mod error;
pub mod finding;
mod gathered;
mod lifecycle;
pub mod operation;
pub mod record;
pub mod redis;
pub mod upkeep;

use async_trait::async_trait;
use chrono::{DateTime, NaiveDate, Utc};

use crate::memory::{Edit, Memory, MemoryId, NewMemory, State};
use crate::query::{Plan, Retrieved};
use crate::scope::Scope;
use crate::signals::Topic;
use crate::vector::{ModelId, NewVector};
pub use counter::Counter;
pub use error::StoreError;
use finding::Finding;
pub use operation::{Effect, KeptAnswer, Operated, Operation, Step, Target};
pub use record::Record;
pub use upkeep::{Change, Revision, UpkeepStore};

/// What became of a memory that was to be added.
#[derive(Debug, Clone, PartialEq)]
pub enum Added {
    Created(Memory),
    /// The same content was there; `revived` is its former state if it was
    /// expired, superseded or trashed.
    Reinforced {
        memory: Memory,
        revived: Option<State>,
    },
    /// The same content was there and had been corrected; nothing was written.
    Corrected(MemoryId),
    /// The memory to supersede is not there; nothing was written.
    NothingToSupersede(MemoryId),
    /// The new id is taken; nothing was written.
    IdTaken,
}

/// What became of a memory that was to be edited.
#[expect(
    clippy::large_enum_variant,
    reason = "it lives for one call, and nearly always holds the memory"
)]
#[derive(Debug, Clone, PartialEq)]
pub enum Edited {
    Done(Memory),
    NotFound,
    /// Another memory of the scope has the new content; nothing was written.
    SameAs(MemoryId),
}

/// What an id, a key or the beginning of an id stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    One(MemoryId),
    None,
    /// Several ids begin like this; at most five of them, in order.
    Ambiguous(Vec<MemoryId>),
}

/// What became of everything that was to be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted {
    /// All of them are gone.
    Done,
    /// The filters name so many; nothing was deleted.
    Differs(u64),
}

/// Which memories a list holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListFilters {
    pub tag: Option<String>,
    pub category: Option<String>,
    pub source: Option<String>,
    pub entry_type: Option<String>,
    pub session: Option<String>,
    pub document: Option<String>,
    /// `None`: every state but trashed.
    pub state: Option<State>,
}

/// Where a list goes on: behind this creation time and id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    pub created_at: DateTime<Utc>,
    pub id: MemoryId,
}

/// A memory to put back as it was exported.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    pub memory: Memory,
    /// Absent if no model had the time; it can follow.
    pub vector: Option<NewVector>,
    /// Attention that each of its keywords gains if it is new; with `None` no counter changes, because
    /// they are restored themselves.
    pub attention: Option<f64>,
}

/// What became of an imported memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Imported {
    Created,
    Updated,
    /// What is there is as new or newer.
    Unchanged,
    /// The id, or the same content under another id, belongs to someone else or to another memory.
    Refused(&'static str),
}

/// The memories themselves.
#[async_trait]
pub trait MemoryStore: Send + Sync {
    /// Adds memories in one transaction, each with its own outcome, in order. The same content again
    /// (namespace, agent, place) is not a second memory: it is reinforced, revived if it was expired,
    /// superseded or trashed, and stays hidden if it was consumed. A vector comes with its memory.
    async fn add(
        &self,
        scope: &Scope,
        memories: Vec<NewMemory>,
        now: DateTime<Utc>,
    ) -> Result<Vec<Added>, StoreError>;

    /// Puts memories back as they were exported, in one transaction. An upsert by id; it never
    /// reinforces, and an older `updated_at` never overwrites a newer one. Each comes with the attention
    /// that its keywords gain if it is new; with `None` no counter changes, because they are restored
    /// themselves.
    async fn import(&self, memories: Vec<Import>) -> Result<Vec<Imported>, StoreError>;

    /// Does operations in order, in one transaction in which they are also remembered: one whose key
    /// the scope's namespace and agent used in the last 24 hours (`operation::REMEMBERED`) is told and
    /// not done again, within one call too. What found no match, or several, stays so; what was refused
    /// is not remembered. No memory of another agent is touched, whatever the scope sees.
    async fn operate(
        &self,
        scope: &Scope,
        operations: Vec<Operation>,
        now: DateTime<Utc>,
    ) -> Result<Vec<Operated>, StoreError>;

    async fn get(&self, scope: &Scope, id: &MemoryId) -> Result<Option<Memory>, StoreError>;

    /// Finds the memory that an id, or a prefix of at least six characters, stands for.
    async fn resolve(&self, scope: &Scope, reference: &str) -> Result<Resolved, StoreError>;

    /// Changes what the edit names; a new content drops the vectors of the old one.
    async fn edit(
        &self,
        scope: &Scope,
        id: &MemoryId,
        edit: Edit,
        now: DateTime<Utc>,
    ) -> Result<Edited, StoreError>;

    /// Moves a memory to the trash; one that is there stays there.
    async fn trash(
        &self,
        scope: &Scope,
        id: &MemoryId,
        now: DateTime<Utc>,
    ) -> Result<Option<Memory>, StoreError>;

    /// Takes a memory out of the trash or back from its consolidation; one that is neither there nor
    /// consumed, but superseded, is revived.
    async fn restore(
        &self,
        scope: &Scope,
        id: &MemoryId,
        now: DateTime<Utc>,
    ) -> Result<Option<Memory>, StoreError>;

    /// Deletes a memory for good; whether there was one.
    async fn purge(&self, scope: &Scope, id: &MemoryId) -> Result<bool, StoreError>;

    /// Deletes everything that a list with these filters holds, to the trash or (`purge`) for good, if
    /// it is exactly `expected` many; else nothing.
    async fn delete_all(
        &self,
        scope: &Scope,
        filters: &ListFilters,
        expected: u64,
        purge: bool,
        now: DateTime<Utc>,
    ) -> Result<Deleted, StoreError>;

    /// Adds to the feedback of a memory; its new sum.
    async fn give_feedback(
        &self,
        scope: &Scope,
        id: &MemoryId,
        change: f64,
        now: DateTime<Utc>,
    ) -> Result<Option<f64>, StoreError>;

    /// Marks a memory as wrong (`true`), so that it is never shown again, or takes that back.
    async fn correct(
        &self,
        scope: &Scope,
        id: &MemoryId,
        wrong: bool,
        now: DateTime<Utc>,
    ) -> Result<Option<Memory>, StoreError>;

    /// Newest created first, then by id; at most `limit`.
    async fn list(
        &self,
        scope: &Scope,
        filters: &ListFilters,
        after: Option<&Cursor>,
        limit: usize,
        now: DateTime<Utc>,
    ) -> Result<Vec<Memory>, StoreError>;
}

/// Finding candidates for a query.
#[async_trait]
pub trait Retriever: Send + Sync {
    /// The plan's `pool` best memories by `ranking::bm25` and its `pool` best by cosine, above 0, of their
    /// vectors of the plan's model, among those that scope and filters admit; then their neighbours in
    /// conversation; each with its cosine if it has such a vector. With them the statistics to score
    /// them and the state of the workflow lock, all of one moment. Ties: newer, then id. While the lock
    /// holds nothing is searched.
    async fn retrieve(
        &self,
        scope: &Scope,
        plan: &Plan,
        now: DateTime<Utc>,
    ) -> Result<Retrieved, StoreError>;
}

/// A memory in the history of an entity.
#[derive(Debug, Clone, PartialEq)]
pub struct TimelineEntry {
    pub id: MemoryId,
    pub content: String,
    pub created_at: DateTime<Utc>,
    pub state: State,
}

/// Synonyms of one term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synonyms {
    pub term: String,
    pub terms: Vec<String>,
    /// Made by a person, so that discovery never overwrites them.
    pub manual: bool,
}

/// Counters and word knowledge. Counters belong to a namespace and an agent; a primary scope reads
/// the union of its namespace, any other scope its own alone.
#[async_trait]
pub trait SignalStore: Send + Sync {
    /// A number that changes whenever topics, attention or synonyms change.
    async fn signals_version(&self) -> Result<i64, StoreError>;

    /// Every topic of the scope, summed over the days from `since` on, in no particular order.
    async fn topics(
        &self,
        scope: &Scope,
        since: Option<NaiveDate>,
    ) -> Result<Vec<Topic>, StoreError>;

    /// Entities that occur in the same memories as `entity`, without case: at most `limit`, with a
    /// count of at least `least`, the most frequent first, then by name.
    async fn related_entities(
        &self,
        scope: &Scope,
        entity: &str,
        limit: usize,
        least: u64,
    ) -> Result<Vec<(String, u64)>, StoreError>;

    /// Memories that name the entity, without case, but for trashed and corrected ones: newest first.
    async fn entity_timeline(
        &self,
        scope: &Scope,
        entity: &str,
        limit: usize,
        now: DateTime<Utc>,
    ) -> Result<Vec<TimelineEntry>, StoreError>;

    async fn synonyms(&self, namespace: &str) -> Result<Vec<Synonyms>, StoreError>;

    /// Sets the synonyms of a folded term; an empty list removes them. Found ones never replace
    /// those made by hand.
    async fn set_synonyms(&self, namespace: &str, synonyms: Synonyms) -> Result<(), StoreError>;
}

/// Numbers of a scope.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats {
    /// Visible memories by state, in the order of [`State::ALL`].
    pub by_state: [u64; 6],
    /// Length of their contents in UTF-8, in bytes.
    pub content_bytes: u64,
}

/// The store as a whole.
#[async_trait]
pub trait ControlStore: Send + Sync {
    /// Until when the workflow lock holds: `None` not locked, `Some(None)` without end.
    async fn lock(&self, now: DateTime<Utc>) -> Result<Option<Option<DateTime<Utc>>>, StoreError>;

    /// Locks the whole store until the given time.
    async fn set_lock(&self, until: DateTime<Utc>) -> Result<(), StoreError>;

    async fn clear_lock(&self) -> Result<(), StoreError>;

    /// Fails if the store cannot answer.
    async fn check(&self) -> Result<(), StoreError>;

    /// What is going on or odd in the store, in sentences for people; nothing in the normal case.
    async fn notes(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    /// What a close look at the store finds: its data, how writes are made durable, its index. May take
    /// seconds.
    async fn examine(&self) -> Result<Vec<Finding>, StoreError> {
        self.check().await?;
        Ok(Vec::new())
    }

    async fn stats(&self, scope: &Scope, now: DateTime<Utc>) -> Result<Stats, StoreError>;

    /// The answer kept under a key, unless it is older than `operation::REMEMBERED`.
    async fn answer(&self, key: &str, now: DateTime<Utc>)
    -> Result<Option<KeptAnswer>, StoreError>;

    /// Keeps an answer under a key, over one that is there.
    async fn keep_answer(
        &self,
        key: &str,
        answer: KeptAnswer,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError>;
}

/// Going through everything.
#[async_trait]
pub trait ScanStore: Send + Sync {
    /// Every memory of every namespace and state, in the order of ids: at most `limit` behind `after`.
    async fn scan(&self, after: Option<&MemoryId>, limit: usize)
    -> Result<Vec<Memory>, StoreError>;

    /// Every counter and synonym of every namespace, in an order of the store's own that stays the
    /// same: at most `limit` behind `after`.
    async fn scan_counters(
        &self,
        after: Option<&Counter>,
        limit: usize,
    ) -> Result<Vec<Counter>, StoreError>;

    /// Puts counters back as they were scanned, in one transaction. One that is there keeps the larger
    /// number, so that restoring twice changes nothing; synonyms are set (see
    /// `SignalStore::set_synonyms`).
    async fn restore_counters(&self, counters: Vec<Counter>) -> Result<(), StoreError>;
}

/// A vector that follows its memory: made of the content with this SHA-256. Empty values say that the
/// model makes nothing of the content.
#[derive(Debug, Clone, PartialEq)]
pub struct LateVector {
    pub id: MemoryId,
    pub content_hash: [u8; 32],
    pub values: Vec<f32>,
}

/// Vectors by the model that made them: those of one model are never compared with another's.
#[async_trait]
pub trait VectorStore: Send + Sync {
    /// Adds vectors of a model to memories that are there, in place of an older one of the model; how
    /// many it added. Those whose content changed meanwhile or that are gone are left alone. A vector that
    /// is zero, not finite, or of another dimension than the model's is never stored. A memory that
    /// gets a vector changes for whoever follows the change number.
    async fn put_vectors(
        &self,
        model: &ModelId,
        vectors: Vec<LateVector>,
    ) -> Result<usize, StoreError>;

    /// Memories with nothing of this model, of every namespace and state but the trash, with their
    /// contents, in the order of ids: at most `limit` behind `after`.
    async fn without_vector(
        &self,
        model: &ModelId,
        after: Option<&MemoryId>,
        limit: usize,
    ) -> Result<Vec<(MemoryId, String)>, StoreError>;

    /// How many memories that are not in the trash have something of this model, and how many
    /// have not.
    async fn vector_counts(&self, model: &ModelId) -> Result<(u64, u64), StoreError>;
}

/// Small texts beside the memories, by kind and namespace.
#[async_trait]
pub trait RecordStore: Send + Sync {
    /// Keeps a record in place of the one with its key, and makes it the newest of its kind and
    /// namespace; with `most` the oldest beyond so many of them are dropped.
    async fn put_record(
        &self,
        kind: &str,
        namespace: &str,
        record: Record,
        most: Option<usize>,
    ) -> Result<(), StoreError>;

    /// The value under a key.
    async fn record(
        &self,
        kind: &str,
        namespace: &str,
        key: &str,
    ) -> Result<Option<String>, StoreError>;

    /// The newest put first: at most `limit` behind the first `skip`.
    async fn records(
        &self,
        kind: &str,
        namespace: &str,
        skip: usize,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError>;

    /// Each kind and namespace that has records, in the order of the alphabet.
    async fn record_places(&self) -> Result<Vec<(String, String)>, StoreError>;

    /// Deletes a record; whether there was one.
    async fn delete_record(
        &self,
        kind: &str,
        namespace: &str,
        key: &str,
    ) -> Result<bool, StoreError>;
}

/// Everything that Keepsake asks of a store.
pub trait Store:
    MemoryStore
    + Retriever
    + SignalStore
    + ControlStore
    + ScanStore
    + VectorStore
    + RecordStore
    + UpkeepStore
{
}

impl<
    S: MemoryStore
        + Retriever
        + SignalStore
        + ControlStore
        + ScanStore
        + VectorStore
        + RecordStore
        + UpkeepStore,
> Store for S
{
}
