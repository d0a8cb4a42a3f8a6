//! What holds of ranking whatever the numbers are, and the least and most that each factor may do
//! with the default configuration ("Bounded, but alive" in the specification of retrieval).

use std::sync::{Arc, LazyLock};

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use proptest::collection::vec;
use proptest::prelude::*;

use super::explanation::Factors;
use super::fusion::Fusion;
use super::identical::{keep_distinct, says_the_same};
use super::{Parts, Ranked, Scored, Weights, rank};
use crate::analysis::emotion::{Emotion, Label};
use crate::analysis::terms::{Frequencies, Term, TermKind};
use crate::analysis::{Analyser, Analysis, Ingredients};
use crate::memory::{Details, Fate, Memory, MemoryId, Place};
use crate::query::{Candidate, Filters, Plan, QueryTerm, Retrieved, Statistics, Via};
use crate::signals::Signals;

/// How many different words contents and topics are made of.
const WORDS: usize = 6;

// Properties of `rank`.

proptest! {
    #[test]
    fn ranks_are_finite_and_each_score_is_the_product_of_its_factors(
        scored in candidates(), signals in signals(), weights in weights(),
    ) {
        let hits = rank(scored, &signals, &weights, now());
        for hit in hits {
            let Factors { similarity, decay, emotion, feedback, hot_topic, attention } = hit.factors;
            let product = similarity * decay * emotion * feedback * hot_topic * attention;
            prop_assert!(product.is_finite() && product >= 0.0, "{:?}", hit.factors);
            prop_assert_eq!(hit.score().to_bits(), product.to_bits());
        }
    }

    #[test]
    fn every_candidate_is_ranked_once_the_best_first(
        scored in candidates(), signals in signals(), weights in weights(),
    ) {
        let mut ids: Vec<MemoryId> = scored.iter().map(|one| one.memory.id.clone()).collect();
        let hits = rank(scored, &signals, &weights, now());
        let precedes = |better: &Ranked, worse: &Ranked| {
            let (one, other) = (&better.memory, &worse.memory);
            better.score() > worse.score()
                || (better.score().to_bits() == worse.score().to_bits()
                    && (other.created_at, &one.id) < (one.created_at, &other.id))
        };
        prop_assert!(hits.windows(2).all(|pair| precedes(&pair[0], &pair[1])));
        let mut ranked: Vec<MemoryId> = hits.iter().map(|hit| hit.memory.id.clone()).collect();
        ids.sort();
        ranked.sort();
        prop_assert_eq!(ranked, ids);
    }

    #[test]
    fn equal_input_in_any_order_gives_equal_ranks(
        (scored, shuffled) in candidates().prop_flat_map(|scored| {
            let shuffled = Just(scored.clone()).prop_shuffle();
            (Just(scored), shuffled)
        }),
        signals in signals(),
        weights in weights(),
    ) {
        let hits = rank(scored.clone(), &signals, &weights, now());
        prop_assert_eq!(&rank(scored, &signals, &weights, now()), &hits);
        prop_assert_eq!(&rank(shuffled, &signals, &weights, now()), &hits);
    }

    #[test]
    fn each_factor_keeps_within_its_bounds(
        candidate in candidate(), signals in signals(), weights in weights(),
    ) {
        let factors = factors(&candidate, &signals, &weights);
        let damped = |factor: f64| factor.powf(weights.factor_influence);
        let boost = weights.sentiment_boost_positive.max(weights.sentiment_boost_negative);
        for (name, factor, least, most) in [
            ("decay", factors.decay, damped(weights.decay_floor), 1.0),
            ("emotion", factors.emotion, 1.0, damped(boost + 2.0 * weights.emotion_intensity_factor)),
            ("feedback", factors.feedback, weights.feedback_negative_penalty, weights.feedback_positive_boost),
            ("hot topic", factors.hot_topic, 1.0, damped(weights.hot_topic_boost)),
            ("attention", factors.attention, 1.0, damped(weights.attention_boost_max)),
        ] {
            let within = least * (1.0 - 1e-12) <= factor && factor <= most * (1.0 + 1e-12);
            prop_assert!(within, "{name}: {factor} is not from {least} to {most}");
        }
    }

    #[test]
    fn switched_off_factors_are_exactly_one(candidate in candidate(), signals in signals()) {
        let factors = factors(&candidate, &signals, &Weights::off());
        let others = [
            factors.decay, factors.emotion, factors.feedback, factors.hot_topic, factors.attention,
        ];
        prop_assert!(others.iter().all(|factor| factor.to_bits() == 1.0_f64.to_bits()), "{factors:?}");
        prop_assert_eq!(factors.similarity.to_bits(), candidate.similarity.to_bits());
        prop_assert_eq!(factors.product().to_bits(), candidate.similarity.to_bits());
    }

    #[test]
    fn a_factor_without_influence_is_exactly_one(
        candidate in candidate(), signals in signals(), weights in weights(),
    ) {
        let weights = Weights { factor_influence: 0.0, ..weights };
        let factors = factors(&candidate, &signals, &weights);
        let damped = [factors.decay, factors.emotion, factors.hot_topic, factors.attention];
        prop_assert!(damped.iter().all(|factor| factor.to_bits() == 1.0_f64.to_bits()), "{factors:?}");
    }
}

