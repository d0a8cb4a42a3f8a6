//! One commit of the index, opened for searching.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::{DocId, Searcher};

use super::best::{Best, Rank};
use super::schema::{Covers, Fields};
use super::segment::{Gate, Segment};
use crate::query::{Plan, Statistics};
use crate::ranking::bm25::{Scorer, Sum};
use crate::scope::Scope;

/// Documents that are scored together: their sums fit into the fastest cache.
const WINDOW: usize = 4096;

/// Where a memory is in a view: its segment and its document there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    segment: u32,
    doc: DocId,
}

const NOWHERE: Place = Place {
    segment: u32::MAX,
    doc: DocId::MAX,
};

/// All memories as of a change number.
#[derive(Default)]
pub(crate) struct View {
    pub covers: Covers,
    segments: Vec<Arc<Segment>>,
    /// By the number of the row.
    places: Vec<Place>,
}

/// The terms of a plan as the segments of a view have them: looked up once for a search.
pub(crate) struct Lookups(Vec<Vec<(usize, TermInfo)>>);

/// What a memory must pass to be a match.
pub(crate) struct Admission<'a> {
    pub scope: &'a Scope,
    pub plan: &'a Plan,
    pub now: DateTime<Utc>,
    /// Rows that changed after the view was made: what it knows of them is out of date.
    pub changed: &'a dyn Fn(i64) -> bool,
}

/// Scope and filters in the terms of each segment.
pub(crate) struct Gates<'a>(Vec<Gate<'a>>);

impl Gates<'_> {
    /// Whether scope and filters admit a memory, as the index knows it.
    pub(crate) fn admit(&self, place: Place) -> bool {
        let gate = &self.0[place.segment as usize];
        gate.sees(place.doc) && gate.passes(place.doc)
    }
}

impl View {
    /// Opens a commit; segments that are the same as before are taken over.
    pub(crate) fn open(
        searcher: &Searcher,
        fields: Fields,
        covers: Covers,
        before: &View,
    ) -> tantivy::Result<View> {
        let open = |reader: &tantivy::SegmentReader| {
            let same = before
                .segments
                .iter()
                .find(|segment| segment.is_version(reader));
            same.map_or_else(
                || Segment::open(reader, fields).map(Arc::new),
                |segment| Ok(segment.clone()),
            )
        };
        let segments: Vec<Arc<Segment>> = searcher
            .segment_readers()
            .iter()
            .map(open)
            .collect::<tantivy::Result<_>>()?;
        let mut places = Vec::new();
        for (index, segment) in segments.iter().enumerate() {
            for doc in (0..segment.max_doc()).filter(|doc| segment.is_alive(*doc)) {
                let number = usize::try_from(segment.number(doc)).unwrap_or(0);
                if number >= places.len() {
                    places.resize(number + 1, NOWHERE);
                }
                places[number] = Place {
                    segment: u32::try_from(index).expect("few segments"),
                    doc,
                };
            }
        }
        Ok(View {
            covers,
            segments,
            places,
        })
    }

    /// Every change up to this number is in.
    pub(crate) fn covered(&self) -> i64 {
        self.covers.seq
    }

    /// The same documents, known to cover more.
    pub(crate) fn covering(&self, covers: Covers) -> View {
        View {
            covers,
            segments: self.segments.clone(),
            places: self.places.clone(),
        }
    }

    /// The greatest number of a row that it has.
    pub(crate) fn greatest_number(&self) -> i64 {
        i64::try_from(self.places.len()).unwrap_or(i64::MAX) - 1
    }

    /// Where the memory of a row is, if it is here.
    pub(crate) fn place(&self, number: i64) -> Option<Place> {
        let place = self.places.get(usize::try_from(number).ok()?)?;
        (*place != NOWHERE).then_some(*place)
    }

    /// Number of the row of a memory.
    pub(crate) fn number(&self, place: Place) -> i64 {
        self.segments[place.segment as usize].number(place.doc)
    }

