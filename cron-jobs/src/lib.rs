//! What the binaries of maintenance have in common. The work itself is `keepsake::maintenance`; the way
//! from what was typed to an exit code is `keepsake::cli::jobs`.

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};
use keepsake::cli::jobs::{Arguments, run};
use keepsake::maintenance::Job;

/// Gives memory back where the system's allocator keeps it.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

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

/// Does the jobs of a binary, one after the other, and gives the exit code; `about` is what its help
/// begins with.
pub fn main(binary: &'static str, about: &'static str, jobs: &[Job]) -> ExitCode {
    let typed = Command::command().name(binary).about(about).get_matches();
    let command = Command::from_arg_matches(&typed).unwrap_or_else(|error| error.exit());
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment"
    )]
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    run(command.arguments, jobs, &environment)
}
