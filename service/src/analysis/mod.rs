//! Text in, facts out: terms, keywords, entities, emotion.
//!
//! Pure: no clock, no store, no errors. Odd input has a defined value. One analyser serves both
//! stores, contents and queries; what a store indexes is the encoded [`terms::Term`]s made here and
//! nothing else.

pub mod content;
pub mod dates;
pub mod dictionary;
pub mod emotion;
pub mod entities;
pub mod frequency;
pub mod keywords;
pub mod normalise;
pub mod particulars;
mod phrases;
#[cfg(test)]
mod properties;
pub mod query;
pub mod stem;
pub mod stop_words;
pub mod technical;
pub mod terms;
#[cfg(test)]
mod test_tokens;
pub mod token;
pub mod tokeniser;
mod word_lists;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::NaiveDate;
use dates::NamedDate;
use dictionary::{Dictionary, Learnt};
use emotion::Emotion;
use entities::Gazetteer;
use particulars::Particulars;
use query::Concept;
use terms::{Frequencies, Term, TermKind};
use token::Token;

/// Grows with every change of the analysis, so that memories analysed before can be told apart.
pub const ANALYSIS_VERSION: u32 = 1;

/// Parts of the analysis that the evaluation can switch off to measure what they gain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ingredients {
    /// Match English words by stem.
    pub stems: bool,
    /// Match Chinese by pairs of characters, not by segmented words alone.
    pub pairs: bool,
}

impl Default for Ingredients {
    fn default() -> Self {
        Ingredients {
            stems: true,
            pairs: true,
        }
    }
}

/// What is known of a content.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// Terms of the content alone; what the index holds besides is in [`indexed_terms`].
    pub terms: Frequencies,
    /// Number of words that are not stop words.
    pub length: u32,
    /// At most [`keywords::MAX_KEYWORDS`].
    pub keywords: Vec<String>,
    pub entities: Vec<String>,
    pub emotion: Emotion,
    /// Equal for contents that say the same but for case, width, punctuation and stop words.
    pub fingerprint: u64,
}

/// Chinese words of a text that stand side by side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compounds {
    pub pairs: BTreeSet<(String, String)>,
    pub parts: BTreeSet<String>,
}

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    pub text: String,
    /// Whether it names somebody or something.
    pub name: bool,
}

/// What is known of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryAnalysis {
    pub concepts: Vec<Concept>,
    /// Parts of dates that it names.
    pub dates: Vec<NamedDate>,
    pub entities: Vec<String>,
    /// The folded words, to compare with tags.
    pub words: Vec<String>,
}

/// Loads what the analysis needs, so that the first request does not wait for it.
pub fn warm_up() {
    Analyser::new("", Ingredients::default()).query("王小明热身 warm up");
}

/// The analyser with what it knows. Cheap to clone.
#[derive(Clone)]
pub struct Analyser {
    gazetteer: Arc<Cow<'static, Gazetteer>>,
    learnt: Arc<Learnt>,
    ingredients: Ingredients,
}

impl Analyser {
    /// An analyser that also knows the names of a user's gazetteer, one a line.
    pub fn new(user_names: &str, ingredients: Ingredients) -> Analyser {
        let builtin = Gazetteer::builtin();
        let gazetteer = if user_names.is_empty() {
            Cow::Borrowed(builtin)
        } else {
            Cow::Owned(builtin.clone().with_user_names(user_names, normalise::fold))
        };
        Analyser {
            gazetteer: Arc::new(gazetteer),
            learnt: Arc::default(),
            ingredients,
        }
    }

    /// The same analyser with these learnt words.
    pub fn with_learnt(&self, learnt: Arc<Learnt>) -> Analyser {
        Analyser {
            learnt,
            ..self.clone()
        }
    }

    /// The words that it learnt.
    pub fn learnt(&self) -> Arc<Learnt> {
        self.learnt.clone()
    }

