//! Cuts text of scripts written with spaces: words, numbers, and technical tokens that survive
//! whole (`C++`, `.NET`, `node.js`, `v1.2.3`, `a@b.com`, `--dry-run`, paths, URLs, `$AAPL`).
//!
//! A chunk without white space is cut at separators first (quotes, brackets, commas), then each
//! piece loses the punctuation at its edges, but for the marks that belong to a name there.

use unicode_normalization::char::is_combining_mark;

use super::normalise::fold;
use super::token::{Token, TokenKind};

/// Longest token of marks alone that is kept: operators such as `=>` and `!==`.
const LONGEST_SYMBOL: usize = 3;

/// Cuts a run without white space that starts at byte `offset` of its text.
pub fn cut(run: &str, offset: usize, tokens: &mut Vec<Token>) {
    let mut piece_start = 0;
    for (at, c) in run.char_indices() {
        if is_separator(run, at, c) {
            piece(run, piece_start, at, offset, tokens);
            piece_start = at + c.len_utf8();
        }
    }
    piece(run, piece_start, run.len(), offset, tokens);
}

/// Splits the whole form of a technical token into its parts: runs of letters and digits.
///
/// ```
/// use keepsake::analysis::technical::parts;
/// assert_eq!(parts("https://x.y/z_1").collect::<Vec<_>>(), ["https", "x", "y", "z", "1"]);
/// ```
pub fn parts(token: &str) -> impl Iterator<Item = &str> {
    token
        .split(|c: char| !is_word_character(c))
        .filter(|part| !part.is_empty())
}

/// Letters, digits and the marks written on them; `_` joins names and is not one of them.
pub fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() || (!c.is_ascii() && is_combining_mark(c))
}

/// Marks that may stand inside a technical token. All other marks separate.
fn is_connector(c: char) -> bool {
    matches!(
        c,
        '.' | '_'
            | '-'
            | ':'
            | '/'
            | '\\'
            | '@'
            | '&'
            | '='
            | '+'
            | '#'
            | '$'
            | '%'
            | '~'
            | '?'
            | '*'
            | '^'
            | '\''
            | '<'
            | '>'
            | '|'
            | '!'
    )
}

fn is_separator(run: &str, at: usize, c: char) -> bool {
    match c {
        // A comma between digits groups them; elsewhere it separates.
        ',' => {
            let before = run[..at]
                .chars()
                .next_back()
                .is_some_and(|c| c.is_ascii_digit());
            let after = run[at + 1..]
                .chars()
                .take_while(char::is_ascii_digit)
                .count();
            !(before && after == 3)
        }
        // Comparison signs, bars and exclamation marks join nothing but operators.
        '<' | '>' | '|' | '!' => run.chars().any(is_word_character),
        // An ellipsis separates, a single dot may belong to a name.
        '.' => run[at + 1..].starts_with('.') || run[..at].ends_with('.'),
        _ => !is_word_character(c) && !is_connector(c),
    }
}

/// Trims one piece and makes a token of what is left.
fn piece(run: &str, from: usize, to: usize, offset: usize, tokens: &mut Vec<Token>) {
    let text = &run[from..to];
    if !text.chars().any(is_word_character) {
        if is_symbol(text) {
            push(text, offset + from, TokenKind::Symbol, tokens);
        }
        return;
    }
    let lead = text.find(is_word_character).unwrap_or(0);
    let start = lead - kept_before(&text[..lead], &text[lead..]);
    let last = text.rfind(is_word_character).unwrap_or(0);
    let tail = last + text[last..].chars().next().map_or(0, char::len_utf8);
    let mut end = tail + kept_after(&text[start..tail], &text[tail..]);
    let mut kind = kind_of(&text[start..end]);
    if kind == TokenKind::Word {
        end = start + without_possessive(&text[start..end]).len();
    } else if let Some(name) = possessive_name(&text[start..end]) {
        end = start + name.len();
        kind = kind_of(name);
    }
    push(&text[start..end], offset + from + start, kind, tokens);
}

fn push(text: &str, start: usize, kind: TokenKind, tokens: &mut Vec<Token>) {
    tokens.push(Token {
        text: fold(text),
        start,
        end: start + text.len(),
        kind,
        tag: "",
    });
}

