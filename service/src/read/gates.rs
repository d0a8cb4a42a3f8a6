//! Reasons not to search at all. The workflow lock is checked in the store, in the same exchange as
//! the search.

use unicode_segmentation::UnicodeSegmentation;

use crate::analysis::normalise::{fold, normalise};
use crate::config::Settings;

use super::Skipped;

/// The gate of every read: something must be asked.
pub fn query(query: &str) -> Option<Skipped> {
    query.trim().is_empty().then_some(Skipped::EmptyQuery)
}

/// The gates of prefetch: what a person says in passing brings nothing to mind.
pub fn message(message: &str, settings: &Settings) -> Option<Skipped> {
    let trimmed = message.trim();
    if trimmed.is_empty() {
        Some(Skipped::EmptyQuery)
    } else if trimmed.graphemes(true).count() < settings.skip_min_length {
        Some(Skipped::TooShort)
    } else if settings.skip_patterns.contains(&pattern(trimmed)) {
        Some(Skipped::SkipPattern)
    } else {
        None
    }
}

/// A message as skip patterns compare it: folded, without trailing punctuation and white space.
pub fn pattern(message: &str) -> String {
    let folded = fold(&normalise(message));
    folded
        .trim()
        .trim_end_matches(|c: char| !c.is_alphanumeric())
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<Skipped>) {
        let settings = Settings {
            skip_patterns: ["ok", "好的"].map(str::to_owned).into(),
            ..Settings::default()
        };
        assert_eq!(message(text, &settings), expected, "{text}");
    }

    #[test]
    fn what_is_said_in_passing_is_skipped() {
        check("  ", Some(Skipped::EmptyQuery));
        check("猫", Some(Skipped::TooShort));
        check("👨\u{200d}👩\u{200d}👧", Some(Skipped::TooShort));
        check("OK!", Some(Skipped::SkipPattern));
        check("好的。", Some(Skipped::SkipPattern));
        check("ok, deploy it", None);
    }
}
