//! Candidates that are near in meaning: the pool's depth of what scope and filters admit, exactly.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::Scope;

use super::follower::Moment;
use super::index::view::Gates;
use super::matrix::{Begun, Matrix, Scan};
use super::retrieval::{Chosen, Failure, Search};
use super::sqlite::changes;
use crate::memory::Memory;
use crate::query::admits;
use crate::vector::Probe;

/// A query's vector, being compared with all that there are.
pub(super) struct Meant<'a> {
    matrix: &'a Matrix,
    scan: Scan<'a>,
}

impl<'a> Meant<'a> {
    /// `None` if the plan has no vector.
    pub(super) fn of(search: &Search<'a>) -> Option<Meant<'a>> {
        let vector = search.plan.vector.as_ref()?;
        let matrix = search.state.matrix.as_ref()?;
        Some(Meant {
            matrix,
            scan: matrix.scan(&search.scope.namespace, Probe::new(&vector.values)),
        })
    }

    /// Begins to compare on other threads, while this one does something else.
    pub(super) fn begin<'scope>(&'scope self, threads: &'scope Scope<'scope, '_>) -> Begun<'scope> {
        self.scan.begin(threads)
    }

    /// The cosine of a memory's vector, if it has one.
    pub(super) fn cosine(&self, number: i64) -> Option<f64> {
        self.matrix.cosine(number, &self.scan.probe)
    }

    /// Adds the nearest that are not chosen by their words.
    pub(super) fn add_nearest(
        &self,
        search: &Search<'_>,
        begun: Begun<'_>,
        chosen: &mut Vec<Chosen>,
        gates: &Gates<'_>,
        changed: &dyn Fn(i64) -> bool,
    ) -> Result<(), Failure> {
        let admits = |number| search.admits_row(number, gates, changed);
        let pool = search.plan.pool;
        let numbers = self.scan.nearest(begun, pool, admits)?;
        let known: HashMap<i64, Arc<Memory>> = chosen
            .iter()
            .map(|chosen| (chosen.number, chosen.memory.clone()))
            .collect();
        // Those that are chosen by their words count for the depth, and are not read again.
        let mut ranked = Vec::new();
        for number in numbers {
            let cosine = self.cosine(number).unwrap_or_default();
            if let Some(memory) = known.get(&number) {
                ranked.push((cosine, memory.clone(), None));
            } else if let Some(found) = search.neighbour(number, changed)? {
                ranked.push((cosine, found.memory.clone(), Some(found)));
            }
        }
        ranked.sort_by(|(cosine, one, _), (other_cosine, other, _)| {
            let nearer = other_cosine.total_cmp(cosine);
            nearer.then_with(|| one.tie(other))
        });
        ranked.truncate(pool);
        chosen.extend(ranked.into_iter().filter_map(|(_, _, found)| found));
        Ok(())
    }
}

impl Search<'_> {
    /// Whether scope and filters admit the memory of a row.
    fn admits_row(
        &self,
        number: i64,
        gates: &Gates<'_>,
        changed: &dyn Fn(i64) -> bool,
    ) -> Result<bool, Failure> {
        let admits = |memory: &Memory| admits(self.scope, &self.plan.filters, memory, self.now);
        if let (Moment::Followed(_), Some(held)) =
            (self.source.moment, self.state.tail.held(number))
        {
            return Ok(admits(&held.memory));
        }
        match self.state.view.place(number) {
            Some(place) if !changed(number) => Ok(gates.admit(place)),
            _ => {
                let memory = changes::by_number(self.source.connection, number)?;
                Ok(memory.is_some_and(|memory| admits(&memory)))
            }
        }
    }
}
