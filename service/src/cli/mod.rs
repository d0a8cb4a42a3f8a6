//! The command line: the same verbs as the service, on the store directly or over HTTP.
//!
//! A verb turns what was typed into one request and its answer into text; the work is done by the
//! routes, in this process or in the service that `--url` names.

mod client;
mod config;
mod copy;
mod doctor;
mod eval;
mod export;
mod import;
pub mod jobs;
mod keeping;
mod key;
mod mcp;
mod memories;
mod model;
mod presence;
mod printer;
mod redis;
mod search;
mod serve;
mod service;
mod signals;
mod tables;
mod text;

use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use std::process::ExitCode;

use chrono::{DateTime, Utc};
use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use serde_json::{Map, Value};
use tracing_subscriber::EnvFilter;

use crate::app::App;
use crate::clock::Clock;
use crate::config::{Environment, Flags, Loaded, Settings, StoreChoice, load};
use crate::http::local::Local;
use crate::secret::Secret;
use client::{Client, Identity, Transport};
use printer::{Colour, Printer};

/// Exit code of a search that found nothing.
const NOTHING_FOUND: u8 = 3;

/// Long-term memory for AI agents.
#[derive(Debug, Parser)]
#[command(
    version,
    about,
    propagate_version = true,
    max_term_width = 100,
    after_help = "Examples:
  keepsake add \"The wifi code is 1234\" --tag home
  keepsake search \"wifi\"

A verb works on the service that --url names, else on the one that runs on the data folder, else on
the folder itself. Answers go to standard output, all else to standard error.

Exit codes: 0 done, 1 failed, 2 not understood, 3 nothing found (search, and delete by filters)."
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
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: Colour,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Start the service
    #[command(after_help = "Example:\n  keepsake serve --listen 127.0.0.1:7437")]
    Serve(serve::Serve),
    /// Have systemd or launchd run the service
    #[command(after_help = "Example:\n  keepsake service install --dry-run")]
    Service(service::Service),
    /// Store a memory
    #[command(
        after_help = "Example:\n  keepsake add \"Ann prefers tea\" --tag people --created-at 2026-05-01T08:00:00Z"
    )]
    Add(memories::Add),
    /// Find memories, with the reasons for their rank
    #[command(
        after_help = "Example:\n  keepsake search \"what does Ann drink?\" --top-k 3 --explain\n  keepsake search -- --dry-run"
    )]
    Search(search::Search),
    /// Show what a message would bring to mind, as the block of text for a model
    #[command(after_help = "Example:\n  keepsake prefetch \"Shall I make tea for Ann?\"")]
    Prefetch(search::Prefetch),
    /// List memories, newest first
    #[command(after_help = "Example:\n  keepsake list --tag people --limit 20")]
    List(memories::List),
    /// Show one memory
    #[command(after_help = "Example:\n  keepsake show 4k7qzt")]
    Show(memories::Show),
    /// Change a memory
    #[command(
        after_help = "Example:\n  keepsake edit 4k7qzt --content \"Ann prefers green tea\" --tag people"
    )]
    Edit(memories::Edit),
    /// Move a memory, or all that filters name, to the trash
    #[command(
        after_help = "Example:\n  keepsake delete 4k7qzt\n  keepsake delete --source notes --state expired --yes"
    )]
    Delete(memories::Delete),
    /// Take a memory out of the trash
    #[command(after_help = "Example:\n  keepsake restore 4k7qzt")]
    Restore(memories::Restore),
    /// Say whether a memory was useful
    #[command(after_help = "Example:\n  keepsake feedback 4k7qzt useful")]
    Feedback(signals::Feedback),
    /// Say that memories are wrong, so that they are never shown again
    #[command(
        after_help = "Example:\n  keepsake correct 4k7qzt 9mbw2c\n  keepsake correct --undo 4k7qzt"
    )]
    Correct(signals::Correct),
    /// What memories are most about
    #[command(after_help = "Example:\n  keepsake topics --period weekly")]
    Topics(signals::Ranked),
    /// What got the most attention
    #[command(after_help = "Example:\n  keepsake attention --limit 20")]
    Attention(signals::Ranked),
    /// People, places and things that memories name
    #[command(subcommand, after_help = "Example:\n  keepsake entities timeline Ann")]
    Entities(signals::Entities),
    /// Terms that are searched by as well
    #[command(
        subcommand,
        after_help = "Example:\n  keepsake synonyms set k8s kubernetes"
    )]
    Synonyms(signals::Synonyms),
    /// The lock that turns retrieval off for a while
    #[command(subcommand, after_help = "Example:\n  keepsake lock set --ttl 600")]
    Lock(signals::Lock),
    /// Import memories from files: NDJSON, MEMORY.md and USER.md of Hermes, a Retinue database, text
    #[command(
        after_help = "Example:\n  keepsake import notes.txt\n  keepsake import ~/.hermes/memories/MEMORY.md ~/.hermes/memories/USER.md --dry-run"
    )]
    Import(import::Import),
    /// Write every memory to standard output, one JSON object a line
    #[command(after_help = "Example:\n  keepsake export > backup.ndjson")]
    Export,
    /// Copy everything of one store into another; what is there as new stays
    #[command(
        after_help = "Example:\n  keepsake copy --from ~/.local/share/keepsake --to redis://127.0.0.1:6379\n\nRunning it again goes on where it was interrupted."
    )]
    Copy(copy::Copy),
    /// What concerns Redis alone
    #[command(after_help = "Example:\n  keepsake redis drop-python-index")]
    Redis(redis::Redis),
    /// Count memories by state
    #[command(after_help = "Example:\n  keepsake stats")]
    Stats,
    /// Whether the service can answer, as a health check asks it
    #[command(after_help = "Example:\n  keepsake ready --url http://127.0.0.1:7437")]
    Ready,
    /// The settings: what they are, whether they are sound, where they are
    #[command(subcommand, after_help = "Example:\n  keepsake config show")]
    Config(config::Config),
    /// API keys: who may use the service, and whose memories they reach
    #[command(
        subcommand,
        after_help = "Example:\n  keepsake key create laptop --agent hermes --read-only"
    )]
    Key(key::Key),
    /// Look at all that a service stands on, and say how to mend what is wrong
    #[command(after_help = "Example:\n  keepsake doctor --json")]
    Doctor(doctor::Doctor),
    /// Copy the store into a new folder, while it is used
    #[command(after_help = "Example:\n  keepsake backup /mnt/backups/2026-05-01")]
    Backup(keeping::BackupTo),
    /// Make the search index anew, and the vectors that are missing
    #[command(after_help = "Example:\n  keepsake reindex")]
    Reindex(keeping::Reindex),
    /// Fetch an embedding model
    #[command(
        after_help = "Example:\n  keepsake model download minishlab/potion-multilingual-128M"
    )]
    Model(model::Model),
    /// Serve tools to a model over standard input and output (Model Context Protocol)
    #[command(after_help = "Example:\n  claude mcp add keepsake -- keepsake mcp --agent claude")]
    Mcp(mcp::Mcp),
    /// Measure retrieval on labelled question sets
    #[command(
        after_help = "Example:\n  keepsake eval ../shared/eval --ablate\n  keepsake eval ../shared/eval --compare before/hybrid after/hybrid"
    )]
    Eval(eval::Eval),
    /// Write a script that completes commands in a shell
    #[command(
        after_help = "Example:\n  keepsake completions bash > ~/.local/share/bash-completion/completions/keepsake"
    )]
    Completions { shell: Shell },
}

