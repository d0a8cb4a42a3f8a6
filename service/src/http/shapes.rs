//! The shapes that several resources share: a memory, a hit, the fields of a search.

use chrono::{DateTime, SecondsFormat, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::problem::Problem;
use crate::app::App;
use crate::error::FieldError;
use crate::memory::{Memory, MemoryId};
use crate::query::Filters;
use crate::ranking::Hit;
use crate::ranking::explanation::Factors;
use crate::read::{self, Answer, Explanation, Request};

/// Most hits of one answer.
pub(super) const MAX_TOP_K: usize = 1_000;
/// Longest query, in characters.
pub(super) const MAX_QUERY_CHARS: usize = 32_768;

/// RFC 3339 in UTC.
pub(super) fn rfc3339(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// A memory as clients see it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Memory")]
pub(super) struct MemoryShape {
    id: String,
    key: String,
    content: String,
    tags: Vec<String>,
    category: Option<String>,
    source: Option<String>,
    entry_type: Option<String>,
    agent_id: Option<String>,
    namespace: String,
    shared: bool,
    session: Option<String>,
    turn: Option<i64>,
    document: Option<String>,
    created_at: String,
    updated_at: String,
    reinforced_at: Option<String>,
    invalid_at: Option<String>,
    state: &'static str,
    pinned: bool,
    mentions: u32,
    feedback: f64,
    level: u32,
    entities: Vec<String>,
    keywords: Vec<String>,
    emotion: EmotionShape,
    links: Map<String, Value>,
    metadata: Map<String, Value>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Emotion")]
struct EmotionShape {
    intensity: f64,
    polarity: f64,
    label: &'static str,
}

impl MemoryShape {
    pub(super) fn new(memory: &Memory, now: DateTime<Utc>) -> MemoryShape {
        let memory = memory.clone();
        let state = memory.state(now).as_str();
        let mut links = Map::new();
        let ids =
            |ids: &[MemoryId]| Value::from(ids.iter().map(MemoryId::as_str).collect::<Vec<_>>());
        links.extend(
            memory
                .fate
                .superseded_by
                .map(|id| ("superseded_by".to_owned(), Value::from(id.as_str()))),
        );
        links.extend(
            memory
                .fate
                .consumed_by
                .map(|id| ("consumed_by".to_owned(), Value::from(id.as_str()))),
        );
        links.extend(
            (!memory.sources.is_empty()).then(|| ("sources".to_owned(), ids(&memory.sources))),
        );
        let emotion = memory.analysis.emotion;
        MemoryShape {
            key: memory.id.key(),
            id: memory.id.to_string(),
            content: memory.content,
            tags: memory.details.tags,
            category: memory.details.category,
            source: memory.details.source,
            entry_type: memory.details.entry_type,
            agent_id: memory.agent,
            namespace: memory.namespace,
            shared: memory.details.shared,
            session: memory.place.session,
            turn: memory.place.turn,
            document: memory.place.document,
            created_at: rfc3339(memory.created_at),
            updated_at: rfc3339(memory.updated_at),
            reinforced_at: memory.reinforced_at.map(rfc3339),
            invalid_at: memory.details.invalid_at.map(rfc3339),
            state,
            pinned: memory.details.pinned,
            mentions: memory.mentions,
            feedback: memory.feedback,
            level: memory.level,
            entities: memory.analysis.entities,
            keywords: memory.analysis.keywords,
            emotion: EmotionShape {
                intensity: emotion.intensity,
                polarity: emotion.polarity,
                label: emotion.label.as_str(),
            },
            links,
            metadata: memory.details.metadata,
        }
    }
}

/// A memory with the reasons why it was found and ranked.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Hit")]
pub(super) struct HitShape {
    #[serde(flatten)]
    memory: MemoryShape,
    score: f64,
    factors: FactorsShape,
    found_by: Vec<FoundShape>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Factors")]
struct FactorsShape {
    similarity: f64,
    decay: f64,
    emotion: f64,
    feedback: f64,
    hot_topic: f64,
    attention: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FoundBy")]
struct FoundShape {
    kind: &'static str,
    detail: String,
}

impl From<Factors> for FactorsShape {
    fn from(factors: Factors) -> FactorsShape {
        let Factors {
            similarity,
            decay,
            emotion,
            feedback,
            hot_topic,
            attention,
        } = factors;
        FactorsShape {
            similarity,
            decay,
            emotion,
            feedback,
            hot_topic,
            attention,
        }
    }
}

impl HitShape {
    pub(super) fn new(hit: &Hit, now: DateTime<Utc>) -> HitShape {
        HitShape {
            memory: MemoryShape::new(&hit.memory, now),
            score: hit.score(),
            factors: hit.factors.into(),
            found_by: found_by(hit),
        }
    }

    pub(super) fn all(answer: &Answer, now: DateTime<Utc>) -> Vec<HitShape> {
        answer
            .hits
            .iter()
            .map(|hit| HitShape::new(hit, now))
            .collect()
    }
}

fn found_by(hit: &Hit) -> Vec<FoundShape> {
    hit.found_by
        .iter()
        .map(|found| FoundShape {
            kind: found.kind.as_str(),
            detail: found.detail.clone(),
        })
        .collect()
}

/// What became of the memory that `explain` names. One outside the scope has an id and a reason.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Explanation")]
pub(super) struct ExplanationShape {
    id: String,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    factors: Option<FactorsShape>,
    #[serde(skip_serializing_if = "Option::is_none")]
    found_by: Option<Vec<FoundShape>>,
}

impl From<Explanation> for ExplanationShape {
    fn from(explanation: Explanation) -> ExplanationShape {
        let hit = explanation.hit;
        ExplanationShape {
            id: explanation.id,
            reason: explanation.reason,
            rank: explanation.rank,
            score: hit.as_ref().map(Hit::score),
            factors: hit.as_ref().map(|hit| hit.factors.into()),
            found_by: hit.as_ref().map(found_by),
        }
    }
}

/// A list given as one, or as one text with commas.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(super) enum TagList {
    Many(Vec<String>),
    Joined(String),
}

impl TagList {
    pub(super) fn into_tags(self) -> Vec<String> {
        match self {
            TagList::Many(tags) => tags,
            TagList::Joined(tags) => tags
                .split(',')
                .map(str::trim)
                .filter(|tag| !tag.is_empty())
                .map(str::to_owned)
                .collect(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum TagMatch {
    #[default]
    Any,
    All,
}

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Mode {
    #[default]
    Auto,
    Lexical,
    Vector,
    Hybrid,
}

impl From<Mode> for read::Mode {
    fn from(mode: Mode) -> read::Mode {
        match mode {
            Mode::Auto => read::Mode::Auto,
            Mode::Lexical => read::Mode::Lexical,
            Mode::Vector => read::Mode::Vector,
            Mode::Hybrid => read::Mode::Hybrid,
        }
    }
}

/// The fields that searches of every kind share.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    pub query: String,
    pub top_k: Option<usize>,
    pub mode: Mode,
    pub tag_filter: Option<TagList>,
    pub tag_match: TagMatch,
    pub category: Option<String>,
    pub source: Option<String>,
    pub session: Option<String>,
    pub created_after: Option<DateTime<Utc>>,
    pub created_before: Option<DateTime<Utc>>,
    pub as_of: Option<DateTime<Utc>>,
    pub include_expired: bool,
    pub min_score: Option<f64>,
    pub explain: Option<String>,
}

impl Wanted {
    /// The request that these fields stand for.
    pub(super) fn request(self, app: &App) -> Result<Request, Problem> {
        let top_k = self.top_k.unwrap_or(app.settings.top_k);
        let mut errors = Vec::new();
        if !(1..=MAX_TOP_K).contains(&top_k) {
            errors.push(FieldError::new(
                "top_k",
                format!("is {top_k}, must be 1 to {MAX_TOP_K}"),
            ));
        }
        if self.query.chars().count() > MAX_QUERY_CHARS {
            errors.push(FieldError::new(
                "query",
                format!("is longer than {MAX_QUERY_CHARS} characters"),
            ));
        }
        if self.min_score.is_some_and(|least| !least.is_finite()) {
            errors.push(FieldError::new("min_score", "must be a finite number"));
        }
        if !errors.is_empty() {
            return Err(Problem::invalid(errors));
        }
        let filters = Filters {
            tags: self
                .tag_filter
                .map_or_else(|| app.settings.tag_filter.clone(), TagList::into_tags),
            all_tags: self.tag_match == TagMatch::All,
            tag_rule: None,
            category: self.category,
            source: self.source,
            session: self.session,
            created_after: self.created_after,
            created_before: self.created_before,
            as_of: self.as_of,
            include_expired: self.include_expired,
        };
        Ok(Request {
            query: self.query,
            top_k,
            filters,
            mode: self.mode.into(),
            min_score: self.min_score,
            explain: self.explain,
            ..Request::default()
        })
    }
}