    /// Looks up the terms of a plan that `wanted` names by their index.
    pub(crate) fn look_up(
        &self,
        namespace: &str,
        plan: &Plan,
        wanted: impl Fn(usize) -> bool,
    ) -> tantivy::Result<Lookups> {
        let in_segment = |segment: &Arc<Segment>| {
            let terms = plan.terms.iter().enumerate();
            terms
                .filter(|(index, _)| wanted(*index))
                .filter_map(|(index, term)| {
                    let found = segment.find(namespace, &term.term).transpose()?;
                    Some(found.map(|found| (index, found)))
                })
                .collect::<tantivy::Result<Vec<_>>>()
        };
        let found = self.segments.iter().map(in_segment);
        Ok(Lookups(found.collect::<tantivy::Result<_>>()?))
    }

    /// What scope and filters admit of it.
    pub(crate) fn gates<'a>(&'a self, admission: &Admission<'a>) -> tantivy::Result<Gates<'a>> {
        let gate = |segment: &'a Arc<Segment>| {
            segment.gate(admission.scope, &admission.plan.filters, admission.now)
        };
        let gates = self.segments.iter().map(gate);
        Ok(Gates(gates.collect::<tantivy::Result<_>>()?))
    }

    /// Offers every match of the plan's terms with its BM25 score.
    pub(crate) fn score<T>(
        &self,
        lookups: &Lookups,
        statistics: &Statistics,
        admission: &Admission<'_>,
        gates: &Gates<'_>,
        best: &mut Best<T>,
        found: impl Fn(Place) -> T,
    ) -> tantivy::Result<()> {
        let scorer = Scorer::new(admission.plan, statistics);
        let mut window = Window::new();
        for (index, segment) in self.segments.iter().enumerate() {
            let gate = &gates.0[index];
            let counting = lookups.0[index]
                .iter()
                .filter(|(term, _)| scorer.counts(*term));
            let mut cursors = Cursor::each(segment, counting)?;
            while let Some(base) = window.fill(&mut cursors, segment, &scorer) {
                for (doc, sum) in window.drain(base) {
                    let score = scorer.total(sum);
                    if score <= 0.0 || !best.wants_score(score) || !segment.is_alive(doc) {
                        continue;
                    }
                    let rank = Rank {
                        score,
                        created: segment.created(doc),
                        id_head: segment.id_head(doc),
                    };
                    if best.wants(&rank)
                        && gate.sees(doc)
                        && gate.passes(doc)
                        && !(admission.changed)(segment.number(doc))
                    {
                        let segment = u32::try_from(index).expect("few segments");
                        best.offer(rank, found(Place { segment, doc }));
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a match that the scope sees is kept back by the filters.
    pub(crate) fn hides(
        &self,
        lookups: &Lookups,
        statistics: &Statistics,
        admission: &Admission<'_>,
        gates: &Gates<'_>,
    ) -> tantivy::Result<bool> {
        let scorer = Scorer::new(admission.plan, statistics);
        let segments = self.segments.iter().zip(&gates.0);
        for ((segment, gate), found) in segments.zip(&lookups.0) {
            let counting = found.iter().filter(|(term, _)| scorer.counts(*term));
            for mut cursor in Cursor::each(segment, counting)? {
                while let Some((doc, _)) = cursor.next() {
                    if segment.is_alive(doc)
                        && gate.sees(doc)
                        && !gate.passes(doc)
                        && !(admission.changed)(segment.number(doc))
                    {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// How often each memory holds each term of the plan.
    pub(crate) fn frequencies(
        &self,
        lookups: &Lookups,
        plan: &Plan,
        places: &[Place],
    ) -> tantivy::Result<Vec<Vec<u32>>> {
        let mut found = vec![vec![0; plan.terms.len()]; places.len()];
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_unstable_by_key(|index| places[*index]);
        for group in order.chunk_by(|left, right| places[*left].segment == places[*right].segment) {
            let index = places[group[0]].segment as usize;
            for mut cursor in Cursor::each(&self.segments[index], lookups.0[index].iter())? {
                for index in group {
                    found[*index][cursor.term] = cursor.frequency(places[*index].doc);
                }
            }
        }
        Ok(found)
    }
}

/// A way through the postings of one term.
struct Cursor {
    /// Index into the plan's terms.
    term: usize,
    postings: BlockSegmentPostings,
    /// Index into the current block.
    at: usize,
}

impl Cursor {
    /// A cursor for each of the terms, in the plan's order.
    fn each<'a>(
        segment: &Segment,
        terms: impl Iterator<Item = &'a (usize, TermInfo)>,
    ) -> tantivy::Result<Vec<Cursor>> {
        let cursor = |(term, found): &(usize, TermInfo)| {
            Ok(Cursor {
                term: *term,
                postings: segment.postings(found)?,
                at: 0,
            })
        };
        terms.map(cursor).collect()
    }

    /// The block from where the cursor stands; empty at the end.
    fn block(&mut self) -> (&[DocId], &[u32]) {
        if self.at > 0 && self.at >= self.postings.block_len() {
            self.postings.advance();
            self.at = 0;
        }
        (
            &self.postings.docs()[self.at..],
            &self.postings.freqs()[self.at..],
        )
    }

    fn next(&mut self) -> Option<(DocId, u32)> {
        let (docs, frequencies) = self.block();
        let next = (*docs.first()?, *frequencies.first()?);
        self.at += 1;
        Some(next)
    }

    /// The frequency in a document; documents must be asked for in ascending order.
    fn frequency(&mut self, doc: DocId) -> u32 {
        self.at = self.postings.seek(doc);
        if self.at < self.postings.block_len() && self.postings.doc(self.at) == doc {
            self.postings.freq(self.at)
        } else {
            0
        }
    }
}

/// Sums of [`WINDOW`] documents, and which of them have one.
struct Window {
    sums: Vec<Sum>,
    touched: [u64; WINDOW / 64],
}

impl Window {
    fn new() -> Window {
        Window {
            sums: vec![Sum::default(); WINDOW],
            touched: [0; WINDOW / 64],
        }
    }

    /// Sums up the next window that has a match, term by term in the plan's order as everywhere, so
    /// that a score has the same last digit; the window's first document.
    fn fill(
        &mut self,
        cursors: &mut [Cursor],
        segment: &Segment,
        scorer: &Scorer,
    ) -> Option<DocId> {
        let next = cursors
            .iter_mut()
            .filter_map(|cursor| cursor.block().0.first().copied())
            .min()?;
        let base = next - next % WINDOW as DocId;
        let end = base.saturating_add(WINDOW as DocId);
        for cursor in cursors {
            let term = cursor.term;
            loop {
                let (docs, frequencies) = cursor.block();
                if docs.is_empty() {
                    break;
                }
                let inside = docs.partition_point(|doc| *doc < end);
                for (doc, frequency) in docs[..inside].iter().zip(frequencies) {
                    let slot = (doc - base) as usize;
                    self.touched[slot / 64] |= 1 << (slot % 64);
                    scorer.add(&mut self.sums[slot], term, *frequency, segment.length(*doc));
                }
                let whole = inside == docs.len();
                cursor.at += inside;
                if !whole {
                    break;
                }
            }
        }
        Some(base)
    }

    /// The sums of the window, which is empty then.
    fn drain(&mut self, base: DocId) -> impl Iterator<Item = (DocId, Sum)> {
        let sums = &mut self.sums;
        self.touched
            .iter_mut()
            .enumerate()
            .flat_map(|(word, bits)| {
                let mut bits = std::mem::take(bits);
                std::iter::from_fn(move || {
                    (bits != 0).then(|| {
                        let bit = bits.trailing_zeros() as usize;
                        bits &= bits - 1;
                        word * 64 + bit
                    })
                })
            })
            .map(move |slot| (base + slot as DocId, std::mem::take(&mut sums[slot])))
    }
}
