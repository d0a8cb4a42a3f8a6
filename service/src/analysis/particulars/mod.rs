//! What tells two statements apart however alike they look: figures with their units, moments, denials,
//! names, and the words that carry the rest. English and Chinese.

pub mod figures;
pub mod lists;
mod moments;

use std::collections::BTreeSet;

use super::Ingredients;
use super::dictionary::Dictionary;
use super::normalise::{fold, is_han, normalise};
use super::stem::stem;
use super::stop_words::is_stop_word;
use super::token::{Token, TokenKind};
use super::tokeniser::tokenise;
use super::word_lists::is_common;
pub use figures::Figure;
use lists::{HARMLESS, is_denial};

/// One word that carries meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Folded, as written.
    pub text: String,
    /// What equal words have in common: the stem of an English word.
    pub key: String,
    /// Whether it names somebody or something.
    pub name: bool,
}

/// The particulars of a text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Particulars {
    /// In the order of their values.
    pub figures: Vec<Figure>,
    /// Those of them that are stated as the value of an attribute, such as a port or a password.
    pub stated: Vec<Figure>,
    /// Days, months, times of day, how often.
    pub moments: BTreeSet<&'static str>,
    /// How many words deny something.
    pub denials: usize,
    /// Words without stop words, figures and moments; each once, in the order of the text.
    pub words: Vec<Word>,
    /// Names and persons, each once, in the order of the text: who may do what to whom.
    pub named: Vec<String>,
    /// Kinds of those that act, such as `teacher` or `cat`, and persons, likewise.
    pub actors: Vec<String>,
    /// Every word, stop words included, by its key.
    pub all: BTreeSet<String>,
    /// The folded text without spaces and marks, in which Chinese words can be looked up.
    pub run: String,
}

/// What a text says besides its wording.
pub fn particulars(text: &str, dictionary: &Dictionary) -> Particulars {
    let mut cased = normalise(text);
    let mut lower = same_length_fold(&cased);
    let run = lower.chars().filter(|c| c.is_alphanumeric()).collect();
    let mut figures = figures::take(&mut cased, &mut lower);
    let moments = moments::take(&mut cased, &mut lower, &figures.all);
    figures.all.sort();
    let tokens = tokenise(&cased, dictionary);
    let mut found = Particulars {
        figures: figures.all,
        stated: figures.stated,
        moments,
        run,
        ..Particulars::default()
    };
    for token in &tokens {
        take_word(&mut found, token, &cased);
    }
    found
}

fn take_word(found: &mut Particulars, token: &Token, cased: &str) {
    let mut text = token.text.as_str();
    let rest = denied_rest(text);
    if is_denial(text) || rest.is_some() {
        found.denials += 1;
    }
    if let Some(rest) = rest {
        text = rest;
    }
    found.all.insert(key(text));
    let person = lists::pronoun(text).map(str::to_owned);
    let key = || key(text);
    let kind = || lists::is_actor(&key()).then(key);
    let name = || is_name(token, cased).then(key);
    put(&mut found.named, person.clone().or_else(name));
    put(&mut found.actors, person.or_else(kind));
    let carries = matches!(
        token.kind,
        TokenKind::Word | TokenKind::Technical | TokenKind::Han | TokenKind::Cjk
    );
    if !carries || is_stop_word(text) || lists::is_grammar(text) {
        return;
    }
    let word = Word {
        key: key(),
        name: is_name(token, cased),
        text: text.to_owned(),
    };
    if found.words.iter().all(|known| known.key != word.key) {
        found.words.push(word);
    }
}

fn put(list: &mut Vec<String>, word: Option<String>) {
    if let Some(word) = word.filter(|word| !list.contains(word)) {
        list.push(word);
    }
}

/// What equal words have in common.
pub fn key(word: &str) -> String {
    stem(word, Ingredients::default())
}

