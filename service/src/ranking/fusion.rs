//! From what was retrieved to similarities: BM25, what neighbours lend, and the pool's best as the
//! measure.

use std::collections::{BTreeSet, HashMap};

use crate::memory::Memory;
use crate::query::{Candidate, Plan, QueryTerm, Retrieved, Via};

use super::bm25::Scorer;
use super::evidence::{self, Judge};
use super::explanation::{Found, FoundKind};
use super::noise::Hearing;
use super::{Parts, Scored};

/// Part of its score that a memory lends to the turns just before and after it, and to the second
/// ones. Measured on locomo-en and the two memorybank sets.
const NEIGHBOUR: [f64; 2] = [0.3, 0.15];

/// How many turns before and after a memory of a conversation are its neighbours.
pub const NEIGHBOUR_REACH: i64 = NEIGHBOUR.len() as i64;

/// Part of the similarity that words decide when meaning counts, too; more when the query names a
/// day, of which a vector knows nothing. What was tried is in ARCHITECTURE.md.
const WORDS: f64 = 0.6;
const WORDS_AND_DATE: f64 = 0.9;
/// Share of the words' part that must be earned by evidence when meaning counts, too: everyday words
/// in common say less than being near.
const DOUBT: f64 = 0.35;

/// A candidate with the two parts of its similarity.
struct Share {
    /// BM25 with what neighbours lend.
    lexical: f64,
    /// Cosine, at least 0.0, with what neighbours lend.
    near: f64,
    /// What its words prove, and those of its neighbours.
    proven: f64,
}

/// What was retrieved for a plan, being turned into similarities.
pub struct Fusion<'a> {
    plan: &'a Plan,
    candidates: &'a [Candidate],
    /// That of the plan's model.
    hearing: Option<&'a Hearing>,
    scorer: Scorer,
    /// BM25 of each candidate.
    own: Vec<f64>,
    /// What the words of each prove.
    proven: Vec<f64>,
    /// The cosine of each, cut at 0.
    near: Vec<f64>,
    /// The best candidate of each turn, by words and by nearness.
    turns: HashMap<Turn<'a>, usize>,
    near_turns: HashMap<Turn<'a>, usize>,
}

impl<'a> Fusion<'a> {
    /// `hearing` is that of the plan's model.
    pub fn new(plan: &'a Plan, retrieved: &'a Retrieved, hearing: Option<&'a Hearing>) -> Self {
        let scorer = Scorer::new(plan, &retrieved.statistics);
        let judge = Judge::new(plan, &retrieved.statistics);
        let candidates = &retrieved.candidates;
        let own: Vec<f64> = candidates
            .iter()
            .map(|candidate| scorer.score(&candidate.frequencies, candidate.memory.analysis.length))
            .collect();
        let near: Vec<f64> = candidates.iter().map(cosine).collect();
        let (turns, near_turns) = if plan.neighbours {
            (turns(candidates, &own), turns(candidates, &near))
        } else {
            Default::default()
        };
        Fusion {
            proven: candidates
                .iter()
                .map(|candidate| judge.evidence(&candidate.frequencies))
                .collect(),
            plan,
            candidates,
            hearing,
            scorer,
            own,
            near,
            turns,
            near_turns,
        }
    }

    /// Scores every candidate that matches, stands beside one that does, or means something alike.
    pub fn similarities(&self) -> Vec<Scored> {
        let parts: Vec<Share> = (0..self.candidates.len())
            .map(|candidate| self.parts(candidate))
            .collect();
        let best =
            |part: fn(&Share) -> f64| parts.iter().map(part).fold(f64::MIN_POSITIVE, f64::max);
        let (best_lexical, best_near) = (best(|part| part.lexical), best(|part| part.near));
        let nearest = self.near.iter().copied().fold(0.0, f64::max);
        let (words, doubt) = words(self.plan);
        let names_much = evidence::names_much(self.plan);
        let scored = |(candidate, part): (usize, Share)| {
            let trusted = 1.0 - doubt * (1.0 - part.proven.min(1.0));
            let heard = self.hearing.map_or(0.0, |hearing| {
                evidence::of_meaning(hearing, self.near[candidate], names_much)
            });
            Scored {
                memory: self.candidates[candidate].memory.clone(),
                candidate,
                // What neighbours lend changes the order, not the scale: the best keeps the best cosine.
                similarity: words * trusted * part.lexical / best_lexical
                    + (1.0 - words) * part.near / best_near * nearest,
                evidence: part.proven.max(heard),
                parts: Parts {
                    lexical: part.lexical / best_lexical,
                    cosine: self.candidates[candidate].cosine,
                },
            }
        };
        let matches = |part: &Share| part.lexical > 0.0 || part.near > 0.0;
        let parts = parts.into_iter().enumerate();
        parts
            .filter(|(_, part)| matches(part))
            .map(scored)
            .collect()
    }

