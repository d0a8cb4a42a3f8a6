//! Chinese names: by the segmenter's tag, and by suffixes such as 公司 (company) and 大学.
//!
//! The segmenter takes many ordinary words for names; those are listed and left out. What the
//! gazetteer knows is not looked at here.

use std::sync::LazyLock;

use super::super::token::{Token, TokenKind};
use super::super::word_lists;
use super::{Found, Text};
use rustc_hash::FxHashSet;

const WORDS: &str = include_str!("../data/chinese_names.txt");

static SUFFIXES: LazyLock<FxHashSet<&str>> = LazyLock::new(|| section("suffixes").collect());
static GENERIC: LazyLock<FxHashSet<&str>> = LazyLock::new(|| section("generic").collect());
static NOT_NAMES: LazyLock<FxHashSet<&str>> = LazyLock::new(|| section("not names").collect());

/// A name has at most so many tokens before its suffix, and so many characters.
const MAX_TOKENS_BEFORE: usize = 4;
const MAX_CHARACTERS: usize = 12;
/// Surnames and places of one character are too often something else.
const MIN_CHARACTERS: usize = 2;

/// Bytes of a common Han character in UTF-8.
const HAN_BYTES: usize = 3;

/// The Chinese names of a text.
pub(super) struct Chinese<'a> {
    text: Text<'a>,
    /// Which tokens are a suffix.
    is_suffix: Vec<bool>,
}

impl<'a> Chinese<'a> {
    /// Looks through a text.
    pub(super) fn read(text: Text<'a>) -> Self {
        let is_suffix =
            |token: &Token| token.kind == TokenKind::Han && SUFFIXES.contains(token.text.as_str());
        Self {
            text,
            is_suffix: text.tokens.iter().map(is_suffix).collect(),
        }
    }

    /// The name that begins with token `at`.
    pub(super) fn name_at(&self, at: usize) -> Option<Found<'a>> {
        let token = &self.text.tokens[at];
        if let Some(len) = self.suffixed(at) {
            return Some(Found {
                tokens: len,
                name: self.text.surface(at, len),
                with_suffix: !token.tag.starts_with("ns"),
            });
        }
        (is_tagged_name(token) || is_suffixed_word(token))
            .then(|| Found::new(1, self.text.surface(at, 1)))
    }

    /// How many tokens the name has that begins here and ends with a suffix of its own; the last
    /// of several suffixes counts (`腾讯科技公司`).
    fn suffixed(&self, at: usize) -> Option<usize> {
        let end = self.text.tokens.len().min(at + MAX_TOKENS_BEFORE + 1);
        let last = (at + 1..end).rev().find(|&index| self.is_suffix[index])?;
        let mut longest = None;
        let mut characters = 0;
        for index in at..=last {
            let token = &self.text.tokens[index];
            let begins = index == at;
            let ends_name = !begins && self.is_suffix[index];
            if token.kind != TokenKind::Han
                || !begins && !self.text.gap(index).is_empty()
                || !ends_name && !may_be_part(token)
            {
                break;
            }
            if ends_name && characters >= MIN_CHARACTERS {
                longest = Some(index - at + 1);
            }
            characters += token.text.chars().count();
            if characters > MAX_CHARACTERS {
                break;
            }
        }
        longest
    }
}

/// A word that the segmenter takes for a name (nr person, ns place, nt organisation, nz other).
fn is_tagged_name(token: &Token) -> bool {
    matches!(token.tag.get(..2), Some("nr" | "ns" | "nt" | "nz"))
        && token.text.chars().count() >= MIN_CHARACTERS
        && !NOT_NAMES.contains(token.text.as_str())
}

/// `交通银行` as one token with another tag: a suffix of two to four characters after at least two
/// others.
fn is_suffixed_word(token: &Token) -> bool {
    let word = token.text.as_str();
    let cuts = word.char_indices().skip(MIN_CHARACTERS);
    word.len() >= 4 * HAN_BYTES
        && cuts
            .filter(|(cut, _)| (2 * HAN_BYTES..=4 * HAN_BYTES).contains(&(word.len() - cut)))
            .any(|(cut, _)| SUFFIXES.contains(&word[cut..]) && !GENERIC.contains(&word[..cut]))
        && !NOT_NAMES.contains(word)
}

/// Nouns, names, abbreviations, adjectives of one character, and what the segmenter does not know.
fn may_be_part(token: &Token) -> bool {
    let noun = token.tag.starts_with('n') || matches!(token.tag, "j" | "x" | "b" | "");
    let short = token.text.chars().count() == 1 && matches!(token.tag, "a" | "zg" | "g" | "ng");
    (noun || short) && !GENERIC.contains(token.text.as_str())
}

fn section(wanted: &str) -> impl Iterator<Item = &'static str> {
    word_lists::entries(WORDS)
        .filter(move |(heading, _)| *heading == wanted)
        .map(|(_, word)| word)
}
