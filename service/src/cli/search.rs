//! `keepsake search` and `keepsake prefetch`.

use chrono::{DateTime, Utc};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::client::Client;
use super::printer::Printer;
use super::{Outcome, object, tables, text_or_input};
use crate::read;

/// What both kinds of search may ask for.
#[derive(Debug, Args)]
struct Options {
    /// Most entries to return
    #[arg(long, short = 'k', value_name = "N")]
    top_k: Option<usize>,
    /// Only entries with this tag, may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Entries must have all of the tags
    #[arg(long)]
    all_tags: bool,
    /// Only of this category
    #[arg(long)]
    category: Option<String>,
    /// Only from this source
    #[arg(long)]
    source: Option<String>,
    /// Only of this conversation
    #[arg(long)]
    session: Option<String>,
    /// Only created from this time on (RFC 3339)
    #[arg(long, value_name = "TIME")]
    created_after: Option<DateTime<Utc>>,
    /// Only created before this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    created_before: Option<DateTime<Utc>>,
    /// As the memory was at this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    as_of: Option<DateTime<Utc>>,
    /// Also entries that are expired or superseded
    #[arg(long)]
    include_expired: bool,
    /// Rank as if it were this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    now: Option<DateTime<Utc>>,
}

impl Options {
    fn fields(self, query: &str) -> Map<String, Value> {
        let tags = (!self.tags.is_empty()).then_some(self.tags);
        object(json!({
            "query": query, "top_k": self.top_k, "tag_filter": tags, "tag_match": self.all_tags.then_some("all"),
            "category": self.category, "source": self.source, "session": self.session,
            "created_after": self.created_after, "created_before": self.created_before, "as_of": self.as_of,
            "include_expired": self.include_expired,
        }))
    }
}

/// How to search, as it is written on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Mode {
    Auto,
    Lexical,
    Vector,
    Hybrid,
}

impl From<Mode> for read::Mode {
    fn from(mode: Mode) -> read::Mode {
        match mode {
            Mode::Auto => read::Mode::Auto,
            Mode::Lexical => read::Mode::Lexical,
            Mode::Vector => read::Mode::Vector,
            Mode::Hybrid => read::Mode::Hybrid,
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct Search {
    /// What to look for; `-` reads it from standard input, one that begins with `-` goes after `--`
    query: String,
    #[command(flatten)]
    options: Options,
    /// By words, by meaning, or both; by default whatever there is
    #[arg(long)]
    mode: Option<Mode>,
    /// Least score; 0 returns the best of everything that matches
    #[arg(long, value_name = "X")]
    min_score: Option<f64>,
    /// Draw the six factors of each score; with an id also tell what became of that memory
    #[arg(long, value_name = "ID", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    explain: Option<String>,
}

impl Search {
    /// The time that was asked for.
    pub(super) fn now(&self) -> Option<DateTime<Utc>> {
        self.options.now
    }

    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<Outcome> {
        let query = text_or_input(self.query)?;
        let mode = self.mode.map(|mode| read::Mode::from(mode).as_str());
        let explained = self.explain.as_ref().filter(|id| !id.is_empty());
        let mut fields = self.options.fields(&query);
        fields.extend(object(
            json!({"mode": mode, "min_score": self.min_score, "explain": explained}),
        ));
        let answer = client.send("POST", "/v1/search", fields).await?;
        let factors = self.explain.is_some();
        printer.answer(&answer, |answer, page| tables::hits(answer, page, factors))?;
        Ok(match tables::list(&answer["results"]) {
            [] => Outcome::NothingFound,
            _ => Outcome::Done,
        })
    }
}

#[derive(Debug, Args)]
pub(super) struct Prefetch {
    /// The message of a person; `-` reads it from standard input
    message: String,
    #[command(flatten)]
    options: Options,
}

impl Prefetch {
    /// The time that was asked for.
    pub(super) fn now(&self) -> Option<DateTime<Utc>> {
        self.options.now
    }

    /// Nothing that comes to mind is an empty text and no failure: the caller builds a prompt.
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<Outcome> {
        let message = text_or_input(self.message)?;
        let answer = client
            .send("POST", "/v1/prefetch", self.options.fields(&message))
            .await?;
        printer.answer(&answer, |answer, _| {
            tables::text(&answer["context"]).to_owned()
        })?;
        Ok(Outcome::Done)
    }
}
