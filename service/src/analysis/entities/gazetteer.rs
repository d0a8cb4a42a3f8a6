//! The list of names that count as entities wherever they stand, built in and from the user.
//!
//! Matching is on whole tokens and in folded spelling. Whether an ambiguous name (`Go`, `Apple`)
//! is meant at its place is decided by the caller.

use std::sync::LazyLock;

use super::super::phrases::PhraseTable;
use super::super::token::Token;

/// Marks a name that is a word of every day as well.
const AMBIGUOUS: char = '^';

static BUILTIN: LazyLock<Gazetteer> = LazyLock::new(|| {
    let mut gazetteer = Gazetteer {
        names: PhraseTable::new(),
    };
    // The list itself has neither accents nor traditional characters.
    gazetteer.add(include_str!("../data/gazetteer.txt"), str::to_lowercase);
    gazetteer
});

/// Known names with their canonical spelling.
#[derive(Debug, Clone)]
pub struct Gazetteer {
    names: PhraseTable<Name>,
}

/// A name of the gazetteer.
#[derive(Debug, Clone)]
pub(super) struct Name {
    /// As it is reported.
    pub(super) canonical: String,
    /// Whether only this spelling, capitals included, means the name.
    pub(super) capitals_count: bool,
}

impl Gazetteer {
    /// The names that come with the program, parsed once.
    pub fn builtin() -> &'static Gazetteer {
        &BUILTIN
    }

    /// The same with the names of a user: one a line, several words allowed, `#` begins a comment
    /// line, `^` before a name that counts only when written exactly so. A user's name replaces a
    /// built-in one. `fold` is the folding that the tokens went through.
    pub fn with_user_names(mut self, lines: &str, fold: impl Fn(&str) -> String) -> Gazetteer {
        self.add(lines, fold);
        self
    }

    /// The longest name that begins with token `at`, and how many tokens it takes.
    pub(super) fn longest_at(
        &self,
        normalised: &str,
        tokens: &[Token],
        at: usize,
    ) -> Option<(usize, &Name)> {
        self.names.longest_at(normalised, tokens, at)
    }

    fn add(&mut self, lines: &str, fold: impl Fn(&str) -> String) {
        for line in lines.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let joined = words.join(" ");
            let canonical = joined.strip_prefix(AMBIGUOUS).unwrap_or(&joined).trim();
            if canonical.is_empty() {
                continue;
            }
            let name = Name {
                canonical: canonical.to_owned(),
                capitals_count: joined.starts_with(AMBIGUOUS),
            };
            self.names.insert(&fold(canonical), name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::test_tokens::cut;
    use super::*;

    fn check(gazetteer: &Gazetteer, marked: &str, expected: Option<&str>) {
        let (text, tokens) = cut(marked);
        let found = gazetteer.longest_at(&text, &tokens, 0);
        let found = found.map(|(_, name)| name.canonical.as_str());
        assert_eq!(found, expected, "{marked}");
    }

    #[test]
    fn user_names_are_added() {
        let lines = "# my names\n\n  Project  Nightjar \n^Max\nPYTHON\n小红帽\n^\n";
        let own = Gazetteer::builtin()
            .clone()
            .with_user_names(lines, str::to_lowercase);
        check(&own, "project nightjar", Some("Project Nightjar"));
        check(&own, "project", None);
        check(&own, "python", Some("PYTHON"));
        check(&own, "小/a 红/a 帽/n", Some("小红帽"));
        check(&own, "小/a 红/a", None);
        check(&own, "django", Some("Django"));
        check(Gazetteer::builtin(), "project nightjar", None);
    }

    #[test]
    fn the_list_is_large_and_has_no_doublets() {
        let mut names: Vec<String> = include_str!("../data/gazetteer.txt")
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| line.trim_start_matches(AMBIGUOUS).to_lowercase())
            .collect();
        assert!(names.len() > 500);
        names.sort();
        let doublet = names.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(doublet, None);
    }
}
