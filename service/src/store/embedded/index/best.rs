//! The best of what is offered, ties and all.

use std::cmp::Ordering;

/// What memories are ordered by: score, then the newer, then the id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rank {
    pub score: f64,
    /// Milliseconds since 1970.
    pub created: i64,
    /// See `schema::id_head`.
    pub id_head: u64,
}

impl Rank {
    /// `Less` is better.
    fn compare(&self, other: &Rank) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then(other.created.cmp(&self.created))
            .then(self.id_head.cmp(&other.id_head))
    }
}

/// Collects the `most` best, and those that are as good as the last of them: ids that begin alike
/// are told apart only when they have been read.
pub(crate) struct Best<T> {
    most: usize,
    items: Vec<(Rank, T)>,
    worst: Option<Rank>,
    /// So many items are worth sorting.
    prune_at: usize,
}

impl<T> Best<T> {
    pub(crate) fn new(most: usize) -> Best<T> {
        Best {
            most: most.max(1),
            items: Vec::new(),
            worst: None,
            prune_at: most.saturating_mul(2).max(64),
        }
    }

    /// Whether one of that score could still be among the best.
    pub(crate) fn wants_score(&self, score: f64) -> bool {
        self.worst.is_none_or(|worst| score >= worst.score)
    }

    pub(crate) fn wants(&self, rank: &Rank) -> bool {
        self.worst
            .is_none_or(|worst| rank.compare(&worst) != Ordering::Greater)
    }

    pub(crate) fn offer(&mut self, rank: Rank, item: T) {
        if self.wants(&rank) {
            self.items.push((rank, item));
            if self.items.len() >= self.prune_at {
                self.prune();
                self.prune_at = self.items.len().saturating_mul(2).max(64);
            }
        }
    }

    fn prune(&mut self) {
        if self.items.len() <= self.most {
            return;
        }
        self.items
            .sort_unstable_by(|(left, _), (right, _)| left.compare(right));
        let worst = self.items[self.most - 1].0;
        self.items
            .retain(|(rank, _)| rank.compare(&worst) != Ordering::Greater);
        self.worst = Some(worst);
    }

    /// What was kept, in no particular order; more than the most only where the last ones tie.
    pub(crate) fn into_items(mut self) -> Vec<(Rank, T)> {
        self.prune();
        self.items
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_best_are_kept_with_all_that_tie_with_the_last(
            offered in prop::collection::vec((0_u8..6, 0_i64..3, 0_u64..2), 0..300), most in 1_usize..20,
        ) {
            let rank = |(score, created, id_head): (u8, i64, u64)| Rank { score: score.into(), created, id_head };
            let mut best = Best::new(most);
            for (index, one) in offered.iter().enumerate() {
                best.offer(rank(*one), index);
            }
            let mut sorted: Vec<usize> = (0..offered.len()).collect();
            sorted.sort_by(|left, right| rank(offered[*left]).compare(&rank(offered[*right])));
            let last = sorted.get(most - 1).or(sorted.last()).map(|index| rank(offered[*index]));
            let mut expected: Vec<usize> = sorted.into_iter()
                .filter(|index| last.is_some_and(|last| rank(offered[*index]).compare(&last) != Ordering::Greater))
                .collect();
            let mut kept: Vec<usize> = best.into_items().into_iter().map(|(_, index)| index).collect();
            kept.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(kept, expected);
        }
    }
}
