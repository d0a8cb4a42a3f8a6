//! From what was retrieved to similarities: BM25, what neighbours lend, and the pool's best as the
//! measure.

use std::collections::{BTreeSet, HashMap};

use crate::memory::Memory;
use crate::query::{Candidate, Plan, QueryTerm, Retrieved, Via};

use super::Scored;
use super::bm25::Scorer;
use super::evidence::Judge;
use super::explanation::{Found, FoundKind};

/// Part of its score that a memory lends to the turns just before and after it, and to the second
/// ones. Measured on locomo-en and the two memorybank sets.
const NEIGHBOUR: [f64; 2] = [0.3, 0.15];

/// How many turns before and after a memory of a conversation are its neighbours.
pub const NEIGHBOUR_REACH: i64 = NEIGHBOUR.len() as i64;

/// Scores every candidate that matches or stands beside one that does.
pub fn similarities(plan: &Plan, retrieved: &Retrieved) -> Vec<Scored> {
    let scorer = Scorer::new(plan, &retrieved.statistics);
    let judge = Judge::new(plan, &retrieved.statistics);
    let own: Vec<f64> = retrieved
        .candidates
        .iter()
        .map(|candidate| scorer.score(&candidate.frequencies, candidate.memory.analysis.length))
        .collect();
    let proven: Vec<f64> = retrieved
        .candidates
        .iter()
        .map(|candidate| judge.evidence(&candidate.frequencies))
        .collect();
    let turns = if plan.neighbours {
        turns(&retrieved.candidates, &own)
    } else {
        HashMap::new()
    };
    let mut scored = Vec::with_capacity(own.len());
    for (index, candidate) in retrieved.candidates.iter().enumerate() {
        let mut lexical = own[index];
        let mut evidence = proven[index];
        let mut found_by = reasons(plan, &scorer, candidate);
        for (lender, part) in lenders(&turns, &candidate.memory) {
            if own[lender] > 0.0 {
                lexical += part * own[lender];
                evidence = evidence.max(part * proven[lender]);
                found_by.insert(Found {
                    kind: FoundKind::Neighbour,
                    detail: retrieved.candidates[lender].memory.id.to_string(),
                });
            }
        }
        if lexical > 0.0 {
            scored.push(Scored {
                memory: candidate.memory.clone(),
                similarity: lexical,
                evidence,
                found_by: found_by.into_iter().collect(),
            });
        }
    }
    let best = scored
        .iter()
        .map(|candidate| candidate.similarity)
        .fold(0.0, f64::max);
    for candidate in &mut scored {
        candidate.similarity /= best;
    }
    scored
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
        Via::Own => FoundKind::Term,
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
