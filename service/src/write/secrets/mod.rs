//! Secrets in text: found by rules, masked before anything is analysed or stored.
//!
//! `gitleaks.txt` holds the detection rules of the gitleaks project (MIT, `gitleaks.LICENSE`), made
//! for source code; two things were changed for prose: a secret may end at any character that cannot
//! be part of it, and a comma assigns nothing. `general.txt` adds what those rules leave out:
//! passwords in addresses, headers, assignments, sentences. A rule is a line of name, least entropy,
//! words of which one must occur, and a pattern; its first group, else all of it, is the secret. A
//! pattern is compiled when one of its words is first met.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};
use serde_json::{Map, Value};

const GITLEAKS: &str = include_str!("gitleaks.txt");
const GENERAL: &str = include_str!("general.txt");
/// Compiled patterns with counted repetitions are large.
const PATTERN_BYTES: usize = 64 << 20;
/// Rules that look for an assignment begin like this; what they find must look made up.
const ASSIGNMENT: &str = "(?i)[\\w.-]{0,50}?";

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    [GENERAL, GITLEAKS]
        .iter()
        .flat_map(|file| file.lines())
        .filter_map(Rule::parse)
        .collect()
});

struct Rule {
    kind: &'static str,
    least_entropy: f64,
    words: Vec<&'static str>,
    /// Whether a secret without a digit, or that is a word or a path, is none.
    made_up: bool,
    pattern: LazyLock<Option<Regex>, Box<dyn FnOnce() -> Option<Regex> + Send>>,
}

impl Rule {
    fn parse(line: &'static str) -> Option<Rule> {
        let mut fields = line.split('\t');
        let (kind, entropy, words, pattern) = (
            fields.next()?,
            fields.next()?,
            fields.next()?,
            fields.next()?,
        );
        let compile = move || {
            RegexBuilder::new(pattern)
                .unicode(false)
                .size_limit(PATTERN_BYTES)
                .build()
                .ok()
        };
        Some(Rule {
            kind,
            least_entropy: entropy.parse().ok()?,
            words: words.split(',').collect(),
            made_up: pattern.starts_with(ASSIGNMENT)
                || kind.ends_with("-secret")
                || kind.starts_with("spoken"),
            pattern: LazyLock::new(Box::new(compile)),
        })
    }

    /// The secrets of a text, as ranges of bytes.
    fn find(&self, text: &str) -> Vec<(usize, usize)> {
        let Some(pattern) = &*self.pattern else {
            return Vec::new();
        };
        let secret = |captures: regex::bytes::Captures<'_>| {
            let group = captures
                .iter()
                .skip(1)
                .flatten()
                .find(|group| !group.is_empty());
            let found = group.or_else(|| captures.get(0))?;
            self.is_secret(found.as_bytes()).then(|| {
                (
                    text.floor_char_boundary(found.start()),
                    text.ceil_char_boundary(found.end()),
                )
            })
        };
        pattern
            .captures_iter(text.as_bytes())
            .filter_map(secret)
            .collect()
    }

    fn is_secret(&self, found: &[u8]) -> bool {
        let placeholder =
            found.starts_with(b"$") || found.starts_with(b"[redacted") || found.starts_with(b"{{");
        let made_up = found.iter().any(u8::is_ascii_digit)
            && found.iter().any(u8::is_ascii_alphabetic)
            && !found.starts_with(b"/")
            && !found.starts_with(b"~/")
            && !contains(found, b"://");
        !placeholder && entropy(found) >= self.least_entropy && (made_up || !self.made_up)
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Shannon entropy in bits a byte.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts: HashMap<u8, f64> = HashMap::new();
    for byte in bytes {
        *counts.entry(*byte).or_default() += 1.0;
    }
    let length = bytes.len() as f64;
    counts
        .values()
        .map(|count| -(count / length) * (count / length).log2())
        .sum()
}

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    /// Each secret is `[redacted: kind]`; all else is exact.
    pub text: String,
    /// Kinds of what was masked, each once, in order of appearance.
    pub kinds: Vec<&'static str>,
}

