//! The verbs that are one request each.

use std::io::Read;

use chrono::{DateTime, Utc};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::client::{Client, segment};
use super::printer::Printer;
use super::tables;

#[derive(Debug, Args)]
pub(super) struct Add {
    /// The text; `-` reads it from standard input
    content: String,
    /// Tag, may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Let all agents of the namespace see it
    #[arg(long)]
    shared: bool,
    /// What kind of thing it is about
    #[arg(long)]
    category: Option<String>,
    /// Where it comes from
    #[arg(long)]
    source: Option<String>,
    /// Conversation that it belongs to
    #[arg(long)]
    session: Option<String>,
    /// Place in the conversation
    #[arg(long, requires = "session", allow_negative_numbers = true)]
    turn: Option<i64>,
    /// Time that it is about (RFC 3339); now if absent
    #[arg(long, value_name = "TIME")]
    created_at: Option<DateTime<Utc>>,
    /// Hide it from this time on (RFC 3339)
    #[arg(long, value_name = "TIME")]
    invalid_at: Option<DateTime<Utc>>,
    /// Never forget it
    #[arg(long)]
    pinned: bool,
    /// Memory that it replaces
    #[arg(long, value_name = "ID")]
    supersedes: Option<String>,
}

impl Add {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<()> {
        let content = text_or_input(self.content)?;
        let fields = json!({
            "content": content, "tags": self.tags, "shared": self.shared, "category": self.category, "source": self.source,
            "session": self.session, "turn": self.turn, "created_at": self.created_at, "invalid_at": self.invalid_at,
            "pinned": self.pinned, "supersedes": self.supersedes,
        });
        let answer = client.send("POST", "/v1/memories", object(fields)).await?;
        printer.answer(&answer, |answer| {
            let what = match (&answer["revived"], answer["reinforced"] == true) {
                (Value::String(state), _) => format!("revived (was {state})"),
                (_, true) => format!("reinforced (mentioned {} times)", answer["mentions"]),
                (_, false) => "stored".to_owned(),
            };
            format!("{}\t{what}", tables::text(&answer["id"]))
        })
    }
}

/// What both kinds of search may ask for.
#[derive(Debug, Args)]
struct SearchOptions {
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
    /// Also entries that are expired or superseded
    #[arg(long)]
    include_expired: bool,
}

impl SearchOptions {
    fn fields(&self, query: &str) -> Map<String, Value> {
        let tags = (!self.tags.is_empty()).then_some(&self.tags);
        object(json!({
            "query": query, "top_k": self.top_k, "tag_filter": tags, "tag_match": self.all_tags.then_some("all"),
            "category": self.category, "source": self.source, "session": self.session, "include_expired": self.include_expired,
        }))
    }
}

#[derive(Debug, Args)]
pub(super) struct Search {
    /// What to look for; one that begins with `-` goes after `--`
    query: String,
    #[command(flatten)]
    options: SearchOptions,
    /// Least score; 0 returns the best of everything that matches
    #[arg(long, value_name = "X")]
    min_score: Option<f64>,
    /// Tell what became of this memory in the search
    #[arg(long, value_name = "ID")]
    explain: Option<String>,
    /// Rank as if it were this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    pub now: Option<DateTime<Utc>>,
}

impl Search {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<()> {
        let mut fields = self.options.fields(&text_or_input(self.query)?);
        fields.extend(object(
            json!({"min_score": self.min_score, "explain": self.explain}),
        ));
        let answer = client.send("POST", "/v1/search", fields).await?;
        printer.answer(&answer, tables::hits)
    }
}

#[derive(Debug, Args)]
pub(super) struct Prefetch {
    /// The message of a person
    message: String,
    #[command(flatten)]
    options: SearchOptions,
    /// Rank as if it were this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    pub now: Option<DateTime<Utc>>,
}

impl Prefetch {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<()> {
        let fields = self.options.fields(&text_or_input(self.message)?);
        let answer = client.send("POST", "/v1/prefetch", fields).await?;
        printer.answer(&answer, |answer| {
            tables::text(&answer["context"]).to_owned()
        })
    }
}

#[derive(Debug, Args)]
pub(super) struct List {
    /// Most memories to list, 1 to 100
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Where a former list said that it goes on
    #[arg(long)]
    cursor: Option<String>,
    /// Only with this tag
    #[arg(long)]
    tag: Option<String>,
    /// Only of this category
    #[arg(long)]
    category: Option<String>,
    /// Only from this source
    #[arg(long)]
    source: Option<String>,
    /// Only of this conversation
    #[arg(long)]
    session: Option<String>,
    /// active, expired, consumed, superseded, corrected or trashed; without it all but trashed
    #[arg(long)]
    state: Option<String>,
}

impl List {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<()> {
        let fields = [
            ("limit", Some(self.limit.to_string())),
            ("cursor", self.cursor),
            ("tag", self.tag),
            ("category", self.category),
            ("source", self.source),
            ("session", self.session),
            ("state", self.state),
        ];
        let answer = client.query("GET", "/v1/memories", &fields).await?;
        printer.answer(&answer, tables::memories)
    }
}

#[derive(Debug, Args)]
pub(super) struct Show {
    /// Id, key, or the first characters of the id
    id: String,
}

impl Show {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<()> {
        let answer = client
            .query("GET", &format!("/v1/memories/{}", segment(&self.id)), &[])
            .await?;
        printer.answer(&answer, tables::memory)
    }
}

#[derive(Debug, Args)]
pub(super) struct Delete {
    /// Id, key, or the first characters of the id
    id: String,
    /// For good, not to the trash
    #[arg(long)]
    purge: bool,
}

impl Delete {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<()> {
        let purge = self.purge.then(|| "true".to_owned());
        let answer = client
            .query(
                "DELETE",
                &format!("/v1/memories/{}", segment(&self.id)),
                &[("purge", purge)],
            )
            .await?;
        printer.answer(&answer, |answer| match answer["id"].as_str() {
            Some(id) => format!("{id}\tin the trash\nhint: `keepsake restore {id}` takes it back"),
            None => format!("{}\tdeleted for good", self.id),
        })
    }
}

#[derive(Debug, Args)]
pub(super) struct Restore {
    /// Id, key, or the first characters of the id
    id: String,
}

impl Restore {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<()> {
        let answer = client
            .send(
                "POST",
                &format!("/v1/memories/{}/restore", segment(&self.id)),
                Map::new(),
            )
            .await?;
        printer.answer(&answer, |answer| {
            format!(
                "{}\t{}",
                tables::text(&answer["id"]),
                tables::text(&answer["state"])
            )
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Usefulness {
    Useful,
    Useless,
}

#[derive(Debug, Args)]
pub(super) struct Feedback {
    /// Id, key, or the first characters of the id
    id: String,
    usefulness: Usefulness,
}

impl Feedback {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<()> {
        let fields = json!({"id": self.id, "useful": self.usefulness == Usefulness::Useful});
        let answer = client.send("POST", "/v1/feedback", object(fields)).await?;
        printer.answer(&answer, |answer| {
            format!(
                "{}\tfeedback {}",
                tables::text(&answer["id"]),
                answer["feedback"]
            )
        })
    }
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

fn object(fields: Value) -> Map<String, Value> {
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