/// How a verb that did not fail ended.
enum Outcome {
    Done,
    NothingFound,
}

/// Logs to standard error: what `KEEPSAKE_LOG` says, else what matters.
pub fn start_logging(arguments: &Arguments, environment: &Environment) {
    let default = if matches!(arguments.verb, Verb::Serve(_)) {
        "info"
    } else {
        "warn"
    };
    log_to_stderr(default, environment);
}

/// Logs what `KEEPSAKE_LOG` says, else from `default` on.
fn log_to_stderr(default: &str, environment: &Environment) {
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

/// Runs a verb and gives the exit code: 0 done, 1 failed, 3 nothing found (2 is usage). `program` is
/// this program's file.
pub fn run(arguments: Arguments, environment: &Environment, program: Option<PathBuf>) -> ExitCode {
    let global = &arguments.global;
    let printer = Printer::new(global.json, global.color, environment);
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return printer.failed(&error.into()),
    };
    match runtime.block_on(dispatch(arguments, environment, program, &printer)) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::NothingFound) => ExitCode::from(NOTHING_FOUND),
        Err(error) => printer.failed(&error),
    }
}

async fn dispatch(
    arguments: Arguments,
    environment: &Environment,
    program: Option<PathBuf>,
    printer: &Printer,
) -> anyhow::Result<Outcome> {
    let global = &arguments.global;
    let now = match &arguments.verb {
        Verb::Search(search) => search.now(),
        Verb::Prefetch(prefetch) => prefetch.now(),
        _ => None,
    };
    let client = || client(global, environment, now);
    match arguments.verb {
        Verb::Serve(serve) => serve.run(global, environment, printer).await,
        Verb::Service(service) => service.run(global, environment, program, printer),
        Verb::Eval(eval) => eval.run(global, environment, printer).await,
        Verb::Copy(copy) => copy.run(global, environment, printer).await,
        Verb::Redis(redis) => redis.run(global, environment, printer).await,
        Verb::Mcp(mcp) => mcp.run(client().await?).await,
        Verb::Model(model) => model.run(global, environment, printer).await,
        Verb::Config(config) => config.run(&flags(global), environment, printer),
        Verb::Doctor(doctor) => doctor.run(global, environment, printer).await,
        Verb::Key(key) => key.run(global, environment, printer),
        Verb::Completions { shell } => completions(shell, printer),
        Verb::Add(add) => add.run(&client().await?, printer).await,
        Verb::Search(search) => search.run(&client().await?, printer).await,
        Verb::Prefetch(prefetch) => prefetch.run(&client().await?, printer).await,
        Verb::List(list) => list.run(&client().await?, printer).await,
        Verb::Show(show) => show.run(&client().await?, printer).await,
        Verb::Edit(edit) => edit.run(&client().await?, printer).await,
        Verb::Delete(delete) => delete.run(&client().await?, printer).await,
        Verb::Restore(restore) => restore.run(&client().await?, printer).await,
        Verb::Feedback(feedback) => feedback.run(&client().await?, printer).await,
        Verb::Correct(correct) => correct.run(&client().await?, printer).await,
        Verb::Topics(topics) => topics.run("topics", &client().await?, printer).await,
        Verb::Attention(ranked) => ranked.run("attention", &client().await?, printer).await,
        Verb::Entities(entities) => entities.run(&client().await?, printer).await,
        Verb::Synonyms(synonyms) => synonyms.run(&client().await?, printer).await,
        Verb::Lock(lock) => lock.run(&client().await?, printer).await,
        Verb::Import(import) => import.run(&client().await?, printer).await,
        Verb::Export => export::run(&client().await?, printer).await,
        Verb::Ready => signals::ready(&client().await?, printer).await,
        Verb::Stats => signals::stats(&client().await?, printer).await,
        Verb::Backup(backup) => backup.run(global, environment, printer).await,
        Verb::Reindex(reindex) => reindex.run(global, environment, printer).await,
    }
}

