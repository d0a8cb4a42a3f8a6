//! What a query asks for: its concepts, each with the terms that match it.
//!
//! A concept is one thing that the person named: a word, a technical token, a Chinese word. Its
//! terms carry weights for scoring and shares for evidence: the share says how much of the concept a
//! match of that term alone proves. Weights were measured on the evaluation sets (ARCHITECTURE.md).

use std::collections::HashSet;

use super::content::is_long;
use super::dictionary::{Dictionary, Learnt};
use super::frequency::commonness;
use super::stem::stem;
use super::stop_words::is_stop_word;
use super::technical::parts;
use super::terms::{Term, TermKind};
use super::token::{Token, TokenKind};
use super::{Ingredients, keywords};

/// Most concepts of one query; of a longer text the least everyday ones are kept.
pub const MAX_CONCEPTS: usize = 64;

/// Weight of a part of a technical token beside the whole.
const PART: f64 = 0.5;
/// Weight of a pair inside a Chinese word of three or more characters, and of the word whole.
const INNER_PAIR: f64 = 0.7;
const LONG_WORD: f64 = 0.3;
/// Weight of a Chinese word of one character.
const CHARACTER: f64 = 0.5;
/// Weight of a pair across two Chinese words: the segmenter may have cut a name there, most likely
/// between single characters, hardly ever at a stop word.
const CROSS_PAIR: f64 = 0.4;
const CROSS_PAIR_OF_CHARACTERS: f64 = 0.7;
const CROSS_PAIR_AT_STOP_WORD: f64 = 0.1;
/// Share of a concept that all its parts together prove; the rest is the whole's.
const PARTS_SHARE: f64 = 0.8;

/// Commonness of marks and emoji, of numbers of up to two digits, of longer numbers, of pairs of
/// characters that no dictionary joins, of runs of hiragana up to two characters and longer ones.
const MARK: f64 = 0.9;
const SHORT_NUMBER: f64 = 0.8;
const LONG_NUMBER: f64 = 0.4;
const CHANCE_PAIR: f64 = 0.4;
const PARTICLE: f64 = 0.9;
const HIRAGANA: f64 = 0.3;

/// One thing that a query names.
#[derive(Debug, Clone, PartialEq)]
pub struct Concept {
    /// The folded words, as shown in explanations.
    pub text: String,
    /// The terms that match it.
    pub terms: Vec<ConceptTerm>,
    /// Made of stop words only: matched when nothing else is left, and never evidence.
    pub stop: bool,
    /// How everyday it is, 0.0 to 1.0 (see [`commonness`]).
    pub commonness: f64,
}

/// A term of a concept.
#[derive(Debug, Clone, PartialEq)]
pub struct ConceptTerm {
    pub term: Term,
    /// Factor on the term's BM25 score, 0.0 to 1.0.
    pub weight: f64,
    /// How much of the concept a match proves, 0.0 to 1.0.
    pub share: f64,
    /// The folded text that it stands for: all of the concept, or a part.
    pub text: String,
}

/// The concepts of a tokenised query, unique, in text order, at most [`MAX_CONCEPTS`].
pub fn concepts(
    tokens: &[Token],
    dictionary: &Dictionary,
    learnt: &Learnt,
    ingredients: Ingredients,
) -> Vec<Concept> {
    let mut found = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Word => found.push(word(token, dictionary, ingredients)),
            TokenKind::Number | TokenKind::Technical | TokenKind::Symbol | TokenKind::Emoji => {
                found.push(technical(token, ingredients));
            }
            TokenKind::Cjk => found.extend(unsegmented(&token.text)),
            TokenKind::Han if !ingredients.pairs => found.push(whole_word(token, dictionary)),
            TokenKind::Han => {
                found.push(han_word(token, dictionary));
                let next = tokens
                    .get(at + 1)
                    .filter(|next| next.kind == TokenKind::Han && next.start == token.end);
                found.extend(next.and_then(|next| cross_pair(token, next)));
            }
        }
    }
    found.extend(learnt.found(tokens).map(compound));
    bounded(found)
}

fn term(kind: TermKind, text: &str, weight: f64, share: f64) -> ConceptTerm {
    ConceptTerm {
        term: Term::new(kind, text),
        weight,
        share,
        text: text.to_owned(),
    }
}

/// A word by its stem, told as written.
fn stemmed(word: &str, ingredients: Ingredients, weight: f64, share: f64) -> ConceptTerm {
    ConceptTerm {
        text: word.to_owned(),
        ..term(TermKind::Stem, &stem(word, ingredients), weight, share)
    }
}