    /// Analyses the content of a memory.
    pub fn content(&self, text: &str) -> Analysis {
        let normalised = normalise::normalise(text);
        let tokens = tokeniser::tokenise(&normalised, Dictionary::builtin());
        let (terms, length) = content::terms(&tokens, &self.learnt, self.ingredients);
        Analysis {
            terms,
            length,
            keywords: keywords::keywords(&tokens),
            entities: entities::extract(&normalised, &tokens, &self.gazetteer),
            emotion: emotion::detect(&normalised, &tokens),
            fingerprint: fingerprint(&tokens),
        }
    }

    /// What tells a text apart from others that are like it.
    pub fn particulars(&self, text: &str) -> Particulars {
        particulars::particulars(text, Dictionary::builtin())
    }

    /// Neighbouring Chinese words that might be one, and their parts; each once.
    pub fn compounds(&self, text: &str) -> Compounds {
        let tokens = tokeniser::tokenise(&normalise::normalise(text), Dictionary::builtin());
        let mut found = Compounds::default();
        for (one, other) in dictionary::compounds(&tokens) {
            found.parts.extend([one.text.clone(), other.text.clone()]);
            found.pairs.insert((one.text.clone(), other.text.clone()));
        }
        found
    }

    /// The words that say what a text is about, in its order, each time that they occur; folded.
    pub fn vocabulary(&self, text: &str) -> Vec<Spoken> {
        let normalised = normalise::normalise(text);
        let tokens = tokeniser::tokenise(&normalised, Dictionary::builtin());
        keywords::candidates(&tokens)
            .map(|token| Spoken {
                name: particulars::is_name(token, &normalised),
                text: token.text.clone(),
            })
            .collect()
    }

    /// Analyses a query.
    pub fn query(&self, text: &str) -> QueryAnalysis {
        let normalised = normalise::normalise(text);
        let tokens = tokeniser::tokenise(&normalised, Dictionary::builtin());
        QueryAnalysis {
            concepts: query::concepts(
                &tokens,
                Dictionary::builtin(),
                &self.learnt,
                self.ingredients,
            ),
            dates: dates::named(&normalised, &tokens),
            entities: entities::extract(&normalised, &tokens, &self.gazetteer),
            words: tokens.into_iter().map(|token| token.text).collect(),
        }
    }
}

/// All terms that the index holds of a memory: those of its content, its entities, its tags and the
/// day that it is about.
pub fn indexed_terms(analysis: &Analysis, tags: &[String], day: NaiveDate) -> Frequencies {
    let content = analysis.terms.iter();
    let beside = analysis
        .entities
        .iter()
        .map(|entity| entity_term(entity))
        .chain(tags.iter().map(|tag| tag_term(tag)))
        .chain(dates::of_day(day));
    let beside: BTreeSet<Term> = beside.collect();
    content
        .chain(beside.into_iter().map(|term| (term, 1)))
        .collect()
}

/// The term by which a query word finds a tag. Filters compare tags exactly, with case; words do not.
pub fn tag_term(tag: &str) -> Term {
    Term::new(TermKind::Tag, &normalise::fold(&normalise::normalise(tag)))
}

/// The term of an entity, compared without case.
pub fn entity_term(entity: &str) -> Term {
    Term::new(
        TermKind::Entity,
        &normalise::fold(&normalise::normalise(entity)),
    )
}

/// Hash of the folded words without stop words; negations stay, for they change what is said.
fn fingerprint(tokens: &[Token]) -> u64 {
    let telling = |token: &&Token| {
        stop_words::is_negation(&token.text) || !stop_words::is_stop_word(&token.text)
    };
    let mut words: Vec<&str> = tokens
        .iter()
        .filter(telling)
        .map(|token| token.text.as_str())
        .collect();
    if words.is_empty() {
        words = tokens.iter().map(|token| token.text.as_str()).collect();
    }
    stable_hash(&words.join("\u{1f}"))
}

/// A hash that stays the same across builds and machines (FNV-1a, 64 bits), since it is stored.
fn stable_hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