/// Masks the secrets of a text; `None` if it has none.
pub fn mask(text: &str) -> Option<Masked> {
    let lower = text.to_ascii_lowercase();
    let mut found: Vec<(usize, usize, &'static str)> = RULES
        .iter()
        .filter(|rule| rule.words.iter().any(|word| lower.contains(word)))
        .flat_map(|rule| {
            rule.find(text)
                .into_iter()
                .map(|(start, end)| (start, end, rule.kind))
        })
        .collect();
    // Of overlapping ones the first and longest names them; a stable sort prefers the rule above.
    found.sort_by_key(|(start, end, _)| (*start, std::cmp::Reverse(*end)));
    let mut masked = Masked {
        text: String::with_capacity(text.len()),
        kinds: Vec::new(),
    };
    let mut copied = 0;
    for (start, end, kind) in found {
        if start >= copied {
            masked.text.push_str(&text[copied..start]);
            masked.text.push_str(&format!("[redacted: {kind}]"));
            if !masked.kinds.contains(&kind) {
                masked.kinds.push(kind);
            }
        }
        copied = copied.max(end);
    }
    masked.text.push_str(text.get(copied..).unwrap_or_default());
    (!masked.kinds.is_empty()).then_some(masked)
}

/// Masks the secrets of a content and of the texts in its metadata; their kinds, each once.
pub fn mask_all(content: &mut String, metadata: &mut Map<String, Value>) -> Vec<&'static str> {
    let mut kinds = Vec::new();
    mask_text(content, &mut kinds);
    for value in metadata.values_mut() {
        mask_value(value, &mut kinds);
    }
    kinds
}

