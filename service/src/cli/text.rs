//! Text for people: what a terminal may be told, and how much of a line it takes.

use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns that a text takes on a terminal.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// The text on one line, cut with `…` if it takes more columns than there are.
pub(super) fn fitted(text: &str, columns: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if width(&line) <= columns {
        return line;
    }
    let mut cut = String::new();
    let mut taken = 0;
    for cluster in line.graphemes(true) {
        taken += width(cluster);
        if taken >= columns {
            break;
        }
        cut.push_str(cluster);
    }
    cut.push('…');
    cut
}

/// The text with whatever could command the terminal, or turn the order of what is read, replaced.
pub(super) fn harmless(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => c,
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// A value with all of its texts made harmless.
pub(super) fn harmless_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(harmless(text)),
        Value::Array(items) => items.iter().map(harmless_value).collect(),
        Value::Object(fields) => {
            let harmless =
                |(name, value): (&String, &Value)| (harmless(name), harmless_value(value));
            Value::Object(fields.iter().map(harmless).collect())
        }
        other => other.clone(),
    }
}

/// A bar of so many columns for a share from 0.0 to 1.0, in eighths of a column.
pub(super) fn bar(share: f64, columns: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * (columns * 8) as f64).round() as usize;
    let (full, part) = (eighths / 8, eighths % 8);
    let drawn = "█".repeat(full) + EIGHTHS[part];
    let rest = columns - full - usize::from(part > 0);
    drawn + &" ".repeat(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_line_fits_also_with_wide_characters() {
        for (text, columns, expected) in [
            ("short", 10, "short"),
            ("two\nlines\t here", 20, "two lines here"),
            ("exactly ten", 11, "exactly ten"),
            ("longer than that", 8, "longer …"),
            ("王小明喜欢乒乓球", 9, "王小明喜…"),
            ("王小明喜欢乒乓球", 8, "王小明…"),
            ("👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", 5, "👩‍👩‍👧👩‍👩‍👧…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("anything", 0, "…"),
        ] {
            assert_eq!(fitted(text, columns), expected, "{text:?} in {columns}");
        }
    }

    #[test]
    fn nothing_commands_the_terminal() {
        let hostile = "a\u{1b}[2Jb\u{9b}1mc\u{202e}d\u{7}\r\n\te";
        assert_eq!(
            harmless(hostile),
            "a\u{fffd}[2Jb\u{fffd}1mc\u{fffd}d\u{fffd}\u{fffd}\n\te"
        );
    }

    #[test]
    fn a_bar_always_takes_the_same_columns() {
        for (share, expected) in [
            (0.0, "    "),
            (0.5, "██  "),
            (0.53, "██▏ "),
            (1.0, "████"),
            (7.0, "████"),
            (-1.0, "    "),
            (f64::NAN, "    "),
        ] {
            assert_eq!(bar(share, 4), expected, "{share}");
        }
    }
}