// More of a good thing never lowers a score.

proptest! {
    #[test]
    fn more_similarity_never_lowers_a_score(
        candidate in candidate(), signals in signals(), more in 0.0_f64..1.0,
    ) {
        let better = Scored { similarity: candidate.similarity.max(more), ..candidate.clone() };
        prop_assert!(score(&better, &signals) >= score(&candidate, &signals));
    }

    #[test]
    fn a_newer_telling_never_lowers_a_score(
        candidate in candidate(), signals in signals(), seconds in 0_i64..100_000_000,
    ) {
        let newer = changed(&candidate, |memory| memory.created_at += TimeDelta::seconds(seconds));
        prop_assert!(score(&newer, &signals) >= score(&candidate, &signals));
        let retold = changed(&candidate, |memory| {
            memory.reinforced_at = Some(memory.told_at() + TimeDelta::seconds(seconds));
        });
        prop_assert!(score(&retold, &signals) >= score(&candidate, &signals));
    }

    #[test]
    fn more_feedback_never_lowers_a_score(
        candidate in candidate(), signals in signals(), more in 0.0_f64..10.0,
    ) {
        let useful = changed(&candidate, |memory| memory.feedback += more);
        prop_assert!(score(&useful, &signals) >= score(&candidate, &signals));
    }

    #[test]
    fn stronger_emotion_never_lowers_a_score(
        candidate in candidate(), signals in signals(), share in 0.0_f64..=1.0, less in 0.0_f64..2.0,
    ) {
        let calmer = changed(&candidate, |memory| {
            let emotion = &mut memory.analysis.emotion;
            emotion.polarity *= share;
            emotion.intensity = emotion.intensity.min(less);
        });
        prop_assert!(score(&candidate, &signals) >= score(&calmer, &signals));
    }

    #[test]
    fn holding_one_more_hot_topic_or_attention_never_lowers_a_score(
        held in vec(any::<bool>(), WORDS), more in 0..WORDS, signals in signals(), candidate in candidate(),
    ) {
        let holding = |held: &[bool]| changed(&candidate, |memory| memory.analysis.terms = holding(held));
        let mut held_too = held.clone();
        held_too[more] = true;
        prop_assert!(score(&holding(&held_too), &signals) >= score(&holding(&held), &signals));
    }

    #[test]
    fn a_hotter_topic_never_lowers_a_score(
        candidate in candidate(), signals in signals(), days in 0_i64..1000,
    ) {
        let mut hotter = signals.clone();
        for (_, last_mention) in &mut hotter.hot_topics {
            *last_mention += TimeDelta::days(days);
        }
        prop_assert!(score(&candidate, &hotter) >= score(&candidate, &signals));
    }
}

// The least and the most that the factors do by default.

#[test]
fn one_useful_beats_an_equal_one_and_one_with_five_percent_more_similarity() {
    let useful = with_feedback(0.5, 1.0);
    assert_first(&useful, &with_feedback(0.5, 0.0));
    assert_first(&useful, &with_feedback(0.5 * 1.05, 0.0));
}

#[test]
fn one_useless_loses_to_one_with_fifteen_percent_less_similarity() {
    assert_first(&with_feedback(0.5 * 0.85, 0.0), &with_feedback(0.5, -2.0));
}

