//! Which segments of the index are merged.

use std::fs::DirEntry;
use std::path::PathBuf;

use tantivy::SegmentMeta;
use tantivy::indexer::{LogMergePolicy, MergeCandidate, MergePolicy};

/// So many segments of a size are merged into one: each segment costs every search its lookups.
const MERGED: usize = 4;
/// Segments that have lost this share of their memories are written anew.
const MOST_DELETED: f32 = 0.3;
/// A segment of more bytes is not merged with others. A merge reads whole segments, and what it reads
/// counts as memory of the process while it is mapped.
const LARGEST: u64 = 2 << 20;

/// Merges segments of like sizes while they are small, and rewrites those that lost much.
#[derive(Debug)]
pub(super) struct Bounded {
    policy: LogMergePolicy,
    /// Where the files are.
    folder: PathBuf,
}

impl Bounded {
    pub(super) fn new(folder: PathBuf) -> Bounded {
        let mut policy = LogMergePolicy::default();
        policy.set_min_num_segments(MERGED);
        policy.set_del_docs_ratio_before_merge(MOST_DELETED);
        Bounded { policy, folder }
    }

    /// The bytes of a segment's files, which are those whose names begin with its id.
    fn size(&self, segment: &SegmentMeta) -> u64 {
        let id = segment.id().uuid_string();
        let is_its = |file: &DirEntry| file.file_name().to_string_lossy().starts_with(&id);
        std::fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter(is_its)
            .map(|file| file.metadata().map_or(0, |metadata| metadata.len()))
            .sum()
    }
}

impl MergePolicy for Bounded {
    fn compute_merge_candidates(&self, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let (large, small): (Vec<_>, Vec<_>) = segments
            .iter()
            .cloned()
            .partition(|segment| self.size(segment) > LARGEST);
        let rewritten = large.into_iter().filter(has_lost_much);
        let mut candidates = self.policy.compute_merge_candidates(&small);
        candidates.extend(rewritten.map(|segment| MergeCandidate(vec![segment.id()])));
        candidates
    }
}

/// Whether the space of the removed is worth to be had back.
fn has_lost_much(segment: &SegmentMeta) -> bool {
    f64::from(segment.num_deleted_docs()) > f64::from(MOST_DELETED) * f64::from(segment.max_doc())
}
