//! Entries that say the same appear once.

use std::collections::HashSet;

use crate::analysis::normalise::fold;
use crate::analysis::terms::Term;
use crate::memory::Memory;

use super::Ranked;

/// Least similarity (Jaccard coefficient of the terms) of two wordings of one statement.
const SAME: f64 = 0.95;

/// Keeps the best-ranked of entries that say the same, until `limit` are kept.
pub fn keep_distinct(ranked: Vec<Ranked>, limit: usize) -> Vec<Ranked> {
    let mut kept: Vec<Ranked> = Vec::with_capacity(limit.min(ranked.len()));
    for next in ranked {
        if kept.len() == limit {
            break;
        }
        if !kept
            .iter()
            .any(|better| says_the_same(&better.memory, &next.memory))
        {
            kept.push(next);
        }
    }
    kept
}

/// Equal but for case, width, punctuation and stop words, or nearly equal without a differing
/// number, negation or name.
pub fn says_the_same(one: &Memory, other: &Memory) -> bool {
    if one.analysis.fingerprint == other.analysis.fingerprint {
        return true;
    }
    let (terms, others) = (&one.analysis.terms, &other.analysis.terms);
    // With a coefficient of at least SAME, at most this many terms can differ.
    let most = ((1.0 - SAME) * (terms.len() + others.len()) as f64) as usize;
    let differing: Vec<Term> = terms.differences(others).take(most + 1).collect();
    let union = (terms.len() + others.len() + differing.len()) as f64 / 2.0;
    differing.len() as f64 <= (1.0 - SAME) * union
        && !differing.iter().any(Term::tells_apart)
        && same_names(&one.analysis.entities, &other.analysis.entities)
}

fn same_names(one: &[String], other: &[String]) -> bool {
    let names = |list: &[String]| list.iter().map(|name| fold(name)).collect::<HashSet<_>>();
    names(one) == names(other)
}
