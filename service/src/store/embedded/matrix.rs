//! The vectors of one model, contiguous in memory, in step with the truth by its change number.

use std::collections::HashMap;
use std::iter;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Scope, ScopedJoinHandle};

use rusqlite::Connection;

use super::index::best::{Best, Rank};
use super::index::schema::id_head;
use super::sqlite::changes;
use super::sqlite::vectors::{self, Entry};
use crate::parallel;
use crate::store::StoreError;
use crate::vector::{ModelId, Probe, length};

/// Vectors that are compared at once.
const PIECE: usize = 4096;
/// So many vectors are worth a thread; starting one takes as long as comparing a few hundred.
const WORTH_A_THREAD: usize = 4 * PIECE;
/// Most threads of a scan: beyond them, memory is what it waits for.
const MOST_THREADS: usize = 4;

/// Every vector of a model.
pub(super) struct Matrix {
    model: ModelId,
    /// Everything up to this change number is in.
    seq: i64,
    spaces: Vec<Space>,
    /// The space of each namespace.
    namespaces: HashMap<String, usize>,
    /// Space and row of each memory, by its number.
    places: HashMap<i64, (usize, usize)>,
}

/// The vectors of a namespace: row after row in `steps`.
#[derive(Default)]
struct Space {
    rows: Vec<Row>,
    steps: Vec<i8>,
}

/// What is known of a row besides its vector: enough to order it among others.
#[derive(Clone, Copy)]
struct Row {
    number: i64,
    /// Milliseconds since 1970.
    created: i64,
    id_head: u64,
    length: f64,
}

impl Matrix {
    /// Reads all vectors of a model.
    pub(super) fn load(
        connection: &Connection,
        model: &ModelId,
        seq: i64,
    ) -> Result<Matrix, StoreError> {
        let mut matrix = Matrix {
            model: model.clone(),
            seq,
            spaces: Vec::new(),
            namespaces: HashMap::new(),
            places: HashMap::new(),
        };
        vectors::each(connection, model, |entry| matrix.put(entry))?;
        Ok(matrix)
    }

    /// Whether it holds what a model's vectors were at a change number.
    pub(super) fn is_of(&self, model: &ModelId, seq: i64) -> bool {
        self.seq == seq && self.model == *model
    }

    pub(super) fn model(&self) -> &ModelId {
        &self.model
    }

    /// Takes in what changed since it was last asked.
    pub(super) fn catch_up(&mut self, connection: &Connection, seq: i64) -> Result<(), StoreError> {
        for (number, _) in changes::purged(connection, self.seq)? {
            self.remove(number);
        }
        let model = self.model.clone();
        vectors::each_changed(connection, &model, self.seq, |entry| self.put(entry))?;
        self.seq = seq;
        Ok(())
    }

    /// Puts a memory in, in place of what was known of it; one without a vector is taken out.
    fn put(&mut self, entry: &Entry<'_>) {
        self.remove(entry.number);
        if entry.steps.len() != self.model.dimension() {
            return;
        }
        let index = match self.namespaces.get(entry.namespace) {
            Some(index) => *index,
            None => {
                self.spaces.push(Space::default());
                self.namespaces
                    .insert(entry.namespace.to_owned(), self.spaces.len() - 1);
                self.spaces.len() - 1
            }
        };
        let space = &mut self.spaces[index];
        self.places.insert(entry.number, (index, space.rows.len()));
        space.rows.push(Row {
            number: entry.number,
            created: entry.created,
            id_head: id_head(&entry.id),
            length: length(entry.steps),
        });
        space.steps.extend_from_slice(entry.steps);
    }

    /// Takes a memory out; the last row takes its place.
    fn remove(&mut self, number: i64) {
        let Some((index, row)) = self.places.remove(&number) else {
            return;
        };
        let (space, dimension) = (&mut self.spaces[index], self.model.dimension());
        let last = space.rows.len() - 1;
        space.rows.swap_remove(row);
        space.steps.copy_within(last * dimension.., row * dimension);
        space.steps.truncate(last * dimension);
        if let Some(moved) = space.rows.get(row) {
            self.places.insert(moved.number, (index, row));
        }
    }

