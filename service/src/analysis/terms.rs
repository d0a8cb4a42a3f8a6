//! Terms: what the index holds, in an encoding that no engine can split, stem or misread.
//!
//! A term is a kind, `_`, and the text. ASCII letters and digits stand for themselves; any other
//! character is written `_` + its code point in hexadecimal + `_` (`数据` is `_6570__636e_`). So a
//! term matches `[a-z0-9_]+` whatever the text was, and query building needs no escaping.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt::{self, Write};
use std::hash::BuildHasher;
use std::sync::{Arc, LazyLock};

use rustc_hash::FxBuildHasher;
use sha2::{Digest, Sha256};

use super::stop_words;

/// Longest encoded term in bytes; a longer one becomes a prefix and a hash.
const MAX_BYTES: usize = 100;
/// Bytes kept of a term that is too long, before its hash.
const KEPT_BYTES: usize = 64;

/// What a term stands for. Each kind is a space of its own: the tag `user` is not the word `user`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TermKind {
    /// A word by its stem, or a number or other word as it is: what most matching works with.
    Stem,
    /// A token that means something as a whole: `node.js`, `10.0.0.5`, a Chinese word of three or
    /// more characters.
    Whole,
    /// Two neighbouring characters of a script written without spaces.
    Pair,
    /// One character of such a script.
    Character,
    /// A part of the day that a memory is about.
    Date,
    /// A tag of the memory.
    Tag,
    /// An entity that the memory names.
    Entity,
}

impl TermKind {
    fn letter(self) -> char {
        match self {
            TermKind::Stem => 's',
            TermKind::Whole => 'w',
            TermKind::Pair => 'p',
            TermKind::Character => 'c',
            TermKind::Date => 'd',
            TermKind::Tag => 't',
            TermKind::Entity => 'e',
        }
    }
}

/// One encoded term; only letters, digits and `_`, at most 100 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term(Arc<str>);

impl Term {
    /// Encodes folded text as a term of the given kind.
    pub fn new(kind: TermKind, text: &str) -> Term {
        let mut encoded = String::with_capacity(text.len() + 2);
        encoded.push(kind.letter());
        encoded.push('_');
        for c in text.chars() {
            if c.is_ascii_lowercase() || c.is_ascii_digit() {
                encoded.push(c);
            } else {
                write!(encoded, "_{:x}_", u32::from(c)).expect("writing to a string cannot fail");
            }
        }
        if encoded.len() > MAX_BYTES {
            let hash = Sha256::digest(encoded.as_bytes());
            encoded.truncate(KEPT_BYTES);
            encoded.push_str("__");
            for byte in &hash[..16] {
                write!(encoded, "{byte:02x}").expect("writing to a string cannot fail");
            }
        }
        Term(encoded.into())
    }

    /// Takes back a term that was encoded before, such as one read from a store.
    pub fn from_encoded(encoded: &str) -> Term {
        Term(encoded.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it stands for a part of the day that a memory is about.
    pub fn is_date(&self) -> bool {
        self.0.starts_with("d_")
    }

    /// Whether two contents that differ in this term are two statements however alike they look:
    /// a number or a negation.
    pub fn tells_apart(&self) -> bool {
        static NEGATIONS: LazyLock<HashSet<Term>> = LazyLock::new(|| {
            let kind = |word: &str| match word.chars().count() {
                _ if word.is_ascii() => TermKind::Stem,
                1 => TermKind::Character,
                _ => TermKind::Pair,
            };
            stop_words::NEGATIONS
                .iter()
                .map(|word| Term::new(kind(word), word))
                .collect()
        });
        self.0.bytes().any(|b| b.is_ascii_digit()) && self.0.starts_with("s_")
            || NEGATIONS.contains(self)
    }
}

/// Terms with how often each occurs, in the order of the terms. One text and a few numbers, since
/// every candidate of a search is read from the store with hers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frequencies {
    /// The encoded terms, one after the other.
    text: Box<str>,
    /// Where each ends in the text, and its frequency.
    entries: Box<[(u32, u32)]>,
    /// A hash of each term with its index, in the order of the hashes: looking up a term that is not
    /// there, as most are not, compares no texts.
    places: Box<[(u32, u32)]>,
}

fn hash(term: &str) -> u32 {
    (FxBuildHasher.hash_one(term) >> 32) as u32
}

impl Frequencies {
    /// How often the term occurs.
    pub fn get(&self, term: &Term) -> u32 {
        let hash = hash(term.as_str());
        let first = self.places.partition_point(|(other, _)| *other < hash);
        self.places[first..]
            .iter()
            .take_while(|(other, _)| *other == hash)
            .map(|(_, index)| *index as usize)
            .find(|index| self.text_at(*index) == term.as_str())
            .map_or(0, |index| self.entries[index].1)
    }

