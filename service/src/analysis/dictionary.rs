//! The words that the Chinese segmenter knows.
//!
//! The built-in words come with the segmenter; [`Learnt`] are words learnt from the store. Those only
//! ever add terms, so that memories analysed before a word was learnt stay findable.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use jieba_rs::Jieba;

use super::stop_words::is_stop_word;
use super::token::{Token, TokenKind};

static BUILTIN: LazyLock<Dictionary> = LazyLock::new(|| Dictionary {
    segmenter: Jieba::new(),
});

/// A segmenter with its words. Building one takes tens of milliseconds; share it.
pub struct Dictionary {
    segmenter: Jieba,
}

impl Dictionary {
    /// The dictionary without any learnt words, built on first use.
    pub fn builtin() -> &'static Dictionary {
        &BUILTIN
    }

    /// Cuts a run of simplified Han characters into words with their part of speech.
    pub fn segment<'a>(&'a self, run: &'a str) -> impl Iterator<Item = (&'a str, &'static str)> {
        self.segmenter
            .tag(run, true)
            .into_iter()
            .map(|tagged| (tagged.word, known_tag(tagged.tag)))
    }

    /// How often a word stands in the segmenter's corpus of about 60 million words; 0 if unknown.
    pub fn corpus_frequency(&self, word: &str) -> usize {
        if self.segmenter.has_word(word) {
            self.segmenter.suggest_freq(word)
        } else {
            0
        }
    }
}

/// Longest learnt word, in characters.
const LONGEST_COMPOUND: usize = 6;

/// Words of a store's own: each is two neighbouring words of the segmenter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Learnt(BTreeSet<String>);

impl Learnt {
    pub fn new(words: BTreeSet<String>) -> Learnt {
        Learnt(words)
    }

    /// The learnt words of a text, each with the two tokens that it is made of.
    pub fn found<'a>(
        &'a self,
        tokens: &'a [Token],
    ) -> impl Iterator<Item = (String, &'a Token, &'a Token)> {
        let known = !self.0.is_empty();
        let pairs = compounds(tokens).take_while(move |_| known);
        pairs.filter_map(|(one, other)| {
            let word = format!("{}{}", one.text, other.text);
            self.0.contains(&word).then_some((word, one, other))
        })
    }
}

/// Neighbouring Chinese words that might be one.
pub fn compounds(tokens: &[Token]) -> impl Iterator<Item = (&Token, &Token)> {
    let pairs = tokens.windows(2).map(|pair| (&pair[0], &pair[1]));
    pairs.filter(|(one, other)| {
        let is_part = |token: &Token| token.kind == TokenKind::Han && !is_stop_word(&token.text);
        one.end == other.start
            && is_part(one)
            && is_part(other)
            && one.text.chars().count() + other.text.chars().count() <= LONGEST_COMPOUND
    })
}

/// The tags that something here reads; all others are dropped, since they live only as long as the
/// dictionary.
fn known_tag(tag: &str) -> &'static str {
    match tag {
        "nr" | "nrt" | "nrfg" => "nr",
        "ns" => "ns",
        "nt" => "nt",
        "nz" => "nz",
        _ => "",
    }
}
