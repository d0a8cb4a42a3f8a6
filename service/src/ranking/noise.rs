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

/// How a query sounds to a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hearing {
    pub noise: Noise,
    /// Cosine of the query and the nearest thing that people say in passing, such as "thanks".
    pub small_talk: f64,
}

/// Deviations above the noise from which a cosine is a reason to be found, and from which it is
/// evidence for prefetch: of the built-in model 0.23 and 0.25.
const HEARD: f64 = 3.0;
const EVIDENT: f64 = 3.4;

impl Hearing {
    /// Whether a cosine is a reason to be found.
    pub fn hears(&self, cosine: f64) -> bool {
        self.noise.above(cosine) >= HEARD
    }

    /// Whether a cosine is evidence that nobody needs to ask for: clear of the noise, and not of a
    /// query that is nearer to small talk. One that names much is no small talk, however it sounds.
    pub fn is_evident(&self, cosine: f64, names_much: bool) -> bool {
        self.noise.above(cosine) >= EVIDENT && (names_much || cosine >= self.small_talk)
    }
}
