//! Long texts in pieces that can each be found and shown: cut where a text pauses.

/// Longest piece, in characters.
const LONGEST: usize = 4_000;
/// Where a piece may end, the best first.
const PAUSES: [&[&str]; 4] = [
    &["\n\n"],
    &["\n"],
    &[". ", "! ", "? ", "。", "！", "？"],
    &[" "],
];

/// The text itself if it is short, else its pieces, in order, without the blanks between them.
pub fn pieces(text: &str, longest: usize) -> Vec<String> {
    let longest = longest.min(LONGEST);
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((end, _)) = rest.char_indices().nth(longest) {
        let (piece, after) = rest.split_at(pause(&rest[..end]));
        keep(piece, &mut pieces);
        rest = after;
    }
    if pieces.is_empty() {
        return vec![text.to_owned()];
    }
    keep(rest, &mut pieces);
    pieces
}

fn keep(piece: &str, pieces: &mut Vec<String>) {
    let piece = piece.trim();
    if !piece.is_empty() {
        pieces.push(piece.to_owned());
    }
}

/// Behind the last of the best pauses in the second half of the text, else its end.
fn pause(text: &str) -> usize {
    let half = text.len() / 2;
    for pauses in PAUSES {
        let ends = pauses
            .iter()
            .filter_map(|pause| text.rfind(pause).map(|at| at + pause.len()));
        if let Some(end) = ends.filter(|end| *end > half).max() {
            return end;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_stays_as_it_is() {
        assert_eq!(pieces("  two\n\nlines ", 100), ["  two\n\nlines "]);
    }

    #[test]
    fn a_long_text_is_cut_where_it_pauses() {
        assert_eq!(
            pieces("one two.\n\nthree four. five", 16),
            ["one two.", "three four. five"]
        );
        assert_eq!(
            pieces("one two. three four", 12),
            ["one two.", "three four"]
        );
        assert_eq!(
            pieces("一二三。四五六。七八", 5),
            ["一二三。", "四五六。", "七八"]
        );
        assert_eq!(pieces("abcdefghij", 4), ["abcd", "efgh", "ij"]);
    }

    #[test]
    fn nothing_but_blanks_is_lost() {
        let text = "word and another word, 标签. ".repeat(1_000);
        let all = pieces(&text, LONGEST);
        assert!(all.iter().all(|piece| piece.chars().count() <= LONGEST));
        let letters = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(letters(&all.concat()), letters(&text));
    }
}