#[test]
fn of_two_equal_ones_the_newer_leads() {
    assert_first(&aged(0.5, 0), &aged(0.5, 60));
    let days = |number| score(&aged(0.5, number), &Signals::default());
    assert!(days(0) > days(60), "by its score, not only as a tie");
}

#[test]
fn an_old_one_with_a_third_more_similarity_stays_first() {
    assert_first(&aged(0.5 * 1.3, 400), &aged(0.5, 0));
    assert_first(&aged(0.5 * 1.3, 4000), &aged(0.5, 0));
}

#[test]
fn an_excited_one_beats_an_equal_calm_one() {
    let calm = scored("calm", 0.5);
    let intense = changed(&scored("intense", 0.5), |memory| {
        memory.analysis.emotion = emotion(1.0, 0.0);
    });
    assert_first(&intense, &calm);
    for polarity in [0.5, -0.5] {
        let moved = changed(&scored("moved", 0.5), |memory| {
            memory.analysis.emotion = emotion(0.0, polarity);
        });
        assert_first(&moved, &calm);
    }
}

#[test]
fn joy_lifts_more_than_sorrow() {
    let [joy, sorrow] = [0.8, -0.8].map(|polarity| {
        changed(&scored(&format!("polarity {polarity}"), 0.5), |memory| {
            memory.analysis.emotion = emotion(0.0, polarity);
        })
    });
    assert_first(&joy, &sorrow);
}

#[test]
fn equal_scores_go_by_time_then_by_id() {
    let of_day = |id: &str, days: i64| {
        changed(&scored(id, 0.5), |memory| {
            memory.created_at -= TimeDelta::days(days)
        })
    };
    let scored = vec![
        of_day("a", 3),
        of_day("d", 1),
        of_day("c", 1),
        of_day("b", 2),
    ];
    let hits = rank(scored, &Signals::default(), &Weights::off(), now());
    let ids: Vec<&str> = hits.iter().map(|hit| hit.memory.id.as_str()).collect();
    assert_eq!(ids, ["c", "d", "b", "a"]);
}

#[test]
fn an_exclamation_is_enough_to_beat_the_same_words_said_calmly() {
    for (excited, calm) in [
        ("I love the new editor!!!", "I have the new editor."),
        ("我太喜欢这个编辑器了！！！", "我有这个编辑器。"),
    ] {
        let [excited, calm] = [excited, calm].map(|content| {
            changed(&scored(content, 0.5), |memory| {
                memory.analysis = analysed(content)
            })
        });
        assert_first(&excited, &calm);
    }
}

#[test]
fn a_hot_topic_moves_a_score_by_at_least_one_percent() {
    let hot = Signals {
        hot_topics: vec![(word(0), today())],
        ..Signals::default()
    };
    let gain = score(&holding_word(), &hot) / score(&scored("none", 0.5), &hot);
    assert!(gain >= 1.01, "{gain}");
}

#[test]
fn hot_topics_and_attention_together_move_a_score_by_at_most_twenty_percent() {
    let everything = Signals {
        hot_topics: vec![(word(0), today()); 10],
        attention: vec![(word(0), 1000.0)],
        ..Signals::default()
    };
    let gain = score(&holding_word(), &everything) / score(&scored("none", 0.5), &everything);
    assert!(gain > 1.01 && gain <= 1.2, "{gain}");
}

#[test]
fn the_default_influence_is_at_least_a_fifth() {
    assert!(Weights::default().factor_influence >= 0.2);
}

// Entries that say the same.

proptest! {
    #[test]
    fn no_two_that_are_kept_say_the_same(chosen in vec(0..SAYINGS.len(), 0..14), limit in 0_usize..14) {
        let ranked: Vec<Ranked> = chosen.iter().map(|saying| hit(SAYINGS[*saying])).collect();
        let kept = keep_distinct(ranked.clone(), limit);
        prop_assert!(kept.len() <= limit);
        for (index, hit) in kept.iter().enumerate() {
            let another = kept[..index].iter().any(|better| says_the_same(&better.memory, &hit.memory));
            prop_assert!(!another, "{}", hit.memory.content);
        }
        // In the order of the ranks, and nothing is left out without a better one that says it.
        let mut rest = kept.iter().peekable();
        for hit in &ranked {
            if rest.peek() == Some(&hit) {
                rest.next();
            } else if kept.len() < limit {
                prop_assert!(kept.iter().any(|better| says_the_same(&better.memory, &hit.memory)));
            }
        }
        prop_assert_eq!(rest.next(), None);
    }

    #[test]
    fn saying_the_same_goes_both_ways(one in 0..SAYINGS.len(), other in 0..SAYINGS.len()) {
        let (first, second) = (hit(SAYINGS[one]).memory, hit(SAYINGS[other]).memory);
        prop_assert!(says_the_same(&first, &first));
        prop_assert_eq!(says_the_same(&first, &second), says_the_same(&second, &first));
    }
}

