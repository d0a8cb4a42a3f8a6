//! The terms of a memory on their way into the index: written as one text, read back by a tokenizer.
//!
//! Documents wait in a queue before they are indexed. Written like this a long memory takes a few
//! kilobytes there; a token for each word takes ten times as much.

use std::fmt::Write;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::analysis::terms::Frequencies;

/// Name of the tokenizer that reads what [`written`] writes.
pub(super) const TOKENIZER: &str = "terms";

/// A term as the index knows it. Namespaces share no posting list, so the size of one costs another
/// nothing. A term has no space, so no namespace can imitate one with a term.
pub(super) fn key(namespace: &str, term: &str) -> String {
    format!("{namespace} {term}")
}

/// Terms with their frequencies, a line each; the namespace comes last, for it may hold anything.
pub(super) fn written(namespace: &str, terms: &Frequencies) -> String {
    let mut text = String::new();
    for (term, frequency) in terms.encoded() {
        writeln!(text, "{frequency} {term}").expect("a text can be written to");
    }
    text.push('\n');
    text.push_str(namespace);
    text
}

/// Reads what [`written`] writes: each term as often as its frequency.
#[derive(Clone)]
pub(super) struct Reader;

impl Tokenizer for Reader {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        // The empty line ends the terms.
        let (terms, namespace) = match text.strip_prefix('\n') {
            Some(namespace) => ("", namespace),
            None => text.split_once("\n\n").unwrap_or_default(),
        };
        Stream {
            terms: terms.lines(),
            namespace,
            left: 0,
            token: Token::default(),
        }
    }
}

pub(super) struct Stream<'a> {
    terms: std::str::Lines<'a>,
    namespace: &'a str,
    /// How often the token is still to come.
    left: u32,
    token: Token,
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        while self.left == 0 {
            let Some((frequency, term)) = self.terms.next().and_then(|line| line.split_once(' '))
            else {
                return false;
            };
            self.left = frequency.parse().unwrap_or(0);
            self.token.text = key(self.namespace, term);
        }
        self.left -= 1;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::terms::{Term, TermKind};

    #[test]
    fn what_is_written_is_read_whatever_the_namespace() {
        for namespace in ["default", "", "two\n\nlines", "3 s_tea"] {
            for terms in [&[][..], &["tea", "c++"]] {
                let frequencies: Frequencies = terms
                    .iter()
                    .map(|term| (Term::new(TermKind::Stem, term).as_str().to_owned(), 2))
                    .collect();
                let expected: Vec<String> = frequencies
                    .encoded()
                    .flat_map(|(term, frequency)| (0..frequency).map(move |_| key(namespace, term)))
                    .collect();
                let text = written(namespace, &frequencies);
                let (mut reader, mut read) = (Reader, Vec::new());
                reader
                    .token_stream(&text)
                    .process(&mut |token| read.push(token.text.clone()));
                assert_eq!(read, expected, "{namespace:?}");
            }
        }
    }
}
