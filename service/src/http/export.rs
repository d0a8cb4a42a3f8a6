//! GET /v1/export: everything, one JSON object a line, without loss.
//!
//! First the memories, in the order of their ids; then what the store keeps besides, each line with its
//! `kind`: topics by day, entities that occur together, synonyms, and records, which are what ways in
//! keep beside memories. A memory whose tellings those lines hold is marked `counted`, so that an
//! import does not count it once more.

use axum::extract::{FromRequestParts, Request, State};
use axum::response::Response;
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::extract::{NoFields, Params};
use super::ndjson;
use super::problem::Problem;
use super::shapes::{MemoryShape, rfc3339};
use crate::app::App;
use crate::maintenance;
use crate::memory::{Memory, MemoryId};
use crate::scope::Scope;
use crate::store::{Counter, Synonyms};

/// Lines of one chunk.
const CHUNK: usize = 256;

/// A memory with what became of it: the memory's shape and the times that it lacks.
#[derive(Debug, Serialize)]
struct MemoryLine {
    #[serde(flatten)]
    memory: MemoryShape,
    corrected_at: Option<String>,
    trashed_at: Option<String>,
    counted: bool,
}

/// A line that is no memory.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum CounterLine {
    Topic {
        namespace: String,
        agent_id: Option<String>,
        day: chrono::NaiveDate,
        topic: String,
        mentions: f64,
        attention: f64,
    },
    EntityPair {
        namespace: String,
        agent_id: Option<String>,
        entity: String,
        other: String,
        name: String,
        memories: u64,
    },
    Synonyms {
        namespace: String,
        term: String,
        terms: Vec<String>,
        manual: bool,
    },
}

/// A record, of those of a kind and namespace the oldest first.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordLine {
    pub kind: String,
    pub of: String,
    pub namespace: String,
    pub key: String,
    pub value: String,
}

/// The `kind` of a line that holds a record.
pub(super) const RECORD: &str = "record";

impl From<Counter> for CounterLine {
    fn from(counter: Counter) -> CounterLine {
        match counter {
            Counter::Topic {
                namespace,
                agent,
                day,
                topic,
                mentions,
                attention,
            } => CounterLine::Topic {
                namespace,
                agent_id: agent,
                day,
                topic,
                mentions,
                attention,
            },
            Counter::Pair {
                namespace,
                agent,
                entity,
                other,
                name,
                memories,
            } => CounterLine::EntityPair {
                namespace,
                agent_id: agent,
                entity,
                other,
                name,
                memories,
            },
            Counter::Synonyms {
                namespace,
                synonyms,
            } => CounterLine::Synonyms {
                namespace,
                term: synonyms.term,
                terms: synonyms.terms,
                manual: synonyms.manual,
            },
        }
    }
}

impl From<CounterLine> for Counter {
    fn from(line: CounterLine) -> Counter {
        match line {
            CounterLine::Topic {
                namespace,
                agent_id,
                day,
                topic,
                mentions,
                attention,
            } => Counter::Topic {
                namespace,
                agent: agent_id,
                day,
                topic,
                mentions,
                attention,
            },
            CounterLine::EntityPair {
                namespace,
                agent_id,
                entity,
                other,
                name,
                memories,
            } => Counter::Pair {
                namespace,
                agent: agent_id,
                entity,
                other,
                name,
                memories,
            },
            CounterLine::Synonyms {
                namespace,
                term,
                terms,
                manual,
            } => Counter::Synonyms {
                namespace,
                synonyms: Synonyms {
                    term,
                    terms,
                    manual,
                },
            },
        }
    }
}

/// Everything that the scope sees, in every state, and its counters: of its namespace if it names
/// one, else a primary scope exports all namespaces.
pub(super) async fn export(State(app): State<App>, request: Request) -> Result<Response, Problem> {
    let (mut parts, _) = request.into_parts();
    let query = parts.uri.query().unwrap_or_default();
    let named = form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == "namespace");
    let scope = Params::<NoFields>::from_request_parts(&mut parts, &app)
        .await?
        .scope;
    // Fails before the first line if the store does.
    app.store.check().await?;
    let start = Progress {
        everything: scope.primary && !named,
        app,
        scope,
        at: At::Memories(None),
    };
    Ok(ndjson::answer(stream::unfold(start, Progress::step)))
}

/// How far an export is.
struct Progress {
    app: App,
    scope: Scope,
    everything: bool,
    at: At,
}

