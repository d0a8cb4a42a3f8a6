//! Time decay: what was told long ago counts less, down to a floor.

use chrono::{DateTime, Utc};

use crate::ranking::Weights;

const SECONDS_A_DAY: f64 = 86_400.0;

/// `max(2^(-age_days / half_days), floor) ^ influence`, 0.0 to 1.0; the future has age 0.
pub fn factor(told_at: DateTime<Utc>, now: DateTime<Utc>, weights: &Weights) -> f64 {
    let age_days = (now - told_at).num_seconds().max(0) as f64 / SECONDS_A_DAY;
    let decay = (-age_days / weights.decay_half_days)
        .exp2()
        .max(weights.decay_floor);
    super::damped(decay, weights)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn check(age_days: i64, expected: f64) {
        let now = DateTime::from_timestamp(1_700_000_000, 0).expect("a valid time");
        let weights = Weights {
            factor_influence: 1.0,
            decay_floor: 0.3,
            ..Weights::default()
        };
        let found = factor(now - TimeDelta::days(age_days), now, &weights);
        assert!((found - expected).abs() < 1e-12, "{age_days} days: {found}");
    }

    #[test]
    fn a_memory_halves_in_its_half_life_and_stops_at_the_floor() {
        check(0, 1.0);
        check(60, 0.5);
        check(400, 0.3);
        check(-30, 1.0);
    }
}
