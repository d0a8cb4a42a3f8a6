//! Vectors that follow their memories, and which memories have one (see `VectorStore`).

use async_trait::async_trait;

use super::EmbeddedStore;
use super::sqlite::vectors;
use crate::memory::MemoryId;
use crate::store::{LateVector, StoreError, VectorStore};
use crate::vector::ModelId;

#[async_trait]
impl VectorStore for EmbeddedStore {
    async fn put_vectors(
        &self,
        model: &ModelId,
        late: Vec<LateVector>,
    ) -> Result<usize, StoreError> {
        let model = model.clone();
        self.write(move |transaction, _| vectors::put_late(transaction, &model, late))
            .await
    }

    async fn without_vector(
        &self,
        model: &ModelId,
        after: Option<&MemoryId>,
        limit: usize,
    ) -> Result<Vec<(MemoryId, String)>, StoreError> {
        let (model, after) = (model.clone(), after.cloned());
        self.read(move |connection, _| vectors::missing(connection, &model, after.as_ref(), limit))
            .await
    }

    async fn vector_counts(&self, model: &ModelId) -> Result<(u64, u64), StoreError> {
        let model = model.clone();
        self.read(move |connection, _| vectors::counts(connection, &model))
            .await
    }
}
