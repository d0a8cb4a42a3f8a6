//! The `keepsake` binary: parse, start logging, hand over to the command line.

use std::process::ExitCode;

use clap::Parser;
use keepsake::cli::{self, Arguments};

/// Gives back what is not in use, where the system's allocator keeps it: loading the model and a long
/// import leave nothing behind.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment"
    )]
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    cli::start_logging(&arguments, &environment);
    cli::run(arguments, &environment, std::env::current_exe().ok())
}
