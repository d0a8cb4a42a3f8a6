//! A little tokeniser for the tests of this folder, so that they need no segmenter.
//!
//! English is written as it is; Chinese as words with their tags (`我/r 不/d 喜欢/v ！`), whose
//! spaces do not belong to the text.

use super::token::{Token, TokenKind};

/// The text and its tokens.
pub(crate) fn cut(marked: &str) -> (String, Vec<Token>) {
    let mut text = String::new();
    let mut tokens = Vec::new();
    let mut after_han = true;
    for piece in marked.split(' ') {
        let han = !piece.is_ascii() && !is_emoji(piece);
        if !han && !after_han {
            text.push(' ');
        }
        let (word, tag) = match piece.rsplit_once('/') {
            Some((word, tag)) if han => (word, tag),
            _ => (piece, ""),
        };
        push(&mut tokens, text.len(), word, tag);
        text.push_str(word);
        after_han = han || word == "\n";
    }
    (text, tokens)
}

fn push(tokens: &mut Vec<Token>, offset: usize, piece: &str, tag: &str) {
    let left = piece.trim_start_matches(['(', '"', '[', '-', '*', '\n', '“', '《']);
    let left = match left.len() + 1 < piece.len() && piece.starts_with("--") {
        true => piece,
        false => left,
    };
    let word = left.trim_end_matches([
        ',', '.', '!', '?', ';', ':', ')', '"', ']', '\n', '。', '！', '？', '，', '”', '》', '~',
    ]);
    let word = word.strip_suffix("'s").unwrap_or(word);
    if word.is_empty() {
        return;
    }
    let start = offset + piece.len() - left.len();
    tokens.push(Token {
        text: word.to_lowercase(),
        start,
        end: start + word.len(),
        kind: kind(word),
        tag: tag.to_owned().leak(),
    });
}

fn kind(word: &str) -> TokenKind {
    if is_emoji(word) {
        TokenKind::Emoji
    } else if !word.is_ascii() {
        TokenKind::Han
    } else if word.chars().all(|c| c.is_ascii_alphabetic() || c == '\'') {
        TokenKind::Word
    } else if word
        .chars()
        .all(|c| c.is_ascii_digit() || matches!(c, ',' | '.'))
    {
        TokenKind::Number
    } else {
        TokenKind::Technical
    }
}

fn is_emoji(piece: &str) -> bool {
    piece.chars().next().is_some_and(|c| c >= '\u{1f000}')
}
