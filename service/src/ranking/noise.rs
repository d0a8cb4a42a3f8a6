//! What a model's cosines are worth: texts that have nothing in common come near each other, too.

/// The distribution of a model's cosines between unrelated texts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    pub mean: f64,
    /// Standard deviation, above 0.
    pub deviation: f64,
}

impl Noise {
    /// By how many deviations a cosine stands above what unrelated texts have.
    pub fn above(&self, cosine: f64) -> f64 {
        (cosine - self.mean) / self.deviation
    }
}
