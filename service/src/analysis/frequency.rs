//! How everyday a word is, whatever the store holds.
//!
//! In a store of three memories every term is rare, so the evidence floor also asks a background
//! list: English words in three tiers (a hand-made list of plain words, then SCOWL's sizes 10 and
//! 20), Chinese words by their frequency in the segmenter's corpus.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::dictionary::Dictionary;
use super::stop_words::is_stop_word;

/// Commonness of the plain words that any message may hold: `thanks`, `test`, `message`.
const PLAIN: f64 = 0.9;
/// Commonness of an everyday word (SCOWL size 10, about 4,000 words).
const EVERYDAY: f64 = 0.5;
/// Commonness of a common word (SCOWL size 20, about 7,000 more).
const COMMON: f64 = 0.2;
/// Corpus frequencies between which a Chinese word goes from rare to everyday, on a log scale.
const RARE_FREQUENCY: f64 = 100.0;
const EVERYDAY_FREQUENCY: f64 = 20_000.0;

static TIERS: LazyLock<HashMap<&'static str, f64>> = LazyLock::new(|| {
    let mut tiers = HashMap::new();
    for (list, commonness) in [
        (include_str!("data/english_common.txt"), COMMON),
        (include_str!("data/english_everyday.txt"), EVERYDAY),
        (include_str!("data/plain_words.txt"), PLAIN),
    ] {
        let words = list
            .lines()
            .filter(|line| !line.starts_with('#'))
            .flat_map(str::split_whitespace);
        tiers.extend(words.map(|word| (word, commonness)));
    }
    tiers
});

/// From 0.0 (rare, so a match tells much) to 1.0 (in every second text), for a folded word.
pub fn commonness(word: &str, dictionary: &Dictionary) -> f64 {
    if is_stop_word(word) {
        return 1.0;
    }
    if let Some(tier) = TIERS.get(word) {
        return *tier;
    }
    if word.is_ascii() {
        return singular(word)
            .and_then(|base| TIERS.get(base))
            .copied()
            .unwrap_or(0.0);
    }
    let frequency = dictionary.corpus_frequency(word) as f64;
    let position =
        (frequency.max(1.0) / RARE_FREQUENCY).ln() / (EVERYDAY_FREQUENCY / RARE_FREQUENCY).ln();
    position.clamp(0.0, PLAIN)
}

/// A plural is as common as its singular.
fn singular(word: &str) -> Option<&str> {
    word.strip_suffix("es")
        .filter(|base| TIERS.contains_key(base))
        .or_else(|| word.strip_suffix('s'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_are_commoner_than_names_of_things() {
        let common = |word| commonness(word, Dictionary::builtin());
        for (commoner, rarer) in [
            ("the", "thanks"),
            ("thanks", "editor"),
            ("editor", "passport"),
            ("passport", "kubectl"),
            ("的", "测试"),
            ("测试", "数据库"),
            ("会议", "编辑器"),
        ] {
            assert!(
                common(commoner) > common(rarer),
                "{commoner} {} {rarer} {}",
                common(commoner),
                common(rarer)
            );
        }
        assert!((common("thing") - common("things")).abs() < f64::EPSILON);
    }
}
