//! The manner of a text: marks, questions, drawn-out and repeated words, capitals.
//!
//! What the words mean is not looked at, except to tell shouting from acronyms.

use super::super::phrases::gap;
use super::super::token::{Token, TokenKind};
use super::super::word_lists;
use super::lexicon;

/// One exclamation mark is common politeness: it counts little, and many of them not much more.
const EXCLAMATION: f64 = 0.1;
const MAX_EXCLAMATIONS: f64 = 0.3;
/// A run of two marks; each further mark of it adds `LONGER_RUN`.
const RUN: f64 = 0.3;
const MIXED_RUN: f64 = 0.4;
const LONGER_RUN: f64 = 0.15;
const MAX_RUNS: f64 = 0.9;
/// From so many questions on a text presses for an answer.
const MANY_QUESTIONS: usize = 3;
const QUESTION: f64 = 0.1;
const SAME_QUESTION: f64 = 0.2;
const MAX_QUESTIONS: f64 = 0.4;
const DRAWN_OUT: f64 = 0.3;
const MAX_DRAWN_OUT: f64 = 0.6;
const REPEATED_WORD: f64 = 0.3;
const MAX_REPEATED_WORDS: f64 = 0.6;
const SHOUT: f64 = 0.3;
const LONGER_SHOUT: f64 = 0.1;
const MAX_SHOUTS: f64 = 0.6;
/// An unknown word in capitals is taken for an acronym unless it is at least so long.
const LONG_WORD: usize = 8;

/// The intensity that the manner of the text adds; 0.0 for a calm one.
pub(super) fn of_manner(normalised: &str, tokens: &[Token]) -> f64 {
    marks(normalised, tokens)
        + drawn_out(normalised, tokens)
        + repeated_words(tokens)
        + shouting(normalised, tokens)
}

/// Exclamation marks, runs of marks, and pressing questions. Marks inside tokens (a URL's `?`) and
/// marks that stand alone like an operator (`a ? b : c`) say nothing.
fn marks(normalised: &str, tokens: &[Token]) -> f64 {
    let mut tally = Marks::default();
    let mut sentence = 0;
    let mut asked: &[Token] = &[];
    for at in 0..=tokens.len() {
        let between = gap(normalised, tokens, at);
        if between.is_empty() || between == " " {
            continue;
        }
        let question = tally.read(between, at > 0);
        if question || between.contains(['.', '!', '。', '\n']) {
            let said = &tokens[sentence..at];
            if question && same_words(asked, said) {
                tally.same_questions += 1;
            }
            asked = if question { said } else { &[] };
            sentence = at;
        }
    }
    for token in tokens {
        let only_marks = token.text.chars().all(|c| matches!(c, '!' | '?'));
        if token.kind == TokenKind::Symbol && only_marks {
            tally.read(&token.text, false);
        }
    }
    tally.intensity()
}

#[derive(Default)]
struct Marks {
    exclamations: f64,
    runs: f64,
    questions: usize,
    same_questions: usize,
}

impl Marks {
    /// Counts the runs of marks in a gap, and says whether one of them asks.
    fn read(&mut self, between: &str, after_token: bool) -> bool {
        let mut question = false;
        let mut attached = after_token;
        let mut rest = between;
        while let Some(start) = rest.find(['!', '?', '！', '？']) {
            let before = rest[..start].chars().next_back();
            attached = before.map_or(attached, |c| !c.is_whitespace());
            let run: &str = rest[start..]
                .split(|c| !matches!(c, '!' | '?' | '！' | '？'))
                .next()
                .unwrap_or("");
            let asks = run.contains(['?', '？']);
            if attached || (!asks && run.chars().count() > 1) {
                self.count(run, asks);
                question |= asks;
            }
            rest = &rest[start + run.len()..];
            attached = true;
        }
        question
    }

    fn count(&mut self, run: &str, asks: bool) {
        let shouts = run.contains(['!', '！']);
        self.questions += usize::from(asks);
        match run.chars().count() {
            1 if shouts => self.exclamations += EXCLAMATION,
            1 => {}
            len => {
                let base = if asks && shouts { MIXED_RUN } else { RUN };
                self.runs += base + LONGER_RUN * (len - 2) as f64;
            }
        }
    }

    fn intensity(&self) -> f64 {
        let pressing = (self.questions + 1).saturating_sub(MANY_QUESTIONS) as f64 * QUESTION;
        let same = self.same_questions as f64 * SAME_QUESTION;
        f64::min(self.exclamations, MAX_EXCLAMATIONS)
            + f64::min(self.runs, MAX_RUNS)
            + f64::min(pressing + same, MAX_QUESTIONS)
    }
}

