//! Whether two memories say the same: fused signals, behind differences that forbid it.
//!
//! Precision matters more than recall. Every word of the older text must be found again in the newer
//! one, as itself or as a word that says the same; a number, a unit, a moment, a denial, a name or an
//! opposite that differs forbids a merge whatever the score. Pure.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use crate::analysis::emotion::Emotion;
use crate::analysis::particulars::lists::{
    are_different_things, are_opposites, are_synonyms, has_opposite, is_thing, opposites_in,
};
use crate::analysis::particulars::{self, Figure, Particulars, Word};
use crate::analysis::stop_words::is_stop_word;

use super::new_value;

/// Least cosine of two words that say the same.
const NEAR: f64 = 0.40;
/// Weights of the signals: words in common, BM25, pairs of characters, names, meaning.
const WORDS: f64 = 0.30;
const BM25: f64 = 0.15;
const PAIRS: f64 = 0.20;
const NAMES: f64 = 0.10;
const MEANING: f64 = 0.25;
/// One word may be left over, on one side, if the meanings are this near and so many pairs of
/// characters are common.
const VERY_NEAR: f64 = 0.77;
const COMMON_PAIRS: f64 = 0.30;
/// Opposite feelings further apart than this are two statements.
const POLARITIES: f64 = 0.6;

/// What is known of one of the two.
#[derive(Debug, Clone)]
pub struct Side {
    pub particulars: Particulars,
    pub emotion: Emotion,
}

/// What is known of the pair.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nearness {
    /// Cosine of the two texts, if there are vectors.
    pub cosine: Option<f64>,
    /// BM25 of the one for the other as a query, over BM25 for itself; if it was searched.
    pub bm25: Option<f64>,
}

/// The relation of an older to a newer memory.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// They say the same, this much (0.0 to 1.0).
    Same(f64),
    /// The newer one states a new value of the same thing.
    NewValue(String),
    /// They are two memories; why.
    Different(String),
}

/// Compares an older with a newer text. `near` is the cosine of two words, if it can be had.
pub fn compare(
    older: &Side,
    newer: &Side,
    nearness: Nearness,
    near: &dyn Fn(&str, &str) -> Option<f64>,
) -> Verdict {
    if let Some(change) = new_value::change(&older.particulars, &newer.particulars) {
        return Verdict::NewValue(change);
    }
    match forbidding(&older.particulars, &newer.particulars) {
        Some(difference) => Verdict::Different(difference),
        None => alike(older, newer, nearness, near),
    }
}

/// The difference that forbids to merge two texts, if there is one.
pub fn forbidding(older: &Particulars, newer: &Particulars) -> Option<String> {
    let (gone, come) = differing_figures(older, newer);
    if let Some(figure) = gone.first().or(come.first()) {
        return Some(format!("the number {} differs", told(figure)));
    }
    if let Some(moment) = older.moments.symmetric_difference(&newer.moments).next() {
        return Some(format!("the time differs: {moment}"));
    }
    if older.denials != newer.denials {
        return Some("one denies what the other says".to_owned());
    }
    let (gone, come) = (words_apart(older, newer), words_apart(newer, older));
    if let Some(one) = gone.iter().chain(&come).find(|word| word.name) {
        return Some(format!("`{}` is only in one", one.text));
    }
    for one in older.all.difference(&newer.all) {
        for other in newer.all.difference(&older.all) {
            if are_opposites(one, other) {
                return Some(format!("`{one}` and `{other}` are opposites"));
            }
        }
    }
    if let Some((one, other)) = opposites_in(&older.run, &newer.run) {
        return Some(format!("`{one}` and `{other}` are opposites"));
    }
    if swapped(&older.named, &newer.named)
        || swapped(&older.actors, &newer.actors)
        || swapped_names(older, newer)
    {
        return Some("who does what to whom differs".to_owned());
    }
    let keys = |text: &Particulars| {
        text.words
            .iter()
            .map(|word| word.key.clone())
            .collect::<Vec<_>>()
    };
    if (is_ordered(older) || is_ordered(newer)) && swapped(&keys(older), &keys(newer)) {
        return Some("the order differs".to_owned());
    }
    for one in &gone {
        for other in &come {
            if are_different_things(&one.key, &other.key) && !are_synonyms(&one.key, &other.key) {
                return Some(format!("`{}` is not `{}`", one.text, other.text));
            }
        }
    }
    None
}

