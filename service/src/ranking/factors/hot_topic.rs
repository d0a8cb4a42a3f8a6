//! Hot topics: what the scope talks about these days.

use chrono::NaiveDate;

use crate::analysis::terms::Term;
use crate::ranking::Weights;
use crate::signals::heat;

/// Heat of this size has the full effect.
const FULL: f64 = 3.0;

/// With h the heat of the hot topics that the content holds: `(1 + (boost - 1) min(h/3, 1)) ^
/// influence`, at least 1.0.
pub fn factor(
    topics: &[(Term, NaiveDate)],
    holds: impl Fn(&Term) -> bool,
    today: NaiveDate,
    weights: &Weights,
) -> f64 {
    let held = topics.iter().filter(|(term, _)| holds(term));
    let sum: f64 = held
        .map(|(_, day)| heat(*day, today, weights.hot_topic_decay_half_days))
        .sum();
    super::damped(
        1.0 + (weights.hot_topic_boost - 1.0) * (sum / FULL).min(1.0),
        weights,
    )
}
