//! The terms of a memory's content, with their frequencies, and its length.
//!
//! Each stretch of text gives terms of one base kind only: stems for scripts written with spaces,
//! overlapping pairs of characters for the others. A Chinese word of two characters *is* its pair,
//! so words and pairs are never counted twice; longer words are added whole, as a bonus, and single
//! characters for queries of one character.

use super::dictionary::Learnt;
use super::stem::stem;
use super::stop_words::is_stop_word;
use super::technical::parts;
use super::terms::{Frequencies, Term, TermKind};
use super::token::{Token, TokenKind};
use super::{Ingredients, keywords};

/// The terms of a tokenised content and its length: the number of words that are not stop words, in
/// any script, which BM25 normalises by.
pub fn terms(tokens: &[Token], learnt: &Learnt, ingredients: Ingredients) -> (Frequencies, u32) {
    let mut found = Collector(Vec::with_capacity(tokens.len() * 2));
    for token in tokens {
        match token.kind {
            TokenKind::Word => found.add(TermKind::Stem, &stem(&token.text, ingredients)),
            TokenKind::Number | TokenKind::Technical | TokenKind::Symbol | TokenKind::Emoji => {
                found.add_technical(token, ingredients)
            }
            TokenKind::Han if is_long(token) || !ingredients.pairs => {
                found.add(TermKind::Whole, &token.text)
            }
            TokenKind::Han | TokenKind::Cjk => {}
        }
    }
    for (word, _, _) in learnt.found(tokens) {
        found.add(TermKind::Whole, &word);
    }
    for run in unspaced_runs(tokens) {
        found.add_run(&run, ingredients);
    }
    (
        found.0.into_iter().map(|term| (term, 1)).collect(),
        tokens.iter().map(length).sum(),
    )
}

/// The one term that stands for a keyword: what to look up to know whether a content holds it.
pub fn key_term(keyword: &str) -> Term {
    match keyword.chars().count() {
        _ if keyword.chars().all(super::normalise::is_unspaced) => match keyword.chars().count() {
            1 => Term::new(TermKind::Character, keyword),
            2 => Term::new(TermKind::Pair, keyword),
            _ => Term::new(TermKind::Whole, keyword),
        },
        _ if parts(keyword).eq([keyword]) => {
            Term::new(TermKind::Stem, &stem(keyword, Ingredients::default()))
        }
        _ => Term::new(TermKind::Whole, keyword),
    }
}

/// Runs of tokens of unspaced scripts that touch in the text, as folded text: pairs reach across
/// the segmenter's borders, since it may have cut wrongly.
pub fn unspaced_runs(tokens: &[Token]) -> impl Iterator<Item = String> {
    tokens
        .chunk_by(|left, right| is_unspaced(left) && is_unspaced(right) && left.end == right.start)
        .filter(|run| is_unspaced(&run[0]))
        .map(|run| run.iter().map(|token| token.text.as_str()).collect())
}

fn is_unspaced(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Han | TokenKind::Cjk)
}

/// Whether a Chinese word is more than its one pair.
pub fn is_long(token: &Token) -> bool {
    token.text.chars().nth(2).is_some()
}

fn length(token: &Token) -> u32 {
    let count = match token.kind {
        TokenKind::Word | TokenKind::Han => usize::from(!is_stop_word(&token.text)),
        TokenKind::Cjk => token.text.chars().count(),
        _ => parts(&token.text).count().max(1),
    };
    u32::try_from(count).unwrap_or(u32::MAX)
}

struct Collector(Vec<Term>);

impl Collector {
    fn add(&mut self, kind: TermKind, text: &str) {
        self.0.push(Term::new(kind, text));
    }

    /// A technical token counts whole and by its parts; `5,000` also as `5000`.
    fn add_technical(&mut self, token: &Token, ingredients: Ingredients) {
        let mut plain = true;
        for part in parts(&token.text) {
            self.add(TermKind::Stem, &stem(part, ingredients));
            plain &= part == token.text;
        }
        if !plain || token.kind == TokenKind::Emoji || token.kind == TokenKind::Symbol {
            self.add(TermKind::Whole, &token.text);
        }
        if let Some(number) = keywords::ungrouped(token) {
            self.add(TermKind::Stem, &number);
        }
    }

    fn add_run(&mut self, run: &str, ingredients: Ingredients) {
        for (at, first) in run.char_indices() {
            let next = at + first.len_utf8();
            self.add(TermKind::Character, &run[at..next]);
            if let Some(second) = run[next..].chars().next().filter(|_| ingredients.pairs) {
                self.add(TermKind::Pair, &run[at..next + second.len_utf8()]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::dictionary::Dictionary;
    use super::super::normalise::normalise;
    use super::super::tokeniser::tokenise;
    use super::*;

    fn content(text: &str) -> (Frequencies, u32) {
        terms(
            &tokenise(&normalise(text), Dictionary::builtin()),
            &Learnt::default(),
            Ingredients::default(),
        )
    }

    fn frequency(text: &str, kind: TermKind, term: &str) -> u32 {
        content(text).0.get(&Term::new(kind, term))
    }

    #[test]
    fn english_words_count_by_stem() {
        assert_eq!(
            frequency(
                "deploying the deployed deployment",
                TermKind::Stem,
                "deploy"
            ),
            3
        );
        assert_eq!(frequency("running servers", TermKind::Stem, "server"), 1);
    }

    #[test]
    fn a_two_character_word_is_counted_once() {
        let (terms, _) = content("数据");
        assert_eq!(terms.len(), 3, "one pair and two characters: {terms:?}");
    }

    #[test]
    fn pairs_reach_across_words_and_stop_at_marks() {
        assert_eq!(frequency("浦东新区", TermKind::Pair, "东新"), 1);
        assert_eq!(frequency("浦东，新区", TermKind::Pair, "东新"), 0);
        assert_eq!(frequency("서버는 부산에", TermKind::Pair, "서버"), 1);
        assert_eq!(frequency("成語しりとり", TermKind::Pair, "语し"), 1);
    }

    #[test]
    fn technical_tokens_count_whole_and_by_parts() {
        assert_eq!(frequency("see node.js", TermKind::Whole, "node.js"), 1);
        assert_eq!(frequency("see node.js", TermKind::Stem, "node"), 1);
        assert_eq!(frequency("costs $5,000", TermKind::Stem, "5000"), 1);
        assert_eq!(frequency("party 🎉", TermKind::Whole, "🎉"), 1);
    }

    #[test]
    fn stop_words_are_indexed_but_add_no_length() {
        assert_eq!(content("the cat is on the mat").1, 2);
        assert_eq!(frequency("the cat", TermKind::Stem, "the"), 1);
    }

    #[test]
    fn a_keyword_is_found_by_its_key_term() {
        for (keyword, text) in [
            ("deploy", "deploying"),
            ("node.js", "node.js"),
            ("部署", "部署了"),
            ("数据库", "数据库很大"),
        ] {
            assert!(
                content(text).0.contains(&key_term(keyword)),
                "{keyword} in {text}"
            );
        }
    }
}
