//! Reading: gates, analyse, expand, embed, plan, retrieve, fuse, rank, answer.

pub mod context;
pub mod expansion;
pub mod gates;
pub mod meaning;
pub mod plan;

use chrono::{DateTime, NaiveDate, Utc};

use crate::app::App;
use crate::error::Error;
use crate::metrics::Answered;
use crate::query::Filters;
use crate::ranking::evidence::{PREFETCH_FLOOR, SEARCH_FLOOR};
use crate::ranking::fusion::Fusion;
use crate::ranking::{Hit, Ranked, identical, rank};
use crate::scope::Scope;

/// What someone wants to find.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    pub query: String,
    /// Most hits to return, at least 1.
    pub top_k: usize,
    pub filters: Filters,
    pub mode: Mode,
    /// Least score, in place of the evidence floor.
    pub min_score: Option<f64>,
    /// A memory whose fate in this search is to be told: id, key or beginning of an id.
    pub explain: Option<String>,
    /// Depth of each retriever, if it is to be another than the settings'.
    pub pool: Option<usize>,
    /// Days to weigh more, whatever the query names; nothing is left out for them.
    pub window: Option<Window>,
}

/// A span of days, both included; open where an end is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    pub start: Option<NaiveDate>,
    pub end: Option<NaiveDate>,
}

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// By words and, as far as it can be had, by meaning.
    #[default]
    Auto,
    Lexical,
    Vector,
    Hybrid,
}

impl Mode {
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Auto => "auto",
            Mode::Lexical => "lexical",
            Mode::Vector => "vector",
            Mode::Hybrid => "hybrid",
        }
    }
}

/// Why nothing was searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skipped {
    EmptyQuery,
    WorkflowLock,
    TooShort,
    SkipPattern,
}

impl Skipped {
    pub fn as_str(self) -> &'static str {
        match self {
            Skipped::EmptyQuery => "empty_query",
            Skipped::WorkflowLock => "workflow_lock",
            Skipped::TooShort => "too_short",
            Skipped::SkipPattern => "skip_pattern",
        }
    }
}

/// Why an answer is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Empty {
    Skipped,
    /// Nothing matches.
    NoMatch,
    /// What matches proves too little.
    BelowFloor,
    /// What matches is hidden by filters or by its state.
    Filtered,
}

impl Empty {
    pub fn as_str(self) -> &'static str {
        match self {
            Empty::Skipped => "skipped",
            Empty::NoMatch => "no_match",
            Empty::BelowFloor => "below_floor",
            Empty::Filtered => "filtered",
        }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// Best first.
    pub hits: Vec<Hit>,
    /// How it was searched: never [`Mode::Auto`].
    pub mode: Mode,
    /// What could not be done.
    pub degraded: Vec<String>,
    pub skipped: Option<Skipped>,
    pub empty: Option<Empty>,
    /// How many candidates fell below the floor.
    pub below_floor: usize,
    pub explanation: Option<Explanation>,
}

/// The fate of one memory in a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    pub id: String,
    /// From 1; absent if it was not ranked.
    pub rank: Option<usize>,
    pub reason: String,
    pub hit: Option<Hit>,
}

/// Finds the memories that matter for a query.
///
/// # Errors
/// When the store fails.
pub async fn search(
    app: &App,
    scope: &Scope,
    request: &Request,
    now: DateTime<Utc>,
) -> Result<Answer, Error> {
    let answer = match gates::query(&request.query) {
        Some(skipped) => skip(skipped),
        None => find(app, scope, request, SEARCH_FLOOR, now).await?,
    };
    app.metrics.answered(told("search", &answer));
    Ok(answer)
}

/// Finds the memories that a message of a person should bring to mind: silent and unasked for, so
/// it has gates of its own and wants more evidence.
///
/// # Errors
/// When the store fails.
pub async fn prefetch(
    app: &App,
    scope: &Scope,
    request: &Request,
    now: DateTime<Utc>,
) -> Result<Answer, Error> {
    let answer = match gates::message(&request.query, &app.settings) {
        Some(skipped) => skip(skipped),
        None => find(app, scope, request, PREFETCH_FLOOR, now).await?,
    };
    app.metrics.answered(told("prefetch", &answer));
    Ok(answer)
}

/// An answer in numbers.
fn told(kind: &'static str, answer: &Answer) -> Answered {
    Answered {
        kind,
        hits: answer.hits.len(),
        below_floor: answer.below_floor,
        skipped: answer.skipped.map(Skipped::as_str),
        empty: answer.empty.map(Empty::as_str),
    }
}

