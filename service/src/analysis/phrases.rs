//! Finds phrases of a fixed list at a token, the longest first.
//!
//! A phrase is found only where it begins and ends with a token, so never inside a word. How the
//! tokeniser cuts a phrase does not matter: `不错` is found as one token and as `不` and `错`.
//! What a phrase means is the caller's business.

use super::token::Token;
use rustc_hash::FxHashMap;

/// From here on, letters are written without spaces between the words.
const FIRST_CJK: char = '\u{2e80}';

/// Room for most phrases, so that a joined key is allocated once.
const KEY_CAPACITY: usize = 48;

/// Phrases in folded spelling (words set apart by one space) with a value each.
#[derive(Debug, Clone)]
pub(crate) struct PhraseTable<V> {
    /// Every phrase, and every beginning of one at a possible cut with `None`: a walk over the tokens ends as soon
    /// as no phrase goes on, which for most tokens is after one look-up.
    nodes: FxHashMap<String, Option<V>>,
}

impl<V> PhraseTable<V> {
    /// An empty table.
    pub(crate) fn new() -> Self {
        Self {
            nodes: FxHashMap::default(),
        }
    }

    /// Adds a phrase; a later value replaces an earlier one.
    pub(crate) fn insert(&mut self, phrase: &str, value: V) {
        let mut last = None;
        for (end, next) in phrase.char_indices() {
            if last.is_some_and(|last| may_be_cut(last, next))
                && !self.nodes.contains_key(&phrase[..end])
            {
                self.nodes.insert(phrase[..end].to_owned(), None);
            }
            last = Some(next);
        }
        self.nodes.insert(phrase.to_owned(), Some(value));
    }

    /// The value of exactly this phrase.
    pub(crate) fn get(&self, phrase: &str) -> Option<&V> {
        self.nodes.get(phrase)?.as_ref()
    }

    /// The longest phrase that begins with token `at`: how many tokens it takes, and its value.
    pub(crate) fn longest_at(
        &self,
        normalised: &str,
        tokens: &[Token],
        at: usize,
    ) -> Option<(usize, &V)> {
        let first = tokens.get(at)?;
        let mut node = self.nodes.get(first.text.as_str())?;
        let mut longest = node.as_ref().map(|value| (1, value));
        // Only a text that begins like a phrase pays for the joined key.
        let mut key = String::new();
        for next in at + 1..tokens.len() {
            let Some(joint) = joint(gap(normalised, tokens, next)) else {
                break;
            };
            if key.is_empty() {
                key.reserve(KEY_CAPACITY);
                key.push_str(&first.text);
            }
            key.push_str(joint);
            key.push_str(&tokens[next].text);
            let Some(found) = self.nodes.get(key.as_str()) else {
                break;
            };
            node = found;
            if let Some(value) = node {
                longest = Some((next - at + 1, value));
            }
        }
        longest
    }
}

/// The text between token `at` and the one before it (or the beginning of the text); for
/// `at == tokens.len()` the text after the last token.
pub(crate) fn gap<'a>(normalised: &'a str, tokens: &[Token], at: usize) -> &'a str {
    let start = match at {
        0 => 0,
        _ => tokens[at - 1].end,
    };
    let end = tokens.get(at).map_or(normalised.len(), |token| token.start);
    normalised.get(start..end).unwrap_or("")
}

/// Whether some tokeniser may end a token between the two: anywhere but inside an alphabetic word.
fn may_be_cut(last: char, next: char) -> bool {
    let in_word = |c: char| c.is_alphanumeric() && c < FIRST_CJK;
    !(in_word(last) && in_word(next))
}

/// How a gap is written inside a phrase; `None` where a phrase cannot go on.
fn joint(gap: &str) -> Option<&str> {
    match gap {
        "" | " " | "&" | "-" | "." | "'" | "/" | "+" | "·" => Some(gap),
        _ if gap.bytes().all(|byte| byte == b' ') => Some(" "),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_tokens::cut;
    use super::*;

    #[test]
    fn finds_the_longest_phrase_of_whole_tokens() {
        let mut table = PhraseTable::new();
        for phrase in ["new york", "new york times", "java", "不错"] {
            table.insert(phrase, phrase.to_owned());
        }
        let check = |marked: &str, expected: Option<(usize, &str)>| {
            let (text, tokens) = cut(marked);
            let found = table.longest_at(&text, &tokens, 0);
            let found = found.map(|(len, value)| (len, value.as_str()));
            assert_eq!(found, expected, "{text}");
        };
        check("New York", Some((2, "new york")));
        check("New  York Times", Some((3, "new york times")));
        check("New York Timesheet", Some((2, "new york")));
        check("New. York", None);
        check("JavaScript", None);
        check("不错/a", Some((1, "不错")));
        check("不/d 错/n", Some((2, "不错")));
    }
}
