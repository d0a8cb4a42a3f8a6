//! Synonyms found in what was stored: words that stand in the same memories, and words that stand in
//! the same contexts, since real synonyms seldom stand together. Entries made by hand win.
//!
//! Each namespace for itself; what is found depends on the memories alone, holds in both directions,
//! and replaces what was found before.

pub mod contexts;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::report::Item;
use super::work::{BATCH, Work};
use crate::error::Error;
use crate::memory::{Memory, MemoryId, State};
use crate::scope::Scope;
use crate::store::{Cursor, ListFilters, Synonyms};
use contexts::{Counts, Found, Thresholds, Vocabulary};

/// Goes through every namespace.
///
/// # Errors
/// When the store fails.
pub async fn run(work: &mut Work<'_>) -> Result<(), Error> {
    for (namespace, memories) in namespaces(work).await? {
        let settings = &work.app.settings.maintenance;
        let thresholds = Thresholds {
            least_memories: settings.synonym_min_word_freq,
            jaccard: settings.synonym_jaccard_threshold,
            least_together: settings.synonym_min_co_occurrence,
        };
        let found = if memories < u64::from(thresholds.least_memories) {
            Vec::new()
        } else {
            find(work, &namespace, thresholds).await?
        };
        replace(work, &namespace, found).await?;
    }
    Ok(())
}

/// Every namespace with the number of its memories.
async fn namespaces(work: &mut Work<'_>) -> Result<BTreeMap<String, u64>, Error> {
    let mut found = BTreeMap::new();
    let mut after: Option<MemoryId> = None;
    loop {
        let batch = work.app.store.scan(after.as_ref(), BATCH).await?;
        let Some(last) = batch.last() else {
            return Ok(found);
        };
        after = Some(last.id.clone());
        work.still_ours()?;
        work.examined(batch.len());
        for memory in batch {
            *found.entry(memory.namespace).or_default() += 1;
        }
    }
}

async fn find(
    work: &Work<'_>,
    namespace: &str,
    thresholds: Thresholds,
) -> Result<Vec<Found>, Error> {
    let mut vocabulary = Vocabulary::default();
    each(work, namespace, |texts| vocabulary.add(texts)).await?;
    let mut counts = Counts::new(vocabulary, thresholds);
    each(work, namespace, |texts| counts.add(texts)).await?;
    let vectors = vectors(work, counts.words()).await;
    Ok(counts.synonyms(&vectors))
}

/// Analyses every active memory of a namespace, a batch at a time.
async fn each(
    work: &Work<'_>,
    namespace: &str,
    mut take: impl FnMut(Vec<Vec<crate::analysis::Spoken>>),
) -> Result<(), Error> {
    let scope = Scope {
        namespace: namespace.to_owned(),
        agent: None,
        primary: true,
    };
    let filters = ListFilters {
        state: Some(State::Active),
        ..ListFilters::default()
    };
    let mut after: Option<Cursor> = None;
    loop {
        let page = work
            .app
            .store
            .list(&scope, &filters, after.as_ref(), BATCH, work.now)
            .await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = Some(Cursor {
            created_at: last.created_at,
            id: last.id.clone(),
        });
        work.still_ours()?;
        let chosen: Vec<Memory> = page.into_iter().filter(|one| work.concerns(one)).collect();
        let bytes = chosen.iter().map(|memory| memory.content.len()).sum();
        let analyser = work.app.analyser.clone();
        let texts = crate::parallel::map(chosen, bytes, move |memory: Memory| {
            analyser.vocabulary(&memory.content)
        });
        take(texts.await);
    }
}

/// Vectors of words, if the embedder is on this machine.
async fn vectors(work: &Work<'_>, words: Vec<String>) -> HashMap<String, Vec<f32>> {
    let local = work
        .app
        .meaning
        .as_ref()
        .filter(|meaning| meaning.embedder().destination().is_none());
    let Some(meaning) = local else {
        return HashMap::new();
    };
    let embedder = meaning.embedder();
    match (embedder.model().await, embedder.embed(&words).await) {
        (Ok(model), Ok(vectors)) => words
            .into_iter()
            .zip(vectors)
            .filter_map(|(word, values)| Some((word, model.id.unit(values)?)))
            .collect(),
        (Err(error), _) | (_, Err(error)) => {
            tracing::warn!(%error, "synonyms are found without vectors");
            HashMap::new()
        }
    }
}

/// Puts what was found in place of what was found before.
async fn replace(work: &mut Work<'_>, namespace: &str, found: Vec<Found>) -> Result<(), Error> {
    let there = work.app.store.synonyms(namespace).await?;
    let by_hand: BTreeSet<&str> = there
        .iter()
        .filter(|entry| entry.manual)
        .map(|entry| entry.term.as_str())
        .collect();
    let mut wanted: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut reasons: HashMap<(String, String), String> = HashMap::new();
    for Found { one, other, reason } in found {
        if by_hand.contains(one.as_str()) || by_hand.contains(other.as_str()) {
            continue;
        }
        for (term, synonym) in [(&one, &other), (&other, &one)] {
            wanted
                .entry(term.clone())
                .or_default()
                .push(synonym.clone());
            reasons.insert((term.clone(), synonym.clone()), reason.clone());
        }
    }
    let mut before: BTreeMap<String, Vec<String>> = there
        .iter()
        .filter(|entry| !entry.manual)
        .map(|entry| (entry.term.clone(), entry.terms.clone()))
        .collect();
    for (term, mut terms) in wanted {
        terms.sort();
        if before.remove(&term).as_ref() == Some(&terms) || work.room() == 0 {
            continue;
        }
        for synonym in &terms {
            work.item(Item {
                id: term.clone(),
                action: "synonym",
                other_id: Some(synonym.clone()),
                reasons: reasons
                    .remove(&(term.clone(), synonym.clone()))
                    .into_iter()
                    .collect(),
            });
        }
        set(work, namespace, term, terms).await?;
    }
    for (term, _) in before {
        if work.room() == 0 {
            break;
        }
        work.item(Item {
            id: term.clone(),
            action: "remove",
            other_id: None,
            reasons: vec!["not found any more".to_owned()],
        });
        set(work, namespace, term, Vec::new()).await?;
    }
    Ok(())
}

async fn set(
    work: &mut Work<'_>,
    namespace: &str,
    term: String,
    terms: Vec<String>,
) -> Result<(), Error> {
    work.changed(1);
    if work.dry_run {
        return Ok(());
    }
    let synonyms = Synonyms {
        term,
        terms,
        manual: false,
    };
    Ok(work.app.store.set_synonyms(namespace, synonyms).await?)
}
