//! Cosines of a query's vector and all vectors of its model, exactly.

use std::collections::HashMap;

use rusqlite::Connection;

use super::index::tail::Shelf;
use super::sqlite::vectors;
use crate::query::VectorQuery;
use crate::store::StoreError;

/// The cosine of each living slot that has a vector of the query's model.
pub(super) fn cosines(
    connection: &Connection,
    shelf: &Shelf,
    query: Option<&VectorQuery>,
) -> Result<HashMap<u32, f64>, StoreError> {
    let mut cosines = HashMap::new();
    let Some(query) = query else {
        return Ok(cosines);
    };
    let slots: HashMap<i64, u32> = shelf.living().map(|(slot, row)| (row, slot)).collect();
    vectors::each(connection, &query.model, |row, blob| {
        let (values, _) = blob.as_chunks::<4>();
        if let Some(slot) = slots.get(&row)
            && values.len() == query.values.len()
        {
            cosines.insert(*slot, cosine(values, &query.values));
        }
    })?;
    Ok(cosines)
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