fn word(token: &Token, dictionary: &Dictionary, ingredients: Ingredients) -> Concept {
    Concept {
        terms: vec![stemmed(&token.text, ingredients, 1.0, 1.0)],
        stop: is_stop_word(&token.text),
        commonness: commonness(&token.text, dictionary),
        text: token.text.clone(),
    }
}

/// Numbers, technical tokens, emoji and operators: the whole, and its parts at less weight.
fn technical(token: &Token, ingredients: Ingredients) -> Concept {
    let pieces: Vec<&str> = parts(&token.text).collect();
    let is_plain = pieces == [token.text.as_str()];
    let mut terms = Vec::with_capacity(pieces.len() + 2);
    if !is_plain || pieces.is_empty() {
        terms.push(term(TermKind::Whole, &token.text, 1.0, 1.0));
    }
    for piece in &pieces {
        let (weight, share) = if is_plain {
            (1.0, 1.0)
        } else {
            (PART, PARTS_SHARE / pieces.len() as f64)
        };
        terms.push(stemmed(piece, ingredients, weight, share));
    }
    terms.extend(keywords::ungrouped(token).map(|number| term(TermKind::Stem, &number, 1.0, 1.0)));
    Concept {
        terms,
        stop: !pieces.is_empty() && pieces.iter().all(|piece| is_stop_word(piece)),
        commonness: match token.kind {
            TokenKind::Emoji | TokenKind::Symbol => MARK,
            TokenKind::Number if token.text.len() <= 2 => SHORT_NUMBER,
            TokenKind::Number => LONG_NUMBER,
            _ => 0.0,
        },
        text: token.text.clone(),
    }
}

/// A word that the store's own dictionary knows: the whole, and the pair where its parts meet.
fn compound((word, left, right): (String, &Token, &Token)) -> Concept {
    let mut terms = vec![term(TermKind::Whole, &word, LONG_WORD, 1.0)];
    let ends = (left.text.chars().next_back(), right.text.chars().next());
    if let (Some(end), Some(start)) = ends {
        let pair = format!("{end}{start}");
        terms.push(term(TermKind::Pair, &pair, INNER_PAIR, PARTS_SHARE));
    }
    Concept {
        terms,
        stop: false,
        commonness: CHANCE_PAIR,
        text: word,
    }
}

fn whole_word(token: &Token, dictionary: &Dictionary) -> Concept {
    Concept {
        terms: vec![term(TermKind::Whole, &token.text, 1.0, 1.0)],
        stop: is_stop_word(&token.text),
        commonness: commonness(&token.text, dictionary),
        text: token.text.clone(),
    }
}

fn han_word(token: &Token, dictionary: &Dictionary) -> Concept {
    let mut terms = Vec::new();
    if is_long(token) {
        let pairs = pairs(&token.text);
        terms.push(term(TermKind::Whole, &token.text, LONG_WORD, 1.0));
        terms.extend(pairs.iter().map(|pair| {
            term(
                TermKind::Pair,
                pair,
                INNER_PAIR,
                PARTS_SHARE / pairs.len() as f64,
            )
        }));
    } else if token.text.chars().count() == 2 {
        terms.push(term(TermKind::Pair, &token.text, 1.0, 1.0));
    } else {
        terms.push(term(
            TermKind::Character,
            &token.text,
            CHARACTER,
            PARTS_SHARE,
        ));
    }
    Concept {
        terms,
        stop: is_stop_word(&token.text),
        commonness: commonness(&token.text, dictionary),
        text: token.text.clone(),
    }
}

/// The pair across the border of two Chinese words that touch. It proves a concept only between two
/// single characters, which may be a name that the segmenter does not know.
fn cross_pair(left: &Token, right: &Token) -> Option<Concept> {
    let pair: String = left
        .text
        .chars()
        .next_back()
        .into_iter()
        .chain(right.text.chars().next())
        .collect();
    let (left_stops, right_stops) = (is_stop_word(&left.text), is_stop_word(&right.text));
    let characters = left.text.chars().count() == 1 && right.text.chars().count() == 1;
    let (weight, share) = match (left_stops || right_stops, characters) {
        (true, _) => (CROSS_PAIR_AT_STOP_WORD, 0.0),
        (false, true) => (CROSS_PAIR_OF_CHARACTERS, 1.0),
        (false, false) => (CROSS_PAIR, 0.0),
    };
    Some(Concept {
        terms: vec![term(TermKind::Pair, &pair, weight, share)],
        stop: left_stops && right_stops,
        commonness: if share > 0.0 { CHANCE_PAIR } else { 1.0 },
        text: pair,
    })
}

