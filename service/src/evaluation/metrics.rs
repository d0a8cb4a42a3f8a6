//! Metrics of a ranking, the same as the sets' own `score.py`.

use std::collections::HashSet;

use super::sets::Labelled;

/// Names of the metrics, in the order of [`Scores`].
pub const NAMES: [&str; 5] = ["R@1", "R@5", "R@10", "MRR@10", "nDCG@10"];

/// Recall at 1, 5 and 10, mean reciprocal rank at 10, nDCG at 10; each 0.0 to 1.0.
pub type Scores = [f64; 5];

/// The index of nDCG@10, which sets are compared by.
pub const NDCG: usize = 4;

/// Draws of a bootstrap, enough for two digits of an interval.
const DRAWS: usize = 2_000;
/// The same seed each time, so that a table can be made again.
const SEED: u64 = 7;

/// Scores one ranking. Relevance is binary; the ideal ranking has all relevant memories first.
pub fn score(ids: &[String], query: &Labelled) -> Scores {
    let mut seen = HashSet::new();
    let ranked = ids
        .iter()
        .filter(|id| !query.ignore.contains(*id) && seen.insert(*id));
    let hits: Vec<bool> = ranked
        .take(10)
        .map(|id| query.relevant.contains(id))
        .collect();
    let relevant = query.relevant.len().max(1) as f64;
    let recall =
        |depth: usize| hits.iter().take(depth).filter(|hit| **hit).count() as f64 / relevant;
    let gain = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
    let gained: f64 = hits
        .iter()
        .enumerate()
        .filter(|(_, hit)| **hit)
        .map(|(rank, _)| gain(rank))
        .sum();
    let ideal: f64 = (0..query.relevant.len().clamp(1, 10)).map(gain).sum();
    let reciprocal = hits
        .iter()
        .position(|hit| *hit)
        .map_or(0.0, |rank| 1.0 / (rank as f64 + 1.0));
    [recall(1), recall(5), recall(10), reciprocal, gained / ideal]
}

/// Mean of each metric.
pub fn mean<'a>(scores: impl Iterator<Item = &'a Scores>) -> Scores {
    let (mut sums, mut count) = ([0.0; 5], 0_usize);
    for score in scores {
        count += 1;
        sums.iter_mut()
            .zip(score)
            .for_each(|(sum, value)| *sum += value);
    }
    sums.map(|sum| sum / count.max(1) as f64)
}

/// Bounds of the 95 % bootstrap interval of the mean.
pub fn interval(values: &[f64]) -> (f64, f64) {
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut draw = || {
        (0..values.len())
            .map(|_| values[random.usize(..values.len())])
            .sum::<f64>()
            / values.len() as f64
    };
    let mut means: Vec<f64> = (0..DRAWS).map(|_| draw()).collect();
    means.sort_by(f64::total_cmp);
    (means[DRAWS * 25 / 1000], means[DRAWS * 975 / 1000 - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ids: &[&str], relevant: &[&str], ignore: &[&str], expected: Scores) {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let query = Labelled {
            id: "q".into(),
            text: String::new(),
            relevant: set(relevant),
            ignore: set(ignore),
            category: None,
            group: String::new(),
            date: None,
        };
        let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        let found = score(&ids, &query);
        assert!(
            found
                .iter()
                .zip(expected)
                .all(|(found, expected)| (found - expected).abs() < 1e-9),
            "{ids:?}: {found:?}"
        );
    }

    #[test]
    fn rankings_score_as_by_hand() {
        check(&["a", "b"], &["a"], &[], [1.0, 1.0, 1.0, 1.0, 1.0]);
        check(
            &["x", "a"],
            &["a"],
            &[],
            [0.0, 1.0, 1.0, 0.5, 1.0 / 3.0_f64.log2()],
        );
        check(&["x", "a"], &["a"], &["x"], [1.0, 1.0, 1.0, 1.0, 1.0]);
        check(
            &["a", "a", "b"],
            &["a", "b"],
            &[],
            [0.5, 1.0, 1.0, 1.0, 1.0],
        );
        check(&[], &["a"], &[], [0.0; 5]);
    }
}
