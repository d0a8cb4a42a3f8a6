//! Adds up the feeling words of a text, clause by clause.
//!
//! The manner of writing (marks, capitals, repetition) is not looked at here.

use super::super::phrases::gap;
use super::super::token::{Token, TokenKind};
use super::lexicon::{self, Degree, Entry};

/// What the words of a text say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    /// From -1.0 to 1.0.
    pub(super) polarity: f64,
    /// What the adverbs of degree add to the intensity, from 0.0 to 1.2.
    pub(super) intensity: f64,
}

/// So many tokens after a negation a feeling word is still negated ("not a very good"); Chinese
/// negations stand nearer to what they negate. Adverbs of degree do not count.
const ENGLISH_WINDOW: usize = 4;
const CHINESE_WINDOW: usize = 3;

/// What a negation leaves: "not good" is nearly as bad as "good" is good, but "not bad" is only
/// mildly good.
const NEGATED_GOOD: f64 = -0.8;
const NEGATED_BAD: f64 = -0.5;

/// Adverbs do not multiply without end ("very very very").
const MAX_FACTOR: f64 = 2.0;
/// Long texts hold many adverbs without being excited throughout.
const MAX_DEGREE_INTENSITY: f64 = 1.2;
/// Bends the sum s to s/√(s² + bend): one plain feeling word (0.5) comes out just below the strong
/// labels, two of them well above, and no number of them beyond 1.
const BEND: f64 = 0.5;

/// Reads the feeling words of a text.
pub(super) fn read(normalised: &str, tokens: &[Token]) -> Reading {
    let mut sum = 0.0;
    let mut intensity = 0.0;
    let mut clause = Clause::default();
    let mut at = 0;
    while at < tokens.len() {
        if ends_clause(gap(normalised, tokens, at)) {
            clause = Clause::default();
        }
        let Some((len, entry)) = lexicon::at(normalised, tokens, at) else {
            clause.step();
            at += 1;
            continue;
        };
        if entry.ends_clause {
            clause = Clause::default();
        }
        match degree(normalised, tokens, at + len, &entry) {
            Some(degree) => intensity += clause.strengthen(degree),
            None => {
                sum += clause.feel(entry.valence);
                intensity += entry.intensity;
            }
        }
        if entry.negates {
            clause.negate(tokens[at].kind);
        }
        at += len;
    }
    Reading {
        polarity: sum / (sum * sum + BEND).sqrt(),
        intensity: f64::min(intensity, MAX_DEGREE_INTENSITY),
    }
}

/// What was said in the clause so far that bears on the next feeling word.
#[derive(Debug)]
struct Clause {
    /// Tokens for which a negation is still in force.
    negated_for: usize,
    /// Product of the adverbs of degree since the last other word.
    factor: f64,
}

impl Default for Clause {
    fn default() -> Self {
        Self {
            negated_for: 0,
            factor: 1.0,
        }
    }
}

impl Clause {
    fn step(&mut self) {
        self.negated_for = self.negated_for.saturating_sub(1);
        self.factor = 1.0;
    }

    fn strengthen(&mut self, degree: Degree) -> f64 {
        self.factor = f64::min(self.factor * degree.factor, MAX_FACTOR);
        degree.intensity
    }

    fn negate(&mut self, kind: TokenKind) {
        self.negated_for = match kind {
            TokenKind::Han => CHINESE_WINDOW,
            _ => ENGLISH_WINDOW,
        };
    }

    /// What a feeling word is worth here. "Not very good" is not worse than "not good".
    fn feel(&mut self, valence: f64) -> f64 {
        let worth = match (self.negated_for > 0, valence > 0.0) {
            (true, true) => valence * NEGATED_GOOD,
            (true, false) => valence * NEGATED_BAD,
            (false, _) => valence * self.factor,
        };
        self.step();
        worth
    }
}

/// The adverb that the entry is at this place: some are one only before a feeling word ("pretty
/// good", but "a pretty dress").
fn degree(normalised: &str, tokens: &[Token], next: usize, entry: &Entry) -> Option<Degree> {
    let degree = entry.degree?;
    if !degree.adjacent || feeling_follows(normalised, tokens, next) {
        return Some(degree);
    }
    None
}

fn feeling_follows(normalised: &str, tokens: &[Token], next: usize) -> bool {
    if ends_clause(gap(normalised, tokens, next)) {
        return false;
    }
    let follows = lexicon::at(normalised, tokens, next);
    follows.is_some_and(|(_, entry)| entry.valence.abs() > 0.0 || entry.degree.is_some())
}

/// The enumeration comma `、` does not end a clause: "不喜欢苹果、香蕉".
fn ends_clause(gap: &str) -> bool {
    let plain = matches!(gap, "" | " ");
    !plain
        && gap.contains([
            ',', '.', '!', '?', ';', ':', '\n', '。', '，', '！', '？', '；', '：', '…', '—', '(',
            ')',
        ])
}