/// Words that make an order matter.
const ORDERING: [&str; 19] = [
    "before", "after", "then", "than", "over", "instead", "rather", "until", "先", "再", "然后",
    "之前", "之后", "以前", "以后", "前", "后", "比", "比起",
];

fn is_ordered(text: &Particulars) -> bool {
    ORDERING
        .iter()
        .any(|word| text.all.contains(&particulars::key(word)))
}

/// Whether what both hold stands in another order.
fn swapped(one: &[String], other: &[String]) -> bool {
    let common = |from: &[String], of: &[String]| -> Vec<String> {
        from.iter()
            .filter(|word| of.contains(word))
            .cloned()
            .collect()
    };
    common(one, other) != common(other, one)
}

/// Whether Chinese names stand in another order, also where the segmenter cut them otherwise.
fn swapped_names(one: &Particulars, other: &Particulars) -> bool {
    let names: BTreeSet<&String> = one.named.iter().chain(&other.named).collect();
    let order = |text: &Particulars| -> Vec<String> {
        let found = names.iter().filter(|name| !name.is_ascii());
        let mut placed: Vec<(usize, &String)> = found
            .filter_map(|name| Some((text.run.find(name.as_str())?, *name)))
            .collect();
        placed.sort();
        placed.into_iter().map(|(_, name)| name.clone()).collect()
    };
    swapped(&order(one), &order(other))
}

fn told(figure: &Figure) -> String {
    match figure.unit {
        Some(unit) => format!("{} {unit}", figure.value),
        None => figure.value.clone(),
    }
}

/// Figures that only the older text has, and those that only the newer one has.
pub(super) fn differing_figures<'a>(
    older: &'a Particulars,
    newer: &'a Particulars,
) -> (Vec<&'a Figure>, Vec<&'a Figure>) {
    let mut come: Vec<&Figure> = newer.figures.iter().collect();
    let mut gone = Vec::new();
    for figure in &older.figures {
        match come.iter().position(|other| figure.agrees(other)) {
            Some(at) => drop(come.remove(at)),
            None => gone.push(figure),
        }
    }
    (gone, come)
}

/// Words of the one that the other does not have.
pub(super) fn words_apart<'a>(one: &'a Particulars, other: &Particulars) -> Vec<&'a Word> {
    let has = |word: &Word| {
        other.all.contains(&word.key) || !word.text.is_ascii() && other.run.contains(&word.text)
    };
    one.words.iter().filter(|word| !has(word)).collect()
}

/// Words that are only in one of two texts: those whose vectors a comparison asks for, with all they
/// may be likened to.
pub fn unmatched(one: &Particulars, other: &Particulars) -> Vec<String> {
    if words_apart(one, other).is_empty() && words_apart(other, one).is_empty() {
        return Vec::new();
    }
    let words = one.words.iter().chain(&other.words);
    words.map(|word| word.text.clone()).collect()
}

/// How much two texts without a forbidding difference say the same.
fn alike(
    older: &Side,
    newer: &Side,
    nearness: Nearness,
    near: &dyn Fn(&str, &str) -> Option<f64>,
) -> Verdict {
    let (one, other) = (&older.particulars, &newer.particulars);
    let feelings = (older.emotion.polarity, newer.emotion.polarity);
    if feelings.0 * feelings.1 < 0.0 && (feelings.0 - feelings.1).abs() >= POLARITIES {
        return Verdict::Different("the feelings are opposite".to_owned());
    }
    let (gone, come) = (words_apart(one, other), words_apart(other, one));
    let Matched { lost, added } = matched(&gone, &come, one, other, near);
    let common_pairs = character_pairs(&one.run, &other.run);
    let near_enough =
        nearness.cosine.is_some_and(|cosine| cosine >= VERY_NEAR) && common_pairs >= COMMON_PAIRS;
    // The newer text may say one word more, unless it is of a thing or a quality; never one less.
    let spare = |word: &&Word| {
        near_enough
            && !word.name
            && !is_thing(&word.key)
            && !has_opposite(&word.key)
            && word.text.chars().nth(1).is_some()
    };
    if !lost.is_empty() || added.len() > 1 || !added.iter().all(spare) {
        let word = lost.first().or(added.first());
        let word = word.map(|word| word.text.as_str()).unwrap_or_default();
        return Verdict::Different(format!("`{word}` has nothing like it in the other"));
    }
    // Jaccard coefficient of what the words say.
    let said = one.words.len().max(1) as f64;
    let words = said / (said + added.len() as f64);
    let mut signals = vec![(WORDS, words), (PAIRS, common_pairs), (NAMES, 1.0)];
    signals.extend(nearness.bm25.map(|bm25| (BM25, bm25.clamp(0.0, 1.0))));
    signals.extend(nearness.cosine.map(|cosine| (MEANING, cosine.max(0.0))));
    let weight: f64 = signals.iter().map(|(weight, _)| weight).sum();
    let sum: f64 = signals.iter().map(|(weight, value)| weight * value).sum();
    Verdict::Same(sum / weight)
}