/// A run of kana or Hangul, cut where the script changes so that particles do not hide the noun.
fn unsegmented(run: &str) -> Vec<Concept> {
    let characters: Vec<char> = run.chars().collect();
    let pieces: Vec<String> = characters
        .chunk_by(|left, right| script(*left) == script(*right))
        .map(|piece| piece.iter().collect())
        .collect();
    let mut concepts: Vec<Concept> = pieces
        .iter()
        .map(|piece| unsegmented_piece(piece))
        .collect();
    for border in pieces.windows(2) {
        let pair: String = border[0]
            .chars()
            .next_back()
            .into_iter()
            .chain(border[1].chars().next())
            .collect();
        concepts.push(Concept {
            terms: vec![term(TermKind::Pair, &pair, CROSS_PAIR, 0.0)],
            stop: false,
            commonness: 1.0,
            text: pair,
        });
    }
    concepts
}

fn unsegmented_piece(piece: &str) -> Concept {
    let pairs = pairs(piece);
    let terms = if pairs.is_empty() {
        vec![term(TermKind::Character, piece, CHARACTER, PARTS_SHARE)]
    } else {
        pairs
            .iter()
            .map(|pair| term(TermKind::Pair, pair, 1.0, 1.0 / pairs.len() as f64))
            .collect()
    };
    let hiragana = piece.starts_with(|c| script(c) == Script::Hiragana);
    Concept {
        terms,
        stop: false,
        commonness: match (hiragana, pairs.len()) {
            (true, 0 | 1) => PARTICLE,
            (true, _) => HIRAGANA,
            (false, _) => 0.0,
        },
        text: piece.to_owned(),
    }
}

fn pairs(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters
        .windows(2)
        .map(|pair| pair.iter().collect())
        .collect()
}

#[derive(PartialEq, Eq)]
enum Script {
    Hiragana,
    Katakana,
    Other,
}

fn script(c: char) -> Script {
    match c {
        '\u{3041}'..='\u{309f}' => Script::Hiragana,
        '\u{30a0}'..='\u{30ff}' => Script::Katakana,
        _ => Script::Other,
    }
}

/// Unique concepts; of too many the least everyday ones, still in text order.
fn bounded(mut concepts: Vec<Concept>) -> Vec<Concept> {
    let mut seen = HashSet::new();
    concepts.retain(|concept| seen.insert(concept.text.clone()));
    if concepts.len() > MAX_CONCEPTS {
        let mut order: Vec<usize> = (0..concepts.len()).collect();
        order.sort_by(|a, b| {
            let key = |index: usize| (concepts[index].stop, concepts[index].commonness);
            key(*a)
                .0
                .cmp(&key(*b).0)
                .then(key(*a).1.total_cmp(&key(*b).1))
                .then(a.cmp(b))
        });
        let kept: HashSet<usize> = order.into_iter().take(MAX_CONCEPTS).collect();
        let mut index = 0..;
        concepts.retain(|_| index.next().is_some_and(|index| kept.contains(&index)));
    }
    concepts
}

#[cfg(test)]
mod tests {
    use super::super::normalise::normalise;
    use super::super::tokeniser::tokenise;
    use super::*;

    fn query(text: &str) -> Vec<Concept> {
        let dictionary = Dictionary::builtin();
        concepts(
            &tokenise(&normalise(text), dictionary),
            dictionary,
            &Learnt::default(),
            Ingredients::default(),
        )
    }

    #[test]
    fn each_thing_named_is_one_concept() {
        let texts: Vec<String> = query("What is node.js? node.js!")
            .into_iter()
            .filter(|concept| !concept.stop)
            .map(|concept| concept.text)
            .collect();
        assert_eq!(texts, ["node.js"]);
    }

    #[test]
    fn a_two_character_word_and_its_pair_are_one_term() {
        let concepts = query("部署");
        assert_eq!(concepts.len(), 1);
        assert_eq!(concepts[0].terms.len(), 1);
    }

    #[test]
    fn marks_and_short_numbers_prove_little() {
        for text in ["👍", "=>", "42"] {
            assert!(query(text)[0].commonness > 0.7, "{text}");
        }
    }

    #[test]
    fn particles_do_not_hide_the_noun() {
        let concepts = query("しりとりは楽しかった");
        assert!(concepts.iter().any(|concept| concept.text == "楽"));
    }

    #[test]
    fn a_pasted_log_keeps_its_most_telling_words() {
        let log: String = (0..4000)
            .map(|n| format!("the request number{n} failed "))
            .collect::<String>()
            + "kubectl";
        let concepts = query(&log);
        assert_eq!(concepts.len(), MAX_CONCEPTS);
        assert!(concepts.iter().all(|concept| !concept.stop));
    }
}
