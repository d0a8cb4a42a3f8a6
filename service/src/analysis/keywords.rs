//! Keywords: the few words that say what a text is about, for topics, attention and clusters.

use std::collections::HashMap;

use super::stop_words::is_stop_word;
use super::token::{Token, TokenKind};

/// Most keywords of one text.
pub const MAX_KEYWORDS: usize = 5;
/// Longest run of an unspaced script that is still a word and not a sentence, in characters.
const LONGEST_RUN: usize = 6;

/// Up to [`MAX_KEYWORDS`] words by frequency, then by position; folded, so in one case, and never
/// a stem, a stop word, a pure number or a single character.
pub fn keywords(tokens: &[Token]) -> Vec<String> {
    let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
    for (position, token) in tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| is_keyword(token))
    {
        counts.entry(&token.text).or_insert((0, position)).0 += 1;
    }
    let mut ranked: Vec<_> = counts.into_iter().collect();
    ranked.sort_by_key(|(_, (count, position))| (std::cmp::Reverse(*count), *position));
    ranked
        .into_iter()
        .take(MAX_KEYWORDS)
        .map(|(word, _)| word.to_owned())
        .collect()
}

/// Every word that could be a keyword, in the order of the text, each time that it occurs.
pub fn candidates(tokens: &[Token]) -> impl Iterator<Item = &Token> {
    tokens.iter().filter(|token| is_keyword(token))
}

/// A number without its grouping commas, if it has any: `5,000` and `$5,000` are about 5000.
pub fn ungrouped(token: &Token) -> Option<String> {
    let digits = token.text.trim_start_matches('$');
    let grouped = digits.contains(',') && digits.chars().all(|c| c.is_ascii_digit() || c == ',');
    grouped.then(|| digits.replace(',', ""))
}

fn is_keyword(token: &Token) -> bool {
    let characters = token.text.chars().count();
    let named = match token.kind {
        TokenKind::Word | TokenKind::Han => true,
        TokenKind::Technical => token.text.chars().any(char::is_alphabetic),
        TokenKind::Cjk => characters <= LONGEST_RUN,
        TokenKind::Number | TokenKind::Emoji | TokenKind::Symbol => false,
    };
    named && characters > 1 && !is_stop_word(&token.text)
}

#[cfg(test)]
mod tests {
    use super::super::dictionary::Dictionary;
    use super::super::normalise::normalise;
    use super::super::tokeniser::tokenise;
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(
            keywords(&tokenise(&normalise(text), Dictionary::builtin())),
            expected,
            "{text}"
        );
    }

    #[test]
    fn frequency_comes_first_and_then_position() {
        check(
            "the Server and the server and the disk",
            &["server", "disk"],
        );
        check(
            "one1 two2 three3 four4 five5 six6",
            &["one1", "two2", "three3", "four4", "five5"],
        );
        check(
            "数据库迁移计划：数据库先备份",
            &["数据库", "迁移", "计划", "备份"],
        );
    }

    #[test]
    fn numbers_stop_words_and_single_characters_are_none() {
        check("42 3.14 x 的 我 and the 2024-05-01", &[]);
    }
}
