//! One segment of the index, opened for reading.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use tantivy::columnar::{Column, ColumnValues, StrColumn};
use tantivy::index::SegmentId;
use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, InvertedIndexReader, SegmentReader};

use super::schema::{self, Fields};
use super::terms;
use crate::analysis::terms::Term;
use crate::query::{Filters, TagRule};
use crate::scope::Scope;
use crate::store::embedded::sqlite::codec;

/// A segment with its fast fields.
pub(crate) struct Segment {
    reader: SegmentReader,
    fields: Fields,
    inverted: Arc<InvertedIndexReader>,
    /// In memory, since each match of a term needs one.
    lengths: Vec<u32>,
    numbers: Arc<dyn ColumnValues<u64>>,
    created: Arc<dyn ColumnValues<i64>>,
    id_heads: Arc<dyn ColumnValues<u64>>,
    flags: Arc<dyn ColumnValues<u64>>,
    invalid: Column<i64>,
    agents: Option<StrColumn>,
    categories: Option<StrColumn>,
    sources: Option<StrColumn>,
    sessions: Option<StrColumn>,
    tags: Option<StrColumn>,
}

impl Segment {
    pub(super) fn open(reader: &SegmentReader, fields: Fields) -> tantivy::Result<Segment> {
        let fast = reader.fast_fields();
        let lengths = fast.column_first_or_default::<u64>(schema::LENGTH)?;
        Ok(Segment {
            fields,
            inverted: reader.inverted_index(fields.terms)?,
            lengths: lengths
                .iter()
                .map(|length| u32::try_from(length).unwrap_or(u32::MAX))
                .collect(),
            numbers: fast.column_first_or_default(schema::NUMBER)?,
            created: fast.column_first_or_default(schema::CREATED)?,
            id_heads: fast.column_first_or_default(schema::ID_HEAD)?,
            flags: fast.column_first_or_default(schema::FLAGS)?,
            invalid: fast.i64(schema::INVALID)?,
            agents: fast.str(schema::AGENT)?,
            categories: fast.str(schema::CATEGORY)?,
            sources: fast.str(schema::SOURCE)?,
            sessions: fast.str(schema::SESSION)?,
            tags: fast.str(schema::TAG)?,
            reader: reader.clone(),
        })
    }

    /// What tells one state of a segment from another.
    pub(super) fn version(reader: &SegmentReader) -> (SegmentId, Option<u64>) {
        (reader.segment_id(), reader.delete_opstamp())
    }

    pub(super) fn is_version(&self, reader: &SegmentReader) -> bool {
        Segment::version(&self.reader) == Segment::version(reader)
    }

    pub(super) fn max_doc(&self) -> DocId {
        self.reader.max_doc()
    }

    pub(super) fn is_alive(&self, doc: DocId) -> bool {
        !self.reader.is_deleted(doc)
    }

    /// Where the segment has the memories that hold a term, if it has any.
    pub(super) fn find(&self, namespace: &str, term: &Term) -> tantivy::Result<Option<TermInfo>> {
        let key = terms::key(namespace, term.as_str());
        let term = tantivy::Term::from_field_text(self.fields.terms, &key);
        Ok(self.inverted.get_term_info(&term)?)
    }

    /// The memories that hold a term, with its frequency in each.
    pub(super) fn postings(&self, found: &TermInfo) -> tantivy::Result<BlockSegmentPostings> {
        Ok(self
            .inverted
            .read_block_postings_from_terminfo(found, IndexRecordOption::WithFreqs)?)
    }

    /// Length of the content in words.
    pub(super) fn length(&self, doc: DocId) -> u32 {
        self.lengths[doc as usize]
    }

    /// Number of the row in the truth.
    pub(crate) fn number(&self, doc: DocId) -> i64 {
        self.numbers.get_val(doc).cast_signed()
    }

    /// Milliseconds since 1970.
    pub(super) fn created(&self, doc: DocId) -> i64 {
        self.created.get_val(doc)
    }

    pub(super) fn id_head(&self, doc: DocId) -> u64 {
        self.id_heads.get_val(doc)
    }

    /// Scope and filters in the terms of this segment.
    pub(super) fn gate<'a>(
        &'a self,
        scope: &'a Scope,
        filters: &'a Filters,
        now: DateTime<Utc>,
    ) -> tantivy::Result<Gate<'a>> {
        let tags = filters
            .tags
            .iter()
            .map(|tag| ord(self.tags.as_ref(), tag))
            .collect::<tantivy::Result<_>>()?;
        Ok(Gate {
            segment: self,
            filters,
            now,
            all: scope.primary,
            own: match &scope.agent {
                None => Name::Absent,
                Some(agent) => Name::of(self.agents.as_ref(), agent)?,
            },
            category: Name::wanted(self.categories.as_ref(), filters.category.as_deref())?,
            source: Name::wanted(self.sources.as_ref(), filters.source.as_deref())?,
            session: Name::wanted(self.sessions.as_ref(), filters.session.as_deref())?,
            tags,
            tag_rule: filters
                .tag_rule
                .as_ref()
                .map(|rule| Rule::of(self.tags.as_ref(), rule))
                .transpose()?,
        })
    }
}

