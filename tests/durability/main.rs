//! The service is killed, its disk fills up, its files are damaged, another process uses its folder:
//! nothing acknowledged is lost, and answers stay right.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod faults;
mod kills;
mod memory;
mod spool;
mod support;
mod together;
