//! The format of our word lists, and what is known of single English words.
//!
//! A list is a text of sections: `[heading]`, then entries set apart by white space, `_` standing
//! for a space inside an entry; `#` begins a comment line. Nothing here reads a text of a user.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

/// English words of every day, in lower case: what a sentence begins with without being a name,
/// and what somebody shouts when it stands in capitals.
static COMMON: LazyLock<FxHashSet<&str>> = LazyLock::new(|| {
    [
        include_str!("data/english_everyday.txt"),
        include_str!("data/english_common.txt"),
    ]
    .into_iter()
    .flat_map(str::lines)
    .filter(|line| !line.starts_with('#'))
    .chain(section("common"))
    .collect()
});

static NEVER_NAMES: LazyLock<FxHashSet<&str>> = LazyLock::new(|| section("never").collect());
static CAPITALS: LazyLock<FxHashSet<&str>> = LazyLock::new(|| section("capitals").collect());
static NO_LINKS: LazyLock<FxHashSet<&str>> = LazyLock::new(|| section("no links").collect());

const ENGLISH_WORDS: &str = include_str!("data/english_special.txt");

/// Whether the folded word is an ordinary English one.
pub(crate) fn is_common(word: &str) -> bool {
    COMMON.contains(word) || NEVER_NAMES.contains(word)
}

/// Whether the folded word is no name however it is written: stop words, interjections, days,
/// months, roles in a conversation.
pub(crate) fn is_never_a_name(word: &str) -> bool {
    NEVER_NAMES.contains(word)
}

/// Whether the folded word is one that people write in capitals without shouting: acronyms, words
/// of SQL and HTTP, log levels, names of files.
pub(crate) fn is_written_in_capitals(word: &str) -> bool {
    CAPITALS.contains(word) || NO_LINKS.contains(word)
}

/// Whether the folded word is an abbreviation that says nothing about the subject (`FAQ`, `LOL`).
pub(crate) fn is_idle_abbreviation(word: &str) -> bool {
    NO_LINKS.contains(word)
}

/// The entries of a list with the heading of their section, `_` still in place.
pub(crate) fn entries(list: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut heading = "";
    list.lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(move |line| {
            let words = match line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
                Some(name) => {
                    heading = name;
                    ""
                }
                None => line,
            };
            let heading = heading;
            words.split_whitespace().map(move |word| (heading, word))
        })
}

fn section(wanted: &str) -> impl Iterator<Item = &'static str> {
    entries(ENGLISH_WORDS)
        .filter(move |(heading, _)| *heading == wanted)
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_carry_their_heading() {
        let list = "# a comment\n[one]\na b_c\n\n[two x]\nd\n";
        let found: Vec<_> = entries(list).collect();
        assert_eq!(found, [("one", "a"), ("one", "b_c"), ("two x", "d")]);
    }

    #[test]
    fn knows_words() {
        assert!(is_common("the") && is_common("bridge") && !is_common("melanie"));
        assert!(is_never_a_name("monday") && !is_never_a_name("bridge"));
        assert!(is_written_in_capitals("nasa") && !is_written_in_capitals("happy"));
        assert!(is_idle_abbreviation("faq") && !is_idle_abbreviation("nasa"));
    }
}
