//! What the binaries of maintenance have in common. The work itself is `keepsake::maintenance`; the way
//! from what was typed to an exit code is `keepsake::cli::jobs`.

use std::process::ExitCode;

use keepsake::cli::jobs::{Arguments, run};
use keepsake::maintenance::Job;

/// Does the jobs, one after the other, and gives the exit code.
pub fn main(arguments: Arguments, jobs: &[Job]) -> ExitCode {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment"
    )]
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    run(arguments, jobs, &environment)
}
