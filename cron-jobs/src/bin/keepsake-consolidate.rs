//! `keepsake-consolidate`: consolidation, then forgetting.

use std::process::ExitCode;

use keepsake::maintenance::Job;

fn main() -> ExitCode {
    let about = "Merge old memories about the same, then forget what nobody valued, felt or found";
    keepsake_cron_jobs::main(
        env!("CARGO_BIN_NAME"),
        about,
        &[Job::Consolidate, Job::Forget],
    )
}
