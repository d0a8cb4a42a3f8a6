//! The maintenance binaries: from what was typed to an exit code. They work on the store itself,
//! whether a service runs on it or not.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use super::printer::{Colour, Printer, progress};
use crate::app::App;
use crate::clock::{Clock, parse_time};
use crate::config::{Environment, Flags, Loaded, load};
use crate::error::Error;
use crate::maintenance::{Job, Options, Progress, Report, run as run_job};

/// Exit code when the job is being done elsewhere: "try again later" of sysexits.
const RUNNING: u8 = 75;

/// What may be typed.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Only tell what would be done
    #[arg(long)]
    dry_run: bool,
    /// Most memories, or words, that are changed
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Leave memories alone that are about an earlier time (RFC 3339, or a day)
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<DateTime<Utc>>,
    /// Stay, and do it again after so long, such as 90s, 30m, 2h or 1d
    #[arg(long, value_name = "TIME", value_parser = span)]
    every: Option<Duration>,
    /// Consolidate without a chat model: every distinct statement is kept as it is
    #[arg(long)]
    extractive: bool,
    /// Print the answer as JSON, a line for each job
    #[arg(long)]
    json: bool,
    /// Print nothing when there was nothing to do
    #[arg(long)]
    quiet: bool,
    /// Folder of the embedded store
    #[arg(long, value_name = "DIR")]
    data_dir: Option<String>,
}

fn time(text: &str) -> Result<DateTime<Utc>, String> {
    parse_time(text).ok_or_else(|| "is no time".to_owned())
}

fn span(text: &str) -> Result<Duration, String> {
    let unsound = || "is no span of time, such as 90s, 30m, 2h or 1d".to_owned();
    let unit = text.chars().next_back().ok_or_else(unsound)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(unsound()),
    };
    let number = text[..text.len() - 1]
        .parse::<u64>()
        .map_err(|_| unsound())?;
    match number.checked_mul(seconds) {
        None | Some(0) => Err(unsound()),
        Some(seconds) => Ok(Duration::from_secs(seconds)),
    }
}

/// Does the jobs, one after the other; the exit code: 0 done, 1 failed, 75 another one is running.
pub fn run(arguments: Arguments, jobs: &[Job], environment: &Environment) -> ExitCode {
    super::log_to_stderr("warn", environment);
    let printer = Printer::new(arguments.json, Colour::Auto, environment);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(until_asked(&arguments, jobs, environment, &printer)),
        Err(error) => Err(error.into()),
    };
    outcome.unwrap_or_else(|error| printer.failed(&error))
}

/// Works until it is done or asked to stop, which is no failure of what would go on for ever. A first
/// process of a container has no other way to be stopped at once.
async fn until_asked(
    arguments: &Arguments,
    jobs: &[Job],
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<ExitCode> {
    let (mut terminate, mut interrupt) = (
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
    );
    tokio::select! {
        code = repeat(arguments, jobs, environment, printer) => return code,
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    match arguments.every {
        Some(_) => Ok(ExitCode::SUCCESS),
        None => anyhow::bail!("stopped before it was done\nhint: run it again"),
    }
}

async fn repeat(
    arguments: &Arguments,
    jobs: &[Job],
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<ExitCode> {
    loop {
        let code = once(arguments, jobs, environment, printer).await;
        let Some(pause) = arguments.every else {
            return code;
        };
        // What failed may pass by the next time.
        if let Err(error) = code {
            printer.failed(&error);
        }
        tokio::time::sleep(pause).await;
    }
}

/// Does each job once, also after one that failed.
async fn once(
    arguments: &Arguments,
    jobs: &[Job],
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<ExitCode> {
    let folder = arguments.data_dir.clone();
    let flags: Flags = folder
        .into_iter()
        .map(|folder| ("data_dir", folder))
        .collect();
    let Loaded { settings, warnings } = load(&flags, environment)?;
    warnings
        .iter()
        .for_each(|warning| tracing::warn!("{warning}"));
    let app = App::open(settings, Clock::System)?;
    let mut code = ExitCode::SUCCESS;
    for job in jobs {
        let options = Options {
            dry_run: arguments.dry_run.then_some(true),
            limit: arguments.limit,
            since: arguments.since,
            extractive: arguments.extractive,
        };
        let bar = progress(None, "memories examined")?;
        let shown = bar.clone();
        let watch: Progress = Arc::new(move |examined| shown.set_position(examined));
        let done = run_job(&app, *job, options, watch).await;
        bar.finish_and_clear();
        match done {
            Ok(report) => print(arguments, &report, printer)?,
            Err(error @ Error::Running(_)) => {
                printer.failed(&error.into());
                code = ExitCode::from(RUNNING);
            }
            Err(error) => code = printer.failed(&error.into()),
        }
    }
    Ok(code)
}

fn print(arguments: &Arguments, report: &Report, printer: &Printer) -> anyhow::Result<()> {
    if arguments.quiet && report.is_idle() {
        return Ok(());
    }
    let line = match arguments.json {
        true => report.to_json().to_string(),
        false => told(report),
    };
    printer.raw(format!("{line}\n").as_bytes())
}

/// One line for people.
fn told(report: &Report) -> String {
    let job = report.job.name();
    let mut line = match report.dry_run {
        true => format!(
            "{job} (dry run): {} examined, {} would be changed",
            report.examined, report.planned
        ),
        false => format!(
            "{job}: {} examined, {} changed",
            report.examined, report.changed
        ),
    };
    if let Some(note) = report.further.get("note").and_then(|note| note.as_str()) {
        line = format!("{line}; {note}");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_time_have_a_unit() {
        let seconds = |text| span(text).ok().map(|span| span.as_secs());
        for (text, expected) in [
            ("90s", Some(90)),
            ("30m", Some(1_800)),
            ("2h", Some(7_200)),
            ("1d", Some(86_400)),
            ("2", None),
            ("h", None),
            ("0s", None),
            ("2時", None),
            ("", None),
            ("99999999999999999999d", None),
            ("9999999999999999999d", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }
}
