//! BM25 over a plan's terms (Robertson and Zaragoza 2009, with Lucene's idf), for candidates of
//! every store. An engine's own score is never used.

use crate::query::{Plan, Statistics, Via};

/// Saturation of the term frequency.
const K1: f64 = 1.2;
/// Strength of the length normalisation.
const B: f64 = 0.75;
/// Share of a score that depends on how much of the query is covered. Between 0.3, which gained
/// locomo-en 0.009 nDCG@10 and cost skills 0.003, and 0.5, which gained 0.017 and cost 0.007.
const COVERAGE: f64 = 0.4;
/// A term that more than this share of the memories hold is left out when rarer ones remain ...
pub const UNIVERSAL: f64 = 0.8;
/// ... in a namespace of at least so many memories: in a smaller one every term is everywhere.
pub const UNIVERSAL_FROM: u64 = 10;

/// A plan weighted by the statistics of its namespace.
#[derive(Debug, Clone)]
pub struct Scorer {
    /// Weight times idf of each term of the plan; 0.0 for one that is left out.
    weights: Vec<f64>,
    by_length: Vec<bool>,
    mean_length: f64,
    /// Sum of the weights of the query's own terms.
    own_total: f64,
    own: Vec<bool>,
}

/// A score being added up, term by term.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sum {
    score: f64,
    covered: f64,
}

impl Scorer {
    pub fn new(plan: &Plan, statistics: &Statistics) -> Scorer {
        let universal = |index: usize| {
            let frequency = statistics
                .document_frequencies
                .get(index)
                .copied()
                .unwrap_or(0);
            statistics.memories >= UNIVERSAL_FROM
                && frequency as f64 > UNIVERSAL * statistics.memories as f64
        };
        let own: Vec<bool> = plan.terms.iter().map(|term| term.via == Via::Own).collect();
        let rarer_remain = (0..plan.terms.len()).any(|index| own[index] && !universal(index));
        let weights: Vec<f64> = (0..plan.terms.len())
            .map(|index| {
                if rarer_remain && universal(index) {
                    return 0.0;
                }
                let frequency = statistics
                    .document_frequencies
                    .get(index)
                    .copied()
                    .unwrap_or(0);
                plan.terms[index].weight * idf(frequency, statistics.memories)
            })
            .collect();
        Scorer {
            own_total: weights
                .iter()
                .zip(&own)
                .filter(|(_, own)| **own)
                .map(|(weight, _)| weight)
                .sum(),
            by_length: plan.terms.iter().map(|term| term.by_length).collect(),
            mean_length: statistics.mean_length.max(1.0),
            weights,
            own,
        }
    }

    /// BM25 of a memory that holds the plan's terms so often and is `length` words long, damped by
    /// how little of the query it covers. At least 0.0, finite.
    pub fn score(&self, frequencies: &[u32], length: u32) -> f64 {
        let mut sum = Sum::default();
        for (index, frequency) in frequencies.iter().enumerate() {
            self.add(&mut sum, index, *frequency, length);
        }
        self.total(sum)
    }

    /// Adds one term of a memory to its sum. Terms must come in the plan's order for sums to be equal
    /// to the last digit.
    pub fn add(&self, sum: &mut Sum, index: usize, frequency: u32, length: u32) {
        if frequency == 0 {
            return;
        }
        let frequency = f64::from(frequency);
        let relative_length = if self.by_length[index] {
            f64::from(length) / self.mean_length
        } else {
            1.0
        };
        let norm = K1 * (1.0 - B + B * relative_length);
        sum.score += self.weights[index] * frequency * (K1 + 1.0) / (frequency + norm);
        if self.own[index] {
            sum.covered += self.weights[index];
        }
    }

    /// The score that a complete sum stands for.
    pub fn total(&self, sum: Sum) -> f64 {
        let coverage = if self.own_total > 0.0 {
            sum.covered / self.own_total
        } else {
            1.0
        };
        sum.score * (1.0 - COVERAGE + COVERAGE * coverage)
    }

    /// Whether the term counts; one that nearly every memory holds may have been left out.
    pub fn counts(&self, index: usize) -> bool {
        self.weights[index] > 0.0
    }
}

/// Lucene's inverse document frequency, above 0: `ln(1 + (n - f + 0.5) / (f + 0.5))`.
pub fn idf(document_frequency: u64, memories: u64) -> f64 {
    let frequency = document_frequency.min(memories) as f64;
    (1.0 + (memories as f64 - frequency + 0.5) / (frequency + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::analysis::terms::{Term, TermKind};
    use crate::query::{Filters, QueryTerm};

    fn plan(weights: &[f64]) -> Plan {
        let term = |(index, weight): (usize, &f64)| QueryTerm {
            term: Term::new(TermKind::Stem, &format!("term{index}")),
            weight: *weight,
            via: Via::Own,
            detail: String::new(),
            by_length: true,
        };
        Plan {
            terms: weights.iter().enumerate().map(term).collect(),
            vector: None,
            claims: vec![],
            filters: Filters::default(),
            pool: 100,
            neighbours: true,
        }
    }

    fn scorer(memories: u64, mean_length: f64, document_frequencies: &[u64]) -> Scorer {
        let statistics = Statistics {
            memories,
            mean_length,
            document_frequencies: document_frequencies.to_vec(),
        };
        Scorer::new(&plan(&vec![1.0; document_frequencies.len()]), &statistics)
    }

    #[test]
    fn one_term_gives_the_textbook_value() {
        // idf = ln(1 + 7.5 / 3.5), tf part = 2 * 2.2 / (2 + 1.2) at mean length
        let expected = (1.0_f64 + 7.5 / 3.5).ln() * 2.0 * 2.2 / 3.2;
        assert!((scorer(10, 8.0, &[3]).score(&[2], 8) - expected).abs() < 1e-12);
    }

    #[test]
    fn each_further_rare_term_raises_the_score() {
        let scorer = scorer(100, 8.0, &[2, 2, 2]);
        let scores =
            [[1, 0, 0], [1, 1, 0], [1, 1, 1]].map(|frequencies| scorer.score(&frequencies, 8));
        assert!(scores[0] < scores[1] && scores[1] < scores[2], "{scores:?}");
    }

    #[test]
    fn a_term_of_nearly_every_memory_is_left_out_beside_a_rarer_one() {
        assert!(!scorer(100, 8.0, &[95, 3]).counts(0));
        assert!(scorer(100, 8.0, &[95]).counts(0), "nothing rarer remains");
        assert!(
            scorer(3, 8.0, &[3, 1]).counts(0),
            "three memories tell nothing"
        );
    }

    proptest! {
        #[test]
        fn scores_are_finite_and_rise_with_frequency_and_fall_with_length(
            memories in 1_u64..1_000_000, frequency in 0_u64..1_000_000, mean in 0.0_f64..10_000.0,
            count in 1_u32..1000, length in 0_u32..100_000,
        ) {
            let scorer = scorer(memories, mean, &[frequency]);
            let score = scorer.score(&[count], length);
            prop_assert!(score.is_finite() && score >= 0.0);
            prop_assert!(scorer.score(&[count + 1], length) >= score);
            prop_assert!(scorer.score(&[count], length + 1) <= score);
        }
    }
}