/// What a word denies, if it begins with a denial: `喜欢` of `不喜欢`, `like` of `dislike`.
fn denied_rest(word: &str) -> Option<&str> {
    if word.is_ascii() {
        let mut rests = ["dis", "un", "im", "in"]
            .iter()
            .filter_map(|denial| word.strip_prefix(denial));
        let is_word = |rest: &&str| *rest != "able" && is_common(rest.trim_end_matches('s'));
        return rests.find(|rest| is_denial(word) && is_word(rest));
    }
    if HARMLESS.contains(word) || !word.chars().all(is_han) {
        return None;
    }
    let rest = ["不", "没", "未", "无"]
        .iter()
        .find_map(|denial| word.strip_prefix(denial))?;
    (!rest.is_empty() && !is_denial(word)).then_some(rest)
}

pub(super) fn is_name(token: &Token, cased: &str) -> bool {
    match token.kind {
        TokenKind::Technical => true,
        TokenKind::Han => {
            matches!(token.tag, "nr" | "ns" | "nt" | "nz") && !lists::is_thing(&token.text)
        }
        TokenKind::Word => {
            let capital = cased[token.start..]
                .chars()
                .next()
                .is_some_and(char::is_uppercase);
            let before = cased[..token.start].trim_end();
            let begins = before.is_empty() || before.ends_with(['.', '!', '?', ':', '。', '\n']);
            let common =
                is_common(&token.text) || token.text.strip_suffix('s').is_some_and(is_common);
            capital && (!begins || !common) && !is_stop_word(&token.text)
        }
        _ => false,
    }
}

/// Folds each character that its folded form can stand for byte by byte, so that places in the one
/// text are places in the other.
fn same_length_fold(text: &str) -> String {
    let mut buffer = [0; 4];
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        let one = fold(c.encode_utf8(&mut buffer));
        if one.len() == c.len_utf8() {
            folded.push_str(&one);
        } else {
            folded.push(c);
        }
    }
    folded
}

/// Replaces a part of both texts by as many spaces.
fn blank(cased: &mut String, lower: &mut String, start: usize, end: usize) {
    let spaces = " ".repeat(end - start);
    cased.replace_range(start..end, &spaces);
    lower.replace_range(start..end, &spaces);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Particulars {
        particulars(text, Dictionary::builtin())
    }

    #[test]
    fn what_is_written_in_two_ways_is_one_particular() {
        for (one, other) in [
            ("it takes 5 km", "it takes 5 kilometres"),
            ("跑了5公里", "跑了五公里"),
            ("at 11 pm", "at 23:00"),
            ("下午三点开会", "15:00开会"),
            ("costs $1,000", "costs 1000 dollars"),
            ("three eggs", "3 eggs"),
            ("半小时", "0.5小时"),
        ] {
            assert_eq!(of(one).figures, of(other).figures, "{one} | {other}");
        }
        for (one, other) in [
            ("every day", "每天"),
            ("on Monday", "星期一"),
            ("in the evening", "晚上"),
        ] {
            assert_eq!(of(one).moments, of(other).moments, "{one} | {other}");
        }
    }

    #[test]
    fn what_is_different_is_another_particular() {
        for (one, other) in [
            ("5 km", "5 miles"),
            ("port 6379", "port 6380"),
            ("第一名", "第二名"),
            ("10公斤", "10斤"),
            ("v2.1", "v2.2"),
            ("first place", "second place"),
            ("30岁", "30个月大"),
        ] {
            assert_ne!(of(one).figures, of(other).figures, "{one} | {other}");
        }
    }

    #[test]
    fn denials_are_counted() {
        for (text, denials) in [
            ("he likes it", 0),
            ("he doesn't like it", 1),
            ("他不喜欢", 1),
            ("没有猫", 1),
            ("味道不错", 0),
            ("非常好", 0),
            ("without a key", 1),
            ("it is unavailable", 1),
        ] {
            assert_eq!(of(text).denials, denials, "{text}");
        }
    }

    #[test]
    fn names_are_told_from_other_words() {
        let names = |text: &str| -> Vec<String> {
            let words = of(text).words.into_iter().filter(|word| word.name);
            words.map(|word| word.text).collect()
        };
        assert_eq!(names("Alice works at Google"), ["alice", "google"]);
        assert_eq!(names("The report is late"), [""; 0]);
    }

    #[test]
    fn any_text_has_particulars() {
        for text in [
            "",
            "、。",
            "ﬀ İ ＡＢ１２",
            "9:99:99 -1.2.3- 第",
            "半",
            "\u{0}５点",
        ] {
            of(text);
        }
    }
}