    fn text_at(&self, index: usize) -> &str {
        let start = index
            .checked_sub(1)
            .map_or(0, |before| self.entries[before].0);
        &self.text[start as usize..self.entries[index].0 as usize]
    }

    pub fn contains(&self, term: &Term) -> bool {
        self.get(term) > 0
    }

    /// Encoded terms with their frequencies.
    pub fn encoded(&self) -> impl Iterator<Item = (&str, u32)> {
        self.entries
            .iter()
            .enumerate()
            .map(|(index, (_, frequency))| (self.text_at(index), *frequency))
    }

    pub fn iter(&self) -> impl Iterator<Item = (Term, u32)> {
        self.encoded()
            .map(|(term, frequency)| (Term::from_encoded(term), frequency))
    }

    /// The terms that only one of the two holds, in order.
    pub fn differences(&self, other: &Frequencies) -> impl Iterator<Item = Term> {
        let mut own = self.encoded().map(|(term, _)| term).peekable();
        let mut others = other.encoded().map(|(term, _)| term).peekable();
        std::iter::from_fn(move || {
            loop {
                let order = match (own.peek(), others.peek()) {
                    (Some(left), Some(right)) => left.cmp(right),
                    (Some(_), None) => Ordering::Less,
                    (None, _) => Ordering::Greater,
                };
                match order {
                    Ordering::Less => return own.next().map(Term::from_encoded),
                    Ordering::Greater => return others.next().map(Term::from_encoded),
                    Ordering::Equal => {
                        own.next();
                        others.next();
                    }
                }
            }
        })
    }

    /// Number of different terms.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl AsRef<str> for Term {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// Collects encoded terms; a term that comes several times has the sum of its frequencies.
impl<T: AsRef<str>> FromIterator<(T, u32)> for Frequencies {
    fn from_iter<I: IntoIterator<Item = (T, u32)>>(terms: I) -> Self {
        let mut terms: Vec<(T, u32)> = terms.into_iter().collect();
        terms.sort_by(|(left, _), (right, _)| left.as_ref().cmp(right.as_ref()));
        terms.dedup_by(|(later, more), (earlier, frequency)| {
            let same = later.as_ref() == earlier.as_ref();
            if same {
                *frequency = frequency.saturating_add(*more);
            }
            same
        });
        let length = terms.iter().map(|(term, _)| term.as_ref().len()).sum();
        let mut builder = Builder::with_capacity(terms.len(), length);
        for (term, frequency) in &terms {
            builder.push(term.as_ref(), *frequency);
        }
        builder.build()
    }
}

/// Puts terms together that come in order, each once.
struct Builder {
    text: String,
    entries: Vec<(u32, u32)>,
    places: Vec<(u32, u32)>,
}

impl Builder {
    fn with_capacity(terms: usize, length: usize) -> Builder {
        Builder {
            text: String::with_capacity(length),
            entries: Vec::with_capacity(terms),
            places: Vec::with_capacity(terms),
        }
    }

    fn push(&mut self, term: &str, frequency: u32) {
        let index = u32::try_from(self.entries.len()).expect("a content has a bounded length");
        self.places.push((hash(term), index));
        self.text.push_str(term);
        let end = u32::try_from(self.text.len()).expect("a content has a bounded length");
        self.entries.push((end, frequency));
    }

