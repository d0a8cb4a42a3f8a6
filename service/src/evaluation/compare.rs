//! Two runs of one set, compared query by query.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use super::metrics::{NDCG, interval, mean, score};
use super::sets::{QuestionSet, lines};

/// A line of a run file.
#[derive(Debug, Deserialize)]
struct RunLine {
    qid: String,
    ids: Vec<String>,
}

/// How the second run differs from the first, by nDCG@10.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub first: f64,
    pub second: f64,
    /// Bounds of the 95 % bootstrap interval of the mean difference.
    pub interval: (f64, f64),
    /// Queries that the second answers better, worse, and equally well.
    pub better: usize,
    pub worse: usize,
    pub equal: usize,
}

/// Compares two run files; a query that is missing from one scores 0 there.
///
/// # Errors
/// When a file cannot be read.
pub fn compare(set: &QuestionSet, first: &Path, second: &Path) -> anyhow::Result<Comparison> {
    let (first, second) = (scores(set, first)?, scores(set, second)?);
    let differences: Vec<f64> = first
        .iter()
        .zip(&second)
        .map(|(first, second)| second[NDCG] - first[NDCG])
        .collect();
    let count = |test: fn(f64) -> bool| {
        differences
            .iter()
            .filter(|difference| test(**difference))
            .count()
    };
    let (better, worse) = (
        count(|difference| difference > 1e-9),
        count(|difference| difference < -1e-9),
    );
    Ok(Comparison {
        first: mean(first.iter())[NDCG],
        second: mean(second.iter())[NDCG],
        interval: interval(&differences),
        better,
        worse,
        equal: differences.len() - better - worse,
    })
}

fn scores(set: &QuestionSet, file: &Path) -> anyhow::Result<Vec<super::Scores>> {
    let runs: Vec<RunLine> = lines(file)?;
    let runs: HashMap<String, Vec<String>> =
        runs.into_iter().map(|run| (run.qid, run.ids)).collect();
    Ok(set
        .queries
        .iter()
        .map(|query| score(runs.get(&query.id).map_or(&[][..], Vec::as_slice), query))
        .collect())
}
