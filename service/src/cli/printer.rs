//! The only place that writes to standard output: answers as text for people or as JSON for
//! programs, and what the terminal can show.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use super::text::{harmless, harmless_value};
use crate::config::Environment;

/// Exit code of a verb that failed.
const FAILED: u8 = 1;
/// Columns where nothing says how many there are.
const COLUMNS: usize = 100;
/// Fewest columns that a table is made for.
const FEWEST_COLUMNS: usize = 40;

/// When to use colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Colour {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    Always,
    Never,
}

/// Prints answers.
pub(super) struct Printer {
    pub json: bool,
    pub page: Page,
}

/// What a text for people is made for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page {
    pub columns: usize,
    colours: bool,
}

impl Page {
    pub(super) fn title(self, text: &str) -> String {
        self.styled(Style::new().bold(), text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.styled(Style::new().dimmed(), text)
    }

    pub(super) fn bar(self, text: &str) -> String {
        self.styled(AnsiColor::Cyan.on_default(), text)
    }

    fn styled(self, style: Style, text: &str) -> String {
        match self.colours {
            true => format!("{style}{text}{style:#}"),
            false => text.to_owned(),
        }
    }
}

impl Printer {
    pub(super) fn new(json: bool, colour: Colour, environment: &Environment) -> Printer {
        let set = |name: &str| environment.get(name).is_some_and(|text| !text.is_empty());
        let colours = match colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => io::stdout().is_terminal() && !set("NO_COLOR") && !is_dumb(environment),
        };
        Printer {
            json,
            page: Page {
                columns: columns(environment).max(FEWEST_COLUMNS),
                colours,
            },
        }
    }

    /// Prints an answer: as JSON if asked for, else by `text`, which sees harmless texts only.
    pub(super) fn answer(
        &self,
        value: &Value,
        text: impl FnOnce(&Value, Page) -> String,
    ) -> anyhow::Result<()> {
        let mut shown = if self.json {
            serde_json::to_string_pretty(value)?
        } else {
            text(&harmless_value(value), self.page)
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

    /// Asks a question on the terminal; without one the answer is no.
    pub(super) fn confirms(&self, question: &str) -> anyhow::Result<bool> {
        if !io::stdin().is_terminal() {
            anyhow::bail!("{question}\nhint: `--yes` does it without asking");
        }
        write!(io::stderr(), "{question} [y/N] ")?;
        let mut line = String::new();
        io::stdin().read_line(&mut line)?;
        Ok(matches!(line.trim(), "y" | "Y" | "yes"))
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
        let _ = writeln!(io::stderr(), "error: {}", harmless(&text));
        ExitCode::from(FAILED)
    }
}

/// A progress bar on a terminal, and nothing elsewhere; of unknown length without a total.
pub(super) fn progress(total: Option<u64>, unit: &str) -> anyhow::Result<ProgressBar> {
    if !io::stderr().is_terminal() {
        return Ok(ProgressBar::hidden());
    }
    let (bar, template) = match total {
        Some(total) => (ProgressBar::new(total), "{bar:40} {pos}/{len} {unit} {eta}"),
        None => (ProgressBar::new_spinner(), "{spinner} {pos} {unit}"),
    };
    let style = ProgressStyle::with_template(&template.replace("{unit}", unit))?;
    Ok(bar.with_style(style))
}

fn columns(environment: &Environment) -> usize {
    let told = environment
        .get("COLUMNS")
        .and_then(|text| text.parse().ok());
    let seen = || {
        let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
        Some(usize::from(width.0))
    };
    told.or_else(seen).unwrap_or(COLUMNS)
}

/// Whether the terminal says that it can do nothing.
fn is_dumb(environment: &Environment) -> bool {
    environment.get("TERM").is_some_and(|term| term == "dumb")
}
