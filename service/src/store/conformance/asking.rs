//! Random questions: what comes is what a scan finds.

use std::collections::BTreeMap;

use super::dice::Dice;
use super::samples::day;
use crate::memory::MemoryId;
use crate::query::admits;
use crate::ranking::bm25::Scorer;
use crate::store::{Added, Store};

const MEMORIES: usize = 120;
const QUESTIONS: usize = 150;

/// Memories of several owners, some of them corrected, trashed or superseded.
async fn fill(store: &dyn Store, dice: &mut Dice) {
    let mut before = None;
    for _ in 0..MEMORIES {
        let (scope, mut new) = (dice.scope(), dice.memory());
        let fate = dice.0.u8(..12);
        if fate == 0 {
            new.supersedes = before.take();
        }
        let added = store
            .add(&scope, vec![new], day(0))
            .await
            .unwrap()
            .remove(0);
        let Added::Created(memory) = added else {
            continue;
        };
        match fate {
            1 => drop(
                store
                    .correct(&scope, &memory.id, true, day(0))
                    .await
                    .unwrap(),
            ),
            2 => drop(store.trash(&scope, &memory.id, day(0)).await.unwrap()),
            _ => before = Some(memory.id),
        }
    }
}

pub(crate) async fn whatever_is_asked_all_that_matches_and_is_admitted_comes(store: &dyn Store) {
    let mut dice = Dice(fastrand::Rng::with_seed(5));
    fill(store, &mut dice).await;
    let all = store.scan(None, MEMORIES).await.unwrap();
    for _ in 0..QUESTIONS {
        let (scope, mut plan, now) = (dice.scope(), dice.plan(), day(dice.0.i64(-3..3)));
        (plan.pool, plan.neighbours, plan.vector) = (MEMORIES, false, None);
        let retrieved = store.retrieve(&scope, &plan, now).await.unwrap();
        let scorer = Scorer::new(&plan, &retrieved.statistics);
        let admitted = all
            .iter()
            .filter(|memory| admits(&scope, &plan.filters, memory, now));
        let expected: BTreeMap<&MemoryId, Vec<u32>> = admitted
            .map(|memory| {
                let (held, terms) = (memory.indexed_terms(), plan.terms.iter());
                let frequencies: Vec<u32> = terms.map(|term| held.get(&term.term)).collect();
                (memory, frequencies)
            })
            .filter(|(memory, frequencies)| scorer.score(frequencies, memory.analysis.length) > 0.0)
            .map(|(memory, frequencies)| (&memory.id, frequencies))
            .collect();
        let found = retrieved.candidates.iter();
        let found: BTreeMap<&MemoryId, Vec<u32>> = found
            .map(|candidate| (&candidate.memory.id, candidate.frequencies.clone()))
            .collect();
        assert_eq!(found, expected, "{scope:?} {now} {plan:?}");
    }
}
