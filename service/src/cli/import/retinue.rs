//! A Retinue database: SQLite whose table `memories` is a virtual table of sqlite-vec (`vec0`).
//!
//! The extension is not needed: it keeps the columns in ordinary tables beside the virtual one.
//! With `T` for its name: `T_rowids` has the rows that are there and their place in the chunks;
//! `T_metadatachunksNN` one blob a chunk for the NN-th metadata column, a fixed width for each row
//! (`T_metadatatextNN` the texts that do not fit); `T_auxiliary` the columns declared with `+`;
//! `T_chunks` the partition keys. A plain table `memories` is read as well.

use std::path::Path;

use anyhow::{Context, bail};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row};
use serde_json::{Map, Value, json};

use super::entry::{Entry, Kept, Place, from_epoch, rfc3339};

/// How a SQLite file begins.
pub(super) const MAGIC: &[u8] = b"SQLite format 3\0";
const TABLE: &str = "memories";
/// Bytes of a text in a chunk: its length, and as much of it as fits.
const TEXT_WIDTH: usize = 16;
const TEXT_PREFIX: usize = 12;

/// What other memories call the fields of ours, the best name first.
const NAMES: [(&str, &[&str]); 7] = [
    (
        "content",
        &[
            "content", "text", "memory", "body", "fact", "note", "document",
        ],
    ),
    (
        "created_at",
        &[
            "created_at",
            "created",
            "timestamp",
            "created_ts",
            "time",
            "date",
        ],
    ),
    ("tags", &["tags", "labels"]),
    ("category", &["category", "kind", "type"]),
    ("session", &["session", "session_id", "conversation_id"]),
    ("source", &["source", "origin"]),
    ("pinned", &["pinned"]),
];

/// Reads all entries of a database.
pub(super) fn entries(path: &Path, kept: &mut Kept) -> anyhow::Result<Vec<Entry>> {
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let declared: Option<String> = database
        .query_row(
            "SELECT sql FROM sqlite_schema WHERE name = ?1",
            [TABLE],
            |row| row.get(0),
        )
        .optional()
        .context("not a SQLite database that can be read")?;
    let Some(declared) = declared else {
        bail!("the database has no table `{TABLE}`");
    };
    let rows = if declared.to_lowercase().contains("using vec0") {
        virtual_rows(&database, &columns(&declared))?
    } else {
        plain_rows(&database)?
    };
    let entry = |(place, row)| Entry {
        place,
        memory: memory(row, kept),
    };
    Ok(rows.into_iter().map(entry).collect())
}

/// A row by the names of its columns.
type Fields = Map<String, Value>;

/// A column of a `vec0` table.
#[derive(Debug, PartialEq)]
struct Column {
    name: String,
    kind: Kind,
}

#[derive(Debug, PartialEq)]
enum Kind {
    PrimaryKey,
    Partition(usize),
    Auxiliary(usize),
    Text(usize),
    Integer(usize),
    Float(usize),
    Boolean(usize),
}

/// The columns that a `vec0` table declares, without vectors and options, each kind numbered.
fn columns(declared: &str) -> Vec<Column> {
    let inner = declared.split_once('(').map_or("", |(_, rest)| rest);
    let inner = inner.rsplit_once(')').map_or(inner, |(inner, _)| inner);
    let (mut partitions, mut auxiliary, mut metadata) = (0, 0, 0);
    let next = |counter: &mut usize| std::mem::replace(counter, *counter + 1);
    let mut columns = Vec::new();
    for declaration in inner.split(',') {
        let is_auxiliary = declaration.trim_start().starts_with('+');
        let words: Vec<String> = declaration
            .trim_start_matches(|c: char| c.is_whitespace() || c == '+')
            .split_whitespace()
            .map(str::to_lowercase)
            .collect();
        let [name, kind, rest @ ..] = words.as_slice() else {
            continue;
        };
        let rest = rest.join(" ");
        let kind = match kind.as_str() {
            _ if is_auxiliary => Kind::Auxiliary(next(&mut auxiliary)),
            _ if rest.starts_with("primary key") => Kind::PrimaryKey,
            _ if rest.starts_with("partition key") => Kind::Partition(next(&mut partitions)),
            "text" => Kind::Text(next(&mut metadata)),
            "integer" | "int" | "int64" => Kind::Integer(next(&mut metadata)),
            "float" | "double" | "float64" | "f64" => Kind::Float(next(&mut metadata)),
            "boolean" | "bool" => Kind::Boolean(next(&mut metadata)),
            _ => continue,
        };
        let name = name.trim_matches(['"', '`', '[', ']']).to_owned();
        columns.push(Column { name, kind });
    }
    columns
}

