//! Work that keeps processors busy, kept off the threads that answer requests.

use std::panic::resume_unwind;
use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;

use tokio::task::spawn_blocking;

/// Work on fewer bytes of text than this is done where it is asked for: it takes about as long as
/// handing it over.
const WORTH_IT: usize = 16 * 1024;

/// How many processors there are for us, at least 1; asked once, since the answer takes reading files.
pub fn processors() -> usize {
    static PROCESSORS: LazyLock<usize> =
        LazyLock::new(|| available_parallelism().map_or(1, usize::from));
    *PROCESSORS
}

/// Maps items, in their order, on all processors. `bytes` is how much text is worked on.
pub async fn map<T, R>(
    mut items: Vec<T>,
    bytes: usize,
    work: impl Fn(T) -> R + Send + Sync + 'static,
) -> Vec<R>
where
    T: Send + 'static,
    R: Send + 'static,
{
    if bytes < WORTH_IT {
        return items.into_iter().map(work).collect();
    }
    let work = Arc::new(work);
    let share = items.len().div_ceil(processors()).max(1);
    let mut parts = Vec::new();
    while !items.is_empty() {
        let rest = items.split_off(share.min(items.len()));
        let (part, work) = (std::mem::replace(&mut items, rest), work.clone());
        parts.push(spawn_blocking(move || {
            part.into_iter().map(|item| work(item)).collect::<Vec<R>>()
        }));
    }
    let mut mapped = Vec::new();
    for part in parts {
        match part.await {
            Ok(part) => mapped.extend(part),
            Err(error) => resume_unwind(error.into_panic()),
        }
    }
    mapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn items_come_back_in_their_order_however_much_there_is() {
        for (count, bytes) in [
            (0, 0),
            (0, 1 << 20),
            (1, 1 << 20),
            (1_001, 1 << 20),
            (5, 10),
        ] {
            let doubled = map((0..count).collect(), bytes, |number: u32| number * 2).await;
            assert_eq!(
                doubled,
                (0..count).map(|number| number * 2).collect::<Vec<_>>()
            );
        }
    }
}
