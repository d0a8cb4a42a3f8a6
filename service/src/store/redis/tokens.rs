//! What the index sees of a memory: tokens of letters, digits and `_` that no engine splits, stems or
//! drops, so that nothing needs escaping and no text can be a syntax error.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::analysis::terms::{Frequencies, Term};
use crate::memory::Memory;
use crate::ranking::fusion::NEIGHBOUR_REACH;
use crate::scope::{DEFAULT_NAMESPACE, Scope};

/// Turns beyond this cannot be counted on as a double, which is what scripts calculate with.
const EXACT_TURN: u64 = 1 << 52;
/// Sixteen hexadecimal digits tell the values of a filter apart.
const FACET_BYTES: usize = 8;

/// What every term of a namespace begins with in the index: nothing in the default one. So the
/// postings of a term hold one namespace alone, and no search reads over the wall.
pub(super) fn marker(namespace: &str) -> String {
    if namespace == DEFAULT_NAMESPACE {
        String::new()
    } else {
        format!(
            "n{}",
            &HEXLOWER.encode(&Sha256::digest(namespace.as_bytes()))[..8]
        )
    }
}

/// The terms that the index holds, each as often as it occurs, equal ones together, with a space
/// before and after each.
pub(super) fn term_tokens(memory: &Memory) -> String {
    let marker = marker(&memory.namespace);
    let mut tokens = String::from(" ");
    for (term, frequency) in memory.indexed_terms().iter() {
        for _ in 0..frequency {
            tokens.push_str(&marker);
            tokens.push_str(term.as_str());
            tokens.push(' ');
        }
    }
    tokens
}

/// The terms of the content alone.
pub(super) fn terms(tokens: &str, namespace: &str) -> Frequencies {
    let marker = marker(namespace);
    let tokens = tokens
        .split(' ')
        .filter_map(|token| token.strip_prefix(marker.as_str()))
        .filter(|token| token.starts_with(['s', 'w', 'p', 'c']));
    let tokens: Vec<&str> = tokens.collect();
    tokens
        .chunk_by(|one, next| one == next)
        .map(|equal| {
            let frequency = u32::try_from(equal.len()).unwrap_or(u32::MAX);
            (Term::from_encoded(equal[0]), frequency)
        })
        .collect()
}

/// A tag as a token that no engine splits: letters and digits as they are, any other byte as `_` and
/// two digits, behind a `g`.
pub(super) fn tag_token(tag: &str) -> String {
    use std::fmt::Write;
    let mut token = String::from("g");
    for byte in tag.bytes() {
        if byte.is_ascii_alphanumeric() {
            token.push(char::from(byte));
        } else {
            write!(token, "_{byte:02x}").expect("writing to a string cannot fail");
        }
    }
    token
}

/// The token of a memory without tags.
const NO_TAGS: &str = "none";

pub(super) fn tag_tokens(tags: &[String]) -> String {
    if tags.is_empty() {
        return NO_TAGS.to_owned();
    }
    let tokens: Vec<String> = tags.iter().map(|tag| tag_token(tag)).collect();
    tokens.join(" ")
}

pub(super) fn tags(tokens: &str) -> Vec<String> {
    let decode = |token: &str| {
        let mut bytes = Vec::with_capacity(token.len());
        let mut rest = token.strip_prefix('g')?.bytes();
        while let Some(byte) = rest.next() {
            if byte == b'_' {
                let digits = [rest.next()?, rest.next()?];
                let digits = std::str::from_utf8(&digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
            } else {
                bytes.push(byte);
            }
        }
        String::from_utf8(bytes).ok()
    };
    tokens.split(' ').filter_map(decode).collect()
}

/// Why a memory is left out whatever the time: `gone` (corrected, consumed, trashed) or `replaced`
/// (superseded without an end), and beside that its states for counting.
pub(super) fn hidden(memory: &Memory) -> String {
    let (fate, mut words) = (&memory.fate, Vec::new());
    if fate.trashed_at.is_some() || fate.corrected_at.is_some() || fate.consumed_by.is_some() {
        words.push("gone");
    }
    if fate.corrected_at.is_some() {
        words.push("corrected");
    }
    if fate.consumed_by.is_some() {
        words.push("consumed");
    }
    if fate.superseded_by.is_some() {
        words.push("superseded");
        if memory.details.invalid_at.is_none() {
            words.push("replaced");
        }
    }
    words.join(" ")
}

/// What filters compare exactly, as one tag each.
pub(super) fn facets(memory: &Memory) -> String {
    let details = &memory.details;
    let mut facets = vec![
        facet('n', Some(&memory.namespace)),
        facet('a', memory.agent.as_deref()),
    ];
    facets.push(tags_facet(&details.tags));
    if details.shared {
        facets.push("shared".to_owned());
    }
    for (kind, value) in [
        ('c', &details.category),
        ('s', &details.source),
        ('t', &memory.place.session),
    ] {
        if let Some(value) = value {
            facets.push(facet(kind, Some(value)));
        }
    }
    facets.join(" ")
}

/// The facet of a memory with these tags and no other.
pub(super) fn tags_facet(tags: &[String]) -> String {
    let tags: BTreeSet<&String> = tags.iter().collect();
    let tokens: Vec<String> = tags.into_iter().map(|tag| tag_token(tag)).collect();
    facet(
        'g',
        (!tokens.is_empty()).then(|| tokens.join(" ")).as_deref(),
    )
}

/// One value that a filter compares: its kind and a hash, so that any text is a safe tag.
pub(super) fn facet(kind: char, value: Option<&str>) -> String {
    match value {
        Some(value) => {
            let hash = Sha256::digest(value.as_bytes());
            format!("{kind}{}", HEXLOWER.encode(&hash[..FACET_BYTES]))
        }
        None => format!("{kind}none"),
    }
}

/// The facets that a scope sees, besides its namespace; `None` if it sees all.
pub(super) fn visible_facets(scope: &Scope) -> Option<String> {
    (!scope.primary).then(|| format!("{}|shared", facet('a', scope.agent.as_deref())))
}

/// What the engine multiplies a score by: of two equal matches it then takes the newer. Between 0.5
/// and 1.0, so that a year is worth less than half a percent.
pub(super) fn document_score(created_at: DateTime<Utc>) -> f64 {
    let seconds = created_at.timestamp().clamp(0, i64::from(u32::MAX));
    0.5 + 0.5 * seconds as f64 / f64::from(u32::MAX)
}

/// The turns around one that a script cannot count from.
pub(super) fn around(turn: i64) -> Option<String> {
    (turn.unsigned_abs() > EXACT_TURN).then(|| {
        let turns: Vec<String> = (-NEIGHBOUR_REACH..=NEIGHBOUR_REACH)
            .filter_map(|distance| turn.checked_add(distance))
            .map(|turn| turn.to_string())
            .collect();
        turns.join(" ")
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn tags_come_back_as_they_were(tags in proptest::collection::vec(".{1,20}", 0..5)) {
            let tokens = tag_tokens(&tags);
            prop_assert!(tokens.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b' '));
            prop_assert_eq!(super::tags(&tokens), tags);
        }
    }

    #[test]
    fn the_newer_of_two_has_the_higher_document_score() {
        let at = |seconds| DateTime::from_timestamp(seconds, 0).unwrap();
        assert!(document_score(at(1_700_000_600)) > document_score(at(1_700_000_000)));
        assert!(document_score(at(-5)) >= 0.5 && document_score(at(i64::MAX / 2_000_000)) <= 1.0);
    }
}