    fn parts(&self, candidate: usize) -> Share {
        let mut part = Share {
            lexical: self.own[candidate],
            near: self.near[candidate],
            proven: self.proven[candidate],
        };
        for (lender, share) in self.word_lenders(candidate) {
            part.lexical += share * self.own[lender];
            part.proven = part.proven.max(share * self.proven[lender]);
        }
        for (lender, share) in lenders(&self.near_turns, &self.candidates[candidate].memory) {
            part.near += share * self.near[lender];
        }
        part
    }

    /// The neighbours of a candidate that match, with the part of their score that they lend it.
    fn word_lenders(&self, candidate: usize) -> impl Iterator<Item = (usize, f64)> {
        let lenders = lenders(&self.turns, &self.candidates[candidate].memory);
        lenders
            .into_iter()
            .filter(|(lender, _)| self.own[*lender] > 0.0)
    }

    /// Why a candidate was found, by its index: told of the few that are returned.
    pub fn found_by(&self, candidate: usize) -> Vec<Found> {
        let mut found = reasons(self.plan, &self.scorer, &self.candidates[candidate]);
        found.extend(self.word_lenders(candidate).map(|(lender, _)| Found {
            kind: FoundKind::Neighbour,
            detail: self.candidates[lender].memory.id.to_string(),
        }));
        let near = self.near[candidate];
        if self.hearing.is_some_and(|hearing| hearing.hears(near)) {
            found.insert(Found {
                kind: FoundKind::Vector,
                detail: format!("cosine {near:.2}"),
            });
        }
        found.into_iter().collect()
    }
}

/// The part of the similarity that words decide, and the share of it that must be earned by evidence.
fn words(plan: &Plan) -> (f64, f64) {
    if plan.vector.is_none() {
        (1.0, 0.0)
    } else if plan.terms.is_empty() {
        (0.0, 0.0)
    } else if plan.terms.iter().any(|term| term.term.is_date()) {
        (WORDS_AND_DATE, 0.0)
    } else {
        (WORDS, DOUBT)
    }
}

/// The cosine of a candidate, cut at 0; of one without a vector, 0.
fn cosine(candidate: &Candidate) -> f64 {
    candidate.cosine.unwrap_or(0.0).clamp(0.0, 1.0)
}

/// A turn of a conversation of an agent.
type Turn<'a> = (Option<&'a str>, &'a str, i64);

fn turn(memory: &Memory) -> Option<Turn<'_>> {
    Some((
        memory.agent.as_deref(),
        memory.place.session.as_deref()?,
        memory.place.turn?,
    ))
}

/// The best candidate of each turn: a turn may hold several memories.
fn turns<'a>(candidates: &'a [Candidate], scores: &[f64]) -> HashMap<Turn<'a>, usize> {
    let mut turns: HashMap<Turn<'a>, usize> = HashMap::new();
    for (index, candidate) in candidates.iter().enumerate() {
        if let Some(turn) = turn(&candidate.memory) {
            let best = turns.entry(turn).or_insert(index);
            if scores[index] > scores[*best] {
                *best = index;
            }
        }
    }
    turns
}

/// The neighbours of a memory with the part of their score that they lend it.
fn lenders(turns: &HashMap<Turn<'_>, usize>, memory: &Memory) -> Vec<(usize, f64)> {
    let Some((agent, session, at)) = turn(memory) else {
        return Vec::new();
    };
    (1..=NEIGHBOUR_REACH)
        .zip(NEIGHBOUR)
        .flat_map(|(distance, part)| {
            [at.checked_sub(distance), at.checked_add(distance)].map(|at| (at, part))
        })
        .filter_map(|(at, part)| Some((*turns.get(&(agent, session, at?))?, part)))
        .collect()
}

/// Why a candidate was found: the terms that it holds. Those that prove nothing by themselves, such
/// as a pair of characters across two words, are named only when there is nothing better.
fn reasons(plan: &Plan, scorer: &Scorer, candidate: &Candidate) -> BTreeSet<Found> {
    let frequencies = candidate.frequencies.iter().enumerate();
    let held = frequencies.filter(|(index, frequency)| **frequency > 0 && scorer.counts(*index));
    let held: Vec<usize> = held.map(|(index, _)| index).collect();
    let proves = |index: &usize| {
        let claims = plan.claims.iter().flat_map(|claim| &claim.proofs);
        plan.terms[*index].via != Via::Own
            || claims
                .into_iter()
                .any(|(term, share)| term == index && *share > 0.0)
    };
    let telling: Vec<usize> = held.iter().copied().filter(proves).collect();
    let named = if telling.is_empty() { held } else { telling };
    named
        .into_iter()
        .map(|index| found(&plan.terms[index]))
        .collect()
}

fn found(term: &QueryTerm) -> Found {
    let kind = match term.via {
        Via::Own | Via::Window => FoundKind::Term,
        Via::Synonym => FoundKind::Synonym,
        Via::Entity => FoundKind::Entity,
        Via::Cooccurrence => FoundKind::Cooccurrence,
        Via::Tag => FoundKind::Tag,
    };
    Found {
        kind,
        detail: term.detail.clone(),
    }
}
