//! Days, months, times of day, and how often.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::blank;
use super::figures::Figure;
use crate::analysis::normalise::is_han;

/// How each moment is written, the longest first, with its name.
static WRITTEN: LazyLock<Vec<(String, &'static str)>> = LazyLock::new(|| {
    let lines = include_str!("../data/moments.txt").lines();
    let mut written: Vec<(String, &'static str)> = lines
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| {
            let mut words = line.split_whitespace();
            let name = words.next().unwrap_or_default();
            words.map(move |word| (word.replace('_', " "), name))
        })
        .collect();
    written.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    written
});

/// Parts of a day, which a time by the clock says as well.
const PARTS_OF_DAY: [&str; 3] = ["morning", "afternoon", "evening"];

/// Takes the moments out of both texts.
pub(super) fn take(
    cased: &mut String,
    lower: &mut String,
    figures: &[Figure],
) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    for (word, name) in WRITTEN.iter() {
        let mut from = 0;
        while let Some(at) = lower[from..].find(word.as_str()).map(|at| from + at) {
            let end = at + word.len();
            from = end;
            if stands_alone(lower, at, end) {
                found.insert(*name);
                blank(cased, lower, at, end);
            }
        }
    }
    if figures.iter().any(Figure::is_clock) {
        found.retain(|name| !PARTS_OF_DAY.contains(name));
    }
    found
}

/// Whether a word is one of its own: an English one between marks or spaces, a Chinese one of a single
/// character likewise.
fn stands_alone(text: &str, at: usize, end: usize) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[end..].chars().next();
    let first = text[at..].chars().next();
    if first.is_some_and(is_han) {
        let single = text[at..end].chars().count() == 1;
        return !single || !before.is_some_and(is_han) && !after.is_some_and(is_han);
    }
    let in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !is_han(c));
    !in_word(before) && !in_word(after)
}