fn same_words(a: &[Token], b: &[Token]) -> bool {
    !a.is_empty() && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.text == b.text)
}

/// Letters written three times or more: "soooo", `哈哈哈哈`, however the latter is cut.
fn drawn_out(normalised: &str, tokens: &[Token]) -> f64 {
    let mut count = 0.0;
    let mut run = 0;
    let mut last = None;
    let mut end = 0;
    for token in tokens {
        let spoken = matches!(
            token.kind,
            TokenKind::Word | TokenKind::Han | TokenKind::Cjk
        );
        if !spoken || token.start != end || token.kind == TokenKind::Word {
            run = 0;
            last = None;
        }
        end = token.end;
        if !spoken || token.kind == TokenKind::Word && is_no_word(&token.text) {
            continue;
        }
        for letter in normalised.get(token.start..token.end).unwrap_or("").chars() {
            run = if last == Some(letter) { run + 1 } else { 1 };
            last = Some(letter);
            if run == 3 && letter.is_alphabetic() {
                count += DRAWN_OUT;
            }
        }
    }
    f64::min(count, MAX_DRAWN_OUT)
}

/// `www`, `iii`, `xxx` and the like are no drawn-out words.
fn is_no_word(word: &str) -> bool {
    let mut letters = word.chars();
    let first = letters.next();
    matches!(first, Some('w' | 'i' | 'x')) && letters.all(|letter| Some(letter) == first)
}

/// "no no no", "very very", `快跑快跑快跑`. Twice counts only for words of feeling, since grammar
/// doubles others ("that that", `讨论讨论`). One-character Han words are the drawn-out ones.
fn repeated_words(tokens: &[Token]) -> f64 {
    let mut count = 0.0;
    let mut run = 1;
    for pair in tokens.windows(2) {
        let (before, token) = (&pair[0], &pair[1]);
        let spoken = token.kind == TokenKind::Word
            || token.kind == TokenKind::Han && !is_one_character(&token.text);
        let same = spoken && before.text == token.text;
        run = if same { run + 1 } else { 1 };
        let felt = run == 2 && lexicon::has_effect(&token.text);
        if felt || run == 3 && !lexicon::has_effect(&token.text) {
            count += REPEATED_WORD;
        }
    }
    f64::min(count, MAX_REPEATED_WORDS)
}

/// Whether the word is one character, be it several times (`哈哈`).
fn is_one_character(word: &str) -> bool {
    let mut characters = word.chars();
    let first = characters.next();
    characters.all(|character| Some(character) == first)
}

/// Ordinary words in capitals: one of at least four letters, or two or more in a row.
fn shouting(normalised: &str, tokens: &[Token]) -> f64 {
    let mut shouted = 0;
    let mut run = Run::default();
    for (at, token) in tokens.iter().enumerate() {
        let surface = normalised.get(token.start..token.end).unwrap_or("");
        if token.kind != TokenKind::Word || !is_capitals(surface) {
            shouted += std::mem::take(&mut run).shouted();
            continue;
        }
        if at > 0 && gap(normalised, tokens, at).contains('\n') {
            shouted += std::mem::take(&mut run).shouted();
        }
        run.add(&token.text);
    }
    shouted += run.shouted();
    match shouted {
        0 => 0.0,
        _ => f64::min(SHOUT + LONGER_SHOUT * (shouted - 1) as f64, MAX_SHOUTS),
    }
}

/// Neighbouring words in capitals.
#[derive(Default)]
struct Run {
    words: usize,
    ordinary: usize,
    long: usize,
}

impl Run {
    fn add(&mut self, word: &str) {
        let kept = word_lists::is_written_in_capitals(word);
        let known = word_lists::is_common(word) || lexicon::has_effect(word);
        let ordinary = !kept && (known || word.len() >= LONG_WORD);
        // "I" is a capital in any case and shouts with others only.
        self.words += usize::from(!kept);
        self.ordinary += usize::from(ordinary && word.len() > 1);
        self.long += usize::from(ordinary && word.len() >= 4);
    }

    /// How many words of the run were shouted.
    fn shouted(self) -> usize {
        let pair = self.words >= 2 && self.ordinary >= 1;
        if self.long >= 1 || pair {
            self.words
        } else {
            0
        }
    }
}

fn is_capitals(word: &str) -> bool {
    let mut letters = word.chars().filter(|c| c.is_alphabetic()).peekable();
    letters.peek().is_some() && letters.all(char::is_uppercase)
}
