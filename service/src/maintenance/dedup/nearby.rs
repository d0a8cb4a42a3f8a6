//! Finding what may say the same, and what the comparison wants to know of it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::compare::{self, Nearness, Side, Verdict, compare};
use crate::analysis::query::Concept;
use crate::app::{App, Switches};
use crate::error::Error;
use crate::memory::Memory;
use crate::parallel;
use crate::query::{Plan, VectorQuery};
use crate::ranking::bm25::Scorer;
use crate::read::Request;
use crate::read::expansion::Expansions;
use crate::read::plan::plan;
use crate::scope::Scope;
use crate::signals::Signals;

/// Candidates of each way to find them.
const DEPTH: usize = 12;
/// Most concepts of a content that are searched for: its least everyday ones.
const CONCEPTS: usize = 12;
/// In a namespace of more memories, candidates are found by words alone: comparing all vectors for
/// each of many memories would take too long.
const MANY: u64 = 50_000;
/// Namespaces that are known at once.
const MOST_NAMESPACES: usize = 1_000;
/// Texts and words whose vectors are kept at most.
const MOST_KEPT: usize = 50_000;

/// A memory with its plan, ready to be searched for.
pub(super) struct Prepared {
    memory: Memory,
    plan: Plan,
    side: Side,
}

/// A memory with what is near it, the nearest first.
pub(super) struct Nearby {
    pub memory: Memory,
    pub candidates: Vec<Near>,
}

/// A memory that may say the same.
pub(super) struct Near {
    pub memory: Arc<Memory>,
    nearness: Nearness,
}

/// Finds and compares; keeps what it learnt of texts and words.
pub(super) struct Seeker<'a> {
    app: &'a App,
    now: DateTime<Utc>,
    /// What is known of each namespace.
    namespaces: HashMap<String, Namespace>,
    sides: HashMap<String, Side>,
    /// Unit vectors of words and texts.
    vectors: HashMap<String, Vec<f32>>,
    degraded: Option<String>,
}

/// What is known of a namespace.
#[derive(Clone)]
struct Namespace {
    signals: Arc<Signals>,
    /// How many memories it has.
    memories: u64,
}

