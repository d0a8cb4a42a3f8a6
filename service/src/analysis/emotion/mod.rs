//! How strongly a text is felt, and in which direction.
//!
//! Intensity is about the manner (marks, adverbs of degree, drawn-out and repeated words,
//! capitals), polarity about the words (a lexicon of each language, negations, adverbs of degree).
//! Both read whole tokens, never parts of words. Nothing here knows what ranking makes of it, and
//! nothing guesses: what the lists do not hold is calm and neutral.

mod intensity;
mod lexicon;
mod polarity;

use super::token::Token;

/// The upper end of [`Emotion::intensity`].
const MAX_INTENSITY: f64 = 2.0;
/// Below it, in either direction, a polarity is neutral.
const NEUTRAL_BELOW: f64 = 0.15;
/// From it on, in either direction, a polarity is strong.
const STRONG_FROM: f64 = 0.6;

/// What was felt in a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Emotion {
    /// From 0.0, exactly that for a calm text, to 2.0.
    pub intensity: f64,
    /// From -1.0 (bad) to 1.0 (good); 0.0 for a text without feeling.
    pub polarity: f64,
    /// The range in which the polarity lies.
    pub label: Label,
}

/// The five ranges of polarity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// Polarity of at most -0.6.
    StrongNegative,
    /// Polarity from -0.6 to -0.15.
    Negative,
    /// Polarity nearer to zero than 0.15.
    Neutral,
    /// Polarity from 0.15 to 0.6.
    Positive,
    /// Polarity of at least 0.6.
    StrongPositive,
}

impl Label {
    /// The name of the label in answers and stores.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::StrongNegative => "strong_negative",
            Self::Negative => "negative",
            Self::Neutral => "neutral",
            Self::Positive => "positive",
            Self::StrongPositive => "strong_positive",
        }
    }

    /// The label of a polarity from -1.0 to 1.0.
    pub fn from_polarity(polarity: f64) -> Self {
        match polarity {
            p if p >= STRONG_FROM => Self::StrongPositive,
            p if p >= NEUTRAL_BELOW => Self::Positive,
            p if p <= -STRONG_FROM => Self::StrongNegative,
            p if p <= -NEUTRAL_BELOW => Self::Negative,
            _ => Self::Neutral,
        }
    }
}

