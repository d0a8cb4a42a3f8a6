//! Vectors: a field of the indexed hash for each model, and which memories have one.
//!
//! A field holds the steps of a [`Direction`] as single-precision numbers, so the engine finds the
//! nearest; the cosine that counts is computed from the same whole numbers as in every other store.
//! The field `models` has a mark for each model that was asked about the content, also for one that
//! makes nothing of it. A model gets its field in the index when it is first met.

use std::collections::BTreeMap;
use std::time::Instant;

use async_trait::async_trait;
use data_encoding::HEXLOWER;
use redis::{Cmd, Pipeline};
use sha2::{Digest, Sha256};

use super::errors::explained;
use super::index::{BETWEEN_LOOKS, building, tolerate};
use super::transaction::unexpected;
use super::values::{answers, list, number, texts};
use super::{RedisStore, writing};
use crate::memory::MemoryId;
use crate::store::{LateVector, StoreError, VectorStore};
use crate::vector::{Direction, ModelId, NewVector, Probe, length};

/// What the fields of vectors begin with; the mark of the model follows.
pub(super) const FIELD: &str = "vec_";
/// Eight hexadecimal digits tell models apart.
const MARK_BYTES: usize = 4;
/// Memories that are looked at in one exchange.
const BATCH: usize = 500;

/// The short name of a model.
pub(super) fn mark(model: &ModelId) -> String {
    let hash = Sha256::digest(model.as_str().as_bytes());
    HEXLOWER.encode(&hash[..MARK_BYTES])
}

/// The field that holds the vectors of a model.
pub(super) fn field(model: &ModelId) -> String {
    format!("{FIELD}{}", mark(model))
}

/// What is to become of the vectors of a memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Vectors {
    /// Those of all models are forgotten first.
    pub are_forgotten: bool,
    pub put: Vec<Vector>,
}

/// The vector of a memory.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Vector {
    pub model: ModelId,
    /// As the engine takes it; nothing if the model makes nothing of the content.
    numbers: Vec<u8>,
}

impl Vector {
    /// `None` for one that cannot be a vector of its model.
    pub(super) fn of(vector: &NewVector) -> Option<Vector> {
        let numbers = if vector.values.is_empty() {
            Vec::new()
        } else {
            let direction = Direction::of(&vector.model, vector.values.clone())?;
            bytes(direction.steps().iter().map(|step| f32::from(*step)))
        };
        Some(Vector {
            model: vector.model.clone(),
            numbers,
        })
    }

    /// The command that gives it to the memory at a key.
    pub(super) fn command(self, key: &str) -> [Vec<u8>; 5] {
        let (field, mark) = (field(&self.model), mark(&self.model));
        [
            "MEAN".into(),
            key.into(),
            field.into(),
            mark.into(),
            self.numbers,
        ]
    }
}

impl Vectors {
    /// Names and values of the fields of a memory that is written for the first time.
    pub(super) fn of_a_new_memory(self) -> Vec<Vec<u8>> {
        let numbers: BTreeMap<String, (String, Vec<u8>)> = self
            .put
            .into_iter()
            .map(|vector| (mark(&vector.model), (field(&vector.model), vector.numbers)))
            .collect();
        if numbers.is_empty() {
            return Vec::new();
        }
        let marks: Vec<&str> = numbers.keys().map(String::as_str).collect();
        let mut fields = vec!["models".into(), marks.join(" ").into_bytes()];
        for (field, numbers) in numbers.into_values().filter(|(_, them)| !them.is_empty()) {
            fields.extend([field.into_bytes(), numbers]);
        }
        fields
    }
}

/// Numbers as the engine takes them.
pub(super) fn bytes(numbers: impl Iterator<Item = f32>) -> Vec<u8> {
    numbers.flat_map(f32::to_le_bytes).collect()
}