fn completions(shell: Shell, printer: &Printer) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "keepsake", &mut script);
    printer.raw(&script)?;
    Ok(Outcome::Done)
}

/// The settings that global flags give.
fn flags(global: &Global) -> Flags {
    let folder = global.data_dir.as_ref();
    let folder = folder.map(|folder| ("data_dir", folder.display().to_string()));
    folder.into_iter().collect()
}

/// Settings from flags, environment and file; warnings go to the log.
fn settings(flags: &Flags, environment: &Environment) -> anyhow::Result<Settings> {
    let Loaded { settings, warnings } = load(flags, environment)?;
    warnings
        .iter()
        .for_each(|warning| tracing::warn!("{warning}"));
    Ok(settings)
}

/// The way to the memories: the service that is named, the one that runs on the folder, the folder.
async fn client(
    global: &Global,
    environment: &Environment,
    now: Option<DateTime<Utc>>,
) -> anyhow::Result<Client> {
    let set = |name: &str| environment.get(name).filter(|text| !text.is_empty());
    let key = set("KEEPSAKE_API_KEY").map(Secret::new);
    let mut identity = Identity {
        namespace: global.namespace.clone(),
        agent: global.agent.clone(),
        primary: global.primary,
    };
    if let Some(url) = global.url.as_ref().or(set("KEEPSAKE_URL")) {
        anyhow::ensure!(
            now.is_none(),
            "`--now` works on the store itself, not with `--url`"
        );
        identity.agent = identity.agent.or(set("KEEPSAKE_AGENT_ID").cloned());
        identity.primary |= identity.agent.is_none();
        return Ok(Client::new(Transport::remote(url, key.as_ref())?, identity));
    }
    let settings = settings(&flags(global), environment)?;
    identity.agent = identity.agent.or(settings.agent_id.clone());
    identity.primary |= identity.agent.is_none() || settings.is_primary;
    let running = match (now, &settings.store) {
        (None, StoreChoice::Embedded) => Transport::running(&settings.data_dir, key.as_ref()).await,
        _ => None,
    };
    let transport = match running {
        Some(transport) => transport,
        None => {
            let clock = now.map_or(Clock::System, Clock::fixed);
            Transport::Local(Local::new(App::open(settings, clock)?))
        }
    };
    Ok(Client::new(transport, identity))
}

/// The text as typed, or all of standard input for `-`.
fn text_or_input(text: String) -> anyhow::Result<String> {
    if text != "-" {
        return Ok(text);
    }
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input)?;
    let text = String::from_utf8(input)
        .map_err(|_| anyhow::anyhow!("standard input is not valid UTF-8"))?;
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

/// The fields of an object that are there.
fn object(fields: Value) -> Map<String, Value> {
    let Value::Object(mut fields) = fields else {
        return Map::new();
    };
    fields.retain(|_, value| !value.is_null());
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }
}
