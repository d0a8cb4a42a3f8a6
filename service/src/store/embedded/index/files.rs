//! The index on disk: a folder beside the truth.

use std::path::Path;

use tantivy::directory::MmapDirectory;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, Term};

use super::schema::{Covers, Fields};
use super::terms;
use super::view::View;
use crate::memory::Memory;

/// Memory that the writer fills before it writes a segment, in bytes.
const WRITER_MEMORY: usize = 15 << 20;
/// So many segments of a size are merged into one: each segment costs every search its lookups.
const MERGED: usize = 4;
/// Segments that have lost this share of their memories are written anew.
const MOST_DELETED: f32 = 0.3;

/// Why the index cannot be used. Whatever it is, the truth is untouched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IndexError {
    #[error(transparent)]
    Engine(#[from] tantivy::TantivyError),
    #[error(transparent)]
    Files(#[from] std::io::Error),
    #[error("files with wrong checksums: {0}")]
    Damaged(String),
    #[error("it is of another store, another format, or asked to be made anew")]
    Foreign,
}

/// An open index.
pub(crate) struct Files {
    index: Index,
    reader: IndexReader,
    fields: Fields,
    writer: Option<IndexWriter>,
    /// No row of the index has a greater number.
    greatest: i64,
}

impl Files {
    /// Opens the index in a folder, if there is one.
    ///
    /// # Errors
    /// When it cannot be read, or is not of this format.
    pub(crate) fn open(folder: &Path) -> Result<Option<Files>, IndexError> {
        if !folder.is_dir() {
            return Ok(None);
        }
        let directory = MmapDirectory::open(folder).map_err(tantivy::TantivyError::from)?;
        if !Index::exists(&directory).map_err(tantivy::TantivyError::from)? {
            return Err(IndexError::Foreign);
        }
        let (schema, fields) = Fields::schema();
        let index = Index::open(directory)?;
        if index.schema() != schema {
            return Err(IndexError::Foreign);
        }
        Files::of(index, fields).map(Some)
    }

    /// Makes an empty index in place of whatever the folder holds.
    pub(crate) fn create(folder: &Path) -> Result<Files, IndexError> {
        if folder.is_dir() {
            std::fs::remove_dir_all(folder)?;
        }
        std::fs::create_dir_all(folder)?;
        let (schema, fields) = Fields::schema();
        Files::of(Index::create_in_dir(folder, schema)?, fields)
    }

    fn of(index: Index, fields: Fields) -> Result<Files, IndexError> {
        index.tokenizers().register(terms::TOKENIZER, terms::Reader);
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?;
        Ok(Files {
            index,
            reader,
            fields,
            writer: None,
            greatest: 0,
        })
    }

    /// Reads every file once and compares its checksum.
    pub(crate) fn check(&self) -> Result<(), IndexError> {
        let damaged = self.index.validate_checksum()?;
        if damaged.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = damaged
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        Err(IndexError::Damaged(names.join(", ")))
    }

    /// What the last commit covers.
    pub(crate) fn covers(&self) -> Result<Covers, IndexError> {
        let payload = self.index.load_metas()?.payload.unwrap_or_default();
        serde_json::from_str(&payload).map_err(|_| IndexError::Foreign)
    }

    /// The last commit, opened for searching. Takes over what `before` has of it.
    pub(crate) fn view(&mut self, covers: Covers, before: &View) -> Result<View, IndexError> {
        self.reader.reload()?;
        let view = View::open(&self.reader.searcher(), self.fields, covers, before)?;
        self.greatest = self.greatest.max(view.greatest_number());
        Ok(view)
    }

    fn writer(&mut self) -> Result<&mut IndexWriter, IndexError> {
        if self.writer.is_none() {
            let options = IndexWriterOptions::builder()
                .num_worker_threads(1)
                .num_merge_threads(1)
                .memory_budget_per_thread(WRITER_MEMORY)
                .build();
            let writer: IndexWriter = self.index.writer_with_options(options)?;
            let mut policy = LogMergePolicy::default();
            policy.set_min_num_segments(MERGED);
            policy.set_del_docs_ratio_before_merge(MOST_DELETED);
            writer.set_merge_policy(Box::new(policy));
            self.writer = Some(writer);
        }
        Ok(self.writer.as_mut().expect("made just now"))
    }

    /// Takes a memory in, in place of what the index had of its row. Seen after the next commit.
    pub(crate) fn put(&mut self, number: i64, memory: &Memory) -> Result<(), IndexError> {
        let document = self.fields.document(number, memory);
        if number <= self.greatest {
            self.remove(number)?;
        }
        self.greatest = self.greatest.max(number);
        self.writer()?.add_document(document)?;
        Ok(())
    }

    /// Takes a row out. Seen after the next commit.
    pub(crate) fn remove(&mut self, number: i64) -> Result<(), IndexError> {
        let term = Term::from_field_u64(self.fields.number, number.cast_unsigned());
        self.writer()?.delete_term(term);
        Ok(())
    }

    /// Writes down what was put and removed, and what that covers.
    pub(crate) fn commit(&mut self, covers: Covers) -> Result<(), IndexError> {
        let payload = serde_json::to_string(&covers).expect("four numbers");
        let mut commit = self.writer()?.prepare_commit()?;
        commit.set_payload(&payload);
        commit.commit()?;
        Ok(())
    }
}
