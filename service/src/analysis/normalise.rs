//! Folding of text, so that one thing written in two ways is one term.
//!
//! [`normalise`] keeps case and accents, since entities and emotion are read from them; [`fold`]
//! drops what matching ignores. Nothing here cuts text: that is the tokeniser's work.

use std::collections::HashMap;
use std::sync::LazyLock;

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Traditional to simplified characters, one to one.
static SIMPLIFIED: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
    include_str!("data/traditional.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let mut characters = line.chars();
            Some((characters.next()?, characters.next()?))
        })
        .collect()
});

/// Compatibility-normalises (NFKC): full-width forms become ASCII, ligatures their letters; the
/// typographic apostrophes become `'`.
pub fn normalise(text: &str) -> String {
    let straight = |c: char| {
        if matches!(c, '\u{2018}' | '\u{2019}' | '\u{02bc}') {
            '\''
        } else {
            c
        }
    };
    if is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        text.chars().map(straight).collect()
    } else {
        text.nfkc().map(straight).collect()
    }
}

/// Lower-cases, drops accents of Latin and Greek letters, and turns traditional Chinese characters
/// into simplified ones. Expects normalised text; the number of Han characters never changes.
pub fn fold(normalised: &str) -> String {
    if normalised.is_ascii() {
        return normalised.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(normalised.len());
    for c in normalised.chars() {
        if is_han(c) {
            folded.push(SIMPLIFIED.get(&c).copied().unwrap_or(c));
        } else {
            c.to_lowercase()
                .for_each(|lower| folded.push_str(without_accent(lower).encode_utf8(&mut [0; 4])));
        }
    }
    // A mark left alone by lower-casing (the dot of `İ`) belongs to a letter that takes none.
    if folded.contains('\u{307}') {
        folded.retain(|c| c != '\u{307}');
    }
    folded
}

/// The letter under the accent, for Latin and Greek letters: elsewhere marks make other letters
/// (kana with a voice mark, Cyrillic й), which must stay apart.
fn without_accent(c: char) -> char {
    if c.is_ascii()
        || !matches!(c, '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{3ff}' | '\u{1e00}'..='\u{1fff}')
    {
        return c;
    }
    match c {
        'ø' => 'o',
        'ł' => 'l',
        'đ' => 'd',
        'ı' => 'i',
        _ => std::iter::once(c)
            .nfd()
            .find(|part| !is_combining_mark(*part))
            .unwrap_or(c),
    }
}

/// A Chinese character, wherever it is used.
pub fn is_han(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' | '々' | '〇')
}

/// A character of a script that is written without spaces between words, or whose particles stick
/// to the noun (Hangul): such runs are matched by pairs of characters.
pub fn is_unspaced(c: char) -> bool {
    is_han(c)
        || matches!(c, '\u{3041}'..='\u{3096}' | '\u{3099}'..='\u{309a}' | '\u{30a1}'..='\u{30fe}'
            | '\u{ac00}'..='\u{d7a3}' | '\u{1100}'..='\u{11ff}' | '\u{3131}'..='\u{318e}'
            | '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
}

/// A pictograph that carries meaning by itself.
pub fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}'
        | '\u{2300}'..='\u{23ff}' | '\u{2190}'..='\u{21ff}' | '\u{25a0}'..='\u{25ff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_joins_what_is_one_thing_to_a_reader() {
        for (written, folded) in [
            ("Café", "cafe"),
            ("Cafe\u{301}", "cafe"),
            ("ＰＹＴＨＯＮ", "python"),
            ("數據庫", "数据库"),
            ("don’t", "don't"),
            ("İstanbul", "istanbul"),
            ("Ελλάδα", "ελλαδα"),
            ("Straße", "straße"),
            ("がぎ", "がぎ"),
            ("й", "й"),
            ("ﬁle", "file"),
            ("서버", "서버"),
        ] {
            assert_eq!(fold(&normalise(written)), folded, "{written}");
        }
    }

    #[test]
    fn folding_keeps_the_number_of_han_characters() {
        let text = "數據庫遷移計劃𠮷";
        assert_eq!(fold(text).chars().count(), text.chars().count());
    }
}
