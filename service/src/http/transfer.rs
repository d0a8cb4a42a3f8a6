//! GET /v1/export and POST /v1/import: everything, one memory a line, without loss.

use axum::extract::{Request, State};
use axum::response::Response;
use axum::{Json, extract::FromRequestParts};
use chrono::{DateTime, Utc};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::extract::{ItemDefaults, NoFields, Params, content_type};
use super::ndjson::{self, Lines};
use super::problem::Problem;
use super::shapes::{MemoryShape, rfc3339};
use crate::app::App;
use crate::memory::{Details, Fate, Memory, MemoryId, Place};
use crate::scope::Scope;
use crate::store::Imported;
use crate::write;

/// Memories of one chunk of an export.
const CHUNK: usize = 256;
/// Longest id that is accepted, in characters.
const MAX_ID_CHARS: usize = 128;

/// A memory with what became of it: the memory's shape and the times that it lacks.
#[derive(Debug, Serialize)]
struct ExportLine {
    #[serde(flatten)]
    memory: MemoryShape,
    corrected_at: Option<String>,
    trashed_at: Option<String>,
}

/// Everything that the scope sees, in every state: of its namespace if it names one, else a primary
/// scope exports all namespaces.
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
        now: app.clock.now(),
        app,
        scope,
        after: None,
        ended: false,
    };
    Ok(ndjson::answer(stream::unfold(start, Progress::step)))
}

/// How far an export is.
struct Progress {
    app: App,
    scope: Scope,
    everything: bool,
    now: DateTime<Utc>,
    after: Option<MemoryId>,
    ended: bool,
}

impl Progress {
    /// The next lines; one that breaks off says so in its last line, which is no memory.
    async fn step(mut self) -> Option<(Vec<Value>, Progress)> {
        if self.ended {
            return None;
        }
        let memories = match self.app.store.scan(self.after.as_ref(), CHUNK).await {
            Ok(memories) => memories,
            Err(error) => {
                self.ended = true;
                return Some((vec![json!({"problem": Problem::from(error)})], self));
            }
        };
        self.after = Some(memories.last()?.id.clone());
        let visible = memories.iter().filter(|memory| self.exports(memory));
        let lines = visible.map(|memory| line(memory, self.now)).collect();
        Some((lines, self))
    }

    fn exports(&self, memory: &Memory) -> bool {
        let (agent, shared) = (memory.agent.as_deref(), memory.details.shared);
        self.everything || self.scope.sees(&memory.namespace, agent, shared)
    }
}

fn line(memory: &Memory, now: DateTime<Utc>) -> Value {
    let line = ExportLine {
        memory: MemoryShape::new(memory, now),
        corrected_at: memory.fate.corrected_at.map(rfc3339),
        trashed_at: memory.fate.trashed_at.map(rfc3339),
    };
    serde_json::to_value(line).unwrap_or_default()
}

/// A line of an import: an exported memory, of which only the id and the content must be there. What
/// the analysis finds again by itself is read over.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ImportLine {
    id: String,
    content: String,
    tags: Option<Vec<String>>,
    shared: Option<bool>,
    category: Option<String>,
    source: Option<String>,
    entry_type: Option<String>,
    session: Option<String>,
    turn: Option<i64>,
    document: Option<String>,
    created_at: Option<DateTime<Utc>>,
    updated_at: Option<DateTime<Utc>>,
    reinforced_at: Option<DateTime<Utc>>,
    invalid_at: Option<DateTime<Utc>>,
    corrected_at: Option<DateTime<Utc>>,
    trashed_at: Option<DateTime<Utc>>,
    pinned: Option<bool>,
    mentions: Option<u32>,
    feedback: Option<f64>,
    level: Option<u32>,
    links: Option<Links>,
    metadata: Option<Map<String, Value>>,
    #[serde(rename = "key")]
    _key: Option<Value>,
    #[serde(rename = "state")]
    _state: Option<Value>,
    #[serde(rename = "entities")]
    _entities: Option<Value>,
    #[serde(rename = "keywords")]
    _keywords: Option<Value>,
    #[serde(rename = "emotion")]
    _emotion: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Links {
    superseded_by: Option<String>,
    consumed_by: Option<String>,
    sources: Option<Vec<String>>,
}

