//! English names by their capitals: names of one or more words, speaker labels, acronyms.
//!
//! A capital at the beginning of a sentence says nothing by itself. Known names are the
//! gazetteer's, identifiers those of `technical`.

use std::collections::HashSet;

use super::super::token::{Token, TokenKind};
use super::super::word_lists;
use super::{Found, Text};

/// Lower-case words that may stand inside a name, before another capitalised word.
const CONNECTORS: [&str; 10] = [
    "of", "de", "da", "del", "di", "la", "van", "von", "der", "bin",
];
/// Abbreviations before a name, whose full stop ends no sentence.
const TITLES: [&str; 7] = ["mr", "mrs", "ms", "dr", "prof", "st", "jr"];
/// Acronyms have at most so many letters; longer words in capitals are shouted.
const MAX_ACRONYM: usize = 6;

/// No name has more words; a line of more capitals is a headline.
const MAX_RUN: usize = 6;

/// What is known of the capitals of a whole text.
pub(super) struct English<'a> {
    text: Text<'a>,
    /// Whether most words stand in capitals, which then say nothing.
    shouted: bool,
    /// Capitalised words that somewhere stand inside a sentence, folded.
    inside_sentence: HashSet<&'a str>,
}

impl<'a> English<'a> {
    /// Looks through a text.
    pub(super) fn read(text: Text<'a>) -> Self {
        let mut english = Self {
            text,
            shouted: is_shouted(text),
            inside_sentence: HashSet::new(),
        };
        for (at, token) in text.tokens.iter().enumerate() {
            if english.is_capitalised(at) && !english.begins_sentence(at) {
                english.inside_sentence.insert(token.text.as_str());
            }
        }
        english
    }

    /// The name that begins with token `at`.
    pub(super) fn name_at(&self, at: usize) -> Option<Found<'a>> {
        let written_like_one = self.is_capitalised(at) || self.has_inner_capital(at);
        if self.shouted || !written_like_one || self.is_shouted_word(at) {
            return None;
        }
        let begins = self.begins_sentence(at);
        let beside_han = self.text.is_beside_han(at);
        if begins && !beside_han && word_lists::is_common(&self.text.tokens[at].text) {
            return None;
        }
        let len = self.run(at);
        if self.all_capitals(at, len) {
            return self.acronym(at).map(|name| Found::new(1, name));
        }
        let counts = !begins || len > 1 || beside_han || self.is_unmistakable(at, len);
        counts.then(|| Found::new(len, self.text.surface(at, len)))
    }

    /// Whether tokens `at..at + len`, which are written like a name, are one and not merely the
    /// beginning of a sentence.
    pub(super) fn is_unmistakable(&self, at: usize, len: usize) -> bool {
        if self.shouted {
            return false;
        }
        !self.begins_sentence(at)
            || self.has_inner_capital(at)
            || self.text.is_beside_han(at)
            || self
                .inside_sentence
                .contains(self.text.tokens[at].text.as_str())
            || self.is_speaker(at, len)
            || self.has_version(at + len)
    }

    /// A word with a capital first, that may be a name.
    fn is_capitalised(&self, at: usize) -> bool {
        let token = &self.text.tokens[at];
        if !matches!(token.kind, TokenKind::Word | TokenKind::Technical) {
            return false;
        }
        let surface = self.text.surface(at, 1);
        surface.starts_with(char::is_uppercase)
            && is_name_like(token, surface)
            && !word_lists::is_never_a_name(&token.text)
            && !self.is_shouted_word(at)
    }

    /// `iPhone`, `OpenAI`, `SOL`: capitals that no beginning of a sentence explains.
    fn has_inner_capital(&self, at: usize) -> bool {
        let token = &self.text.tokens[at];
        let surface = self.text.surface(at, 1);
        token.kind == TokenKind::Word
            && is_name_like(token, surface)
            && surface.chars().skip(1).any(char::is_uppercase)
            && !word_lists::is_never_a_name(&token.text)
    }

    /// How many tokens the run of capitalised words at `at` has.
    fn run(&self, at: usize) -> usize {
        let mut end = at + 1;
        while end - at < MAX_RUN
            && let Some(next) = self.next_of_run(end)
        {
            end = next + 1;
        }
        end - at
    }

    /// The next capitalised word of a run that so far ends before token `end`.
    fn next_of_run(&self, end: usize) -> Option<usize> {
        let token = self.text.tokens.get(end)?;
        if !self.continues(end) {
            return None;
        }
        if self.is_capitalised(end) {
            return Some(end);
        }
        let connector = CONNECTORS.contains(&token.text.as_str());
        let next = end + 1;
        (connector
            && next < self.text.tokens.len()
            && self.continues(next)
            && self.is_capitalised(next))
        .then_some(next)
    }

    /// Whether only a space, or the full stop of an abbreviation, stands before token `at`.
    fn continues(&self, at: usize) -> bool {
        match self.text.gap(at) {
            " " => true,
            ". " => self.is_abbreviation(at - 1),
            _ => false,
        }
    }

    /// A title or an initial ("J. Smith").
    fn is_abbreviation(&self, at: usize) -> bool {
        let word = self.text.tokens[at].text.as_str();
        TITLES.contains(&word) || word.len() == 1 && self.text.surface(at, 1) != "I"
    }

    fn begins_sentence(&self, at: usize) -> bool {
        if at == 0 {
            return true;
        }
        let before = self.text.gap(at);
        if before == " " {
            return self.text.tokens[at - 1].kind == TokenKind::Emoji;
        }
        if before == ". " && self.is_abbreviation(at - 1) {
            return false;
        }
        if before.contains(['.', '!', '?', ';', '\n', '。', '…', '•']) {
            return true;
        }
        let spoken = before.contains(['"', '“']) && before.contains(',');
        spoken || before.contains(':') && !self.is_listed(at)
    }

    /// After a colon a word that is followed by a comma, or by nothing, is a value of a list
    /// ("Name: Bob"), not the beginning of a speech ("Bob: Sure, ...").
    fn is_listed(&self, at: usize) -> bool {
        let after = self.text.gap(at + 1);
        let alone = after.starts_with([',', '\n']) || at + 1 == self.text.tokens.len();
        alone && !word_lists::is_common(&self.text.tokens[at].text)
    }

    /// "Caroline: ..." at the beginning of a line.
    fn is_speaker(&self, at: usize, len: usize) -> bool {
        let begins_line = at == 0 || self.text.gap(at).contains('\n');
        begins_line && self.text.gap(at + len).starts_with(':')
    }

    /// Whether a version stands at token `at` ("Rust 1.80").
    fn has_version(&self, at: usize) -> bool {
        self.text.gap(at) == " "
            && self.text.tokens.get(at).is_some_and(|token| {
                let number = token.text.strip_prefix('v').unwrap_or(&token.text);
                number.starts_with(|c: char| c.is_ascii_digit()) && number.contains('.')
            })
    }

    fn all_capitals(&self, at: usize, len: usize) -> bool {
        (at..at + len).all(|at| is_capitals(self.text.surface(at, 1)))
    }

    /// The acronym at `at`, without the s of its plural; not one beside a shouted word.
    fn acronym(&self, at: usize) -> Option<&'a str> {
        let letters = self.text.surface(at, 1).trim_end_matches('s');
        let word = letters.to_lowercase();
        let fits =
            (2..=MAX_ACRONYM).contains(&letters.len()) && !word_lists::is_idle_abbreviation(&word);
        let beside_shouting =
            at > 0 && self.is_shouted_word(at - 1) || self.is_shouted_word(at + 1);
        (fits && !beside_shouting).then_some(letters)
    }

    /// An ordinary word in capitals, or one too long for an acronym.
    fn is_shouted_word(&self, at: usize) -> bool {
        let Some(token) = self.text.tokens.get(at) else {
            return false;
        };
        let surface = self.text.surface(at, 1);
        token.kind == TokenKind::Word
            && surface.len() > 1
            && is_capitals(surface)
            && (word_lists::is_common(&token.text) && !is_known_acronym(&token.text)
                || surface.len() > MAX_ACRONYM)
    }
}