/// So many words that a text with it differs in less than a twentieth by one of them.
const LONG: &str = "alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike \
    november oscar papa quebec romeo sierra tango uniform victor whiskey yankee zulu red orange \
    yellow green blue indigo violet black white grey brown pink silver north south east west upper \
    lower inner outer";

#[test]
fn a_long_text_says_the_same_with_another_word_but_not_with_another_number_negation_or_name() {
    for (one, other, same) in [
        ("the plug is large", "the plug is small", true),
        ("the port is 6379", "the port is 6380", false),
        ("I like it", "I like it not", false),
        ("我喜欢", "我不喜欢", false),
    ] {
        let [one, other] = [one, other].map(|start| hit(&format!("{start} {LONG}")).memory);
        assert_eq!(says_the_same(&one, &other), same, "{}", other.content);
    }
    let [london, paris] = ["London", "Paris"].map(|name| {
        let mut memory = Memory::clone(&hit(&format!("we met in {name}, {LONG}")).memory);
        memory.analysis.entities = vec![name.to_owned()];
        memory
    });
    assert!(!says_the_same(&london, &paris));
}

#[test]
fn case_width_punctuation_and_stop_words_tell_nothing_apart() {
    for (one, other) in [
        ("I like green tea", "i like GREEN tea!!"),
        ("I like green tea", "Ｉ ｌｉｋｅ ｇｒｅｅｎ ｔｅａ"),
        ("I like green tea", "I like the green tea"),
        ("我喜欢绿茶", "我喜欢绿茶。"),
    ] {
        assert!(
            says_the_same(&hit(one).memory, &hit(other).memory),
            "{other}"
        );
    }
}

// From what was retrieved to similarities.

proptest! {
    #[test]
    fn similarities_are_from_zero_to_one_and_the_best_is_exactly_one(
        retrieved in retrieved(), neighbours in any::<bool>(),
    ) {
        let plan = plan(neighbours);
        let fusion = Fusion::new(&plan, &retrieved, None);
        let found = fusion.similarities();
        for one in &found {
            prop_assert!(one.similarity > 0.0 && one.similarity <= 1.0, "{}", one.similarity);
            prop_assert!(one.evidence.is_finite() && one.evidence >= 0.0);
            prop_assert!(!fusion.found_by(one.candidate).is_empty(), "each has a reason");
        }
        let best = found.iter().map(|one| one.similarity).fold(0.0, f64::max);
        prop_assert!(found.is_empty() || best.to_bits() == 1.0_f64.to_bits());
    }

    #[test]
    fn what_matches_is_found_and_what_stands_alone_without_a_match_is_not(retrieved in retrieved()) {
        let plan = plan(false);
        let found = Fusion::new(&plan, &retrieved, None).similarities();
        let found: Vec<&MemoryId> = found.iter().map(|one| &one.memory.id).collect();
        let matching = retrieved.candidates.iter().filter(|candidate| {
            candidate.frequencies.iter().any(|frequency| *frequency > 0)
        });
        let matching: Vec<&MemoryId> = matching.map(|candidate| &candidate.memory.id).collect();
        prop_assert_eq!(found, matching);
    }

    #[test]
    fn similarities_do_not_depend_on_the_order_of_the_candidates(
        (retrieved, shuffled) in retrieved().prop_flat_map(|retrieved| {
            let shuffled = Just(retrieved.candidates.clone()).prop_shuffle();
            (Just(retrieved), shuffled)
        }),
        neighbours in any::<bool>(),
    ) {
        let plan = plan(neighbours);
        let by_id = |retrieved: &Retrieved| {
            let mut found: Vec<(MemoryId, u64)> = Fusion::new(&plan, retrieved, None).similarities()
                .iter()
                .map(|one| (one.memory.id.clone(), one.similarity.to_bits()))
                .collect();
            found.sort();
            found
        };
        let shuffled = Retrieved { candidates: shuffled, ..retrieved.clone() };
        prop_assert_eq!(by_id(&shuffled), by_id(&retrieved));
    }
}

