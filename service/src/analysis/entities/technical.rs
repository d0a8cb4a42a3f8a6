//! Which technical tokens are identifiers that somebody links on.
//!
//! Host names, addresses, files, options, tickers and code are; dates, times, quantities and
//! hyphenated words of every day are not. The tokeniser has already cut them.

use std::net::Ipv4Addr;

use super::super::word_lists;

/// Parts of hyphenated English words that are no words themselves.
const AFFIXES: [&str; 22] = [
    "re", "pre", "non", "anti", "co", "ex", "semi", "multi", "mid", "sub", "un", "de", "inter",
    "ultra", "mini", "micro", "cross", "eco", "bi", "tri", "pro", "post",
];
/// Dotted abbreviations of ordinary prose.
const ABBREVIATIONS: [&str; 10] = [
    "e.g", "i.e", "a.m", "p.m", "a.k.a", "ph.d", "b.a", "m.a", "b.sc", "m.sc",
];
/// Shorter hexadecimal words are as likely a quantity.
const MIN_HASH: usize = 7;

/// The identifier that a technical token is: mostly itself, of a URL the host. Beside Chinese,
/// hyphenated Latin words are identifiers; in English prose most are adjectives.
pub(super) fn name(surface: &str, beside_han: bool) -> Option<&str> {
    if let Some(host) = host(surface) {
        return Some(host);
    }
    if surface.parse::<Ipv4Addr>().is_ok() {
        return Some(surface);
    }
    let letters = surface.chars().filter(|c| c.is_alphabetic()).count();
    let first = surface.chars().next()?;
    let linked = match first {
        _ if letters == 0 => false,
        '@' => letters > 1,
        '#' => letters > 1 && !is_hexadecimal(&surface[1..]),
        '$' => surface[1..].starts_with(|c: char| c.is_alphabetic() || c == '{'),
        '-' => surface.starts_with("--") && letters > 2,
        '/' | '~' => letters > 1,
        '0'..='9' => is_linked_number(surface),
        _ => is_linked_word(surface, beside_han),
    };
    linked.then(|| surface.trim_end_matches('/'))
}

/// The host of a URL, without user, port and `www.`.
fn host(surface: &str) -> Option<&str> {
    let rest = match surface.split_once("://") {
        Some((_, rest)) => rest,
        None if surface.starts_with("www.") => surface,
        None => return None,
    };
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?.split(':').next()?;
    let host = host.strip_prefix("www.").unwrap_or(host);
    host.contains('.').then_some(host)
}

/// Of the tokens that begin with a digit: addresses, `2024_report`, `3.js`, a commit's hash. The
/// rest are dates, times, versions and quantities.
fn is_linked_number(surface: &str) -> bool {
    let extension = surface.rsplit('.').next().unwrap_or("");
    let file = extension.len() < surface.len()
        && (2..=5).contains(&extension.len())
        && extension.chars().all(|c| c.is_ascii_alphabetic())
        && !word_lists::is_common(&extension.to_lowercase());
    let hash = surface.len() >= MIN_HASH && is_hexadecimal(surface);
    surface.contains(['_', '@']) || file || hash
}

fn is_hexadecimal(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_hexdigit())
}

fn is_linked_word(surface: &str, beside_han: bool) -> bool {
    let folded = surface.to_lowercase();
    if let Some(version) = folded.strip_prefix('v')
        && version.starts_with(|c: char| c.is_ascii_digit())
    {
        return version.contains('.');
    }
    if surface.contains('@') || surface.contains("::") || surface.contains("()") {
        return true;
    }
    if surface.contains('\\') || surface.starts_with("./") || surface.starts_with("../") {
        return true;
    }
    if surface.trim_matches('_').contains('_') {
        return true;
    }
    if surface.contains('/') {
        return surface.contains('.') || all_parts(&folded, '/', is_no_word);
    }
    if surface.contains('.') {
        return is_linked_dotted(surface, &folded);
    }
    if surface.contains('-') {
        return is_linked_hyphenated(&folded, beside_han);
    }
    surface.ends_with("++") || surface.ends_with('#') || is_mixed(surface)
}