fn ord(column: Option<&StrColumn>, name: &str) -> tantivy::Result<Option<u64>> {
    let Some(column) = column else {
        return Ok(None);
    };
    Ok(column.dictionary().term_ord(name)?)
}

/// What a field of names must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Any,
    /// No name at all.
    Absent,
    Is(u64),
    /// A name that no memory of the segment has.
    Unknown,
}

impl Name {
    fn of(column: Option<&StrColumn>, name: &str) -> tantivy::Result<Name> {
        Ok(ord(column, name)?.map_or(Name::Unknown, Name::Is))
    }

    fn wanted(column: Option<&StrColumn>, name: Option<&str>) -> tantivy::Result<Name> {
        name.map_or(Ok(Name::Any), |name| Name::of(column, name))
    }

    fn admits(self, column: Option<&StrColumn>, doc: DocId) -> bool {
        let held = || column.and_then(|column| column.ords().first(doc));
        match self {
            Name::Any => true,
            Name::Absent => held().is_none(),
            Name::Is(ord) => held() == Some(ord),
            Name::Unknown => false,
        }
    }
}

/// `query::admits` for the documents of one segment: a property test holds the two together.
pub(super) struct Gate<'a> {
    segment: &'a Segment,
    filters: &'a Filters,
    now: DateTime<Utc>,
    /// The scope sees all of its namespace.
    all: bool,
    own: Name,
    category: Name,
    source: Name,
    session: Name,
    /// Those of the filters' tags; `None` for one that no memory of the segment has.
    tags: Vec<Option<u64>>,
    tag_rule: Option<Rule>,
}

/// `query::TagRule` in the terms of one segment; `None` is a tag that no memory of it has.
enum Rule {
    Any(Vec<Option<u64>>),
    All(Vec<Option<u64>>),
    Exactly(Vec<Option<u64>>),
    And(Vec<Rule>),
    Or(Vec<Rule>),
    Not(Box<Rule>),
}

impl Rule {
    fn of(column: Option<&StrColumn>, rule: &TagRule) -> tantivy::Result<Rule> {
        let ords = |tags: &[String]| -> tantivy::Result<_> {
            tags.iter().map(|tag| ord(column, tag)).collect()
        };
        let rules = |rules: &[TagRule]| -> tantivy::Result<_> {
            rules.iter().map(|rule| Rule::of(column, rule)).collect()
        };
        Ok(match rule {
            TagRule::Any(tags) => Rule::Any(ords(tags)?),
            TagRule::All(tags) => Rule::All(ords(tags)?),
            TagRule::Exactly(tags) => Rule::Exactly(ords(tags)?),
            TagRule::And(all) => Rule::And(rules(all)?),
            TagRule::Or(any) => Rule::Or(rules(any)?),
            TagRule::Not(rule) => Rule::Not(Box::new(Rule::of(column, rule)?)),
        })
    }

    fn admits(&self, held: &[u64]) -> bool {
        let has = |tag: &Option<u64>| tag.is_some_and(|tag| held.contains(&tag));
        match self {
            Rule::Any(wanted) => wanted.iter().any(has),
            Rule::All(wanted) => wanted.iter().all(has),
            Rule::Exactly(wanted) => {
                wanted.iter().all(has) && held.iter().all(|tag| wanted.contains(&Some(*tag)))
            }
            Rule::And(rules) => rules.iter().all(|rule| rule.admits(held)),
            Rule::Or(rules) => rules.iter().any(|rule| rule.admits(held)),
            Rule::Not(rule) => !rule.admits(held),
        }
    }
}

impl Gate<'_> {
    /// Whether the scope sees the memory.
    pub(super) fn sees(&self, doc: DocId) -> bool {
        self.all
            || self.own.admits(self.segment.agents.as_ref(), doc)
            || schema::is_shared(self.segment.flags.get_val(doc))
    }

    /// Whether the filters let the memory pass.
    pub(super) fn passes(&self, doc: DocId) -> bool {
        let segment = self.segment;
        let standing = schema::standing(segment.flags.get_val(doc), segment.invalid.first(doc));
        self.filters.hides(standing, self.now).is_none()
            && self.category.admits(segment.categories.as_ref(), doc)
            && self.source.admits(segment.sources.as_ref(), doc)
            && self.session.admits(segment.sessions.as_ref(), doc)
            && self.tags_pass(doc)
            && self
                .filters
                .out_of_time(codec::time(segment.created(doc)))
                .is_none()
    }

    fn tags_pass(&self, doc: DocId) -> bool {
        let has = |wanted: &Option<u64>| {
            let column = self.segment.tags.as_ref();
            wanted.is_some_and(|wanted| {
                column.is_some_and(|column| column.term_ords(doc).any(|held| held == wanted))
            })
        };
        (self.tags.is_empty()
            || if self.filters.all_tags {
                self.tags.iter().all(has)
            } else {
                self.tags.iter().any(has)
            })
            && self
                .tag_rule
                .as_ref()
                .is_none_or(|rule| self.rule_holds(rule, doc))
    }

    fn rule_holds(&self, rule: &Rule, doc: DocId) -> bool {
        let column = self.segment.tags.as_ref();
        let held: Vec<u64> = column
            .map(|column| column.term_ords(doc).collect())
            .unwrap_or_default();
        rule.admits(&held)
    }
}
