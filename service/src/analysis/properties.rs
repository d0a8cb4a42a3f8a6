//! What holds of the analysis of any text.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{Analyser, Ingredients};

/// Words, Han, marks, technical tokens, halves of emoji and any character, in any order.
fn text() -> impl Strategy<Value = String> {
    const PIECES: [&str; 24] = [
        "the",
        "Berlin",
        "不是",
        "吗",
        "北京大学",
        "C++",
        ".NET",
        "$AAPL",
        "--dry-run",
        "a@b.com",
        "https://x.y/z?q=%00",
        "10.0.0.5",
        "2026-13-45",
        "5月2号",
        "last Monday",
        "e\u{301}",
        "👩‍👩‍👧",
        "\u{200d}",
        "ﬁ",
        "Ａ",
        "데이터",
        "データ",
        "!!!???",
        "\n\n",
    ];
    let piece = prop_oneof![
        3 => select(PIECES.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => vec(any::<char>(), 0..8).prop_map(String::from_iter),
    ];
    let joined = |(pieces, joint): (Vec<String>, &str)| pieces.join(joint);
    (vec(piece, 0..24), select(vec!["", " ", "\u{a0}", "。"])).prop_map(joined)
}

proptest! {
    #[test]
    fn any_text_is_analysed_the_same_each_time(text in text()) {
        let analyser = Analyser::new("", Ingredients::default());
        let analysis = analyser.content(&text);
        for (term, frequency) in analysis.terms.iter() {
            let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
            prop_assert!(term.as_str().bytes().all(plain), "{}", term.as_str());
            prop_assert!(frequency > 0);
        }
        prop_assert!(analysis.keywords.len() <= 5);
        prop_assert!((0.0..=2.0).contains(&analysis.emotion.intensity));
        prop_assert!((-1.0..=1.0).contains(&analysis.emotion.polarity));
        prop_assert_eq!(&analyser.content(&text), &analysis);
        prop_assert_eq!(analyser.query(&text), analyser.query(&text));
    }
}
