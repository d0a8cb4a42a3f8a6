//! `keepsake-dedup`: deduplication.

use std::process::ExitCode;

use keepsake::maintenance::Job;

fn main() -> ExitCode {
    let about =
        "Make one of memories that say the same, and let new values take the place of old ones";
    keepsake_cron_jobs::main(env!("CARGO_BIN_NAME"), about, &[Job::Dedup])
}