    /// The cosine of a memory's vector, if it has one.
    pub(super) fn cosine(&self, number: i64, probe: &Probe) -> Option<f64> {
        let (index, row) = *self.places.get(&number)?;
        let (space, dimension) = (&self.spaces[index], self.model.dimension());
        let steps = &space.steps[row * dimension..][..dimension];
        let mut product = [0];
        probe.products(steps, &mut product);
        Some(probe.cosine(product[0], space.rows[row].length))
    }

    /// Every vector of a namespace, to be compared with a probe.
    pub(super) fn scan(&self, namespace: &str, probe: Probe) -> Scan<'_> {
        let index = self.namespaces.get(namespace);
        let space = index.map(|index| &self.spaces[*index]);
        Scan {
            probe,
            dimension: self.model.dimension(),
            rows: space.map_or(&[], |space| &space.rows),
            steps: space.map_or(&[], |space| &space.steps),
            next: AtomicUsize::new(0),
        }
    }
}

/// A comparison of a probe with all vectors of a namespace, piece by piece, by whoever has the time.
pub(super) struct Scan<'a> {
    pub probe: Probe,
    dimension: usize,
    rows: &'a [Row],
    steps: &'a [i8],
    /// The next piece that nobody has taken.
    next: AtomicUsize,
}

/// A piece by its number, with the products of its rows.
type Compared = (usize, Vec<i32>);

/// Threads that take part in a scan.
pub(super) type Begun<'scope> = Vec<ScopedJoinHandle<'scope, Vec<Compared>>>;

impl Scan<'_> {
    /// Begins on threads of their own, if there is enough to do for them.
    pub(super) fn begin<'scope>(&'scope self, threads: &'scope Scope<'scope, '_>) -> Begun<'scope> {
        let others = if self.rows.len() < WORTH_A_THREAD {
            0
        } else {
            parallel::processors().min(MOST_THREADS) - 1
        };
        (0..others)
            .map(|_| threads.spawn(|| self.compare()))
            .collect()
    }

    /// Takes pieces until none is left.
    fn compare(&self) -> Vec<Compared> {
        let pieces = self.rows.len().div_ceil(PIECE);
        let taken = iter::from_fn(|| {
            let piece = self.next.fetch_add(1, Ordering::Relaxed);
            (piece < pieces).then_some(piece)
        });
        taken
            .map(|piece| {
                let rows = PIECE.min(self.rows.len() - piece * PIECE);
                let steps = &self.steps[piece * PIECE * self.dimension..][..rows * self.dimension];
                let mut products = vec![0; rows];
                self.probe.products(steps, &mut products);
                (piece, products)
            })
            .collect()
    }

    /// Ends what was begun: the numbers of the `most` nearest memories that `admits` lets in, by
    /// cosines above 0, in no particular order; more than the most only where the last ones tie.
    pub(super) fn nearest<E>(
        &self,
        begun: Begun<'_>,
        most: usize,
        mut admits: impl FnMut(i64) -> Result<bool, E>,
    ) -> Result<Vec<i64>, E> {
        let mut compared = self.compare();
        for other in begun {
            compared.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        let mut best = Best::new(most);
        for (piece, products) in compared {
            for (row, product) in self.rows[piece * PIECE..].iter().zip(products) {
                let score = self.probe.cosine(product, row.length);
                if score <= 0.0 || !best.wants_score(score) {
                    continue;
                }
                let rank = Rank {
                    score,
                    created: row.created,
                    id_head: row.id_head,
                };
                if best.wants(&rank) && admits(row.number)? {
                    best.offer(rank, row.number);
                }
            }
        }
        Ok(best
            .into_items()
            .into_iter()
            .map(|(_, number)| number)
            .collect())
    }
}
