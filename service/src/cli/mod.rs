//! The command line: the same verbs as the service, on the store directly or over HTTP.
//!
//! A verb turns what was typed into one request and its answer into text; the work is done by the
//! routes, in this process or in the service that `--url` names.

mod client;
mod eval;
mod import;
mod printer;
mod serve;
mod tables;
mod verbs;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use chrono::{DateTime, Utc};
use clap::{Args, Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use crate::app::App;
use crate::clock::Clock;
use crate::config::{self, raw};
use crate::http::local::Local;
use client::{Client, Transport};
use printer::Printer;

/// Long-term memory for AI agents.
#[derive(Debug, Parser)]
#[command(
    version,
    about,
    propagate_version = true,
    max_term_width = 100,
    after_help = "Example:\n  keepsake add \"The wifi code is 1234\" --tag home\n  keepsake search \"wifi\""
)]
pub struct Arguments {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Args)]
struct Global {
    /// Use the service at this address instead of the store itself (or set `KEEPSAKE_URL`)
    #[arg(long, global = true, value_name = "URL")]
    url: Option<String>,
    /// Folder of the embedded store
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Namespace to work in
    #[arg(long, global = true, value_name = "NAME")]
    namespace: Option<String>,
    /// Read and write as this agent
    #[arg(long, global = true, value_name = "ID")]
    agent: Option<String>,
    /// See all memories of the namespace (the default when no agent is given)
    #[arg(long, global = true)]
    primary: bool,
    /// Print the answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Start the service
    #[command(after_help = "Example:\n  keepsake serve --listen 127.0.0.1:7437")]
    Serve(serve::Serve),
    /// Store a memory
    #[command(
        after_help = "Example:\n  keepsake add \"Ann prefers tea\" --tag people --created-at 2026-05-01T08:00:00Z"
    )]
    Add(verbs::Add),
    /// Find memories, with the reasons for their rank
    #[command(
        after_help = "Example:\n  keepsake search \"what does Ann drink?\" --top-k 3\n  keepsake search -- --dry-run"
    )]
    Search(verbs::Search),
    /// Show what a message would bring to mind, as the block of text for a model
    #[command(after_help = "Example:\n  keepsake prefetch \"Shall I make tea for Ann?\"")]
    Prefetch(verbs::Prefetch),
    /// List memories, newest first
    #[command(after_help = "Example:\n  keepsake list --tag people --limit 20")]
    List(verbs::List),
    /// Show one memory
    #[command(after_help = "Example:\n  keepsake show 4k7qzt")]
    Show(verbs::Show),
    /// Move a memory to the trash
    #[command(after_help = "Example:\n  keepsake delete 4k7qzt")]
    Delete(verbs::Delete),
    /// Take a memory out of the trash
    #[command(after_help = "Example:\n  keepsake restore 4k7qzt")]
    Restore(verbs::Restore),
    /// Say whether a memory was useful
    #[command(after_help = "Example:\n  keepsake feedback 4k7qzt useful")]
    Feedback(verbs::Feedback),
    /// Import memories from NDJSON or plain text
    #[command(
        after_help = "Example:\n  keepsake import notes.txt\n  keepsake import backup.ndjson --format ndjson"
    )]
    Import(import::Import),
    /// Write every memory to standard output, one JSON object a line
    #[command(after_help = "Example:\n  keepsake export > backup.ndjson")]
    Export,
    /// Measure retrieval on labelled question sets
    #[command(
        after_help = "Example:\n  keepsake eval ../shared/eval --ablate\n  keepsake eval ../shared/eval --compare runs/before runs/after"
    )]
    Eval(eval::Eval),
}

/// Logs to standard error: what `KEEPSAKE_LOG` says, else what matters.
pub fn start_logging(arguments: &Arguments, environment: &raw::Environment) {
    let default = if matches!(arguments.verb, Verb::Serve(_)) {
        "info"
    } else {
        "warn"
    };
    let filter = environment
        .get("KEEPSAKE_LOG")
        .filter(|filter| !filter.is_empty())
        .map_or(default, String::as_str);
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new(default));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
}

/// Runs a verb and gives the exit code: 0 done, 1 failed, 2 usage.
pub fn run(arguments: Arguments, environment: &raw::Environment) -> ExitCode {
    let printer = Printer {
        json: arguments.global.json,
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return printer.failed(&error.into()),
    };
    match runtime.block_on(dispatch(arguments, environment, &printer)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => printer.failed(&error),
    }
}

async fn dispatch(
    arguments: Arguments,
    environment: &raw::Environment,
    printer: &Printer,
) -> anyhow::Result<()> {
    let global = &arguments.global;
    match arguments.verb {
        Verb::Serve(serve) => serve.run(global, environment, printer).await,
        Verb::Eval(eval) => eval.run(global, environment, printer).await,
        Verb::Add(add) => add.run(&client(global, environment, None)?, printer).await,
        Verb::Search(search) => {
            let client = client(global, environment, search.now)?;
            search.run(&client, printer).await
        }
        Verb::Prefetch(prefetch) => {
            let client = client(global, environment, prefetch.now)?;
            prefetch.run(&client, printer).await
        }
        Verb::List(list) => list.run(&client(global, environment, None)?, printer).await,
        Verb::Show(show) => show.run(&client(global, environment, None)?, printer).await,
        Verb::Delete(delete) => {
            delete
                .run(&client(global, environment, None)?, printer)
                .await
        }
        Verb::Restore(restore) => {
            restore
                .run(&client(global, environment, None)?, printer)
                .await
        }
        Verb::Feedback(feedback) => {
            feedback
                .run(&client(global, environment, None)?, printer)
                .await
        }
        Verb::Import(import) => {
            import
                .run(&client(global, environment, None)?, printer)
                .await
        }
        Verb::Export => client(global, environment, None)?.export(printer).await,
    }
}

/// Settings from flags, environment and file; warnings go to the log.
fn settings(
    global: &Global,
    mut flags: raw::Flags,
    environment: &raw::Environment,
) -> anyhow::Result<config::Settings> {
    if let Some(folder) = &global.data_dir {
        flags.insert("data_dir", folder.display().to_string());
    }
    let loaded = config::load(&flags, environment)?;
    loaded
        .warnings
        .iter()
        .for_each(|warning| tracing::warn!("{warning}"));
    Ok(loaded.settings)
}

fn client(
    global: &Global,
    environment: &raw::Environment,
    now: Option<DateTime<Utc>>,
) -> anyhow::Result<Client> {
    let set = environment
        .get("KEEPSAKE_URL")
        .filter(|url| !url.is_empty());
    let transport = match (global.url.as_ref().or(set), now) {
        (Some(_), Some(_)) => anyhow::bail!("`--now` works on the store itself, not with `--url`"),
        (Some(url), None) => Transport::remote(url)?,
        (None, now) => {
            let clock = now.map_or(Clock::System, Clock::fixed);
            Transport::Local(Local::new(App::open(
                settings(global, raw::Flags::new(), environment)?,
                clock,
            )?))
        }
    };
    Ok(Client::new(
        transport,
        global.namespace.clone(),
        global.agent.clone(),
        global.primary || global.agent.is_none(),
    ))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }
}
