//! Emotion: what was said with feeling stays in mind.

use crate::analysis::emotion::Emotion;
use crate::ranking::Weights;

/// Largest intensity that counts.
const MOST_INTENSE: f64 = 2.0;

/// `(1 + (boost - 1) |polarity| + intensity_factor min(intensity, 2)) ^ influence`, at least 1.0;
/// the boost is the one of the polarity's sign. Damped like the others: undamped it costs locomo-en
/// and the Chinese sets more than 0.01 nDCG@10.
pub fn factor(emotion: &Emotion, weights: &Weights) -> f64 {
    let boost = if emotion.polarity < 0.0 {
        weights.sentiment_boost_negative
    } else {
        weights.sentiment_boost_positive
    };
    let feeling = (boost - 1.0) * emotion.polarity.abs().min(1.0);
    let intensity = weights.emotion_intensity_factor * emotion.intensity.clamp(0.0, MOST_INTENSE);
    super::damped(1.0 + feeling + intensity, weights)
}
