//! Which words say the same, by where they stand: counts, and what follows from them. Pure.

use std::collections::HashMap;

use rustc_hash::FxHashMap;

use crate::analysis::Spoken;
use crate::analysis::particulars::key;
use crate::analysis::particulars::lists::{are_different_things, are_opposites, are_synonyms};

/// Most words that are compared, the most frequent ones.
const MOST_WORDS: usize = 4_096;
/// Most words that are context.
const MOST_FEATURES: usize = 16_384;
/// Words that are counted at once before the rare ones are dropped.
const MOST_COUNTED: usize = 1_000_000;
/// A word in more than this share of the memories says nothing about them.
const EVERYWHERE: f64 = 0.2;
/// Words before and behind a word that are its context.
const WINDOW: usize = 3;
/// Words of one memory that are paired.
const MOST_PAIRED: usize = 64;
/// Most synonyms of a word.
const MOST_SYNONYMS: usize = 3;
/// Least cosine of the contexts of two words that share them; less if a list knows them to say the same.
const SAME_CONTEXTS: f64 = 0.5;
const KNOWN_CONTEXTS: f64 = 0.2;
/// ... and of words without vectors, which nothing else confirms.
const UNCONFIRMED_CONTEXTS: f64 = 0.75;
/// Words that share more of their memories than this stand beside each other, not for each other.
const BESIDE: f64 = 0.2;
/// Least cosine of the vectors of words that share contexts, and of words that share memories.
const CONFIRMED: f64 = 0.18;
const NEAR: f64 = 0.4;
/// Least number of different words in the context of a word.
const LEAST_CONTEXT: usize = 4;

/// What the configuration asks of synonyms.
#[derive(Debug, Clone, Copy)]
pub struct Thresholds {
    /// Memories that a word must be in.
    pub least_memories: u32,
    /// Jaccard coefficient of the memories of two words.
    pub jaccard: f64,
    /// Memories that hold both.
    pub least_together: u32,
}

/// Two words that were found to say the same, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub one: String,
    pub other: String,
    pub reason: String,
}

/// Words with the number of their memories.
#[derive(Default)]
pub struct Vocabulary {
    memories: u64,
    words: FxHashMap<String, Counted>,
}

struct Counted {
    key: String,
    memories: u32,
    /// How it is mostly written, and by how much more often than otherwise.
    text: String,
    lead: u32,
    /// How often it was a name.
    names: u32,
}

impl Counted {
    fn is_name(&self) -> bool {
        self.names * 2 > self.memories
    }
}

impl Vocabulary {
    pub fn add(&mut self, texts: Vec<Vec<Spoken>>) {
        for text in texts {
            self.memories += 1;
            let mut seen: Vec<String> = Vec::with_capacity(text.len());
            for word in text {
                let key = key(&word.text);
                if seen.contains(&key) {
                    continue;
                }
                self.count(&key, word);
                seen.push(key);
            }
        }
        if self.words.len() > MOST_COUNTED {
            self.words.retain(|_, counted| counted.memories > 1);
        }
    }

    fn count(&mut self, key: &str, word: Spoken) {
        let name = u32::from(word.name);
        match self.words.get_mut(key) {
            None => {
                let counted = Counted {
                    key: key.to_owned(),
                    memories: 1,
                    text: word.text,
                    lead: 1,
                    names: name,
                };
                self.words.insert(key.to_owned(), counted);
            }
            Some(counted) => {
                counted.memories += 1;
                counted.names += name;
                if counted.text == word.text {
                    counted.lead += 1;
                } else if counted.lead == 0 {
                    (counted.text, counted.lead) = (word.text, 1);
                } else {
                    counted.lead -= 1;
                }
            }
        }
    }
}

/// How often words stand together, and near each other.
pub struct Counts {
    thresholds: Thresholds,
    /// The words that may be context, the most frequent first.
    words: Vec<Counted>,
    /// Whether each is compared, too.
    compared: Vec<bool>,
    numbers: FxHashMap<String, u32>,
    /// Memories that hold both, by the lower and the higher number.
    together: FxHashMap<(u32, u32), u32>,
    /// How often each word stands near each other one.
    near: Vec<FxHashMap<u32, u32>>,
}

