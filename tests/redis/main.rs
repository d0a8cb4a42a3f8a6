//! Keepsake on a real Redis with the search module: data of the Python Keepsake, faults, several
//! processes, the number of exchanges. `tests/redis/install` brings what is needed.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails; its helpers stand outside of test modules"
)]

mod copying;
mod exchanges;
mod faults;
mod python;
mod refusals;
mod same;
mod sentinel;
mod support;
mod together;
