//! Terms: what the index holds, in an encoding that no engine can split, stem or misread.
//!
//! A term is a kind, `_`, and the text. ASCII letters and digits stand for themselves; any other
//! character is written `_` + its code point in hexadecimal + `_` (`数据` is `_6570__636e_`). So a
//! term matches `[a-z0-9_]+` whatever the text was, and query building needs no escaping.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt::{self, Write};
use std::sync::{Arc, LazyLock};

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

/// Terms with how often each occurs, in the order of the terms.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frequencies(Box<[(Term, u32)]>);

impl Frequencies {
    /// How often the term occurs.
    pub fn get(&self, term: &Term) -> u32 {
        self.0
            .binary_search_by(|(own, _)| own.cmp(term))
            .map_or(0, |index| self.0[index].1)
    }

    pub fn contains(&self, term: &Term) -> bool {
        self.get(term) > 0
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Term, u32)> {
        self.0.iter().map(|(term, frequency)| (term, *frequency))
    }

    /// The terms that only one of the two holds, in order.
    pub fn differences<'a>(&'a self, other: &'a Frequencies) -> impl Iterator<Item = &'a Term> {
        let mut own = self.0.iter().map(|(term, _)| term).peekable();
        let mut others = other.0.iter().map(|(term, _)| term).peekable();
        std::iter::from_fn(move || {
            loop {
                let order = match (own.peek(), others.peek()) {
                    (Some(left), Some(right)) => left.cmp(right),
                    (Some(_), None) => Ordering::Less,
                    (None, _) => Ordering::Greater,
                };
                match order {
                    Ordering::Less => return own.next(),
                    Ordering::Greater => return others.next(),
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
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Collects terms; a term that comes several times has the sum of its frequencies.
impl FromIterator<(Term, u32)> for Frequencies {
    fn from_iter<I: IntoIterator<Item = (Term, u32)>>(terms: I) -> Self {
        let mut terms: Vec<(Term, u32)> = terms.into_iter().collect();
        terms.sort_by(|(left, _), (right, _)| left.cmp(right));
        terms.dedup_by(|(later, more), (earlier, frequency)| {
            let same = later == earlier;
            if same {
                *frequency = frequency.saturating_add(*more);
            }
            same
        });
        Frequencies(terms.into())
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
