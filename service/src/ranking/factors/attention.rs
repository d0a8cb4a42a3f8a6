//! Attention: what the scope has dwelt on over the years.

use crate::analysis::terms::Term;
use crate::ranking::Weights;

/// With s the share of the top topics' attention that the content holds:
/// `(1 + (boost_max - 1) s) ^ influence`, at least 1.0.
pub fn factor(topics: &[(Term, f64)], holds: impl Fn(&Term) -> bool, weights: &Weights) -> f64 {
    let all: f64 = topics.iter().map(|(_, score)| score).sum();
    let held: f64 = topics
        .iter()
        .filter(|(term, _)| holds(term))
        .map(|(_, score)| score)
        .sum();
    let share = if all > 0.0 { held / all } else { 0.0 };
    super::damped(1.0 + (weights.attention_boost_max - 1.0) * share, weights)
}