impl<'a> Seeker<'a> {
    pub(super) fn new(app: &'a App, now: DateTime<Utc>) -> Seeker<'a> {
        Seeker {
            app,
            now,
            namespaces: HashMap::new(),
            sides: HashMap::new(),
            vectors: HashMap::new(),
            degraded: None,
        }
    }

    /// Why meanings were not compared, if they were not.
    pub(super) fn degraded(&self) -> Option<&str> {
        self.degraded.as_deref()
    }

    /// Analyses and plans.
    pub(super) async fn prepare(&mut self, memories: Vec<Memory>) -> Result<Vec<Prepared>, Error> {
        for memory in &memories {
            self.look_at(memory).await?;
        }
        let bytes = memories.iter().map(|memory| memory.content.len()).sum();
        let (analyser, settings) = (self.app.analyser.clone(), self.app.settings.clone());
        let namespaces = self.namespaces.clone();
        let mut prepared = parallel::map(memories, bytes, move |memory: Memory| {
            let mut analysis = analyser.query(&memory.content);
            analysis.concepts.retain(|concept| !concept.stop);
            let by_rarity =
                |one: &Concept, other: &Concept| one.commonness.total_cmp(&other.commonness);
            analysis.concepts.sort_by(by_rarity);
            analysis.concepts.truncate(CONCEPTS);
            let request = Request {
                pool: Some(DEPTH),
                ..Request::default()
            };
            let switches = Switches {
                dates: false,
                neighbours: false,
                ..Switches::default()
            };
            let known = namespaces.get(&memory.namespace);
            let expansions = known.map(|known| expansions(&analysis.concepts, &known.signals));
            let expansions = expansions.unwrap_or_default();
            Prepared {
                plan: plan(&analysis, &expansions, &request, &settings, switches),
                side: Side {
                    particulars: analyser.particulars(&memory.content),
                    emotion: memory.analysis.emotion,
                },
                memory,
            }
        })
        .await;
        self.sides.clear();
        for one in &prepared {
            self.sides
                .insert(one.memory.id.to_string(), one.side.clone());
        }
        self.add_vectors(&mut prepared).await;
        Ok(prepared)
    }

    /// Learns of the namespace of a memory.
    async fn look_at(&mut self, memory: &Memory) -> Result<(), Error> {
        if self.namespaces.contains_key(&memory.namespace) {
            return Ok(());
        }
        if self.namespaces.len() >= MOST_NAMESPACES {
            self.namespaces.clear();
        }
        let whole = Scope {
            primary: true,
            ..scope_of(memory)
        };
        let stats = self.app.store.stats(&whole, self.now).await?;
        let known = Namespace {
            signals: self.app.signals(&whole, self.now).await?,
            memories: stats.by_state.iter().sum(),
        };
        self.namespaces.insert(memory.namespace.clone(), known);
        Ok(())
    }

    /// Lets the plans look for meanings, too.
    async fn add_vectors(&mut self, prepared: &mut [Prepared]) {
        let Some(meaning) = &self.app.meaning else {
            return;
        };
        let embedder = meaning.embedder();
        let is_small = |one: &&mut Prepared| {
            let known = self.namespaces.get(&one.memory.namespace);
            known.is_none_or(|known| known.memories <= MANY)
        };
        let mut chosen: Vec<&mut Prepared> = prepared.iter_mut().filter(is_small).collect();
        if chosen.is_empty() {
            return;
        }
        let texts: Vec<String> = chosen
            .iter()
            .map(|one| one.memory.content.clone())
            .collect();
        let (model, vectors) = match (embedder.model().await, embedder.embed(&texts).await) {
            (Ok(model), Ok(vectors)) => (model, vectors),
            (Err(error), _) | (_, Err(error)) => {
                self.degraded = Some(error.to_string());
                return;
            }
        };
        for (one, values) in chosen.iter_mut().zip(vectors) {
            one.plan.vector = model.id.unit(values).map(|values| VectorQuery {
                model: model.id.clone(),
                values: values.into(),
            });
        }
    }

    /// Searches for one memory; nothing while the workflow lock holds.
    pub(super) async fn search(&self, prepared: Prepared) -> Result<Option<Nearby>, Error> {
        let Prepared { memory, plan, .. } = prepared;
        if plan.terms.is_empty() && plan.vector.is_none() {
            return Ok(Some(Nearby {
                memory,
                candidates: Vec::new(),
            }));
        }
        let scope = scope_of(&memory);
        let retrieved = self.app.store.retrieve(&scope, &plan, self.now).await?;
        if retrieved.lock.is_some() {
            return Ok(None);
        }
        let scorer = Scorer::new(&plan, &retrieved.statistics);
        let terms = memory.indexed_terms();
        let own: Vec<u32> = plan.terms.iter().map(|one| terms.get(&one.term)).collect();
        let own = scorer.score(&own, memory.analysis.length);
        let near = |candidate: crate::query::Candidate| {
            let score = scorer.score(&candidate.frequencies, candidate.memory.analysis.length);
            Near {
                nearness: Nearness {
                    cosine: candidate.cosine,
                    bm25: (own > 0.0).then(|| score / own),
                },
                memory: candidate.memory,
            }
        };
        let mut candidates: Vec<Near> = retrieved.candidates.into_iter().map(near).collect();
        let likeness = |near: &Near| {
            near.nearness.cosine.unwrap_or_default() + near.nearness.bm25.unwrap_or_default()
        };
        candidates.sort_by(|one, other| {
            let better = likeness(other).total_cmp(&likeness(one));
            better.then_with(|| one.memory.id.cmp(&other.memory.id))
        });
        Ok(Some(Nearby { memory, candidates }))
    }

    /// Compares two memories of which one was found near the other.
    pub(super) async fn compare(
        &mut self,
        older: &Memory,
        newer: &Memory,
        found: &Near,
    ) -> Verdict {
        let (one, other) = (self.side(older), self.side(newer));
        let mut nearness = found.nearness;
        if compare::forbidding(&one.particulars, &other.particulars).is_none() {
            let mut wanted = compare::unmatched(&one.particulars, &other.particulars);
            if nearness.cosine.is_none() {
                wanted.extend([older.content.clone(), newer.content.clone()]);
            }
            self.learn(wanted).await;
            nearness.cosine = nearness
                .cosine
                .or_else(|| self.cosine(&older.content, &newer.content));
        }
        compare(&one, &other, nearness, &|one, other| {
            let known = self.namespaces.get(&older.namespace);
            let synonyms = known.and_then(|known| known.signals.synonyms.get(one));
            if synonyms.is_some_and(|synonyms| synonyms.iter().any(|word| word == other)) {
                return Some(1.0);
            }
            self.cosine(one, other)
        })
    }

    fn side(&mut self, memory: &Memory) -> Side {
        if let Some(side) = self.sides.get(memory.id.as_str()) {
            return side.clone();
        }
        let side = Side {
            particulars: self.app.analyser.particulars(&memory.content),
            emotion: memory.analysis.emotion,
        };
        self.sides.insert(memory.id.to_string(), side.clone());
        side
    }

    /// Learns the vectors of texts, if the embedder is on this machine: a service is not asked for
    /// single words.
    async fn learn(&mut self, texts: Vec<String>) {
        let Some(meaning) = &self.app.meaning else {
            return;
        };
        let embedder = meaning.embedder();
        if embedder.destination().is_some() {
            return;
        }
        if self.vectors.len() > MOST_KEPT {
            self.vectors.clear();
        }
        let unknown: HashSet<String> = texts
            .into_iter()
            .filter(|text| !self.vectors.contains_key(text))
            .collect();
        let unknown: Vec<String> = unknown.into_iter().collect();
        if unknown.is_empty() {
            return;
        }
        match (embedder.model().await, embedder.embed(&unknown).await) {
            (Ok(model), Ok(vectors)) => {
                for (text, values) in unknown.into_iter().zip(vectors) {
                    let unit = model.id.unit(values).unwrap_or_default();
                    self.vectors.insert(text, unit);
                }
            }
            (Err(error), _) | (_, Err(error)) => self.degraded = Some(error.to_string()),
        }
    }

    fn cosine(&self, one: &str, other: &str) -> Option<f64> {
        let (one, other) = (self.vectors.get(one)?, self.vectors.get(other)?);
        if one.is_empty() || other.is_empty() {
            return None;
        }
        let product: f32 = one.iter().zip(other).map(|(x, y)| x * y).sum();
        Some(f64::from(product))
    }
}

/// Who sees a memory as its owner does.
fn scope_of(memory: &Memory) -> Scope {
    Scope {
        namespace: memory.namespace.clone(),
        agent: memory.agent.clone(),
        primary: false,
    }
}

fn expansions(concepts: &[Concept], signals: &Signals) -> Expansions {
    let pairs = concepts.iter().flat_map(|concept| {
        let others = signals.synonyms.get(&concept.text).into_iter().flatten();
        others.map(|other| (other.clone(), concept.text.clone()))
    });
    Expansions {
        synonyms: pairs.collect(),
        cooccurring: Vec::new(),
    }
}