/// A vector as the engine holds it, in steps; `None` for what is none.
pub(super) fn steps(held: &[u8]) -> Option<Box<[i8]>> {
    let (numbers, rest) = held.as_chunks::<4>();
    let steps = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes) as i8);
    rest.is_empty().then(|| steps.collect())
}

/// The cosine of a query and of a vector; `None` for one of another model.
pub(super) fn cosine(probe: &Probe, dimension: usize, steps: &[i8]) -> Option<f64> {
    if steps.len() != dimension {
        return None;
    }
    let mut product = [0];
    probe.products(steps, &mut product);
    Some(probe.cosine(product[0], length(steps)))
}

/// Adds the field of a model to the definition of an index.
pub(super) fn declare(definition: &mut Cmd, model: &ModelId) {
    definition.arg(field(model)).arg("VECTOR").arg("FLAT");
    definition.arg(6).arg("TYPE").arg("FLOAT32");
    definition.arg("DIM").arg(model.dimension());
    definition.arg("DISTANCE_METRIC").arg("COSINE");
}

impl RedisStore {
    /// Makes sure, once for each model, that the index has a field for its vectors.
    pub(super) async fn meant(&self, model: &ModelId) -> Result<(), StoreError> {
        self.prepared().await?;
        if self.inner.meant().contains(model) {
            return Ok(());
        }
        let _one = self.inner.preparing.lock().await;
        if self.inner.meant().contains(model) {
            return Ok(());
        }
        let mut note = redis::cmd("HSET");
        note.arg(self.inner.keys.models())
            .arg(mark(model))
            .arg(model.as_str());
        self.inner.connection.command(&note).await?;
        let index = self.generation_in_use().await?;
        let missing = || StoreError::Unavailable(explained("the search index is not there"));
        let found = self.index(&index).await?.ok_or_else(missing)?;
        if !found.fields.contains(&field(model)) {
            let mut add = redis::cmd("FT.ALTER");
            add.arg(&index).arg("SCHEMA").arg("ADD");
            declare(&mut add, model);
            tolerate(self.inner.connection.command(&add).await, "duplicate")?;
        }
        let began = Instant::now();
        loop {
            let found = self.index(&index).await?.ok_or_else(missing)?;
            if found.is_complete {
                break;
            }
            if began.elapsed() > self.inner.search_timeout {
                return Err(building(found.progress));
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        self.inner.meant().insert(model.clone());
        Ok(())
    }

    /// The models that memories have vectors of.
    pub(super) async fn models(&self) -> Result<Vec<ModelId>, StoreError> {
        let mut all = redis::cmd("HVALS");
        all.arg(self.inner.keys.models());
        let names = texts(self.inner.connection.command(&all).await?)?;
        Ok(names
            .iter()
            .filter_map(|name| ModelId::parse(name))
            .collect())
    }

    /// How many of the memories that the index holds match.
    async fn counts<const N: usize>(&self, queries: [String; N]) -> Result<[u64; N], StoreError> {
        self.prepared().await?;
        let mut pipeline = Pipeline::new();
        for query in queries {
            let count = pipeline.cmd("FT.SEARCH").arg(self.inner.keys.alias());
            count.arg(query).arg("NOCONTENT").arg("LIMIT").arg(0);
            count.arg(0).arg("DIALECT").arg(2);
        }
        let answers = self.inner.connection.pipeline(&pipeline).await?;
        let counts = answers
            .into_iter()
            .map(total)
            .collect::<Result<Vec<_>, _>>()?;
        counts.try_into().map_err(|_| unexpected())
    }
}

/// How many results a search says that there are, in either protocol.
fn total(answer: redis::Value) -> Result<u64, StoreError> {
    let items = list(answer)?;
    let mut named = items.chunks_exact(2);
    let found = match items.first().cloned().and_then(number) {
        Some(total) => Some(total),
        None => named
            .find(|pair| super::values::text(pair[0].clone()).as_deref() == Some("total_results"))
            .and_then(|pair| number(pair[1].clone())),
    };
    found
        .and_then(|total| u64::try_from(total).ok())
        .ok_or_else(unexpected)
}

#[async_trait]
impl VectorStore for RedisStore {
    async fn put_vectors(
        &self,
        model: &ModelId,
        late: Vec<LateVector>,
    ) -> Result<usize, StoreError> {
        let ids: Vec<MemoryId> = late.iter().map(|vector| vector.id.clone()).collect();
        self.write_about(&ids, |draft| {
            let mut put = 0;
            for vector in &late {
                put += usize::from(writing::put_late(draft, model, vector)?);
            }
            Ok(put)
        })
        .await
    }

    async fn without_vector(
        &self,
        model: &ModelId,
        after: Option<&MemoryId>,
        limit: usize,
    ) -> Result<Vec<(MemoryId, String)>, StoreError> {
        let (mut found, mut after) = (Vec::new(), after.cloned());
        if self.vector_counts(model).await?.1 == 0 {
            return Ok(found);
        }
        let mark = mark(model);
        while found.len() < limit {
            let ids = self.ids_after(after.as_ref(), BATCH).await?;
            let mut pipeline = Pipeline::new();
            for id in &ids {
                let get = pipeline.cmd("HMGET").arg(self.inner.keys.fragment(id));
                get.arg("models").arg("analysis_version").arg("content");
            }
            if ids.is_empty() {
                break;
            }
            let told = self.inner.connection.pipeline(&pipeline).await?;
            for (id, told) in ids.iter().zip(told) {
                let mut fields = answers(told).ok_or_else(unexpected)?.into_iter();
                let mut next = || String::from_utf8(fields.next().flatten()?).ok();
                let (models, version, content) = (next().unwrap_or_default(), next(), next());
                let has_one = models.split(' ').any(|model| model == mark);
                if let (Some(_), Some(content), false) = (version, content, has_one) {
                    found.push((id.clone(), content));
                }
            }
            after = ids.last().cloned();
        }
        found.truncate(limit);
        Ok(found)
    }

    async fn vector_counts(&self, model: &ModelId) -> Result<(u64, u64), StoreError> {
        // What is not adopted yet has no number of bytes.
        let mark = mark(model);
        let [with, without] = self
            .counts([
                format!("@bytes:[0 +inf] @models:{{{mark}}}"),
                format!("@bytes:[0 +inf] -@models:{{{mark}}}"),
            ])
            .await?;
        Ok((with, without))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(name: &str, values: &[f32]) -> Option<Vector> {
        let model = ModelId::new(name, 2);
        let values = values.to_vec();
        Vector::of(&NewVector { model, values })
    }

    #[test]
    fn a_vector_comes_back_with_the_cosines_of_its_direction() {
        let held = vector("toy", &[0.3, 0.4]).unwrap();
        let probe = Probe::new(&[1.0, 0.0]);
        let read = steps(&held.numbers).unwrap();
        assert!((cosine(&probe, 2, &read).unwrap() - 0.6).abs() < 0.01);
        assert_eq!(cosine(&probe, 3, &read), None);
        assert_eq!(steps(&held.numbers[1..]), None);
    }

    #[test]
    fn a_new_memory_has_one_field_for_each_model_and_a_mark_for_each() {
        let put = [
            vector("one", &[1.0, 0.0]),
            vector("two", &[]),
            vector("one", &[0.0, 1.0]),
        ];
        let vectors = Vectors {
            put: put.into_iter().flatten().collect(),
            ..Vectors::default()
        };
        let fields = vectors.of_a_new_memory();
        let (one, two) = (ModelId::new("one", 2), ModelId::new("two", 2));
        assert_eq!(fields.len(), 4);
        let marks = String::from_utf8(fields[1].clone()).unwrap();
        assert!(marks.contains(&mark(&one)) && marks.contains(&mark(&two)));
        assert_eq!(fields[2], field(&one).into_bytes());
        assert_eq!(fields[3], bytes([0.0, 127.0].into_iter()));
    }
}
