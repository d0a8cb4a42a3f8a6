//! MEMORY.md and USER.md of the Hermes agent: entries of any length, parted by lines that hold a
//! section sign alone.

use serde_json::json;

use super::entry::{Entry, Place};

/// What stands between two entries. A section sign anywhere else belongs to its entry.
const SEPARATOR: &str = "\n§\n";

/// Line breaks as the host reads them.
fn normalised(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}');
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Whether a text has the separator.
pub(super) fn is_separated(text: &str) -> bool {
    normalised(text).contains(SEPARATOR)
}

/// The entries of a file as the host reads them: trimmed, empty ones left out.
pub(super) fn entries(text: &str, category: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut line: Place = 1;
    for piece in normalised(text).split(SEPARATOR) {
        let content = piece.trim();
        if !content.is_empty() {
            let before = piece.find(content).unwrap_or_default();
            let fields = json!({"content": content, "source": "hermes", "category": category});
            entries.push(Entry {
                place: line + breaks(&piece[..before]),
                memory: Ok(fields.as_object().cloned().unwrap_or_default()),
            });
        }
        line += breaks(piece) + breaks(SEPARATOR);
    }
    entries
}

fn breaks(text: &str) -> Place {
    text.matches('\n').count() as Place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_what_the_host_reads() {
        let text = "first entry\nof two lines\n§\n\n  second § with a sign, §§ and §x  \r\n§\r\n\n§\n§ \nlast\n";
        let found: Vec<(Place, String)> = entries(text, "memory")
            .into_iter()
            .map(|entry| {
                (
                    entry.place,
                    entry.memory.unwrap()["content"]
                        .as_str()
                        .unwrap()
                        .to_owned(),
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                (1, "first entry\nof two lines".to_owned()),
                (5, "second § with a sign, §§ and §x".to_owned()),
                (9, "§ \nlast".to_owned()),
            ]
        );
        assert!(entries(" \n\n", "memory").is_empty());
    }
}
