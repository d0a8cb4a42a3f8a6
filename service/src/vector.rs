//! Vectors: which model made them, how they are kept, and how they are compared.

use std::fmt;
use std::sync::Arc;

use simsimd::SpatialSimilarity;

/// The identity of an embedding model: vectors of two models are never compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModelId {
    name: Arc<str>,
    dimension: usize,
}

impl ModelId {
    /// `name` says which model it is and how texts are prepared for it; all its vectors have
    /// `dimension` numbers.
    pub fn new(name: &str, dimension: usize) -> ModelId {
        ModelId {
            name: format!("{name}#{dimension}").into(),
            dimension,
        }
    }

    /// Name and dimension in one: what stores keep vectors by.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The vector scaled to unit length, if it can be one of this model: of its dimension, finite and
    /// not zero.
    pub fn unit(&self, mut values: Vec<f32>) -> Option<Vec<f32>> {
        let length = values
            .iter()
            .map(|value| f64::from(*value).powi(2))
            .sum::<f64>()
            .sqrt();
        // A sum of squares shows every NaN and infinity.
        if values.len() != self.dimension || !length.is_finite() || length < SHORTEST {
            return None;
        }
        for value in &mut values {
            *value = (f64::from(*value) / length) as f32;
        }
        Some(values)
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A vector shorter than this has no direction.
const SHORTEST: f64 = 1e-6;

/// What a model makes of a content.
#[derive(Debug, Clone, PartialEq)]
pub struct NewVector {
    pub model: ModelId,
    /// Of any length; empty if the model makes nothing of the content, which is remembered so that
    /// nobody asks again.
    pub values: Vec<f32>,
}

/// The greatest step of a direction.
const GREATEST: f64 = 127.0;
/// A step of a probe's fine part is so many times smaller than one of its coarse part; from half a
/// coarse step downwards it has `GREATEST` of them.
const FINER: f64 = 2.0 * GREATEST;

/// The direction of a vector, in whole steps from -127 to 127 along each dimension, the longest of
/// them 127: a byte for each number. Only directions are compared, so no scale is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Direction(Vec<i8>);

impl Direction {
    /// The direction of a vector, if it can be one of this model: of its dimension, finite and not
    /// zero.
    pub fn of(model: &ModelId, values: Vec<f32>) -> Option<Direction> {
        let unit = model.unit(values)?;
        let scale = GREATEST / longest(&unit);
        let steps = unit.iter().map(|value| whole(f64::from(*value) * scale));
        Some(Direction(steps.collect()))
    }

    pub fn steps(&self) -> &[i8] {
        &self.0
    }
}

/// How long a direction is, in steps: what [`Probe::cosine`] divides by.
pub fn length(steps: &[i8]) -> f64 {
    product(steps, steps).sqrt()
}

/// The vector of a query, to be compared with many directions.
///
/// It is kept twice as finely as a direction, in two parts of whole steps, so that the comparison is
/// exact arithmetic of whole numbers: the same on every machine, in every order.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    coarse: Vec<i8>,
    fine: Vec<i8>,
    /// Of a coarse step.
    scale: f64,
}

impl Probe {
    /// `unit` has unit length.
    pub fn new(unit: &[f32]) -> Probe {
        let scale = longest(unit) / GREATEST;
        let (mut coarse, mut fine) = (Vec::new(), Vec::new());
        for value in unit {
            let steps = f64::from(*value) / scale;
            let step = whole(steps);
            coarse.push(step);
            fine.push(whole((steps - f64::from(step)) * FINER));
        }
        Probe {
            coarse,
            fine,
            scale,
        }
    }

    /// The cosine with a direction, given its [`length`]; 0 if it has another dimension.
    pub fn cosine(&self, steps: &[i8], length: f64) -> f64 {
        let sum = product(&self.coarse, steps) + product(&self.fine, steps) / FINER;
        (sum * self.scale / length).clamp(-1.0, 1.0)
    }
}

/// The greatest absolute value.
fn longest(values: &[f32]) -> f64 {
    values
        .iter()
        .map(|value| f64::from(value.abs()))
        .fold(f64::MIN_POSITIVE, f64::max)
}

/// The nearest whole number of steps.
fn whole(steps: f64) -> i8 {
    steps.round().clamp(-GREATEST, GREATEST) as i8
}

/// The scalar product; 0 of two that cannot be multiplied.
fn product(one: &[i8], other: &[i8]) -> f64 {
    <i8 as SpatialSimilarity>::dot(one, other).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MODEL: &str = "toy";

    fn model(dimension: usize) -> ModelId {
        ModelId::new(MODEL, dimension)
    }

    fn exact(one: &[f32], other: &[f32]) -> f64 {
        one.iter()
            .zip(other)
            .map(|(one, other)| f64::from(*one) * f64::from(*other))
            .sum()
    }

    #[test]
    fn a_direction_needs_a_vector_of_the_model() {
        let model = model(2);
        for (values, steps) in [
            (vec![3.0, -6.0], Some(&[64_i8, -127][..])),
            (vec![0.5, 0.0], Some(&[127, 0][..])),
            (vec![0.0, 0.0], None),
            (vec![1e-9, 0.0], None),
            (vec![f32::NAN, 1.0], None),
            (vec![f32::INFINITY, 1.0], None),
            (vec![1.0], None),
            (vec![1.0, 0.0, 0.0], None),
            (vec![], None),
        ] {
            let direction = Direction::of(&model, values.clone());
            assert_eq!(
                direction.as_ref().map(Direction::steps),
                steps,
                "{values:?}"
            );
        }
    }

    #[test]
    fn another_dimension_is_as_far_as_can_be() {
        let probe = Probe::new(&[1.0, 0.0]);
        assert!(probe.cosine(&[127, 0, 0], 127.0).abs() < f64::EPSILON);
    }

    proptest! {
        /// Half a step in each dimension, at most, is lost of a stored vector, and nearly nothing of
        /// a query's.
        #[test]
        fn cosines_are_those_of_the_vectors(
            one in prop::collection::vec(-1.0_f32..1.0, 64),
            other in prop::collection::vec(-1.0_f32..1.0, 64),
        ) {
            let model = model(64);
            let (Some(one), Some(other)) = (model.unit(one), model.unit(other)) else {
                return Ok(());
            };
            let direction = Direction::of(&model, other.clone()).unwrap();
            let cosine = Probe::new(&one).cosine(direction.steps(), length(direction.steps()));
            prop_assert!((cosine - exact(&one, &other)).abs() < 0.006);
        }

        #[test]
        fn a_vector_is_nearest_to_itself(values in prop::collection::vec(-1.0_f32..1.0, 3..300)) {
            let model = model(values.len());
            let Some(unit) = model.unit(values) else { return Ok(()) };
            let direction = Direction::of(&model, unit.clone()).unwrap();
            let cosine = Probe::new(&unit).cosine(direction.steps(), length(direction.steps()));
            prop_assert!(cosine > 0.9995, "{cosine}");
        }

        /// A vector that is read back and kept again, in another store, stays what it is.
        #[test]
        fn the_direction_of_a_direction_is_the_same(values in prop::collection::vec(-1.0_f32..1.0, 3..64)) {
            let model = model(values.len());
            let Some(direction) = Direction::of(&model, values) else { return Ok(()) };
            let read = direction.steps().iter().map(|step| f32::from(*step)).collect();
            prop_assert_eq!(Direction::of(&model, read), Some(direction));
        }
    }
}
