//! One surface token of a text.

/// What a token is made of; decides which terms it yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A word of an alphabetic script, possibly with an inner apostrophe (`don't`).
    Word,
    /// Digits, possibly with separators inside (`5,000`, `3.14`).
    Number,
    /// A token that means something as a whole: `node.js`, `C++`, `a@b.com`, `--dry-run`, a path.
    Technical,
    /// A word that the Chinese segmenter found in a run of Han characters.
    Han,
    /// A run of kana or Hangul, or of Han characters mixed with kana.
    Cjk,
    /// An emoji, as one grapheme cluster.
    Emoji,
    /// A run of other marks that stands alone, such as `=>`.
    Symbol,
}

/// A surface token. Tokens do not overlap and come in text order; white space and
/// ordinary punctuation lie between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Folded text: NFKC, lower case, no accents, simplified characters. Terms are made of it.
    pub text: String,
    /// Byte range of the token in the NFKC-normalised text (`normalised[start..end]` keeps the case).
    pub start: usize,
    /// See `start`.
    pub end: usize,
    pub kind: TokenKind,
    /// jieba's part-of-speech tag for a `Han` token (`nr` person, `ns` place, `nt` organisation, ...), else "".
    pub tag: &'static str,
}