impl Counts {
    pub fn new(vocabulary: Vocabulary, thresholds: Thresholds) -> Counts {
        let most =
            (vocabulary.memories as f64 * EVERYWHERE).max(f64::from(thresholds.least_memories));
        let mut words: Vec<Counted> = vocabulary.words.into_values().collect();
        words.retain(|word| word.memories > 1);
        words.sort_by(|one, other| {
            let more = other.memories.cmp(&one.memories);
            more.then_with(|| one.key.cmp(&other.key))
        });
        words.truncate(MOST_FEATURES);
        let mut room = MOST_WORDS;
        let compared: Vec<bool> = words
            .iter()
            .map(|word| {
                let fits = room > 0
                    && word.memories >= thresholds.least_memories
                    && f64::from(word.memories) <= most;
                room -= usize::from(fits);
                fits
            })
            .collect();
        let numbers = words.iter().enumerate();
        let numbers = numbers.map(|(number, word)| (word.key.clone(), number as u32));
        Counts {
            thresholds,
            numbers: numbers.collect(),
            together: FxHashMap::default(),
            near: vec![FxHashMap::default(); words.len()],
            compared,
            words,
        }
    }

    /// The words that are compared, as they are written.
    pub fn words(&self) -> Vec<String> {
        let compared = self.words.iter().zip(&self.compared);
        compared
            .filter(|(_, compared)| **compared)
            .map(|(word, _)| word.text.clone())
            .collect()
    }

    pub fn add(&mut self, texts: Vec<Vec<Spoken>>) {
        for text in texts {
            let numbers: Vec<Option<u32>> = text
                .iter()
                .map(|word| self.numbers.get(&key(&word.text)).copied())
                .collect();
            for (at, number) in numbers.iter().enumerate() {
                let Some(number) = number.filter(|number| self.compared[*number as usize]) else {
                    continue;
                };
                let from = at.saturating_sub(WINDOW);
                let to = (at + WINDOW + 1).min(numbers.len());
                for other in numbers[from..to].iter().flatten() {
                    if *other != number {
                        *self.near[number as usize].entry(*other).or_default() += 1;
                    }
                }
            }
            let mut unique: Vec<u32> = numbers
                .into_iter()
                .flatten()
                .filter(|number| self.compared[*number as usize])
                .collect();
            unique.sort_unstable();
            unique.dedup();
            unique.truncate(MOST_PAIRED);
            for (at, one) in unique.iter().enumerate() {
                for other in &unique[at + 1..] {
                    *self.together.entry((*one, *other)).or_default() += 1;
                }
            }
        }
    }

    /// The pairs that say the same, the surest of each word, in the order of the words.
    pub fn synonyms(&self, vectors: &HashMap<String, Vec<f32>>) -> Vec<Found> {
        let mut pairs: Vec<(f64, u32, u32, String)> = Vec::new();
        for (one, others) in self.alike().into_iter().enumerate() {
            let one = one as u32;
            for (other, contexts) in others {
                if let Some((score, reason)) = self.judge(one, other, contexts, vectors) {
                    pairs.push((score, one, other, reason));
                }
            }
        }
        pairs.sort_by(|left, right| {
            let surer = right.0.total_cmp(&left.0);
            surer.then_with(|| (left.1, left.2).cmp(&(right.1, right.2)))
        });
        let mut have = vec![0; self.words.len()];
        let mut found = Vec::new();
        for (_, one, other, reason) in pairs {
            let (one, other) = (one as usize, other as usize);
            if have[one] < MOST_SYNONYMS && have[other] < MOST_SYNONYMS {
                have[one] += 1;
                have[other] += 1;
                found.push(Found {
                    one: self.words[one].text.clone(),
                    other: self.words[other].text.clone(),
                    reason,
                });
            }
        }
        found.sort_by(|left, right| (&left.one, &left.other).cmp(&(&right.one, &right.other)));
        found
    }