pub(super) async fn import(
    State(app): State<App>,
    request: Request,
) -> Result<Json<Value>, Problem> {
    if content_type(&request).as_deref() != Some(ndjson::CONTENT_TYPE) {
        return Err(Problem::unsupported_media_type(ndjson::CONTENT_TYPE));
    }
    let defaults = ItemDefaults::from_query(request.uri().query().unwrap_or_default())?;
    let mut lines = Lines::new(request.into_body());
    let (mut created, mut updated, mut unchanged, mut refused) = (0, 0, 0, Vec::new());
    while let Some(read) = lines.next().await {
        let mut numbers = Vec::with_capacity(read.len());
        let mut memories = Vec::with_capacity(read.len());
        for line in read {
            match line.value.and_then(|value| memory(&app, &defaults, value)) {
                Ok(memory) => {
                    numbers.push(line.number);
                    memories.push(memory);
                }
                Err(problem) => refused.push(json!({"line": line.number, "problem": problem})),
            }
        }
        for (number, outcome) in numbers
            .into_iter()
            .zip(write::import::import(&app, memories).await?)
        {
            match outcome {
                Imported::Created => created += 1,
                Imported::Updated => updated += 1,
                Imported::Unchanged => unchanged += 1,
                Imported::Refused(reason) => refused
                    .push(json!({"line": number, "problem": Problem::invalid_field("id", reason)})),
            }
        }
    }
    Ok(Json(
        json!({"created": created, "updated": updated, "unchanged": unchanged, "refused": refused}),
    ))
}

/// The memory that a line stands for.
fn memory(app: &App, defaults: &ItemDefaults, value: Value) -> Result<Memory, Problem> {
    // An exported `null` says that the memory has no agent, whatever agent the service works for.
    let nobody = value.get("agent_id").is_some_and(Value::is_null);
    let (mut scope, line): (Scope, ImportLine) = defaults.read(value, &app.settings)?;
    if nobody {
        scope.agent = None;
    }
    let id = MemoryId::new(line.id);
    if !(1..=MAX_ID_CHARS).contains(&id.as_str().chars().count())
        || id
            .as_str()
            .chars()
            .any(|c| c.is_control() || c.is_whitespace())
    {
        return Err(Problem::invalid_field(
            "id",
            format!("must be 1 to {MAX_ID_CHARS} characters without white space"),
        ));
    }
    if line.feedback.is_some_and(|feedback| !feedback.is_finite()) {
        return Err(Problem::invalid_field(
            "feedback",
            "must be a finite number",
        ));
    }
    let place = Place {
        session: line.session,
        turn: line.turn,
        document: line.document,
    };
    let details = Details {
        tags: line.tags.unwrap_or_default(),
        shared: line.shared.unwrap_or_default(),
        category: line.category,
        source: line.source,
        entry_type: line.entry_type,
        invalid_at: line.invalid_at,
        pinned: line.pinned.unwrap_or_default(),
        metadata: line.metadata.unwrap_or_default(),
    };
    let (content, details) = write::validate::draft(line.content, details, &place, &app.settings)?;
    let links = line.links.unwrap_or_default();
    let now = app.clock.now();
    Ok(Memory {
        id,
        analysis: app.analyser.content(&content),
        content,
        namespace: scope.namespace,
        agent: scope.agent,
        place,
        details,
        created_at: line.created_at.unwrap_or(now),
        updated_at: line.updated_at.or(line.created_at).unwrap_or(now),
        reinforced_at: line.reinforced_at,
        fate: Fate {
            superseded_by: links.superseded_by.map(MemoryId::new),
            consumed_by: links.consumed_by.map(MemoryId::new),
            corrected_at: line.corrected_at,
            trashed_at: line.trashed_at,
        },
        mentions: line.mentions.unwrap_or(1),
        feedback: line.feedback.unwrap_or_default(),
        level: line.level.unwrap_or_default(),
        sources: links
            .sources
            .unwrap_or_default()
            .into_iter()
            .map(MemoryId::new)
            .collect(),
    })
}
