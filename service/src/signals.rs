//! What a scope keeps coming back to, as one immutable value that a read takes at its start.

use std::collections::HashMap;

use chrono::NaiveDate;

use crate::analysis::content::key_term;
use crate::analysis::terms::Term;

/// How many topics count, of each kind.
pub const TOP: usize = 10;

/// A topic with its counters.
#[derive(Debug, Clone, PartialEq)]
pub struct Topic {
    pub name: String,
    /// How often it was a keyword.
    pub mentions: f64,
    /// Attention that it gathered.
    pub attention: f64,
    pub last_mention: NaiveDate,
}

/// Topics and attention of a scope, and the synonyms of its namespace.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Signals {
    /// The hottest topics: the term that shows that a content holds one, and its day.
    pub hot_topics: Vec<(Term, NaiveDate)>,
    /// The topics with the most attention, with their scores.
    pub attention: Vec<(Term, f64)>,
    /// Synonyms in both directions, by folded word.
    pub synonyms: HashMap<String, Vec<String>>,
}

impl Signals {
    /// Chooses the top topics of each kind; `half_days` is the half-life of a topic's heat.
    pub fn new(
        topics: &[Topic],
        synonyms: HashMap<String, Vec<String>>,
        today: NaiveDate,
        half_days: f64,
    ) -> Signals {
        let heat = |topic: &Topic| topic.mentions * heat(topic.last_mention, today, half_days);
        Signals {
            hot_topics: top(topics, heat)
                .into_iter()
                .map(|topic| (key_term(&topic.name), topic.last_mention))
                .collect(),
            attention: top(topics, |topic| topic.attention)
                .into_iter()
                .map(|topic| (key_term(&topic.name), topic.attention))
                .collect(),
            synonyms,
        }
    }
}

/// What is left of a topic's heat: `2^(-days since its last mention / half_days)`; the future is
/// today.
pub fn heat(last_mention: NaiveDate, today: NaiveDate, half_days: f64) -> f64 {
    let days = (today - last_mention).num_days().max(0) as f64;
    (-days / half_days).exp2()
}

/// The [`TOP`] topics by a positive score, ties by name.
fn top(topics: &[Topic], score: impl Fn(&Topic) -> f64) -> Vec<&Topic> {
    let mut ranked: Vec<(f64, &Topic)> = topics
        .iter()
        .map(|topic| (score(topic), topic))
        .filter(|(score, _)| *score > 0.0)
        .collect();
    ranked.sort_by(|(a, left), (b, right)| b.total_cmp(a).then_with(|| left.name.cmp(&right.name)));
    ranked
        .into_iter()
        .take(TOP)
        .map(|(_, topic)| topic)
        .collect()
}