// Building blocks.

/// Texts of which some say the same.
const SAYINGS: [&str; 12] = [
    "I like green tea",
    "i like GREEN tea!!",
    "I like the green tea",
    "I do not like green tea",
    "The port is 6379",
    "The port is 6380",
    "the port is 6379.",
    "We met Anna in London",
    "We met Anna in Paris",
    "我喜欢绿茶",
    "我喜欢绿茶。",
    "我不喜欢绿茶",
];

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_772_442_000, 0).unwrap()
}

fn today() -> NaiveDate {
    now().date_naive()
}

fn analysed(text: &str) -> Analysis {
    static ANALYSER: LazyLock<Analyser> =
        LazyLock::new(|| Analyser::new("", Ingredients::default()));
    ANALYSER.content(text)
}

fn emotion(intensity: f64, polarity: f64) -> Emotion {
    Emotion {
        intensity,
        polarity,
        label: Label::from_polarity(polarity),
    }
}

fn word(number: usize) -> Term {
    Term::new(TermKind::Stem, &format!("word{number}"))
}

/// The terms of a content that holds the words so marked.
fn holding(held: &[bool]) -> Frequencies {
    let words = held.iter().enumerate().filter(|(_, held)| **held);
    words.map(|(number, _)| (word(number), 1)).collect()
}

/// A calm memory told now, without words.
fn memory(id: &str) -> Memory {
    Memory {
        id: MemoryId::new(id),
        content: id.to_owned(),
        namespace: "default".to_owned(),
        agent: None,
        place: Place::default(),
        details: Details::default(),
        created_at: now(),
        updated_at: now(),
        reinforced_at: None,
        fate: Fate::default(),
        mentions: 1,
        feedback: 0.0,
        level: 0,
        sources: vec![],
        analysis: Analysis {
            terms: Frequencies::default(),
            length: 4,
            keywords: vec![],
            entities: vec![],
            emotion: emotion(0.0, 0.0),
            fingerprint: 0,
        },
    }
}

fn scored(id: &str, similarity: f64) -> Scored {
    Scored {
        memory: Arc::new(memory(id)),
        candidate: 0,
        similarity,
        evidence: 1.0,
        parts: Parts::default(),
    }
}

fn changed(candidate: &Scored, change: impl FnOnce(&mut Memory)) -> Scored {
    let mut candidate = candidate.clone();
    change(Arc::make_mut(&mut candidate.memory));
    candidate
}

fn with_feedback(similarity: f64, feedback: f64) -> Scored {
    let id = format!("feedback {feedback}");
    changed(&scored(&id, similarity), |memory| {
        memory.feedback = feedback
    })
}

fn aged(similarity: f64, days: i64) -> Scored {
    let id = format!("{days} days old");
    changed(&scored(&id, similarity), |memory| {
        memory.created_at -= TimeDelta::days(days)
    })
}

fn holding_word() -> Scored {
    changed(&scored("holding", 0.5), |memory| {
        memory.analysis.terms = holding(&[true])
    })
}

fn factors(candidate: &Scored, signals: &Signals, weights: &Weights) -> Factors {
    rank(vec![candidate.clone()], signals, weights, now())[0].factors
}

/// The score with the default weights.
fn score(candidate: &Scored, signals: &Signals) -> f64 {
    factors(candidate, signals, &Weights::default()).product()
}

fn assert_first(first: &Scored, second: &Scored) {
    let both = vec![second.clone(), first.clone()];
    let hits = rank(both, &Signals::default(), &Weights::default(), now());
    assert_eq!(hits[0].memory.id, first.memory.id, "{hits:?}");
    assert!(hits[0].score() > hits[1].score(), "{hits:?}");
}

fn hit(content: &str) -> Ranked {
    let mut memory = memory(content);
    memory.analysis = analysed(content);
    let scored = Scored {
        memory: Arc::new(memory),
        ..scored(content, 1.0)
    };
    rank(
        vec![scored],
        &Signals::default(),
        &Weights::default(),
        now(),
    )
    .remove(0)
}

