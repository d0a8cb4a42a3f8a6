//! Word lists: denials, opposites, words that say the same, kinds of things.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::key;
use crate::analysis::word_lists::entries;

const NEGATIVES: &str = include_str!("../data/negatives.txt");

/// Words by key with the numbers of the groups that they are in.
type Groups = FxHashMap<String, Vec<usize>>;

static DENIES: LazyLock<FxHashSet<&str>> = LazyLock::new(|| negatives("denies"));
/// Words that look like denials.
pub(super) static HARMLESS: LazyLock<FxHashSet<&str>> = LazyLock::new(|| negatives("harmless"));

fn negatives(wanted: &str) -> FxHashSet<&'static str> {
    entries(NEGATIVES)
        .filter(|(heading, _)| *heading == wanted)
        .map(|(_, word)| word)
        .collect()
}

/// Words that deny by grammar alone and carry nothing else.
const GRAMMAR: [&str; 20] = [
    "not", "no", "never", "none", "cannot", "without", "nor", "neither", "longer", "不", "没",
    "没有", "未", "无", "别", "勿", "有", "能", "会", "可以",
];

pub(super) fn is_grammar(word: &str) -> bool {
    GRAMMAR.contains(&word) || word.ends_with("n't")
}

/// Whether a folded word denies something.
pub fn is_denial(word: &str) -> bool {
    DENIES.contains(word) || word.ends_with("n't")
}

static SYNONYMS: LazyLock<Groups> = LazyLock::new(|| {
    let mut groups = Groups::default();
    let lines = lines(include_str!("../data/synonym_groups.txt"));
    for (number, line) in lines.enumerate() {
        for word in line.split_whitespace() {
            put(&mut groups, word, number);
        }
    }
    groups
});

/// Each pair of opposites has two neighbouring numbers, the even one first.
static OPPOSITES: LazyLock<Groups> = LazyLock::new(|| {
    let mut groups = Groups::default();
    for (number, line) in lines(include_str!("../data/opposites.txt")).enumerate() {
        for (side, words) in line.split('|').take(2).enumerate() {
            for word in words.split_whitespace() {
                put(&mut groups, word, number * 2 + side);
            }
        }
    }
    groups
});

/// Chinese words of two characters or more on both sides of a pair of opposites: the segmenter may
/// join them with others.
static CHINESE_OPPOSITES: LazyLock<Vec<[Vec<&str>; 2]>> = LazyLock::new(|| {
    let side = |words: Option<&'static str>| -> Vec<&'static str> {
        let words = words.unwrap_or_default().split_whitespace();
        let long = words.filter(|word| !word.is_ascii() && word.chars().nth(1).is_some());
        long.collect()
    };
    lines(include_str!("../data/opposites.txt"))
        .map(|line| {
            let mut sides = line.split('|');
            [side(sides.next()), side(sides.next())]
        })
        .collect()
});

/// A word of the one run and one of the other that are opposites, if neither run has both.
pub fn opposites_in(one: &str, other: &str) -> Option<(&'static str, &'static str)> {
    let held =
        |run: &str, words: &[&'static str]| words.iter().copied().find(|word| run.contains(*word));
    CHINESE_OPPOSITES.iter().find_map(|[left, right]| {
        let (in_one, in_other) = (
            (held(one, left), held(one, right)),
            (held(other, left), held(other, right)),
        );
        match (in_one, in_other) {
            ((Some(left), None), (None, Some(right)))
            | ((None, Some(right)), (Some(left), None)) => Some((left, right)),
            _ => None,
        }
    })
}

/// The kinds of a thing, each with the number of the thing itself.
static KINDS: LazyLock<FxHashMap<String, Vec<(usize, usize)>>> = LazyLock::new(|| {
    let mut kinds: FxHashMap<String, Vec<(usize, usize)>> = FxHashMap::default();
    for (kind, line) in lines(include_str!("../data/contrasts.txt")).enumerate() {
        for (thing, words) in line.split_whitespace().skip(1).enumerate() {
            for word in words.split('=') {
                let entry = kinds.entry(key(word)).or_default();
                if !entry.contains(&(kind, thing)) {
                    entry.push((kind, thing));
                }
            }
        }
    }
    kinds
});

fn lines(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines().filter(|line| !line.starts_with('#'))
}

fn put(groups: &mut Groups, word: &str, number: usize) {
    let numbers = groups.entry(key(word)).or_default();
    if !numbers.contains(&number) {
        numbers.push(number);
    }
}

/// Whether two words, by their keys, say the same in most sentences.
pub fn are_synonyms(one: &str, other: &str) -> bool {
    let (Some(one), Some(other)) = (SYNONYMS.get(one), SYNONYMS.get(other)) else {
        return false;
    };
    one.iter().any(|group| other.contains(group))
}

/// Whether two words, by their keys, are opposites, by the list or by a prefix.
pub fn are_opposites(one: &str, other: &str) -> bool {
    let denied = |short: &str, long: &str| {
        ["un", "dis", "in", "im", "non", "de"]
            .iter()
            .any(|prefix| long.strip_prefix(prefix) == Some(short))
    };
    let listed = match (OPPOSITES.get(one), OPPOSITES.get(other)) {
        (Some(one), Some(other)) => one.iter().any(|side| other.contains(&(side ^ 1))),
        _ => false,
    };
    listed || denied(one, other) || denied(other, one)
}

/// The kinds of those that act: animals, people, family.
const ACTORS: [usize; 3] = [0, 4, 5];
/// Persons by their pronouns.
const PRONOUNS: [(&str, &str); 22] = [
    ("i", "i"),
    ("me", "i"),
    ("you", "you"),
    ("he", "he"),
    ("him", "he"),
    ("she", "she"),
    ("her", "she"),
    ("they", "they"),
    ("them", "they"),
    ("we", "we"),
    ("us", "we"),
    ("我", "i"),
    ("你", "you"),
    ("您", "you"),
    ("他", "he"),
    ("她", "she"),
    ("它", "it"),
    ("我们", "we"),
    ("他们", "they"),
    ("她们", "they"),
    ("你们", "you"),
    ("user", "user"),
];

/// The person of a pronoun.
pub(super) fn pronoun(word: &str) -> Option<&'static str> {
    let found = PRONOUNS.iter().find(|(pronoun, _)| *pronoun == word);
    found.map(|(_, person)| *person)
}

/// Whether a word, by its key, names one that may act.
pub(super) fn is_actor(key: &str) -> bool {
    let kinds = KINDS.get(key).into_iter().flatten();
    kinds.into_iter().any(|(kind, _)| ACTORS.contains(kind))
}

/// Whether a word, by its key, is one of a kind of things.
pub fn is_thing(key: &str) -> bool {
    KINDS.contains_key(key)
}

/// Whether a word, by its key, has an opposite.
pub fn has_opposite(key: &str) -> bool {
    OPPOSITES.contains_key(key)
}

/// Whether two words, by their keys, are different things of one kind.
pub fn are_different_things(one: &str, other: &str) -> bool {
    let (Some(one), Some(other)) = (KINDS.get(one), KINDS.get(other)) else {
        return false;
    };
    if one.iter().any(|thing| other.contains(thing)) {
        return false;
    }
    one.iter()
        .any(|(kind, _)| other.iter().any(|(of, _)| of == kind))
}
