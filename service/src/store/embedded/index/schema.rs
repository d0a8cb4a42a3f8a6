//! What the index holds of a memory, and how an index says what it is.
//!
//! Terms to search, and fast fields to filter by and to break ties. Nothing that ranks is in here
//! but lengths: feedback, mentions and emotion are read from the truth for the few candidates, so
//! they change no index.

use super::terms;
use crate::memory::{Memory, MemoryId, Standing};
use crate::store::embedded::sqlite::codec;
use serde::{Deserialize, Serialize};
use tantivy::TantivyDocument;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};

/// Grows with every change of what the index holds; an index of another format is made anew.
const FORMAT: u32 = 2;

/// What a commit of the index says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Covers {
    format: u32,
    /// Which store it was made of: a restored copy is another one.
    database: i64,
    /// Grows when an index is asked to be made anew.
    epoch: i64,
    /// Every change up to this number is in.
    pub seq: i64,
}

impl Covers {
    pub(crate) fn new(database: i64, epoch: i64, seq: i64) -> Covers {
        Covers {
            format: FORMAT,
            database,
            epoch,
            seq,
        }
    }

    pub(crate) fn is_of(&self, database: i64, epoch: i64) -> bool {
        *self == Covers::new(database, epoch, self.seq)
    }
}

const SHARED: u64 = 1;
const SUPERSEDED: u64 = 2;
const CONSUMED: u64 = 4;
const CORRECTED: u64 = 8;
const TRASHED: u64 = 16;

/// The yes-or-no facts of a memory in one number.
pub(super) fn flags(memory: &Memory) -> u64 {
    let standing = memory.standing();
    [
        (SHARED, memory.details.shared),
        (SUPERSEDED, standing.superseded),
        (CONSUMED, standing.consumed),
        (CORRECTED, standing.corrected),
        (TRASHED, standing.trashed),
    ]
    .into_iter()
    .filter(|(_, holds)| *holds)
    .map(|(flag, _)| flag)
    .sum()
}

pub(super) fn is_shared(flags: u64) -> bool {
    flags & SHARED != 0
}

pub(super) fn standing(flags: u64, invalid_at: Option<i64>) -> Standing {
    Standing {
        trashed: flags & TRASHED != 0,
        corrected: flags & CORRECTED != 0,
        consumed: flags & CONSUMED != 0,
        superseded: flags & SUPERSEDED != 0,
        invalid_at: invalid_at.map(codec::time),
    }
}

/// The beginning of an id as a number of the same order, so that ties are broken without reading ids.
pub(crate) fn id_head(id: &MemoryId) -> u64 {
    let mut head = [0; 8];
    for (to, from) in head.iter_mut().zip(id.as_str().bytes()) {
        *to = from;
    }
    u64::from_be_bytes(head)
}

pub(super) const NUMBER: &str = "number";
pub(super) const LENGTH: &str = "length";
pub(super) const CREATED: &str = "created";
pub(super) const ID_HEAD: &str = "id_head";
pub(super) const FLAGS: &str = "flags";
pub(super) const INVALID: &str = "invalid";
pub(super) const AGENT: &str = "agent";
pub(super) const CATEGORY: &str = "category";
pub(super) const SOURCE: &str = "source";
pub(super) const SESSION: &str = "session";
pub(super) const TAG: &str = "tag";

/// The fields of the index.
#[derive(Clone, Copy)]
pub(crate) struct Fields {
    pub terms: Field,
    pub number: Field,
    length: Field,
    created: Field,
    id_head: Field,
    flags: Field,
    invalid: Field,
    agent: Field,
    category: Field,
    source: Field,
    session: Field,
    tag: Field,
}

impl Fields {
    pub(crate) fn schema() -> (Schema, Fields) {
        let mut schema = Schema::builder();
        let text = TextOptions::default().set_indexing_options(
            TextFieldIndexing::default()
                .set_tokenizer(terms::TOKENIZER)
                .set_index_option(IndexRecordOption::WithFreqs)
                .set_fieldnorms(false),
        );
        let name = TextOptions::default().set_fast("raw");
        let fields = Fields {
            terms: schema.add_text_field("terms", text),
            number: schema.add_u64_field(NUMBER, INDEXED | FAST),
            length: schema.add_u64_field(LENGTH, FAST),
            created: schema.add_i64_field(CREATED, FAST),
            id_head: schema.add_u64_field(ID_HEAD, FAST),
            flags: schema.add_u64_field(FLAGS, FAST),
            invalid: schema.add_i64_field(INVALID, FAST),
            agent: schema.add_text_field(AGENT, name.clone()),
            category: schema.add_text_field(CATEGORY, name.clone()),
            source: schema.add_text_field(SOURCE, name.clone()),
            session: schema.add_text_field(SESSION, name.clone()),
            tag: schema.add_text_field(TAG, name),
        };
        (schema.build(), fields)
    }

    /// A memory as the index holds it.
    pub(crate) fn document(&self, number: i64, memory: &Memory) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        let terms = terms::written(&memory.namespace, &memory.indexed_terms());
        document.add_text(self.terms, terms);
        document.add_u64(self.number, number.cast_unsigned());
        document.add_u64(self.length, memory.analysis.length.into());
        document.add_i64(self.created, codec::millis(memory.created_at));
        document.add_u64(self.id_head, id_head(&memory.id));
        document.add_u64(self.flags, flags(memory));
        if let Some(end) = memory.details.invalid_at {
            document.add_i64(self.invalid, codec::millis(end));
        }
        let details = &memory.details;
        for (field, value) in [
            (self.agent, &memory.agent),
            (self.category, &details.category),
            (self.source, &details.source),
            (self.session, &memory.place.session),
        ] {
            if let Some(value) = value {
                document.add_text(field, value);
            }
        }
        for tag in &details.tags {
            document.add_text(self.tag, tag);
        }
        document
    }
}

/// Whether a change of a memory is one of what the index holds.
pub(crate) fn differ(before: &Memory, after: &Memory) -> bool {
    let facts = |memory: &Memory| (flags(memory), memory.details.invalid_at, memory.created_at);
    facts(before) != facts(after)
        || before.analysis.terms != after.analysis.terms
        || before.analysis.entities != after.analysis.entities
        || before.analysis.length != after.analysis.length
        || before.details.tags != after.details.tags
        || before.details.category != after.details.category
        || before.details.source != after.details.source
        || before.place != after.place
        || before.agent != after.agent
}