    /// Whether two words say the same: how sure it is, and why.
    fn judge(
        &self,
        one: u32,
        other: u32,
        contexts: f64,
        vectors: &HashMap<String, Vec<f32>>,
    ) -> Option<(f64, String)> {
        let (left, right) = (&self.words[one as usize], &self.words[other as usize]);
        if left.is_name()
            || right.is_name()
            || are_opposites(&left.key, &right.key)
            || are_different_things(&left.key, &right.key)
        {
            return None;
        }
        let together = self.together.get(&(one, other)).copied().unwrap_or(0);
        let either = left.memories + right.memories - together;
        let jaccard = f64::from(together) / f64::from(either.max(1));
        let cosine = cosine(vectors.get(&left.text), vectors.get(&right.text));
        let known = are_synonyms(&left.key, &right.key);
        let thresholds = &self.thresholds;
        if jaccard >= thresholds.jaccard && together >= thresholds.least_together {
            let confirmed = known || cosine.is_some_and(|cosine| cosine >= NEAR);
            return confirmed.then(|| (jaccard, format!("in the same memories ({jaccard:.2})")));
        }
        if jaccard > BESIDE {
            return None;
        }
        let least = match cosine {
            _ if known => KNOWN_CONTEXTS,
            Some(cosine) if cosine >= CONFIRMED => SAME_CONTEXTS,
            Some(_) => return None,
            None => UNCONFIRMED_CONTEXTS,
        };
        (contexts >= least).then(|| (contexts, format!("in the same contexts ({contexts:.2})")))
    }

    /// For each word the later ones, with the cosine of their contexts (0 for those that only share
    /// memories).
    fn alike(&self) -> Vec<Vec<(u32, f64)>> {
        let contexts = self.contexts();
        let mut holders: Vec<Vec<(u32, f64)>> = vec![Vec::new(); self.words.len()];
        for (word, context) in contexts.iter().enumerate() {
            for (feature, weight) in context {
                holders[*feature as usize].push((word as u32, *weight));
            }
        }
        let mut alike: Vec<Vec<(u32, f64)>> = Vec::with_capacity(self.words.len());
        let mut products: Vec<f64> = vec![0.0; self.words.len()];
        for (word, context) in contexts.iter().enumerate() {
            if !self.compared[word] {
                alike.push(Vec::new());
                continue;
            }
            for (feature, weight) in context {
                for (other, theirs) in &holders[*feature as usize] {
                    products[*other as usize] += weight * theirs;
                }
            }
            let mut others = Vec::new();
            for (other, product) in products.iter_mut().enumerate() {
                let product = std::mem::take(product);
                let pair = (word as u32, other as u32);
                if other > word && (product >= KNOWN_CONTEXTS || self.together.contains_key(&pair))
                {
                    others.push((other as u32, product.min(1.0)));
                }
            }
            alike.push(others);
        }
        alike
    }

    /// The contexts of each word: positive pointwise mutual information, of unit length. Words with
    /// few different neighbours have none.
    fn contexts(&self) -> Vec<Vec<(u32, f64)>> {
        let sums: Vec<f64> = self
            .near
            .iter()
            .map(|near| near.values().map(|count| f64::from(*count)).sum())
            .collect();
        let total: f64 = sums.iter().sum();
        let mut features = vec![0.0; self.words.len()];
        for (other, count) in self.near.iter().flatten() {
            features[*other as usize] += f64::from(*count);
        }
        let context = |(word, near): (usize, &FxHashMap<u32, u32>)| -> Vec<(u32, f64)> {
            if near.len() < LEAST_CONTEXT {
                return Vec::new();
            }
            let mut weights: Vec<(u32, f64)> = near
                .iter()
                .map(|(other, count)| {
                    let expected = sums[word] * features[*other as usize] / total;
                    (*other, (f64::from(*count) / expected).ln())
                })
                .filter(|(_, weight)| *weight > 0.0)
                .collect();
            weights.sort_by_key(|(other, _)| *other);
            let length = weights.iter().map(|(_, weight)| weight * weight);
            let length = length.sum::<f64>().sqrt();
            for (_, weight) in &mut weights {
                *weight /= length.max(f64::MIN_POSITIVE);
            }
            weights
        };
        self.near.iter().enumerate().map(context).collect()
    }
}

fn cosine(one: Option<&Vec<f32>>, other: Option<&Vec<f32>>) -> Option<f64> {
    let product: f32 = one?.iter().zip(other?).map(|(x, y)| x * y).sum();
    Some(f64::from(product))
}
