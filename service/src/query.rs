//! What a store is asked, and what comes back: plain data between reading, stores and ranking.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::analysis::terms::Term;
use crate::memory::{Memory, Standing, State};
use crate::scope::Scope;
use crate::vector::ModelId;

/// A condition on the tags of a memory, compared exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TagRule {
    /// At least one of them.
    Any(Vec<String>),
    /// Each of them.
    All(Vec<String>),
    /// These and no other, in any order.
    Exactly(Vec<String>),
    And(Vec<TagRule>),
    Or(Vec<TagRule>),
    Not(Box<TagRule>),
}

impl TagRule {
    /// The rule that only a memory without tags meets.
    pub fn untagged() -> TagRule {
        TagRule::Exactly(Vec::new())
    }

    /// Whether a memory with these tags, each once, meets the rule.
    pub fn admits(&self, tags: &[String]) -> bool {
        match self {
            TagRule::Any(wanted) => wanted.iter().any(|tag| tags.contains(tag)),
            TagRule::All(wanted) => wanted.iter().all(|tag| tags.contains(tag)),
            TagRule::Exactly(wanted) => {
                wanted.iter().all(|tag| tags.contains(tag))
                    && tags.iter().all(|tag| wanted.contains(tag))
            }
            TagRule::And(rules) => rules.iter().all(|rule| rule.admits(tags)),
            TagRule::Or(rules) => rules.iter().any(|rule| rule.admits(tags)),
            TagRule::Not(rule) => !rule.admits(tags),
        }
    }
}

/// Limits on which memories a query may return.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filters {
    /// Exact tags; empty: no limit.
    pub tags: Vec<String>,
    /// All of the tags instead of any.
    pub all_tags: bool,
    /// What those two cannot say of tags; must hold besides them.
    pub tag_rule: Option<TagRule>,
    pub category: Option<String>,
    pub source: Option<String>,
    pub session: Option<String>,
    pub created_after: Option<DateTime<Utc>>,
    pub created_before: Option<DateTime<Utc>>,
    /// Judge validity at this time instead of now, and leave out what was created later.
    pub as_of: Option<DateTime<Utc>>,
    /// Also return expired and superseded memories.
    pub include_expired: bool,
}

impl Filters {
    /// The state that hides a memory of such a standing at `now`, if one does.
    pub fn hides(&self, standing: Standing, now: DateTime<Utc>) -> Option<State> {
        match standing.state(self.as_of.unwrap_or(now)) {
            State::Active => None,
            State::Expired | State::Superseded if self.include_expired => None,
            hidden => Some(hidden),
        }
    }

    /// The bound of the times that refuses what was created at that time, if one does.
    pub fn out_of_time(&self, created_at: DateTime<Utc>) -> Option<&'static str> {
        if self.created_after.is_some_and(|after| created_at < after) {
            Some("filtered: created_after")
        } else if self
            .created_before
            .is_some_and(|before| created_at >= before)
        {
            Some("filtered: created_before")
        } else if self.as_of.is_some_and(|as_of| created_at > as_of) {
            Some("filtered: as_of")
        } else {
            None
        }
    }

    /// Why a memory that the scope sees is left out at `now`, or `None` if it passes.
    pub fn refusal(&self, memory: &Memory, now: DateTime<Utc>) -> Option<&'static str> {
        let details = &memory.details;
        let differs =
            |wanted: &Option<String>, has: &Option<String>| wanted.is_some() && wanted != has;
        let has = |tag: &String| details.tags.contains(tag);
        let tags_pass = (self.tags.is_empty()
            || if self.all_tags {
                self.tags.iter().all(has)
            } else {
                self.tags.iter().any(has)
            })
            && self
                .tag_rule
                .as_ref()
                .is_none_or(|rule| rule.admits(&details.tags));
        if let Some(hidden) = self.hides(memory.standing(), now) {
            return Some(hidden.as_str());
        }
        if !tags_pass {
            Some("filtered: tag_filter")
        } else if differs(&self.category, &details.category) {
            Some("filtered: category")
        } else if differs(&self.source, &details.source) {
            Some("filtered: source")
        } else if differs(&self.session, &memory.place.session) {
            Some("filtered: session")
        } else {
            self.out_of_time(memory.created_at)
        }
    }
}

/// How a term came into the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// A word of the query itself, or a date that it names.
    Own,
    Synonym,
    /// An entity that the query names.
    Entity,
    /// An entity that occurs together with one that the query names.
    Cooccurrence,
    Tag,
    /// A day that the asker wants to weigh more, though the query does not name it.
    Window,
}

/// One term to look for.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    pub term: Term,
    /// Factor on the term's BM25 score.
    pub weight: f64,
    pub via: Via,
    /// The words that it stands for, for explanations.
    pub detail: String,
    /// Whether BM25 normalises its frequency by the length of the content; dates, tags and entities
    /// are no part of the content's text.
    pub by_length: bool,
}

/// One thing that the query names, as evidence (see `ranking::evidence`).
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// Indices into [`Plan::terms`] with the share of the claim that a match of each proves.
    pub proofs: Vec<(usize, f64)>,
    /// How everyday the thing is, 0.0 to 1.0.
    pub commonness: f64,
}

/// What a query means, as a vector.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorQuery {
    pub model: ModelId,
    /// Of unit length.
    pub values: Arc<[f32]>,
}

/// A planned query: everything that a store needs to retrieve and ranking to rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Unique terms; without any, only the vector finds.
    pub terms: Vec<QueryTerm>,
    /// Without one, only terms find.
    pub vector: Option<VectorQuery>,
    pub claims: Vec<Claim>,
    pub filters: Filters,
    /// Depth of each retriever.
    pub pool: usize,
    /// Whether memories of a conversation lend each other score.
    pub neighbours: bool,
}

/// Numbers of a namespace that BM25 needs, over all its memories that are not in the trash.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Statistics {
    pub memories: u64,
    /// Mean length in words.
    pub mean_length: f64,
    /// For each term of the plan, how many memories hold it.
    pub document_frequencies: Vec<u64>,
}

/// A memory that a retriever returned, before ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub memory: Arc<Memory>,
    /// For each term of the plan, how often the memory holds it.
    pub frequencies: Vec<u32>,
    /// Cosine of its vector and the plan's, if it has one of the plan's model.
    pub cosine: Option<f64>,
    /// Part of the retriever's pool itself, not only a neighbour of one.
    pub retrieved: bool,
}

/// What a store returns for a plan: one consistent state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Retrieved {
    /// Until when the workflow lock holds; `Some(None)` without end.
    pub lock: Option<Option<DateTime<Utc>>>,
    pub statistics: Statistics,
    pub candidates: Vec<Candidate>,
    /// Told when there is no candidate: whether filters or state hid a memory that matches and that
    /// the scope may see.
    pub hidden: bool,
}

/// Whether a memory may be returned at all: the one predicate of both stores.
pub fn admits(scope: &Scope, filters: &Filters, memory: &Memory, now: DateTime<Utc>) -> bool {
    scope.sees(
        &memory.namespace,
        memory.agent.as_deref(),
        memory.details.shared,
    ) && filters.refusal(memory, now).is_none()
}
