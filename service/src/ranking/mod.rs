//! Numbers in, order out. Pure: no clock, no store, no errors; equal input gives equal output, in
//! order too.
//!
//! [`fusion`] turns what was retrieved into similarities, [`rank`] multiplies the six factors and
//! sorts, [`evidence`] judges what is worth showing, [`identical`] drops what says the same twice.

pub mod bm25;
pub mod evidence;
pub mod explanation;
pub mod factors;
pub mod fusion;
pub mod identical;
pub mod noise;
#[cfg(test)]
mod properties;

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::memory::Memory;
use crate::signals::Signals;
use explanation::{Factors, Found};
use fusion::Fusion;

/// Constants of the six factors; what each means and its default is in the configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Half-life of a memory in days, above 0.
    pub decay_half_days: f64,
    /// Least value of the decay before it is damped, 0.0 to 1.0.
    pub decay_floor: f64,
    /// Half-life of a topic in days, above 0.
    pub hot_topic_decay_half_days: f64,
    /// Boost of a wholly positive and of a wholly negative memory, at least 1.0.
    pub sentiment_boost_positive: f64,
    pub sentiment_boost_negative: f64,
    /// Share of emotional intensity that counts, 0.0 to 1.0.
    pub emotion_intensity_factor: f64,
    /// Factor after three times "useful", at least 1.0, and after "useless", 0.0 to 1.0.
    pub feedback_positive_boost: f64,
    pub feedback_negative_penalty: f64,
    /// Largest boost by hot topics and by attention, at least 1.0.
    pub hot_topic_boost: f64,
    pub attention_boost_max: f64,
    /// Exponent that damps all factors but feedback, 0.0 to 1.0.
    pub factor_influence: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Weights {
            decay_half_days: 60.0,
            decay_floor: 0.5,
            hot_topic_decay_half_days: 30.0,
            sentiment_boost_positive: 1.5,
            sentiment_boost_negative: 1.3,
            emotion_intensity_factor: 0.4,
            feedback_positive_boost: 1.3,
            feedback_negative_penalty: 0.5,
            hot_topic_boost: 1.2,
            attention_boost_max: 1.5,
            factor_influence: 0.2,
        }
    }
}

impl Weights {
    /// Similarity alone: every other factor is exactly 1.0.
    pub fn off() -> Weights {
        Weights {
            decay_floor: 1.0,
            sentiment_boost_positive: 1.0,
            sentiment_boost_negative: 1.0,
            emotion_intensity_factor: 0.0,
            feedback_positive_boost: 1.0,
            feedback_negative_penalty: 1.0,
            hot_topic_boost: 1.0,
            attention_boost_max: 1.0,
            ..Weights::default()
        }
    }
}

/// A candidate with its similarity, ready to be ranked.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    pub memory: Arc<Memory>,
    /// Its index among the candidates.
    pub candidate: usize,
    /// 0.0 to 1.0, relative to the best of its pool.
    pub similarity: f64,
    /// How much of the query it provably answers, unnormalised (see [`evidence`]).
    pub evidence: f64,
    /// The two parts of the similarity, each for itself.
    pub parts: Parts,
}

/// What words and meaning say of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Parts {
    /// BM25 with what neighbours lend, over the pool's best: 0.0 to 1.0.
    pub lexical: f64,
    /// Cosine of its vector and the query's, if both have one.
    pub cosine: Option<f64>,
}

/// A memory in its place, with the numbers behind its score.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    pub memory: Arc<Memory>,
    /// Its index among the candidates.
    pub candidate: usize,
    pub factors: Factors,
    pub evidence: f64,
    pub parts: Parts,
}

impl Ranked {
    /// The product of the factors.
    pub fn score(&self) -> f64 {
        self.factors.product()
    }

    /// The same with the reasons why it was found.
    pub fn with_reasons(&self, fusion: &Fusion<'_>) -> Hit {
        Hit {
            memory: self.memory.clone(),
            factors: self.factors,
            parts: self.parts,
            found_by: fusion.found_by(self.candidate),
        }
    }
}

/// A memory that is returned, with the numbers and reasons behind its score.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub memory: Arc<Memory>,
    pub factors: Factors,
    pub parts: Parts,
    pub found_by: Vec<Found>,
}

impl Hit {
    /// The product of the factors.
    pub fn score(&self) -> f64 {
        self.factors.product()
    }
}

/// Applies the six factors and sorts: best score first, then the newer, then by id.
pub fn rank(
    scored: Vec<Scored>,
    signals: &Signals,
    weights: &Weights,
    now: DateTime<Utc>,
) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = scored
        .into_iter()
        .map(|scored| Ranked {
            factors: factors::all(&scored, signals, weights, now),
            memory: scored.memory,
            candidate: scored.candidate,
            evidence: scored.evidence,
            parts: scored.parts,
        })
        .collect();
    ranked.sort_by(|left, right| {
        let better = right.score().total_cmp(&left.score());
        better.then_with(|| left.memory.tie(&right.memory))
    });
    ranked
}