/// Acronyms that spell an ordinary word too.
fn is_known_acronym(word: &str) -> bool {
    matches!(word, "aids" | "sap" | "ram" | "ide" | "sars" | "arm")
}

/// A word of letters (`O'Brien` and `Jean-Luc` included, "I'm" not), of at least two unless it
/// could be an initial.
fn is_name_like(token: &Token, surface: &str) -> bool {
    let capitals_after = |mark: char| {
        let mut parts = surface.split(mark);
        parts.all(|part| part.starts_with(char::is_uppercase))
    };
    let letters = |extra: char| surface.chars().all(|c| c.is_alphabetic() || c == extra);
    match token.kind {
        TokenKind::Word => letters('\'') && (!surface.contains('\'') || capitals_after('\'')),
        TokenKind::Technical => {
            surface.contains('-')
                && letters('-')
                && capitals_after('-')
                && !surface
                    .split('-')
                    .all(|part| word_lists::is_common(&part.to_lowercase()))
        }
        _ => false,
    }
}

/// `API`, and `APIs` too.
fn is_capitals(surface: &str) -> bool {
    let letters = match surface.len() {
        0..3 => surface,
        _ => surface.strip_suffix('s').unwrap_or(surface),
    };
    letters.chars().all(char::is_uppercase)
}

/// Whether a text is mostly in capitals: more than half of at least three words, or fewer with an
/// ordinary word among them.
fn is_shouted(text: Text<'_>) -> bool {
    let mut words = 0;
    let mut capitals = 0;
    let mut ordinary = false;
    for (at, token) in text.tokens.iter().enumerate() {
        let surface = text.surface(at, 1);
        if token.kind != TokenKind::Word || surface.len() < 2 {
            continue;
        }
        words += 1;
        if is_capitals(surface) {
            capitals += 1;
            ordinary |= word_lists::is_common(&token.text);
        }
    }
    2 * capitals > words && (ordinary || capitals >= 3) && has_no_han(text)
}

/// In a Chinese text the few Latin words are often all acronyms.
fn has_no_han(text: Text<'_>) -> bool {
    text.tokens.iter().all(|token| token.kind != TokenKind::Han)
}