/// What is left of two texts when words that say the same are taken away.
struct Matched<'a> {
    /// Words of the older text that the newer one has nothing for, and the reverse.
    lost: Vec<&'a Word>,
    added: Vec<&'a Word>,
}

fn matched<'a>(
    gone: &[&'a Word],
    come: &[&'a Word],
    older: &Particulars,
    newer: &Particulars,
    near: &dyn Fn(&str, &str) -> Option<f64>,
) -> Matched<'a> {
    let mut added: Vec<&Word> = come.to_vec();
    let mut lost = Vec::new();
    for word in gone {
        let best = added
            .iter()
            .enumerate()
            .map(|(at, other)| (likeness(word, other, near), at))
            .max_by(|(one, at), (other, behind)| one.total_cmp(other).then(behind.cmp(at)));
        match best.filter(|(likeness, _)| *likeness >= NEAR) {
            Some((_, at)) => drop(added.remove(at)),
            None => lost.push(*word),
        }
    }
    // What says once more what the other text says anyway is neither lost nor added.
    let said = |word: &&Word, text: &Particulars| {
        is_light(&word.key)
            || text
                .words
                .iter()
                .any(|other| likeness(word, other, near) >= NEAR)
    };
    lost.retain(|word| !said(word, newer));
    added.retain(|word| !said(word, older));
    Matched { lost, added }
}

fn likeness(one: &Word, other: &Word, near: &dyn Fn(&str, &str) -> Option<f64>) -> f64 {
    if one.key == other.key || are_synonyms(&one.key, &other.key) {
        return 1.0;
    }
    if one.name
        || other.name
        || are_opposites(&one.key, &other.key)
        || are_different_things(&one.key, &other.key)
    {
        return 0.0;
    }
    near(&one.text, &other.text).unwrap_or_default()
}

/// Words that a sentence may have or not.
const LIGHT: [&str; 78] = [
    "user",
    "get",
    "got",
    "have",
    "has",
    "had",
    "do",
    "does",
    "did",
    "make",
    "made",
    "take",
    "took",
    "use",
    "used",
    "using",
    "be",
    "go",
    "also",
    "very",
    "really",
    "just",
    "please",
    "currently",
    "thing",
    "way",
    "one",
    "stay",
    "stays",
    "it's",
    "every",
    "each",
    "happen",
    "happens",
    "work",
    "works",
    "working",
    "able",
    "can",
    "own",
    "feel",
    "feels",
    "felt",
    "feeling",
    "whole",
    "such",
    "always",
    "用户",
    "进行",
    "已经",
    "一直",
    "正在",
    "目前",
    "时候",
    "原",
    "给",
    "把",
    "让",
    "过",
    "来",
    "一个",
    "一只",
    "一下",
    "十分",
    "真",
    "使",
    "常",
    "使用",
    "用",
    "得到",
    "每逢",
    "每",
    "更",
    "都",
    "感到",
    "觉得",
    "感觉",
    "个人",
];

fn is_light(key: &str) -> bool {
    static KEYS: LazyLock<HashSet<String>> =
        LazyLock::new(|| LIGHT.iter().map(|word| particulars::key(word)).collect());
    // The segmenter sometimes joins words that are light by themselves.
    let is_grammar = |c: char| is_stop_word(c.encode_utf8(&mut [0; 4]));
    KEYS.contains(key) || !key.is_ascii() && key.chars().all(is_grammar)
}

/// Dice coefficient of the pairs of neighbouring characters.
fn character_pairs(one: &str, other: &str) -> f64 {
    let pairs = |text: &str| -> Vec<(char, char)> {
        let characters: Vec<char> = text.chars().collect();
        let mut pairs: Vec<_> = characters
            .windows(2)
            .map(|pair| (pair[0], pair[1]))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    };
    let (one, other) = (pairs(one), pairs(other));
    if one.is_empty() || other.is_empty() {
        return f64::from(u8::from(one == other));
    }
    let common = one.iter().filter(|pair| other.binary_search(pair).is_ok());
    2.0 * common.count() as f64 / (one.len() + other.len()) as f64
}