/// Reads the emotion of a text from its NFKC-normalised form and its tokens.
pub fn detect(normalised: &str, tokens: &[Token]) -> Emotion {
    let words = polarity::read(normalised, tokens);
    let manner = intensity::of_manner(normalised, tokens);
    Emotion {
        intensity: (words.intensity + manner).clamp(0.0, MAX_INTENSITY),
        polarity: words.polarity,
        label: Label::from_polarity(words.polarity),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::test_tokens::cut;
    use super::Label::{Negative, Neutral, Positive, StrongNegative, StrongPositive};
    use super::*;

    fn emotion(marked: &str) -> Emotion {
        let (text, tokens) = cut(marked);
        detect(&text, &tokens)
    }

    fn check(marked: &str, label: Label) {
        let found = emotion(marked);
        assert_eq!(found.label, label, "{marked}: {found:?}");
    }

    /// Checks that the text is neutral and that its intensity is exactly zero.
    fn check_calm(marked: &str) {
        let found = emotion(marked);
        assert_eq!(found.label, Neutral, "{marked}: {found:?}");
        assert!(found.intensity.abs() < f64::EPSILON, "{marked}: {found:?}");
    }

    #[test]
    fn english_polarity() {
        check("This library is good.", Positive);
        check("I love it", StrongPositive);
        check("The worst holiday ever", StrongNegative);
        check("I feel sad", Negative);
        check("It is not good", Negative);
        check("It was not a very good idea", Negative);
        check("Not bad", Positive);
        check("I don't like coriander", Negative);
        check("I like coriander", Positive);
        check("I would like a table for two", Neutral);
        check("It looks like rain", Neutral);
        check("I can't wait to see her", Positive);
        check("No problem, I love it", StrongPositive);
        check("Not now. I love it", StrongPositive);
        check("He is kind and pretty cheerful", StrongPositive);
        check("It is a kind of tea", Neutral);
        check("Sooo goooood", StrongPositive);
        check("🎉", Positive);
    }

    #[test]
    fn chinese_polarity() {
        check("我/r 喜欢/v 猫/n", Positive);
        check("我/r 不/d 喜欢/v 猫/n", Negative);
        check("我/r 不喜欢/v 猫/n", Negative);
        check("这/r 本书/r 不错/a", Positive);
        check("这/r 本书/r 不/d 错/n", Positive);
        check("没意思/l", Negative);
        check("没/v 意思/n", Negative);
        check("他/r 不是/c 很/zg 开心/v", Negative);
        check("我/r 不/d 开心/v ， 但是/c 很/zg 爱/v 你/r", Neutral);
        check("太/d 糟糕/a 了/ul", StrongNegative);
        check("灿烂/a 的/uj 阳光/nr", Neutral);
        check("这/r 不/d 难/a", Positive);
        check("不好意思/l ， 我/r 迟到/v 了/ul", Neutral);
        check("天气/n 好/a 热/a", Neutral);
        check("好/a 开心/v", StrongPositive);
    }

    #[test]
    fn everyday_statements_are_calm() {
        check_calm("");
        check_calm("I know this piano");
        check_calm("Nothing notable");
        check_calm("我/r 的/uj 老师/n 去/v 超市/n");
        check_calm("特斯拉/nrt 老板/n 差不多/l 到/v 了/ul");
        check_calm("特斯拉/nrt 老板/n 差/v 不/d 多/m 到/v 了/ul");
        check_calm("NASA and ESA use the JSON API over HTTP");
        check_calm("SELECT name FROM users WHERE id IS NOT NULL");
        check_calm("The meeting is at 10:30 in room 5.");
        check_calm("Where is the key? Under the mat.");
        check_calm("a != b and c ?? d, see www.example.com/?q=!!x");
        check_calm("I think that that is how he had had it");
        check_calm("讨论/v 讨论/v 这个/r 问题/n");
    }

    /// Checks that each text is felt more strongly than the one before it.
    fn check_rising(texts: &[&str]) {
        let found: Vec<f64> = texts.iter().map(|text| emotion(text).intensity).collect();
        assert!(found.is_sorted_by(|a, b| a < b), "{texts:?}: {found:?}");
    }

    #[test]
    fn intensity_rises_with_the_manner() {
        check_rising(&["It works", "It works!", "It works!!", "It works!!!"]);
        check_rising(&["What", "What??", "What?!", "WHAT happened here?!"]);
        check_rising(&["我/r 同意/v", "我/r 同意/v ！", "我/r 同意/v ！！"]);
        check_rising(&["good", "quite good", "very good", "extremely good"]);
        check_rising(&["开心/v", "很/zg 开心/v", "非常/d 开心/v", "极其/d 开心/v"]);
        check_rising(&["I went so I saw", "so happy", "sooooo happy"]);
        check_rising(&["no", "no no no", "no no no!!"]);
        check_rising(&["哈哈/o", "哈哈哈哈/o"]);
        check_rising(&["哈/o 哈/o", "哈哈/o 哈哈/o"]);
        check_rising(&[
            "Please stop that",
            "Please STOP that",
            "Please STOP DOING THAT",
        ]);
        check_rising(&["Why not?", "Why? Why?"]);
        check_rising(&["在/p 吗/y ？", "在/p 吗/y ？ 在/p 吗/y ？"]);
        check_rising(&["Who? When?", "Who? When? Where?"]);
        check_rising(&["这个/r 吃/v", "这个/r 超/v 好吃/v"]);
    }

    #[test]
    fn labels_have_their_bounds() {
        for (polarity, label) in [
            (-1.0, "strong_negative"),
            (-0.6, "strong_negative"),
            (-0.59, "negative"),
            (-0.15, "negative"),
            (-0.149, "neutral"),
            (0.0, "neutral"),
            (0.149, "neutral"),
            (0.15, "positive"),
            (0.6, "strong_positive"),
            (1.0, "strong_positive"),
        ] {
            assert_eq!(Label::from_polarity(polarity).as_str(), label, "{polarity}");
        }
    }

    proptest! {
        #[test]
        fn bounded_for_any_text(words in prop::collection::vec(
            "(very|so|not|good|love|hate|WORST|nooo|很/zg|喜欢/v|不/d|[a-z!?.' ]{0,9}|\\PC{0,5})", 0..40,
        )) {
            let found = emotion(&words.join(" "));
            prop_assert!((0.0..=2.0).contains(&found.intensity));
            prop_assert!((-1.0..=1.0).contains(&found.polarity));
        }

        #[test]
        fn one_more_good_word_never_lowers_polarity(words in prop::collection::vec(
            "(good|bad|love|hate|table)", 0..20,
        )) {
            let before = emotion(&words.join(" . "));
            let after = emotion(&format!("{} . wonderful", words.join(" . ")));
            prop_assert!(after.polarity > before.polarity);
        }
    }
}
