//! How much of a query a memory provably answers, on a scale that does not depend on the pool.
//!
//! A match proves much when the thing named is rare, both in the namespace and in the language: in a
//! store of three memories every term is rare, so the background decides there. prefetch, which
//! nobody asked for, needs more evidence than an explicit search.

use super::noise::Hearing;
use crate::query::{Plan, Statistics, Via};

/// Least evidence for prefetch: about one telling word, or several everyday ones.
pub const PREFETCH_FLOOR: f64 = 0.4;
/// Least evidence for prefetch when half of what the query names is matched.
const PREFETCH_FLOOR_WHEN_COVERED: f64 = 0.3;
/// Share of the query from which the lower floor holds.
const COVERED: f64 = 0.5;
/// Least evidence for an explicit search: something that the query names, however everyday.
pub const SEARCH_FLOOR: f64 = 0.01;

/// Memories that a namespace is thought to hold besides its own, when rarity is judged.
const PRIOR_MEMORIES: f64 = 20.0;
/// Evidence of a thing that is everyday in every respect; it counts for coverage.
const LEAST_TELLING: f64 = 0.02;
/// Evidence of a synonym, a co-occurring entity or a tag, per rarity in the namespace.
const INDIRECT: f64 = 0.25;
/// A tag or expansion on more than this share of the memories proves nothing.
const EVERYWHERE: f64 = 0.5;

/// How much that is not everyday a query must name to be no small talk.
const MUCH: f64 = 1.5;

/// Whether a query names too much to be small talk.
pub fn names_much(plan: &Plan) -> bool {
    let named = plan.claims.iter().map(|claim| 1.0 - claim.commonness);
    named.sum::<f64>() >= MUCH
}

/// What the nearness of a memory's meaning proves by itself, for a query that [`names_much`] or not.
pub fn of_meaning(hearing: &Hearing, cosine: f64, names_much: bool) -> f64 {
    if hearing.is_evident(cosine, names_much) {
        PREFETCH_FLOOR
    } else if hearing.hears(cosine) {
        SEARCH_FLOOR
    } else {
        0.0
    }
}

/// Judges the evidence of candidates of one query.
pub struct Judge<'a> {
    plan: &'a Plan,
    /// How telling each claim of the plan is, 0.0 to 1.0.
    telling: Vec<f64>,
    total: f64,
    /// What a match of each term proves by itself, for terms that are not the query's own.
    indirect: Vec<f64>,
}

impl<'a> Judge<'a> {
    pub fn new(plan: &'a Plan, statistics: &Statistics) -> Judge<'a> {
        let frequency = |index: usize| {
            statistics
                .document_frequencies
                .get(index)
                .copied()
                .unwrap_or(0) as f64
        };
        let rarity =
            |index: usize| 1.0 - frequency(index) / (statistics.memories as f64 + PRIOR_MEMORIES);
        let telling = |claim: &crate::query::Claim| {
            let rarest = claim
                .proofs
                .iter()
                .map(|(term, _)| rarity(*term))
                .fold(0.0, f64::max);
            ((1.0 - claim.commonness) * rarest).max(LEAST_TELLING)
        };
        let telling: Vec<f64> = plan.claims.iter().map(telling).collect();
        let indirect = |(index, term): (usize, &crate::query::QueryTerm)| {
            let everywhere = frequency(index) > EVERYWHERE * statistics.memories as f64;
            if term.via == Via::Own || everywhere {
                0.0
            } else {
                INDIRECT * rarity(index)
            }
        };
        Judge {
            plan,
            total: telling.iter().sum(),
            telling,
            indirect: plan.terms.iter().enumerate().map(indirect).collect(),
        }
    }

    /// The evidence of a memory that holds the plan's terms so often, at least 0.0. A query without
    /// claims (stop words only) is answered with what it has: each match is full evidence for an
    /// explicit search and none for prefetch.
    pub fn evidence(&self, frequencies: &[u32]) -> f64 {
        let proof = |proofs: &[(usize, f64)]| {
            let matched = proofs.iter().filter(|(term, _)| frequencies[*term] > 0);
            let (whole, parts) = matched.fold((0.0_f64, 0.0), |(whole, parts), (_, share)| {
                if *share >= 1.0 {
                    (1.0, parts)
                } else {
                    (whole, parts + share)
                }
            });
            whole.max(parts)
        };
        let proven: f64 = self
            .plan
            .claims
            .iter()
            .zip(&self.telling)
            .map(|(claim, telling)| telling * proof(&claim.proofs))
            .sum();
        let indirect = self
            .indirect
            .iter()
            .zip(frequencies)
            .filter(|(_, frequency)| **frequency > 0)
            .map(|(value, _)| *value)
            .fold(0.0, f64::max);
        if self.plan.claims.is_empty() && frequencies.iter().any(|frequency| *frequency > 0) {
            return indirect.max(SEARCH_FLOOR);
        }
        let covered = self.total > 0.0 && proven / self.total >= COVERED;
        let evidence = if covered && proven >= PREFETCH_FLOOR_WHEN_COVERED {
            proven.max(PREFETCH_FLOOR)
        } else {
            proven
        };
        evidence.max(indirect)
    }
}
