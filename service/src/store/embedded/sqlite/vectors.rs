//! Vectors, by the row of their memory and the identity of their model. A blob holds the steps of a
//! `Direction`, a byte each; an empty one says that the model makes nothing of the content.

use rusqlite::{Connection, OptionalExtension, Params, Transaction, params};

use super::{from_sqlite, memories};
use crate::memory::MemoryId;
use crate::store::{LateVector, StoreError};
use crate::vector::{Direction, ModelId, NewVector};

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
    let blob: Vec<u8> = if values.is_empty() {
        Vec::new()
    } else if let Some(direction) = Direction::of(&model, values) {
        let steps = direction.steps().iter();
        steps.map(|step| step.cast_unsigned()).collect()
    } else {
        return Ok(false);
    };
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

/// A memory with its vector of a model, as a matrix takes it.
pub(crate) struct Entry<'a> {
    pub number: i64,
    pub namespace: &'a str,
    pub id: MemoryId,
    /// Milliseconds since 1970.
    pub created: i64,
    /// Steps of a `Direction`; empty if it has none.
    pub steps: &'a [i8],
}

/// Goes through all vectors of a model.
pub(crate) fn each(
    connection: &Connection,
    model: &ModelId,
    each: impl FnMut(&Entry<'_>),
) -> Result<(), StoreError> {
    let sql = "SELECT number, namespace, id, created_at, vector FROM vectors CROSS JOIN memories USING (number) \
               WHERE model = ?1";
    go_through(connection, sql, params![model.as_str()], each)
}

/// Goes through the memories that changed after `after`, with what they have now.
pub(crate) fn each_changed(
    connection: &Connection,
    model: &ModelId,
    after: i64,
    each: impl FnMut(&Entry<'_>),
) -> Result<(), StoreError> {
    let sql = "SELECT memories.number, namespace, id, created_at, vector FROM memories \
               LEFT JOIN vectors ON vectors.number = memories.number AND model = ?1 WHERE seq > ?2";
    go_through(connection, sql, params![model.as_str(), after], each)
}

fn go_through(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    mut each: impl FnMut(&Entry<'_>),
) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(from_sqlite)?;
    let mut rows = statement.query(parameters).map_err(from_sqlite)?;
    let mut steps = Vec::new();
    while let Some(row) = rows.next().map_err(from_sqlite)? {
        let mut read = || {
            let blob = row.get_ref(4)?.as_blob_or_null()?.unwrap_or_default();
            steps.clear();
            steps.extend(blob.iter().map(|byte| byte.cast_signed()));
            each(&Entry {
                number: row.get(0)?,
                namespace: row.get_ref(1)?.as_str()?,
                id: MemoryId::new(row.get::<_, String>(2)?),
                created: row.get(3)?,
                steps: &steps,
            });
            Ok(())
        };
        read().map_err(from_sqlite)?;
    }
    Ok(())
}
