//! Backfill: vectors of the current model for the memories that have none, and a new analysis for
//! those that an older version, or another dictionary, analysed.

use super::report::Item;
use super::work::{BATCH, Work};
use crate::analysis::Analysis;
use crate::app::App;
use crate::error::Error;
use crate::memory::Memory;
use crate::parallel;
use crate::store::{Change, Revision};

/// Analyses what needs it, then makes the vectors that are missing.
///
/// # Errors
/// When the store or the embedder fails.
pub async fn run(work: &mut Work<'_>) -> Result<(), Error> {
    reanalyse(work, |_| true).await?;
    let store = &*work.app.store;
    let Some(meaning) = &work.app.meaning else {
        work.tell("with_vector", 0);
        work.tell("without_vector", 0);
        return Ok(());
    };
    if work.dry_run {
        let (_, without) = meaning.counts(store).await?;
        work.examined(usize::try_from(without).unwrap_or(usize::MAX));
    } else if work.room() > 0 {
        let done = meaning.backfill(store).await?;
        work.examined(usize::try_from(done.examined).unwrap_or(usize::MAX));
        work.changed(done.changed);
    }
    let (with, without) = meaning.counts(store).await?;
    work.tell("with_vector", with);
    work.tell("without_vector", without);
    Ok(())
}

/// Analyses the memories that `wanted` names anew, and keeps what differs.
///
/// # Errors
/// When the store fails.
pub async fn reanalyse(work: &mut Work<'_>, wanted: impl Fn(&Memory) -> bool) -> Result<(), Error> {
    let mut after = work.resume().await?;
    loop {
        let batch = work.app.store.scan(after.as_ref(), BATCH).await?;
        let Some(last) = batch.last().map(|memory| memory.id.clone()) else {
            return Ok(());
        };
        let chosen: Vec<Memory> = batch.into_iter().filter(|memory| wanted(memory)).collect();
        let differing = differing(work.app, chosen).await;
        work.examined(differing.len());
        let room = usize::try_from(work.room()).unwrap_or(usize::MAX);
        let full = differing.len() > room;
        let revisions: Vec<Revision> = differing
            .into_iter()
            .take(room)
            .map(|(before, after)| vec![Change::replace(before, after)])
            .collect();
        let ids: Vec<String> = revisions
            .iter()
            .flat_map(|revision| revision[0].before.as_ref())
            .map(|memory| memory.id.to_string())
            .collect();
        let made = work.revise(revisions).await?;
        for (id, _) in ids.into_iter().zip(made).filter(|(_, made)| *made) {
            work.changed(1);
            work.item(Item {
                id,
                action: "analyse",
                other_id: None,
                reasons: vec!["its analysis differs".to_owned()],
            });
        }
        if full {
            return Ok(());
        }
        work.reached(&last).await?;
        after = Some(last);
    }
}

/// Memories whose analysis is another now, before and after.
async fn differing(app: &App, memories: Vec<Memory>) -> Vec<(Memory, Memory)> {
    let bytes = memories.iter().map(|memory| memory.content.len()).sum();
    let analyser = app.analyser.clone();
    let analysed = parallel::map(memories, bytes, move |memory: Memory| {
        let analysis = renewed(&memory.analysis, analyser.content(&memory.content));
        (analysis != memory.analysis).then(|| {
            let after = Memory {
                analysis,
                ..memory.clone()
            };
            (memory, after)
        })
    })
    .await;
    analysed.into_iter().flatten().collect()
}

/// A new analysis with the entities that the old one had besides: a writer may have named them.
fn renewed(old: &Analysis, mut new: Analysis) -> Analysis {
    for entity in &old.entities {
        if !new.entities.contains(entity) {
            new.entities.push(entity.clone());
        }
    }
    if old.entities.len() == new.entities.len() {
        new.entities.clone_from(&old.entities);
    }
    new
}