/// The rows of a `vec0` table, from the tables beside it.
fn virtual_rows(database: &Connection, columns: &[Column]) -> anyhow::Result<Vec<(Place, Fields)>> {
    let mut rows = database.prepare(&format!(
        "SELECT rowid, id, chunk_id, chunk_offset FROM {TABLE}_rowids ORDER BY rowid"
    ))?;
    let rows = rows.query_map([], |row| {
        Ok((row.get(0)?, json(row, 1)?, row.get(2)?, row.get(3)?))
    })?;
    let mut found = Vec::new();
    for row in rows {
        let (rowid, id, chunk, offset): (i64, Value, i64, u32) = row?;
        let offset = offset as usize;
        let mut fields = Fields::new();
        for column in columns {
            let value = match &column.kind {
                Kind::PrimaryKey if id.is_null() => json!(rowid),
                Kind::PrimaryKey => id.clone(),
                kind => cell(database, kind, rowid, chunk, offset)
                    .with_context(|| format!("column `{}` of row {rowid}", column.name))?,
            };
            fields.insert(column.name.clone(), value);
        }
        found.push((rowid.unsigned_abs(), fields));
    }
    Ok(found)
}

/// One value that is kept outside the table of rows.
fn cell(
    database: &Connection,
    kind: &Kind,
    rowid: i64,
    chunk: i64,
    offset: usize,
) -> anyhow::Result<Value> {
    let one = |sql: &str, key: i64| -> anyhow::Result<Value> {
        let mut statement = database.prepare_cached(sql)?;
        let value = statement.query_row([key], |row| json(row, 0)).optional()?;
        Ok(value.unwrap_or_default())
    };
    let slot = |number: &usize, start: usize, length: usize| -> anyhow::Result<Vec<u8>> {
        // The whole blob, a chunk's worth of one column: some kilobytes.
        let sql = format!("SELECT data FROM {TABLE}_metadatachunks{number:02} WHERE rowid = ?1");
        let mut statement = database.prepare_cached(&sql)?;
        let data: Vec<u8> = statement.query_row([chunk], |row| row.get(0))?;
        let slot = data
            .get(start..start + length)
            .context("the chunk is too short")?;
        Ok(slot.to_vec())
    };
    Ok(match kind {
        Kind::PrimaryKey => Value::Null,
        Kind::Partition(number) => one(
            &format!("SELECT partition{number:02} FROM {TABLE}_chunks WHERE chunk_id = ?1"),
            chunk,
        )?,
        Kind::Auxiliary(number) => one(
            &format!("SELECT value{number:02} FROM {TABLE}_auxiliary WHERE rowid = ?1"),
            rowid,
        )?,
        Kind::Integer(number) => {
            let slot = slot(number, offset * 8, 8)?;
            json!(i64::from_le_bytes(slot.as_slice().try_into()?))
        }
        Kind::Float(number) => {
            let slot = slot(number, offset * 8, 8)?;
            json!(f64::from_le_bytes(slot.as_slice().try_into()?))
        }
        Kind::Boolean(number) => {
            let slot = slot(number, offset / 8, 1)?;
            json!(slot[0] >> (offset % 8) & 1 == 1)
        }
        Kind::Text(number) => {
            let slot = slot(number, offset * TEXT_WIDTH, TEXT_WIDTH)?;
            let (length, prefix) = slot.split_at(TEXT_WIDTH - TEXT_PREFIX);
            let length = usize::try_from(i32::from_le_bytes(length.try_into()?))?;
            match prefix.get(..length) {
                Some(text) => json!(std::str::from_utf8(text)?),
                None => one(
                    &format!("SELECT data FROM {TABLE}_metadatatext{number:02} WHERE rowid = ?1"),
                    rowid,
                )?,
            }
        }
    })
}

