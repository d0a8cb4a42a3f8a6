//! Cosines of a query's vector and all vectors of its model in a namespace, exactly.

use rusqlite::Connection;

use super::sqlite::vectors;
use crate::query::VectorQuery;
use crate::store::StoreError;

/// A memory that has a vector of the query's model.
pub(super) struct Near {
    /// Of its row.
    pub number: i64,
    pub cosine: f64,
}

/// All of them, the nearest first; ties: newer, then id.
pub(super) fn nearest(
    connection: &Connection,
    namespace: &str,
    query: Option<&VectorQuery>,
) -> Result<Vec<Near>, StoreError> {
    let mut near = Vec::new();
    let Some(query) = query else {
        return Ok(near);
    };
    // Rows come the newest first, then by id, and the sort below is stable.
    vectors::each(connection, &query.model, namespace, |number, blob| {
        let (values, _) = blob.as_chunks::<4>();
        if values.len() == query.values.len() {
            near.push(Near {
                number,
                cosine: cosine(values, &query.values),
            });
        }
    })?;
    near.sort_by(|one, other| other.cosine.total_cmp(&one.cosine));
    Ok(near)
}

/// The scalar product of two vectors of unit length.
fn cosine(stored: &[[u8; 4]], query: &[f32]) -> f64 {
    let products = stored.iter().zip(query);
    f64::from(
        products
            .map(|(stored, query)| f32::from_le_bytes(*stored) * query)
            .sum::<f32>(),
    )
}
