//! Vectors, by the row of their memory and the identity of their model. A blob holds little-endian
//! `f32` of unit length; an empty one says that the model makes nothing of the content.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::{from_sqlite, memories};
use crate::memory::{MemoryId, ModelId, NewVector};
use crate::store::{LateVector, StoreError};

/// Gives a row its vector, in place of an older one of the model. One that cannot be a vector of its
/// model is not stored; whether one was.
pub(crate) fn put(
    transaction: &Transaction<'_>,
    number: i64,
    vector: Option<NewVector>,
) -> Result<bool, StoreError> {
    let Some(NewVector { model, values }) = vector else {
        return Ok(false);
    };
    let unit = if values.is_empty() {
        Some(values)
    } else {
        model.unit(values)
    };
    let Some(values) = unit else {
        return Ok(false);
    };
    let blob: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let mut statement = transaction
        .prepare_cached("INSERT INTO vectors (number, model, vector) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET vector = excluded.vector")
        .map_err(from_sqlite)?;
    statement
        .execute(params![number, model.as_str(), blob])
        .map_err(from_sqlite)?;
    Ok(true)
}

/// Takes a row its vectors, of all models.
pub(crate) fn drop_all(transaction: &Transaction<'_>, number: i64) -> Result<(), StoreError> {
    transaction
        .execute("DELETE FROM vectors WHERE number = ?1", [number])
        .map(|_| ())
        .map_err(from_sqlite)
}

/// See `VectorStore::put_vectors`.
pub(crate) fn put_late(
    transaction: &Transaction<'_>,
    model: &ModelId,
    late: Vec<LateVector>,
) -> Result<usize, StoreError> {
    let mut added = 0;
    for vector in late {
        let mut statement = transaction
            .prepare_cached("SELECT number FROM memories WHERE id = ?1 AND content_hash = ?2")
            .map_err(from_sqlite)?;
        let number = statement
            .query_row(params![vector.id.as_str(), vector.content_hash], |row| {
                row.get::<_, i64>(0)
            })
            .optional()
            .map_err(from_sqlite)?;
        let Some(number) = number else { continue };
        let vector = NewVector {
            model: model.clone(),
            values: vector.values,
        };
        if put(transaction, number, Some(vector))? {
            let seq = memories::next_seq(transaction)?;
            transaction
                .prepare_cached("UPDATE memories SET seq = ?1 WHERE number = ?2")
                .and_then(|mut statement| statement.execute([seq, number]))
                .map_err(from_sqlite)?;
            added += 1;
        }
    }
    Ok(added)
}

/// See `VectorStore::without_vector`.
pub(crate) fn missing(
    connection: &Connection,
    model: &ModelId,
    after: Option<&MemoryId>,
    limit: usize,
) -> Result<Vec<(MemoryId, String)>, StoreError> {
    let mut statement = connection
        .prepare_cached(
            "SELECT id, content FROM memories WHERE id > ?1 AND trashed_at IS NULL AND NOT EXISTS \
             (SELECT 1 FROM vectors WHERE vectors.number = memories.number AND model = ?2) ORDER BY id LIMIT ?3",
        )
        .map_err(from_sqlite)?;
    let values = params![
        after.map_or("", MemoryId::as_str),
        model.as_str(),
        i64::try_from(limit).unwrap_or(i64::MAX)
    ];
    let rows = statement
        .query_map(values, |row| {
            Ok((MemoryId::new(row.get::<_, String>(0)?), row.get(1)?))
        })
        .map_err(from_sqlite)?;
    rows.collect::<Result<_, _>>().map_err(from_sqlite)
}

/// See `VectorStore::vector_counts`.
pub(crate) fn counts(connection: &Connection, model: &ModelId) -> Result<(u64, u64), StoreError> {
    let mut statement = connection
        .prepare_cached(
            "SELECT count(v.number), count(*) - count(v.number) FROM memories \
             LEFT JOIN vectors v ON v.number = memories.number AND v.model = ?1 WHERE trashed_at IS NULL",
        )
        .map_err(from_sqlite)?;
    statement
        .query_row([model.as_str()], |row| {
            Ok((
                row.get::<_, i64>(0)?.unsigned_abs(),
                row.get::<_, i64>(1)?.unsigned_abs(),
            ))
        })
        .map_err(from_sqlite)
}

/// Calls `each` with the row and the little-endian `f32` of every vector of a model in a namespace, the
/// newest memory first, then by id.
pub(crate) fn each(
    connection: &Connection,
    model: &ModelId,
    namespace: &str,
    mut each: impl FnMut(i64, &[u8]),
) -> Result<(), StoreError> {
    let mut statement = connection
        .prepare_cached(
            "SELECT number, vector FROM memories CROSS JOIN vectors USING (number) \
             WHERE namespace = ?1 AND model = ?2 ORDER BY created_at DESC, id",
        )
        .map_err(from_sqlite)?;
    let mut rows = statement
        .query([namespace, model.as_str()])
        .map_err(from_sqlite)?;
    while let Some(row) = rows.next().map_err(from_sqlite)? {
        let blob = row.get_ref(1).map_err(from_sqlite)?;
        each(
            row.get(0).map_err(from_sqlite)?,
            blob.as_blob().unwrap_or_default(),
        );
    }
    Ok(())
}
