//! POST …/memories/recall: a search, answered within a budget of text.

use std::time::Instant;

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::problem::Problem;
use super::extract::{Bank, Fields, Time};
use super::items::{self, FACT_TYPES, tokens};
use super::tags::Wanted;
use crate::app::App;
use crate::clock::parse_time;
use crate::query::{Filters, TagRule};
use crate::ranking::Hit;
use crate::read::{self, Answer, Request, Window};
use crate::scope::Scope;

/// Longest query that is read, in characters; what is behind is left out.
const LONGEST_QUERY: usize = 32_768;
/// Budgets of text, in tokens, when none is given.
const TEXT: usize = 4_096;
const CHUNKS: usize = 8_192;

/// How much work a search may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Budget {
    Low,
    #[default]
    Mid,
    High,
}

impl Budget {
    /// Depth of the retrievers; `None` is that of the settings, as our own search has it.
    fn pool(self, app: &App) -> Option<usize> {
        let usual = app.settings.candidate_pool.max(app.settings.bm25_limit);
        match self {
            Budget::Low => Some(usual.div_ceil(2)),
            Budget::Mid => None,
            Budget::High => Some(usual * 3),
        }
    }

    /// Most memories to answer.
    fn most(self) -> usize {
        match self {
            Budget::Low => 20,
            Budget::Mid => 50,
            Budget::High => 200,
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Recall {
    query: String,
    #[serde(default)]
    types: Vec<String>,
    #[serde(default)]
    budget: Budget,
    max_tokens: Option<usize>,
    #[serde(default)]
    trace: bool,
    query_timestamp: Option<String>,
    #[serde(default)]
    include: Include,
    #[serde(flatten)]
    wanted: Wanted,
    #[serde(default)]
    min_scores: MinScores,
    temporal_window: Option<TemporalWindow>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "RecallInclude")]
struct Include {
    entities: Option<Value>,
    chunks: Option<Limit>,
    source_facts: Option<Value>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
struct Limit {
    max_tokens: Option<usize>,
}

/// Least values of the parts of a score.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
struct MinScores {
    semantic: Option<f64>,
    keyword: Option<f64>,
    reranker: Option<f64>,
    r#final: Option<f64>,
}

impl MinScores {
    fn admit(self, hit: &Hit) -> bool {
        let reaches = |least: Option<f64>, value: f64| least.is_none_or(|least| value >= least);
        reaches(self.semantic, hit.parts.cosine.unwrap_or(0.0))
            && reaches(self.keyword, hit.parts.lexical)
            && reaches(self.reranker, hit.factors.similarity)
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct TemporalWindow {
    start: Option<Time>,
    end: Option<Time>,
}

/// What is looked for, by recall, reflect and mental models alike.
#[derive(Debug, Default)]
pub(super) struct Search {
    pub query: String,
    pub budget: Budget,
    pub tag_rule: Option<TagRule>,
    pub least: Option<f64>,
    pub window: Option<Window>,
}

impl Search {
    pub(super) async fn run(
        self,
        app: &App,
        scope: &Scope,
        now: DateTime<Utc>,
    ) -> Result<Answer, Problem> {
        if !self.query.chars().any(char::is_alphanumeric) {
            return Err(Problem::invalid_field("query", "must have a word"));
        }
        let request = Request {
            query: self.query.chars().take(LONGEST_QUERY).collect(),
            top_k: self.budget.most(),
            filters: Filters {
                tag_rule: self.tag_rule,
                ..Filters::default()
            },
            min_score: self.least,
            pool: self.budget.pool(app),
            window: self.window,
            ..Request::default()
        };
        Ok(read::search(app, scope, &request, now).await?)
    }
}

/// Whole hits, the best first, as many as fit into a budget of tokens.
pub(super) fn fitting(mut hits: Vec<Hit>, max_tokens: usize) -> Vec<Hit> {
    let mut room = max_tokens;
    hits.retain(|hit| {
        let left = room.checked_sub(tokens(&hit.memory.content));
        room = left.unwrap_or(room);
        left.is_some()
    });
    hits
}

/// Refuses kinds of facts that there are not.
pub(super) fn check_types(types: &[String]) -> Result<(), Problem> {
    match types
        .iter()
        .find(|kind| !FACT_TYPES.contains(&kind.as_str()))
    {
        Some(unknown) => {
            let message = format!("`{unknown}` is none of {}", FACT_TYPES.join(", "));
            Err(Problem::invalid_field("types", message))
        }
        None => Ok(()),
    }
}

/// The kind to tell of a memory: Keepsake does not sort facts, so each is of every kind that is asked
/// for.
pub(super) fn as_type<'a>(types: &'a [String], hit: &Hit) -> Option<&'a str> {
    let own = items::fact_type(&hit.memory);
    let first = types.first().filter(|_| !types.contains(&own));
    first.map(String::as_str)
}

pub(super) async fn recall(
    State(app): State<App>,
    bank: Bank,
    Fields(recall): Fields<Recall>,
) -> Result<Json<Value>, Problem> {
    let (started, now) = (Instant::now(), app.clock.now());
    check_types(&recall.types)?;
    let search = Search {
        query: recall.query,
        budget: recall.budget,
        tag_rule: recall.wanted.rule()?,
        least: finite(recall.min_scores.r#final)?,
        window: recall.temporal_window.map(|window| Window {
            start: window.start.map(|time| time.0.date_naive()),
            end: window.end.map(|time| time.0.date_naive()),
        }),
    };
    let asked_at = as_of(recall.query_timestamp.as_deref(), now)?;
    let mut answer = search.run(&app, &bank.scope, asked_at).await?;
    answer.hits.retain(|hit| recall.min_scores.admit(hit));
    let hits = fitting(
        std::mem::take(&mut answer.hits),
        recall.max_tokens.unwrap_or(TEXT),
    );
    let mut results: Vec<Value> = hits
        .iter()
        .map(|hit| items::hit(hit, as_type(&recall.types, hit)))
        .collect();
    let mut body = json!({});
    if let Some(limit) = &recall.include.chunks {
        body["chunks"] = chunks(&mut results, limit.max_tokens.unwrap_or(CHUNKS));
    }
    if recall.include.entities.is_some() {
        body["entities"] = entities(&hits);
    }
    if recall.include.source_facts.is_some() {
        body["source_facts"] = source_facts(&app, &bank.scope, &hits).await?;
    }
    if recall.trace {
        body["trace"] = json!({
            "mode": answer.mode.as_str(),
            "skipped": answer.skipped.map(read::Skipped::as_str),
            "empty": answer.empty.map(read::Empty::as_str),
            "below_floor": answer.below_floor,
            "degraded": answer.degraded,
            "took_ms": started.elapsed().as_secs_f64() * 1e3,
        });
    }
    body["results"] = Value::from(results);
    Ok(Json(body))
}

fn finite(least: Option<f64>) -> Result<Option<f64>, Problem> {
    if least.is_some_and(|least| !least.is_finite()) {
        return Err(Problem::invalid_field(
            "min_scores.final",
            "must be a finite number",
        ));
    }
    Ok(least)
}

/// The time that a query is asked at: not after now, so that no lock is looked past.
fn as_of(given: Option<&str>, now: DateTime<Utc>) -> Result<DateTime<Utc>, Problem> {
    let Some(given) = given.filter(|given| !given.is_empty()) else {
        return Ok(now);
    };
    let unreadable = || Problem::malformed(format!("`query_timestamp` is no time: `{given}`"));
    let time = parse_time(given).ok_or_else(unreadable)?;
    Ok(time.min(now))
}

/// Each result is a chunk of its own.
fn chunks(results: &mut [Value], max_tokens: usize) -> Value {
    let mut chunks = Map::new();
    let mut room = max_tokens;
    for result in results {
        let text = result["text"].as_str().unwrap_or_default().to_owned();
        let Some(left) = room.checked_sub(tokens(&text)) else {
            break;
        };
        room = left;
        let id = result["id"].as_str().unwrap_or_default().to_owned();
        result["chunk_id"] = json!(id);
        let chunk = json!({"id": id, "text": text, "chunk_index": 0, "truncated": false});
        chunks.insert(id, chunk);
    }
    Value::Object(chunks)
}

/// What the results name. Nothing more is said of it than the results say.
fn entities(hits: &[Hit]) -> Value {
    let mut entities = Map::new();
    for name in hits.iter().flat_map(|hit| &hit.memory.analysis.entities) {
        let entity = json!({"entity_id": name, "canonical_name": name, "observations": []});
        entities.insert(name.clone(), entity);
    }
    Value::Object(entities)
}

/// The memories that results were made of.
async fn source_facts(app: &App, scope: &Scope, hits: &[Hit]) -> Result<Value, Problem> {
    let mut facts = Map::new();
    for id in hits.iter().flat_map(|hit| &hit.memory.sources) {
        if let Some(memory) = app.store.get(scope, id).await? {
            facts.insert(id.to_string(), items::result(&memory, None));
        }
    }
    Ok(Value::Object(facts))
}
