//! The factors, one function from plain numbers to one number each.

pub mod attention;
pub mod decay;
pub mod emotion;
pub mod feedback;
pub mod hot_topic;

use chrono::{DateTime, Utc};

use crate::signals::Signals;

use super::explanation::Factors;
use super::{Scored, Weights};

/// All six factors of a candidate.
pub fn all(
    candidate: &Scored,
    signals: &Signals,
    weights: &Weights,
    now: DateTime<Utc>,
) -> Factors {
    let memory = &candidate.memory;
    let holds = |term: &crate::analysis::terms::Term| memory.analysis.terms.contains(term);
    Factors {
        similarity: candidate.similarity,
        decay: decay::factor(memory.told_at(), now, weights),
        emotion: emotion::factor(&memory.analysis.emotion, weights),
        feedback: feedback::factor(memory.feedback, weights),
        hot_topic: hot_topic::factor(&signals.hot_topics, holds, now.date_naive(), weights),
        attention: attention::factor(&signals.attention, holds, weights),
    }
}

/// Damps a factor so that a bonus cannot outweigh what the memory says.
fn damped(factor: f64, weights: &Weights) -> f64 {
    factor.powf(weights.factor_influence)
}
