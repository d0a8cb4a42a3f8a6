//! Vectors: which model made them, how they are kept, and how they are compared.

use std::fmt;
use std::sync::Arc;

use pulp::{Arch, Simd, WithSimd};

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

    /// The identity that [`ModelId::as_str`] gave.
    pub fn parse(identity: &str) -> Option<ModelId> {
        let (name, dimension) = identity.rsplit_once('#')?;
        Some(ModelId::new(name, dimension.parse().ok()?))
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

/// How long a direction is, in steps: what a product is divided by for a cosine.
pub fn length(steps: &[i8]) -> f64 {
    let squares = steps.iter().map(|step| i64::from(*step).pow(2));
    (squares.sum::<i64>() as f64).sqrt()
}

/// The vector of a query, to be compared with many directions.
///
/// It is kept in steps, too, but much finer ones, so that the comparison is exact arithmetic of whole
/// numbers: the same on every machine, in every order.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    steps: Vec<i16>,
    /// Of a step.
    scale: f64,
}

impl Probe {
    /// `unit` has unit length.
    pub fn new(unit: &[f32]) -> Probe {
        // No product is greater than the product of both lengths, so none overflows.
        let longest_direction = GREATEST * (unit.len() as f64).sqrt();
        let length = (f64::from(i16::MAX) / longest(unit)).min(LARGEST_PRODUCT / longest_direction);
        let steps = unit
            .iter()
            .map(|value| (f64::from(*value) * length).round() as i16);
        Probe {
            steps: steps.collect(),
            scale: length.recip(),
        }
    }

    /// The products with directions of the probe's dimension that lie one after the other.
    pub fn products(&self, directions: &[i8], products: &mut [i32]) {
        Arch::new().dispatch(Products {
            probe: &self.steps,
            directions,
            products,
        });
    }

    /// The cosine with a direction, given the [product](Probe::products) and the [`length`].
    pub fn cosine(&self, product: i32, length: f64) -> f64 {
        (f64::from(product) * self.scale / length).clamp(-1.0, 1.0)
    }
}

/// Largest product of a probe and a direction, with room for rounding.
const LARGEST_PRODUCT: f64 = 2_000_000_000.0;

/// Products of a probe and many directions, compiled for several kinds of processors.
struct Products<'a> {
    probe: &'a [i16],
    directions: &'a [i8],
    products: &'a mut [i32],
}

impl WithSimd for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let directions = self.directions.chunks_exact(self.probe.len().max(1));
        for (product, steps) in self.products.iter_mut().zip(directions) {
            let pairs = self.probe.iter().zip(steps);
            *product = pairs
                .map(|(probe, step)| i32::from(*probe) * i32::from(*step))
                .sum();
        }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MODEL: &str = "toy";

    fn model(dimension: usize) -> ModelId {
        ModelId::new(MODEL, dimension)
    }

    #[test]
    fn the_identity_of_a_model_is_read_back() {
        let model = ModelId::new("a#b", 256);
        assert_eq!(ModelId::parse(model.as_str()), Some(model));
        assert_eq!(ModelId::parse("a"), None);
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

    fn cosine(unit: &[f32], direction: &Direction) -> f64 {
        let (probe, mut products) = (Probe::new(unit), [0]);
        probe.products(direction.steps(), &mut products);
        probe.cosine(products[0], length(direction.steps()))
    }

    #[test]
    fn the_longest_vectors_do_not_overflow() {
        for dimension in [1, 256, 4_096] {
            let model = model(dimension);
            let unit = model.unit(vec![-1.0; dimension]).unwrap();
            let direction = Direction::of(&model, unit.clone()).unwrap();
            assert!(cosine(&unit, &direction) > 0.9999);
        }
    }

    #[test]
    fn many_directions_are_compared_at_once() {
        let probe = Probe::new(&[0.6, 0.8]);
        let mut products = [0; 3];
        probe.products(&[127, 0, 0, 127, -127, 0], &mut products);
        let cosines = products.map(|product| probe.cosine(product, 127.0));
        for (cosine, expected) in cosines.into_iter().zip([0.6, 0.8, -0.6]) {
            assert!((cosine - expected).abs() < 1e-4, "{cosine}");
        }
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
            prop_assert!((cosine(&one, &direction) - exact(&one, &other)).abs() < 0.006);
        }

        #[test]
        fn a_vector_is_nearest_to_itself(values in prop::collection::vec(-1.0_f32..1.0, 3..300)) {
            let model = model(values.len());
            let Some(unit) = model.unit(values) else { return Ok(()) };
            let direction = Direction::of(&model, unit.clone()).unwrap();
            let cosine = cosine(&unit, &direction);
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