fn mask_value(value: &mut Value, kinds: &mut Vec<&'static str>) {
    match value {
        Value::String(text) => mask_text(text, kinds),
        Value::Array(items) => items.iter_mut().for_each(|item| mask_value(item, kinds)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|field| mask_value(field, kinds)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn mask_text(text: &mut String, kinds: &mut Vec<&'static str>) {
    if let Some(masked) = mask(text) {
        *text = masked.text;
        for kind in masked.kinds {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
    }
}

/// A text without its secrets, whatever they are.
pub fn without_secrets(text: String) -> String {
    mask(&text).map_or(text, |masked| masked.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_can_be_used() {
        assert!(RULES.len() > 200);
        assert_eq!(
            RULES.len(),
            GENERAL.lines().count() + GITLEAKS.lines().count()
        );
        for rule in RULES.iter() {
            assert!(rule.pattern.is_some(), "{} does not compile", rule.kind);
        }
    }

    #[test]
    fn secrets_are_masked_and_nothing_else_changes() {
        // Put together here, so that no scanner takes the tests for a leak.
        let glue = |parts: &[&str]| parts.concat();
        let pem = format!(
            "-----BEGIN RSA PRIVATE {}-----\n{}\n-----END RSA PRIVATE KEY-----",
            "KEY",
            "MIIEowIBAAKCAQEA7bq".repeat(8)
        );
        for (before, secret, after, kind) in [
            (
                "the key is ",
                glue(&["sk-", "proj-", "4f9Kd02mXq7LrT1vBn8YzW3c"]),
                ", keep it",
                "secret-key",
            ),
            (
                "export OPENAI=",
                glue(&["sk-", "abcdEFGH1234ijklMNOP5678"]),
                "",
                "secret-key",
            ),
            (
                "AWS ",
                glue(&["AKIA", "2OGYBAH6STMMNXQ7"]),
                " is ours",
                "aws-access-token",
            ),
            (
                "用 ",
                glue(&["ghp_", "x7Kq2mZp9RtLw4VbN8cY1sD6fG3hJ5kA0eUi"]),
                "，别外传",
                "github-token",
            ),
            (
                "Authorization: Bearer ",
                glue(&["9f8e7d6c5b4a", "39281706abcdef"]),
                "\n",
                "bearer-token",
            ),
            ("see ", pem, "\nthanks", "private-key"),
            (
                "postgres://app:",
                glue(&["S3cr3t", "Pass"]),
                "@db.example.com/x",
                "url-password",
            ),
            (
                "API_KEY=",
                glue(&["a8f3e1b97c2d", "4560"]),
                " make run",
                "assigned-secret",
            ),
            (
                "my wifi password is ",
                glue(&["Blue", "Whale77"]),
                " at home",
                "assigned-secret",
            ),
            ("what is my password ", String::new(), "hunter", ""),
            (
                "数据库密码是",
                glue(&["Tiger", "2024x"]),
                "，记住",
                "spoken-password",
            ),
            (
                "slack ",
                glue(&[
                    "xoxb-",
                    "123456789012-123456789012-abcdefABCDEF123456789012",
                ]),
                ".",
                "slack-bot-token",
            ),
        ] {
            let text = format!("{before}{secret}{after}");
            let expected = (!kind.is_empty()).then(|| Masked {
                text: format!("{before}[redacted: {kind}]{after}"),
                kinds: vec![kind],
            });
            assert_eq!(mask(&text), expected, "{text}");
        }
    }

    #[test]
    fn a_key_block_that_was_cut_off_is_masked_to_the_end() {
        let text = format!(
            "-----BEGIN OPENSSH PRIVATE {}-----\n{}",
            "KEY",
            "b3BlbnNzaC1rZXktdjEA".repeat(9)
        );
        assert_eq!(mask(&text).unwrap().text, "[redacted: private-key]");
    }

    #[test]
    fn masking_twice_changes_nothing_more() {
        let text = "password: Blue7Whale77 and https://u:Tiger2024x@host/";
        let once = mask(text).unwrap();
        assert_eq!(once.kinds.len(), 2);
        assert_eq!(mask(&once.text), None, "{}", once.text);
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in [
            "User lives in Berlin and prefers tabs over spaces.",
            "The secret of a good soup is patience and bone broth",
            "The password is stored in the vault, ask Anna",
            "Reset your password: click the link in the mail",
            "密码存放在保险箱里，找小明要。数据库的主键是用户编号。",
            "她的口令是开门的暗号，大家都知道。",
            "commit 3f2a9c1d5e7b8a90c4d2e6f1a3b5c7d9e0f1a2b3 fixes the login token refresh",
            "request 550e8400-e29b-41d4-a716-446655440000 failed with token expired",
            "The key 550e8400-e29b-41d4-a716-446655440000 is in the index",
            "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "/home/anna/.config/keepsake/config.json and /usr/lib/python3.12/site-packages",
            "password: /etc/secrets/db-password-2024",
            "token = $GITHUB_TOKEN2024 and password: ${DB_PASSWORD_1}",
            "https://example.com/a/b?page=2&sort=name#part-1",
            "ssh://git@github.com:22/owner/repository.git",
            "mail anna@example.com at 10:30, port 6379, v1.2.3-rc.4",
            "the task-management skill desk-booking-for-the-whole-office-2026",
            "risk-assessment-for-the-second-quarter-2026-final-version",
            "secret: the surprise party is on Friday",
            "Bearer bonds and basic token economics are on the syllabus",
            "client secret is a term of OAuth 2.0",
            "Our access key: the blue one under the doormat",
        ] {
            assert_eq!(mask(text), None, "{text}");
        }
    }

    #[test]
    fn naming_a_service_beside_a_hash_is_no_secret() {
        for rule in RULES.iter() {
            for word in &rule.words {
                let text = format!(
                    "We use {word} at commit 3f2a9c1d5e7b8a90c4d2e6f1a3b5c7d9e0f1a2b3, id 550e8400-e29b-41d4-a716-446655440000, in /usr/lib/x86_64"
                );
                assert_eq!(mask(&text), None, "{}", rule.kind);
            }
        }
    }
}
