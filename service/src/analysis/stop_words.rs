//! Words that carry the grammar of a sentence and not its subject, English and Chinese.
//!
//! They never decide a match alone. They stay in the index all the same, since a query made of
//! nothing else searches with what it has.

use std::collections::HashSet;
use std::sync::LazyLock;

static STOP_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    include_str!("data/stop_words.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::split_whitespace)
        .collect()
});

/// Whether a folded word is a stop word of either language.
pub fn is_stop_word(folded: &str) -> bool {
    STOP_WORDS.contains(folded)
}

/// Words that turn a statement into its opposite, folded; they tell two otherwise equal statements
/// apart.
pub const NEGATIONS: [&str; 31] = [
    "no", "not", "never", "none", "nothing", "nobody", "neither", "nor", "without", "cannot",
    "don't", "doesn't", "didn't", "isn't", "aren't", "wasn't", "can't", "won't", "haven't",
    "hasn't", "不", "没", "没有", "未", "无", "非", "别", "勿", "不是", "不要", "不会",
];

/// Whether a folded word is one of [`NEGATIONS`].
pub fn is_negation(folded: &str) -> bool {
    NEGATIONS.contains(&folded)
}
