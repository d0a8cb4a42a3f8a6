//! `keepsake-dedup`: deduplication.

use std::process::ExitCode;

use clap::Parser;
use keepsake::cli::jobs::Arguments;
use keepsake::maintenance::Job;

/// Gives memory back where the system's allocator keeps it.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Make one of memories that say the same, and let new values take the place of old ones
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 done, 1 failed, 2 not understood, 75 another one is running."
)]
struct Command {
    #[command(flatten)]
    arguments: Arguments,
}

fn main() -> ExitCode {
    keepsake_cron_jobs::main(Command::parse().arguments, &[Job::Dedup])
}