prop_compose! {
    /// A candidate with everything that ranking looks at.
    fn candidate()(
        similarity in 0.0_f64..=1.0,
        age_seconds in -1_000_000_i64..400_000_000,
        retold_after in proptest::option::of(-1_000_000_i64..400_000_000),
        feedback in -20.0_f64..20.0,
        intensity in 0.0_f64..=2.0,
        polarity in -1.0_f64..=1.0,
        held in vec(any::<bool>(), WORDS),
    ) -> Scored {
        changed(&scored("candidate", similarity), |memory| {
            memory.created_at = now() - TimeDelta::seconds(age_seconds);
            memory.reinforced_at = retold_after.map(|after| memory.created_at + TimeDelta::seconds(after));
            memory.feedback = feedback;
            memory.analysis.emotion = emotion(intensity, polarity);
            memory.analysis.terms = holding(&held);
        })
    }
}

/// Candidates with ids of their own, some of them alike in all else.
fn candidates() -> impl Strategy<Value = Vec<Scored>> {
    vec((candidate(), 1_usize..3), 0..12).prop_map(|candidates| {
        let copies = candidates
            .into_iter()
            .flat_map(|(candidate, copies)| vec![candidate; copies]);
        let renamed = copies.enumerate().map(|(index, candidate)| {
            changed(&candidate, |memory| {
                memory.id = MemoryId::new(format!("id{index:02}"))
            })
        });
        renamed.collect()
    })
}

prop_compose! {
    fn signals()(
        hot in vec((0..WORDS, -400_i64..10), 0..10),
        attention in vec((0..WORDS, 0.0_f64..1e6), 0..10),
    ) -> Signals {
        Signals {
            hot_topics: hot.into_iter().map(|(number, day)| (word(number), today() + TimeDelta::days(day))).collect(),
            attention: attention.into_iter().map(|(number, score)| (word(number), score)).collect(),
            ..Signals::default()
        }
    }
}

prop_compose! {
    /// Any weights that the configuration accepts.
    fn weights()(
        halves in (0.001_f64..10_000.0, 0.001_f64..10_000.0),
        floor in 0.0_f64..=1.0,
        boosts in (1.0_f64..5.0, 1.0_f64..5.0, 1.0_f64..5.0, 1.0_f64..5.0, 1.0_f64..5.0),
        shares in (0.0_f64..=1.0, 0.0_f64..=1.0, 0.0_f64..=1.0),
    ) -> Weights {
        Weights {
            decay_half_days: halves.0,
            decay_floor: floor,
            hot_topic_decay_half_days: halves.1,
            sentiment_boost_positive: boosts.0,
            sentiment_boost_negative: boosts.1,
            emotion_intensity_factor: shares.0,
            feedback_positive_boost: boosts.2,
            feedback_negative_penalty: shares.1,
            hot_topic_boost: boosts.3,
            attention_boost_max: boosts.4,
            factor_influence: shares.2,
        }
    }
}

/// A plan for three words.
fn plan(neighbours: bool) -> Plan {
    let term = |number: usize| QueryTerm {
        term: word(number),
        weight: 1.0,
        via: Via::Own,
        detail: format!("word{number}"),
        by_length: true,
    };
    Plan {
        terms: (0..3).map(term).collect(),
        vector: None,
        claims: vec![],
        filters: Filters::default(),
        pool: 100,
        neighbours,
    }
}

prop_compose! {
    /// Candidates of such a plan, some of them in one conversation; fewer than the ten from which on
    /// a word that all hold is left out.
    fn retrieved()(
        found in vec((vec(0_u32..4, 3), 0_u32..50, proptest::option::of(0_i64..8)), 0..9),
        mean_length in 0.0_f64..50.0,
        document_frequencies in vec(0_u64..9, 3),
    ) -> Retrieved {
        let candidate = |(index, (frequencies, length, turn)): (usize, (Vec<u32>, u32, Option<i64>))| {
            let mut memory = memory(&format!("id{index}"));
            memory.analysis.length = length;
            memory.place.session = turn.map(|_| "s".to_owned());
            memory.place.turn = turn;
            Candidate { memory: Arc::new(memory), frequencies, cosine: None, retrieved: true }
        };
        Retrieved {
            statistics: Statistics { memories: 9, mean_length, document_frequencies },
            candidates: found.into_iter().enumerate().map(candidate).collect(),
            ..Retrieved::default()
        }
    }
}
