//! The words that the Chinese segmenter knows.
//!
//! The built-in words come with the segmenter; a domain dictionary may add words learnt from the
//! store. Added words only ever add terms (see [`super::content`]), so that memories analysed before
//! a word was learnt stay findable.

use std::sync::LazyLock;

use jieba_rs::Jieba;

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