/// The rows of an ordinary table.
fn plain_rows(database: &Connection) -> anyhow::Result<Vec<(Place, Fields)>> {
    let mut statement = database.prepare(&format!("SELECT * FROM {TABLE}"))?;
    let names: Vec<String> = statement.column_names().map(str::to_lowercase).collect();
    let rows = statement.query_map([], |row| {
        let value = |(column, name): (usize, &String)| Ok((name.clone(), json(row, column)?));
        names
            .iter()
            .enumerate()
            .map(value)
            .collect::<rusqlite::Result<Fields>>()
    })?;
    let rows = rows.collect::<rusqlite::Result<Vec<Fields>>>()?;
    Ok((1..).zip(rows).collect())
}

/// A value as JSON; a blob, which may be a vector, as nothing.
fn json(row: &Row<'_>, column: usize) -> rusqlite::Result<Value> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null | ValueRef::Blob(_) => Value::Null,
        ValueRef::Integer(number) => json!(number),
        ValueRef::Real(number) => json!(number),
        ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
    })
}

/// The memory that a row is: the fields that we have under any of their names, all else as metadata.
fn memory(mut row: Fields, kept: &mut Kept) -> Result<Fields, String> {
    row.retain(|_, value| !value.is_null());
    let mut memory = Fields::new();
    for (ours, theirs) in NAMES {
        for name in theirs {
            if let Some(value) = row.get(*name).and_then(|value| ours_of(ours, value)) {
                memory.insert(ours.to_owned(), value);
                row.shift_remove(*name);
                break;
            }
        }
    }
    if !memory.contains_key("content") {
        return Err("has no text".to_owned());
    }
    memory.entry("source").or_insert_with(|| json!("retinue"));
    for name in row.keys() {
        *kept.entry(name.clone()).or_default() += 1;
    }
    if !row.is_empty() {
        memory.insert("metadata".to_owned(), Value::Object(row));
    }
    Ok(memory)
}

/// A value in the form that a field of ours has, if it can be had.
fn ours_of(field: &str, value: &Value) -> Option<Value> {
    match (field, value) {
        ("created_at", Value::Number(number)) => from_epoch(number.as_f64()?).map(Value::from),
        ("created_at", Value::String(text)) => rfc3339(text).map(Value::from),
        ("tags", Value::String(text)) => Some(tags(text)),
        ("pinned", Value::Bool(_)) => Some(value.clone()),
        ("pinned", Value::Number(number)) => Some(json!(number.as_i64()? != 0)),
        ("content" | "category" | "session" | "source", Value::String(text)) => Some(text.as_str())
            .filter(|text| !text.trim().is_empty())
            .map(Value::from),
        _ => None,
    }
}

/// Tags from a JSON list, or parted by commas.
fn tags(text: &str) -> Value {
    let parted = || {
        let tags = text.split(',').map(str::trim);
        tags.filter(|tag| !tag.is_empty())
            .map(str::to_owned)
            .collect()
    };
    json!(serde_json::from_str::<Vec<String>>(text).unwrap_or_else(|_| parted()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_numbered_by_their_kind() {
        let declared = "CREATE VIRTUAL TABLE memories USING vec0(
            id TEXT PRIMARY KEY, owner text partition key, embedding float[384] distance_metric=cosine,
            content TEXT, importance float, +raw text, created_at INTEGER, pinned boolean, +extra text, chunk_size=8)";
        let found: Vec<(String, Kind)> = columns(declared)
            .into_iter()
            .map(|column| (column.name, column.kind))
            .collect();
        let expected = [
            ("id", Kind::PrimaryKey),
            ("owner", Kind::Partition(0)),
            ("content", Kind::Text(0)),
            ("importance", Kind::Float(1)),
            ("raw", Kind::Auxiliary(0)),
            ("created_at", Kind::Integer(2)),
            ("pinned", Kind::Boolean(3)),
            ("extra", Kind::Auxiliary(1)),
        ];
        assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)));
    }

    #[test]
    fn tags_are_a_list_or_parted_by_commas() {
        assert_eq!(tags(r#"["a", "b,c"]"#), json!(["a", "b,c"]));
        assert_eq!(tags("a, b,,"), json!(["a", "b"]));
        assert_eq!(tags(""), json!([]));
    }
}
