//! Feedback: what was useful rises, what was useless sinks. Never damped: a person said so.

use crate::ranking::Weights;

/// Feedback of this size has the full effect.
const FULL: f64 = 3.0;

/// `1 + (boost - 1) min(f/3, 1)` for positive feedback, `1 - (1 - penalty) min(|f|/3, 1)` for
/// negative; 1.0 without any.
pub fn factor(feedback: f64, weights: &Weights) -> f64 {
    let strength = (feedback.abs() / FULL).min(1.0);
    if feedback > 0.0 {
        1.0 + (weights.feedback_positive_boost - 1.0) * strength
    } else {
        1.0 - (1.0 - weights.feedback_negative_penalty) * strength
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feedback_has_its_full_effect_at_three() {
        let weights = Weights::default();
        for (feedback, expected) in [
            (0.0, 1.0),
            (1.0, 1.1),
            (3.0, 1.3),
            (9.0, 1.3),
            (-2.0, 2.0 / 3.0),
            (-3.0, 0.5),
            (-8.0, 0.5),
        ] {
            assert!(
                (factor(feedback, &weights) - expected).abs() < 1e-12,
                "{feedback}"
            );
        }
    }
}