/// The line that both reads share, from the query to the answer.
async fn find(
    app: &App,
    scope: &Scope,
    request: &Request,
    floor: f64,
    now: DateTime<Utc>,
) -> Result<Answer, Error> {
    app.metrics.uses(&scope.namespace);
    let mut stages = app.metrics.stages("read");
    let signals = app.signals(scope, now).await?;
    let analysis = app.analyser.query(&request.query);
    let expansions = expansion::expand(app, scope, &analysis, &signals).await?;
    stages.end("analyse");
    let meaning = meaning::of_query(app, request).await?;
    stages.end("embed");
    let mut plan = plan::plan(&analysis, &expansions, request, &app.settings, app.switches);
    meaning.join(&mut plan);
    let retrieved = app.store.retrieve(scope, &plan, now).await?;
    stages.end("retrieve");
    if retrieved.lock.is_some() {
        return Ok(skip(Skipped::WorkflowLock));
    }
    let fusion = Fusion::new(&plan, &retrieved, meaning.hearing.as_ref());
    let ranked = rank(fusion.similarities(), &signals, &app.weights(), now);
    app.metrics.retrieved(ranked.len());
    let (passed, below): (Vec<Ranked>, Vec<Ranked>) =
        ranked.into_iter().partition(|one| match request.min_score {
            Some(least) => one.score() >= least,
            None => one.evidence >= floor || !app.switches.floor,
        });
    let below_floor = below.len();
    let hit = |ranked: &Ranked| ranked.with_reasons(&fusion);
    let explanation = explain(app, scope, request, &passed, &below, hit, now).await?;
    let distinct = identical::keep_distinct(passed, request.top_k);
    let hits: Vec<Hit> = distinct.iter().map(hit).collect();
    app.recalls.note(hits.iter().map(|hit| &hit.memory.id), now);
    let empty = hits
        .is_empty()
        .then_some(match (below_floor, retrieved.hidden) {
            (1.., _) => Empty::BelowFloor,
            (0, true) => Empty::Filtered,
            (0, false) => Empty::NoMatch,
        });
    stages.end("rank");
    Ok(Answer {
        hits,
        mode: meaning.mode,
        degraded: meaning.degraded,
        skipped: None,
        empty,
        below_floor,
        explanation,
    })
}

fn skip(skipped: Skipped) -> Answer {
    Answer {
        mode: Mode::Lexical,
        skipped: Some(skipped),
        empty: Some(Empty::Skipped),
        ..Answer::default()
    }
}

/// Tells what became of the memory that the request asks about. One outside the scope is not found,
/// and nothing more is said of it.
async fn explain(
    app: &App,
    scope: &Scope,
    request: &Request,
    passed: &[Ranked],
    below: &[Ranked],
    hit: impl Fn(&Ranked) -> Hit,
    now: DateTime<Utc>,
) -> Result<Option<Explanation>, Error> {
    let Some(reference) = &request.explain else {
        return Ok(None);
    };
    let unranked = |id: &str, reason: &str| Explanation {
        id: id.to_owned(),
        rank: None,
        reason: reason.to_owned(),
        hit: None,
    };
    let id = match crate::write::resolve(app, scope, reference).await {
        Ok(id) => id,
        Err(Error::NotFound(_) | Error::Ambiguous { .. }) => {
            return Ok(Some(unranked(reference, "not_found")));
        }
        Err(error) => return Err(error),
    };
    if let Some(index) = passed.iter().position(|one| one.memory.id == id) {
        let reason = if index < request.top_k {
            "returned"
        } else {
            "below_top_k"
        };
        let hit = Some(hit(&passed[index]));
        return Ok(Some(Explanation {
            id: id.to_string(),
            rank: Some(index + 1),
            reason: reason.to_owned(),
            hit,
        }));
    }
    if let Some(one) = below.iter().find(|one| one.memory.id == id) {
        return Ok(Some(Explanation {
            hit: Some(hit(one)),
            ..unranked(id.as_str(), "below_floor")
        }));
    }
    let memory = app.store.get(scope, &id).await?;
    let reason = memory.map_or("not_found", |memory| {
        request
            .filters
            .refusal(&memory, now)
            .unwrap_or("not_matched")
    });
    Ok(Some(unranked(id.as_str(), reason)))
}
