//! The only place that writes to standard output.

use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::Value;

/// Exit code of a verb that failed.
const FAILED: u8 = 1;

/// Prints answers as text for people or as JSON for programs.
pub(super) struct Printer {
    pub json: bool,
}

impl Printer {
    /// Prints an answer: as JSON if asked for, else by `text`.
    pub(super) fn answer(
        &self,
        value: &Value,
        text: impl FnOnce(&Value) -> String,
    ) -> anyhow::Result<()> {
        let mut shown = if self.json {
            serde_json::to_string_pretty(value)?
        } else {
            text(value)
        };
        if !shown.is_empty() && !shown.ends_with('\n') {
            shown.push('\n');
        }
        self.raw(shown.as_bytes())
    }

    /// Prints bytes as they are. A reader that went away has seen enough.
    pub(super) fn raw(&self, bytes: &[u8]) -> anyhow::Result<()> {
        let mut out = io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
            result => Ok(result?),
        }
    }

    /// Says on standard error what failed and why.
    pub(super) fn failed(&self, error: &anyhow::Error) -> ExitCode {
        let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
        let mut shown: Vec<&String> = Vec::new();
        for cause in &causes {
            // A cause that its consequence repeats adds nothing.
            if !shown.iter().any(|before| before.contains(cause.as_str())) {
                shown.push(cause);
            }
        }
        let text = shown
            .into_iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n  because: ");
        // Nobody is left to tell if standard error is closed.
        let _ = writeln!(io::stderr(), "error: {text}");
        ExitCode::from(FAILED)
    }
}