enum At {
    /// Behind this memory.
    Memories(Option<MemoryId>),
    /// Behind this counter.
    Counters(Option<Counter>),
    /// At these records of a kind and namespace, and then at those of these other places.
    Records {
        of: (String, String),
        keys: Vec<String>,
        places: Vec<(String, String)>,
    },
    End,
}

impl Progress {
    /// The next lines; an export that breaks off says so in its last line, which is no memory.
    async fn step(mut self) -> Option<(Vec<Value>, Progress)> {
        let lines = match &self.at {
            At::Memories(after) => self.memories(after.clone()).await,
            At::Counters(after) => self.counters(after.clone()).await,
            At::Records { .. } => self.records().await,
            At::End => return None,
        };
        let lines = lines.unwrap_or_else(|problem| {
            self.at = At::End;
            vec![json!({"problem": problem})]
        });
        Some((lines, self))
    }

    async fn memories(&mut self, after: Option<MemoryId>) -> Result<Vec<Value>, Problem> {
        let memories = self.app.store.scan(after.as_ref(), CHUNK).await?;
        self.at = match memories.last() {
            Some(last) => At::Memories(Some(last.id.clone())),
            None => At::Counters(None),
        };
        let visible = memories.iter().filter(|memory| self.exports(memory));
        Ok(visible.map(|memory| self.line(memory)).collect())
    }

    async fn counters(&mut self, after: Option<Counter>) -> Result<Vec<Value>, Problem> {
        let counters = self.app.store.scan_counters(after.as_ref(), CHUNK).await?;
        self.at = match counters.last() {
            Some(last) => At::Counters(Some(last.clone())),
            None => At::Records {
                of: Default::default(),
                keys: Vec::new(),
                places: self.app.store.record_places().await?,
            },
        };
        let visible = counters
            .into_iter()
            .filter(|counter| self.counts(counter.namespace(), counter.agent()));
        Ok(visible
            .map(|counter| json!(CounterLine::from(counter)))
            .collect())
    }

    async fn records(&mut self) -> Result<Vec<Value>, Problem> {
        let At::Records {
            of: (of, namespace),
            keys,
            places,
        } = &mut self.at
        else {
            return Ok(Vec::new());
        };
        if keys.is_empty() {
            let Some(next) = places.pop() else {
                self.at = At::End;
                return Ok(Vec::new());
            };
            (*of, *namespace) = next;
            // Records are of a whole namespace, so an agent alone does not get them.
            let own = self.scope.primary && *namespace == self.scope.namespace;
            if (self.everything || own) && !maintenance::stay_here(of) {
                *keys = newest_first(&self.app, of, namespace).await?;
            }
            return Ok(Vec::new());
        }
        let mut lines = Vec::new();
        for key in keys.drain(keys.len().saturating_sub(CHUNK)..).rev() {
            // One that was deleted meanwhile is none.
            if let Some(value) = self.app.store.record(of, namespace, &key).await? {
                lines.push(json!(RecordLine {
                    kind: RECORD.to_owned(),
                    of: of.clone(),
                    namespace: namespace.clone(),
                    key,
                    value,
                }));
            }
        }
        Ok(lines)
    }

    fn exports(&self, memory: &Memory) -> bool {
        let (agent, shared) = (memory.agent.as_deref(), memory.details.shared);
        self.everything || self.scope.sees(&memory.namespace, agent, shared)
    }

    /// Whether the export holds the counters of an agent, or (`None`) of a whole namespace.
    fn counts(&self, namespace: &str, agent: Option<Option<&str>>) -> bool {
        let own =
            agent.is_none_or(|agent| self.scope.primary || agent == self.scope.agent.as_deref());
        self.everything || (namespace == self.scope.namespace && own)
    }

    fn line(&self, memory: &Memory) -> Value {
        json!(MemoryLine {
            memory: MemoryShape::new(memory, self.app.clock.now()),
            corrected_at: memory.fate.corrected_at.map(rfc3339),
            trashed_at: memory.fate.trashed_at.map(rfc3339),
            counted: self.counts(&memory.namespace, Some(memory.agent.as_deref())),
        })
    }
}

/// The keys of the records of a kind and namespace.
async fn newest_first(app: &App, of: &str, namespace: &str) -> Result<Vec<String>, Problem> {
    let mut keys = Vec::new();
    loop {
        let page = app.store.records(of, namespace, keys.len(), CHUNK).await?;
        if page.is_empty() {
            return Ok(keys);
        }
        keys.extend(page.into_iter().map(|record| record.key));
    }
}