/// An operator written alone. Runs of sentence marks (`...`, `???`, `!!`) are not.
fn is_symbol(text: &str) -> bool {
    (1..=LONGEST_SYMBOL).contains(&text.chars().count())
        && text.chars().all(|c| c.is_ascii_punctuation())
        && !text
            .chars()
            .all(|c| matches!(c, '.' | '!' | '?' | '-' | '\'' | '_' | '*' | '~'))
        && text.len() > 1
}

/// How many bytes of the marks before the first letter belong to the token.
fn kept_before(marks: &str, word: &str) -> usize {
    let letter = word.starts_with(char::is_alphabetic);
    for (ending, needs_letter) in [
        ("--", true),
        ("~/", false),
        ("./", false),
        ("/", false),
        ("\\", true),
        (".", true),
        ("-", true),
        ("$", false),
        ("@", true),
        ("#", false),
    ] {
        if marks.ends_with(ending) && (letter || !needs_letter) {
            return ending.len();
        }
    }
    0
}

/// How many bytes of the marks after the last letter belong to the token: `C++`, `C#`, `50%`.
fn kept_after(word: &str, marks: &str) -> usize {
    let short_name = word.chars().count() <= 3 && word.ends_with(|c: char| c.is_ascii_alphabetic());
    if short_name && marks.starts_with("++") {
        2
    } else if (short_name && marks.starts_with('#'))
        || (word.ends_with(|c: char| c.is_ascii_digit()) && marks.starts_with('%'))
    {
        1
    } else {
        0
    }
}

fn kind_of(text: &str) -> TokenKind {
    let mut letters = text.chars().filter(|c| *c != '\'').peekable();
    if letters.clone().all(|c| c.is_numeric()) && letters.peek().is_some() {
        TokenKind::Number
    } else if letters.all(is_word_character) {
        TokenKind::Word
    } else if text
        .chars()
        .all(|c| c.is_ascii_digit() || c == ',' || c == '.')
        && text.matches('.').count() < 2
    {
        TokenKind::Number
    } else {
        TokenKind::Technical
    }
}

/// `dog's` and `dogs'` are about the dog; `it's` and `what's` are left whole, as stop words.
fn without_possessive(word: &str) -> &str {
    match word.strip_suffix("'s").or_else(|| word.strip_suffix("'S")) {
        Some(owner)
            if owner.chars().count() > 1 && !super::stop_words::is_stop_word(&fold(word)) =>
        {
            owner
        }
        _ => word,
    }
}

/// The name in a technical token with a possessive: `node.js's`.
fn possessive_name(token: &str) -> Option<&str> {
    token
        .strip_suffix("'s")
        .filter(|name| !name.is_empty() && !name.contains('\''))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let mut tokens = Vec::new();
        for word in text.split_whitespace() {
            cut(word, 0, &mut tokens);
        }
        let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
        assert_eq!(texts, expected, "{text}");
    }

    #[test]
    fn technical_tokens_survive_whole() {
        for token in [
            "c++",
            "c#",
            ".net",
            "node.js",
            "v1.2.3",
            "10.0.0.5",
            "foo_bar",
            "kebab-case",
            "a@b.com",
            "bob+tag@x.io",
            "https://x.y/z",
            "ft.search",
            "$aapl",
            "--dry-run",
            "-rf",
            "/opt/web/dist",
            "~/notes",
            "c:\\users\\bob",
            "10:30",
            "2024-05-01",
            "gpt-4o",
            "50%",
            "at&t",
            "@bob",
            "#42",
            "=>",
            "!==",
            "5,000",
            "3.14",
            "https://example.com/docs?a=1&b=2",
        ] {
            check(token, &[token]);
        }
    }

    #[test]
    fn punctuation_around_a_token_is_no_part_of_it() {
        check(
            "(node.js), \"v1.2.3\". 'quoted' hello: tilde; array[0] {json: true}",
            &[
                "node.js", "v1.2.3", "quoted", "hello", "tilde", "array", "0", "json", "true",
            ],
        );
        check(
            "C++? wait...what a,b re: -5 $5,000 ??? ... & !",
            &["c++", "wait", "what", "a", "b", "re", "5", "$5,000"],
        );
    }

    #[test]
    fn possessives_name_the_owner() {
        check(
            "User's dog's node.js's don't it's",
            &["user", "dog", "node.js", "don't", "it's"],
        );
    }
}