/// `node.js`, `state.db`, `FT.SEARCH`, `U.S`, `.env`; not `e.g` nor a missing space (`end.Then`).
fn is_linked_dotted(surface: &str, folded: &str) -> bool {
    let single_letters = folded.split('.').all(|part| part.chars().count() <= 1);
    if ABBREVIATIONS.contains(&folded.trim_end_matches('.')) {
        return false;
    }
    if single_letters {
        return surface.starts_with(char::is_uppercase);
    }
    let last = folded.rsplit('.').next().unwrap_or("");
    let written = surface.rsplit('.').next().unwrap_or("");
    let titled =
        written.starts_with(char::is_uppercase) && written.chars().skip(1).any(char::is_lowercase);
    let prose = word_lists::is_never_a_name(last) || titled && word_lists::is_common(last);
    !prose
}

/// `gen-itgc`, `gpt-4`; not `well-known`, `top-10`, `heart-warming`.
fn is_linked_hyphenated(folded: &str, beside_han: bool) -> bool {
    if beside_han {
        return true;
    }
    let has_digit = folded.contains(|c: char| c.is_ascii_digit());
    let is_identifier = |part: &str| match part.chars().all(char::is_alphabetic) {
        true => is_no_word(part) && (has_digit || !is_inflected(part)),
        false => true,
    };
    all_parts(folded, '-', is_identifier)
}

fn is_no_word(part: &str) -> bool {
    part.len() > 1 && !AFFIXES.contains(&part) && !word_lists::is_common(part)
}

fn is_inflected(part: &str) -> bool {
    part.len() > 4
        && ["ing", "ed", "ly"]
            .iter()
            .any(|ending| part.ends_with(ending))
}

fn all_parts(folded: &str, separator: char, accepted: impl Fn(&str) -> bool) -> bool {
    folded
        .split(separator)
        .filter(|part| !part.is_empty())
        .all(accepted)
}

/// Letters and digits in one word: `k8s`, `H100`.
fn is_mixed(surface: &str) -> bool {
    surface.contains(|c: char| c.is_ascii_digit()) && surface.chars().all(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(surface: &str, expected: Option<&str>) {
        assert_eq!(name(surface, false), expected, "{surface}");
    }

    fn check_itself(surface: &str) {
        check(surface, Some(surface));
    }

    #[test]
    fn identifiers() {
        for surface in [
            "node.js",
            "C++",
            "C#",
            ".env",
            "foo_bar",
            "state.db",
            "FT.SEARCH",
            "a@b.com",
            "$AAPL",
            "@alice",
            "#rustlang",
            "--dry-run",
            "/opt/web",
            "~/notes.md",
            "src/main.rs",
            "./run",
            "C:\\Users\\bob",
            "10.0.0.5",
            "v1.2.3",
            "v2.10.5-rc1",
            "gen-itgc",
            "gpt-4",
            "UTF-8",
            "k8s",
            "H100",
            "std::vec",
            "3f2a9bc",
            "2024_report.txt",
            "U.S",
        ] {
            check_itself(surface);
        }
        check("https://bob@www.example.com:8080/a?b", Some("example.com"));
        check("www.example.com/a", Some("example.com"));
        check("/opt/web/", Some("/opt/web"));
    }

    #[test]
    fn prose_and_quantities() {
        for surface in [
            "2024-05-01",
            "2024-05-01T10:30:00Z",
            "10:30",
            "50%",
            "$5,000",
            "$5k",
            "10am",
            "3rd",
            "100ms",
            "24/7",
            "and/or",
            "he/she",
            "well-known",
            "state-of-the-art",
            "re-check",
            "x-ray",
            "top-10",
            "heart-warming",
            "e.g",
            "a.m",
            "end.Then",
            "done.the",
            "-rf",
            "#fff",
            "1.5.2",
            "v2",
            "+1",
            "5-year-old",
        ] {
            check(surface, None);
        }
    }

    #[test]
    fn hyphenated_words_in_chinese_are_identifiers() {
        assert_eq!(name("user-service", true), Some("user-service"));
        check("user-service", None);
    }
}