    fn build(mut self) -> Frequencies {
        self.places.sort_unstable();
        Frequencies {
            text: self.text.into(),
            entries: self.entries.into(),
            places: self.places.into(),
        }
    }
}

/// As stored: `term frequency term frequency ...`, since a term has no space.
impl fmt::Display for Frequencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (term, frequency)) in self.encoded().enumerate() {
            let gap = if index > 0 { " " } else { "" };
            write!(f, "{gap}{term} {frequency}")?;
        }
        Ok(())
    }
}

impl Frequencies {
    /// Takes back what was written by `to_string`; what is none of it is left out.
    pub fn from_stored(stored: &str) -> Frequencies {
        let mut words = stored.split_ascii_whitespace();
        let mut pairs = std::iter::from_fn(|| {
            let (term, frequency) = (words.next()?, words.next()?);
            Some((term, frequency.parse::<u32>().ok()?))
        });
        // A search reads hundreds of them: what is in order is put together as it is read.
        let mut builder = Builder::with_capacity(stored.len() / 10, stored.len());
        let mut before = "";
        for (term, frequency) in &mut pairs {
            if term <= before {
                let rest = std::iter::once((term.to_owned(), frequency))
                    .chain(pairs.map(|(term, frequency)| (term.to_owned(), frequency)));
                let begun = builder.build();
                let begun = begun
                    .encoded()
                    .map(|(term, frequency)| (term.to_owned(), frequency));
                return begun.chain(rest).collect();
            }
            builder.push(term, frequency);
            before = term;
        }
        builder.build()
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn encoded_terms_read_as_written_where_they_can() {
        for (text, encoded) in [
            ("deploy", "s_deploy"),
            ("node.js", "s_node_2e_js"),
            ("数据", "s__6570__636e_"),
            ("c++", "s_c_2b__2b_"),
            ("🎉", "s__1f389_"),
        ] {
            assert_eq!(Term::new(TermKind::Stem, text).as_str(), encoded);
        }
    }

    #[test]
    fn long_terms_differ_when_their_texts_differ_at_the_end() {
        let long = "x".repeat(500);
        let one = Term::new(TermKind::Whole, &format!("{long}a"));
        let other = Term::new(TermKind::Whole, &format!("{long}b"));
        assert_ne!(one, other);
        assert!(one.as_str().len() <= MAX_BYTES);
    }

    proptest! {
        #[test]
        fn frequencies_come_back_as_they_were_stored_in_any_order(
            terms in prop::collection::vec(("[a-z]{1,4}", 1_u32..9), 0..40),
        ) {
            let frequencies: Frequencies = terms.iter().map(|(term, frequency)| (term, *frequency)).collect();
            prop_assert_eq!(&Frequencies::from_stored(&frequencies.to_string()), &frequencies);
            let stored: Vec<String> = terms.iter().map(|(term, frequency)| format!("{term} {frequency}")).collect();
            prop_assert_eq!(&Frequencies::from_stored(&stored.join(" ")), &frequencies);
            for (term, frequency) in frequencies.iter() {
                prop_assert_eq!(frequencies.get(&term), frequency);
            }
            prop_assert_eq!(frequencies.get(&Term::from_encoded("absent")), 0);
        }

        #[test]
        fn any_text_becomes_a_plain_term(text in "\\PC{0,80}") {
            let term = Term::new(TermKind::Whole, &text);
            prop_assert!(term.as_str().bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'));
            prop_assert!(term.as_str().len() <= MAX_BYTES);
        }

        #[test]
        fn different_texts_never_share_a_term(one in "[a-c\u{b}数_]{0,6}", other in "[a-c\u{b}数_]{0,6}") {
            prop_assert_eq!(one == other, Term::new(TermKind::Pair, &one) == Term::new(TermKind::Pair, &other));
        }
    }
}
