//! The words that carry feeling, of both languages, read once from the lists under `data/`.
//!
//! What the entries of a sentence add up to is decided in `polarity`.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::super::phrases::PhraseTable;
use super::super::token::{Token, TokenKind};
use super::super::word_lists;

/// What a word or phrase does to the feeling of its clause. An entry without any effect hides the
/// words inside it: `差不多` (about) is no 差 (bad).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Entry {
    /// From -1.0 to 1.0; 0.0 for a word without a feeling of its own.
    pub(super) valence: f64,
    /// What a feeling word adds to the intensity by itself: phrases such as `太好了`.
    pub(super) intensity: f64,
    /// Set for adverbs of degree.
    pub(super) degree: Option<Degree>,
    /// Whether it turns round the feeling words that follow.
    pub(super) negates: bool,
    /// Whether a new thought begins: "but".
    pub(super) ends_clause: bool,
}

/// An adverb of degree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Degree {
    /// By how much it multiplies the feeling word that follows; below 1.0 for "slightly".
    pub(super) factor: f64,
    /// What it adds to the intensity of the text.
    pub(super) intensity: f64,
    /// Whether it is one only before a feeling word ("so happy", but "so I went").
    pub(super) adjacent: bool,
}

/// How much of a feeling word's valence is left after a negation inside the same Chinese word.
const NEGATED_WORD: f64 = -0.8;

static LEXICON: LazyLock<PhraseTable<Entry>> = LazyLock::new(|| {
    parse([
        include_str!("../data/emotion_english.txt"),
        include_str!("../data/emotion_chinese.txt"),
    ])
});

/// The longest entry that begins with token `at`, and how many tokens it takes.
pub(super) fn at(normalised: &str, tokens: &[Token], at: usize) -> Option<(usize, Entry)> {
    if let Some((len, entry)) = LEXICON.longest_at(normalised, tokens, at) {
        return Some((len, *entry));
    }
    let token = tokens.get(at)?;
    let entry = match token.kind {
        TokenKind::Word => drawn_out(&token.text)?,
        TokenKind::Han => negated_han(&token.text)?,
        _ => return None,
    };
    Some((1, entry))
}

/// Whether the word is of the lexicon, and not only there to hide something.
pub(super) fn has_effect(word: &str) -> bool {
    LEXICON
        .get(word)
        .is_some_and(|entry| entry.valence.abs() > 0.0 || entry.degree.is_some() || entry.negates)
}

/// "soooo", "loooove": the entry of the word with the long letter written twice or once.
fn drawn_out(word: &str) -> Option<Entry> {
    let letters = word.as_bytes();
    if !letters
        .windows(3)
        .any(|run| run[0] == run[1] && run[1] == run[2])
    {
        return None;
    }
    LEXICON
        .get(&squeeze(word, 2))
        .or_else(|| LEXICON.get(&squeeze(word, 1)))
        .copied()
}

/// The word with every run of one letter cut to at most `most`.
fn squeeze(word: &str, most: usize) -> String {
    let mut squeezed = String::with_capacity(word.len());
    let mut run = 0;
    let mut last = None;
    for letter in word.chars() {
        run = if last == Some(letter) { run + 1 } else { 1 };
        last = Some(letter);
        if run <= most {
            squeezed.push(letter);
        }
    }
    squeezed
}

/// A word that the segmenter left together with its negation: `不喜欢` where the list holds `喜欢`.
fn negated_han(word: &str) -> Option<Entry> {
    let rest = word.strip_prefix(['不', '没', '无'])?;
    let inner = LEXICON.get(rest)?;
    (inner.valence.abs() > 0.0).then(|| Entry {
        valence: inner.valence * NEGATED_WORD,
        ..Entry::default()
    })
}

/// A word may stand in several sections ("pretty" feels good and is a degree); the table holds the
/// sum of its entries.
fn parse<'a>(lists: impl IntoIterator<Item = &'a str>) -> PhraseTable<Entry> {
    let mut merged: HashMap<String, Entry> = HashMap::new();
    for (heading, word) in lists.into_iter().flat_map(word_lists::entries) {
        let entry = merged.entry(word.replace('_', " ")).or_default();
        apply(heading, entry);
    }
    let mut table = PhraseTable::new();
    for (phrase, entry) in merged {
        table.insert(&phrase, entry);
    }
    table
}

fn apply(heading: &str, entry: &mut Entry) {
    let mut words = heading.split(' ');
    let kind = words.next().unwrap_or("");
    let mut number = || words.next().and_then(|word| word.parse::<f64>().ok());
    match kind {
        "valence" => {
            entry.valence = number().unwrap_or(0.0);
            entry.intensity = number().unwrap_or(0.0);
        }
        "degree" | "adjacent" => {
            entry.degree = Some(Degree {
                factor: number().unwrap_or(1.0),
                intensity: number().unwrap_or(0.0),
                adjacent: kind == "adjacent",
            });
        }
        "negation" => entry.negates = true,
        "boundary" => entry.ends_clause = true,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_of_the_lists_is_understood() {
        for list in [
            include_str!("../data/emotion_english.txt"),
            include_str!("../data/emotion_chinese.txt"),
        ] {
            for (heading, word) in word_lists::entries(list) {
                let mut entry = Entry::default();
                apply(heading, &mut entry);
                assert!((-1.0..=1.0).contains(&entry.valence), "{word}");
                let silent = entry.valence.abs() < f64::EPSILON
                    && entry.degree.is_none()
                    && !entry.negates
                    && !entry.ends_clause;
                assert_eq!(silent, heading == "neutral", "[{heading}] {word}");
            }
        }
    }

    #[test]
    fn no_word_is_both_good_and_bad() {
        let mut signs: HashMap<&str, f64> = HashMap::new();
        for list in [
            include_str!("../data/emotion_english.txt"),
            include_str!("../data/emotion_chinese.txt"),
        ] {
            for (heading, word) in word_lists::entries(list) {
                let mut entry = Entry::default();
                apply(heading, &mut entry);
                if heading.starts_with("valence") || heading == "neutral" {
                    let earlier = signs.insert(word, entry.valence);
                    assert_eq!(earlier, None, "{word} stands twice");
                }
            }
        }
    }

    #[test]
    fn squeezes_runs() {
        assert_eq!(squeeze("gooood", 2), "good");
        assert_eq!(squeeze("looove", 1), "love");
    }
}
