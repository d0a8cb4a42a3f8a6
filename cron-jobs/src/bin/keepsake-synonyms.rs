//! `keepsake-synonyms`: synonyms, and the domain dictionary.

use std::process::ExitCode;

use keepsake::maintenance::Job;

fn main() -> ExitCode {
    let about = "Find words that say the same, and words that the dictionary does not know";
    keepsake_cron_jobs::main(
        env!("CARGO_BIN_NAME"),
        about,
        &[Job::Synonyms, Job::Dictionary],
    )
}
