//! Cuts a text into surface tokens.
//!
//! Runs of Chinese go through the segmenter, runs of other scripts written without spaces stay
//! whole, and everything else is cut at white space and separators by `technical.rs`.
//! Which terms a token yields is decided later, in [`super::content`] and [`super::query`].

use super::dictionary::Dictionary;
use super::normalise::{fold, is_emoji, is_han, is_unspaced};
use super::technical;
use super::token::{Token, TokenKind};

/// Joins the parts of one emoji (variation selector, joiner, skin tone, tag).
fn joins_emoji(c: char) -> bool {
    matches!(c, '\u{fe0f}' | '\u{200d}' | '\u{20e3}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}')
}

/// Cuts normalised text into tokens, in text order.
pub fn tokenise(normalised: &str, dictionary: &Dictionary) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(normalised.len() / 5 + 1);
    let mut rest = normalised.char_indices().peekable();
    while let Some(&(start, first)) = rest.peek() {
        let class = Class::of(first);
        let mut end = start;
        let mut joined = false;
        while let Some(&(at, c)) = rest.peek() {
            let goes_on = match class {
                Class::Emoji => at == start || joined || joins_emoji(c),
                _ => Class::of(c) == class,
            };
            if !goes_on {
                break;
            }
            joined = c == '\u{200d}';
            end = at + c.len_utf8();
            rest.next();
        }
        let run = &normalised[start..end];
        match class {
            Class::Space => {}
            Class::Emoji => tokens.push(whole(run, start, TokenKind::Emoji)),
            Class::Unspaced if run.chars().all(is_han) => {
                segment(run, start, dictionary, &mut tokens)
            }
            Class::Unspaced => tokens.push(whole(run, start, TokenKind::Cjk)),
            Class::Spaced => technical::cut(run, start, &mut tokens),
        }
    }
    tokens
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Class {
    Space,
    Emoji,
    Unspaced,
    Spaced,
}

impl Class {
    fn of(c: char) -> Class {
        if c.is_whitespace()
            || c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{feff}')
        {
            Class::Space
        } else if c.is_ascii() {
            Class::Spaced
        } else if is_unspaced(c) {
            Class::Unspaced
        } else if is_emoji(c) || joins_emoji(c) {
            Class::Emoji
        } else {
            Class::Spaced
        }
    }
}

fn whole(run: &str, start: usize, kind: TokenKind) -> Token {
    Token {
        text: fold(run),
        start,
        end: start + run.len(),
        kind,
        tag: "",
    }
}

/// Segments a run of Han characters. The segmenter reads the folded run, whose characters stand one
/// to one for those of the text.
fn segment(run: &str, start: usize, dictionary: &Dictionary, tokens: &mut Vec<Token>) {
    let folded = fold(run);
    let mut original = run.chars();
    let mut at = start;
    for (word, tag) in dictionary.segment(&folded) {
        let length: usize = original
            .by_ref()
            .take(word.chars().count())
            .map(char::len_utf8)
            .sum();
        tokens.push(Token {
            text: word.to_owned(),
            start: at,
            end: at + length,
            kind: TokenKind::Han,
            tag,
        });
        at += length;
    }
}

#[cfg(test)]
mod tests {
    use super::super::normalise::normalise;
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let normalised = normalise(text);
        let tokens = tokenise(&normalised, Dictionary::builtin());
        let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
        assert_eq!(texts, expected, "{text}");
        for token in tokens {
            assert_eq!(
                fold(&normalised[token.start..token.end]),
                token.text,
                "{text}"
            );
        }
    }

    #[test]
    fn scripts_are_cut_where_they_meet() {
        check("重跑gen-itgc后", &["重跑", "gen-itgc", "后"]);
        check("TypeScript 前端", &["typescript", "前端"]);
        check("state.db 怎么恢复的", &["state.db", "怎么", "恢复", "的"]);
        check("C++怎么学", &["c++", "怎么", "学"]);
        check("今日は成語しりとりをした", &["今日は成语しりとりをした"]);
        check("서버는 부산에 있다", &["서버는", "부산에", "있다"]);
        check("數據庫遷移", &["数据库", "迁移"]);
    }

    #[test]
    fn emoji_are_tokens_and_stay_whole() {
        check("done 🎉🎉", &["done", "🎉", "🎉"]);
        check(
            "👨\u{200d}👩\u{200d}👧 ok👍🏽",
            &["👨\u{200d}👩\u{200d}👧", "ok", "👍🏽"],
        );
    }

    #[test]
    fn marks_and_space_alone_give_nothing() {
        check("  ，。！ \u{0} \u{202e} ", &[]);
        check("", &[]);
    }
}
