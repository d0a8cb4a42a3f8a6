//! The domain dictionary: Chinese words that the segmenter does not know, learnt from what was stored.
//!
//! It is kept in the store with a version, and every process that uses the store takes up the newest
//! one. A learnt word only ever adds terms, so what was analysed before it was learnt stays findable;
//! the memories that hold new words are analysed anew.

use std::collections::{BTreeSet, HashMap};

use serde_json::json;

use super::backfill;
use super::report::Item;
use super::work::{BATCH, Work};
use crate::app::learnt::LearntWords;
use crate::error::Error;
use crate::memory::{Memory, MemoryId, State};
use crate::parallel;

/// Least memories that a word must be in.
const LEAST_MEMORIES: u32 = 5;
/// Least share of the memories of the rarer part in which it is a part of the word.
const BOUND: f64 = 0.5;
/// Candidates that are counted at once before the rare ones are dropped.
const MOST_COUNTED: usize = 1_000_000;
/// Most words that are learnt.
const MOST_WORDS: usize = 20_000;

/// Learns from every active memory.
///
/// # Errors
/// When the store fails.
pub async fn run(work: &mut Work<'_>) -> Result<(), Error> {
    let mut counts = Counts::default();
    let mut after: Option<MemoryId> = None;
    loop {
        let batch = work.app.store.scan(after.as_ref(), BATCH).await?;
        let Some(last) = batch.last() else { break };
        after = Some(last.id.clone());
        work.still_ours()?;
        work.examined(batch.len());
        let chosen: Vec<Memory> = batch
            .into_iter()
            .filter(|memory| memory.state(work.now) == State::Active && work.concerns(memory))
            .collect();
        let bytes = chosen.iter().map(|memory| memory.content.len()).sum();
        let analyser = work.app.analyser.clone();
        let compounds = parallel::map(chosen, bytes, move |memory: Memory| {
            analyser.compounds(&memory.content)
        });
        for found in compounds.await {
            counts.add(found);
        }
    }
    let before = work.app.learnt_words().await?;
    let words = counts.words(
        usize::try_from(work.room()).unwrap_or(usize::MAX),
        &before.words,
    );
    let come: BTreeSet<&String> = words.difference(&before.words).collect();
    work.tell("words", words.len());
    for word in &come {
        work.item(Item {
            id: (*word).clone(),
            action: "learn",
            other_id: None,
            reasons: vec!["its parts stand together in most of their memories".to_owned()],
        });
    }
    if words == before.words {
        work.tell("version", before.version);
        return Ok(());
    }
    let version = before.version + 1;
    work.tell("version", version);
    work.changed(come.len() as u64);
    if work.dry_run {
        return Ok(());
    }
    let new: Vec<String> = come.into_iter().cloned().collect();
    let learnt = LearntWords { version, words };
    // First those that hold a new word get its term, so that a run that is killed begins here again.
    let told = work.app.with_words(&learnt);
    let mut renewal = work.over(&told, &new.join(" "));
    backfill::reanalyse(&mut renewal, |memory| {
        new.iter().any(|word| memory.content.contains(word))
    })
    .await?;
    let analysed = renewal.changes();
    work.tell("analysed", json!(analysed));
    work.app.learn(&learnt).await?;
    Ok(())
}

/// Neighbours in the segmenter's eyes, and their parts, with the number of their memories.
#[derive(Default)]
struct Counts {
    compounds: HashMap<(String, String), u32>,
    parts: HashMap<String, u32>,
}

impl Counts {
    fn add(&mut self, found: crate::analysis::Compounds) {
        for part in found.parts {
            *self.parts.entry(part).or_default() += 1;
        }
        for pair in found.pairs {
            *self.compounds.entry(pair).or_default() += 1;
        }
        if self.compounds.len() > MOST_COUNTED {
            self.compounds.retain(|_, count| *count > 1);
        }
        if self.parts.len() > MOST_COUNTED {
            self.parts.retain(|_, count| *count > 1);
        }
    }

    /// The words that are bound most, known ones first, at most `room` new ones.
    fn words(self, room: usize, known: &BTreeSet<String>) -> BTreeSet<String> {
        let rarer = |one: &String, other: &String| {
            let count = |part: &String| self.parts.get(part).copied().unwrap_or(1);
            count(one).min(count(other)).max(1)
        };
        let mut bound: Vec<(u32, String)> = self
            .compounds
            .iter()
            .filter(|((one, other), count)| {
                **count >= LEAST_MEMORIES
                    && f64::from(**count) >= BOUND * f64::from(rarer(one, other))
            })
            .map(|((one, other), count)| (*count, format!("{one}{other}")))
            .collect();
        bound.sort_by(|left, right| right.0.cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
        bound.truncate(MOST_WORDS);
        let (there, new): (Vec<_>, Vec<_>) = bound
            .into_iter()
            .partition(|(_, word)| known.contains(word));
        let words = there.into_iter().chain(new.into_iter().take(room));
        words.map(|(_, word)| word).collect()
    }
}
