//! The verbs for single memories, lists of them, and what is deleted by a filter.

use anyhow::bail;
use chrono::{DateTime, Utc};
use clap::Args;
use serde_json::{Map, Value, json};

use super::client::{Client, failure, segment};
use super::printer::Printer;
use super::{Outcome, object, tables, text_or_input};

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
    /// What kind of entry it is
    #[arg(long = "type", value_name = "TYPE")]
    entry_type: Option<String>,
    /// Conversation that it belongs to
    #[arg(long)]
    session: Option<String>,
    /// Place in the conversation
    #[arg(long, requires = "session", allow_negative_numbers = true)]
    turn: Option<i64>,
    /// Document that it comes from
    #[arg(long)]
    document: Option<String>,
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
    /// Anything else, as a JSON object
    #[arg(long, value_name = "JSON", value_parser = json_object)]
    metadata: Option<Map<String, Value>>,
    /// Store it although the same text was corrected
    #[arg(long)]
    force: bool,
}

impl Add {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<Outcome> {
        let content = text_or_input(self.content)?;
        let fields = json!({
            "content": content, "tags": self.tags, "shared": self.shared, "category": self.category, "source": self.source,
            "entry_type": self.entry_type, "session": self.session, "turn": self.turn, "document": self.document,
            "created_at": self.created_at, "invalid_at": self.invalid_at, "pinned": self.pinned,
            "supersedes": self.supersedes, "metadata": self.metadata, "force": self.force.then_some(true),
        });
        let answer = client.send("POST", "/v1/memories", object(fields)).await?;
        printer.answer(&answer, |answer, _| {
            let what = match (&answer["revived"], answer["reinforced"] == true) {
                (Value::String(state), _) => format!("revived (was {state})"),
                (_, true) => format!("reinforced (mentioned {} times)", answer["mentions"]),
                (_, false) => "stored".to_owned(),
            };
            format!("{}  {what}", tables::text(&answer["id"]))
        })?;
        Ok(Outcome::Done)
    }
}

/// What a list, or a deletion of many, is limited to.
#[derive(Debug, Default, Args)]
struct Filters {
    /// Only with this tag
    #[arg(long)]
    tag: Option<String>,
    /// Only of this category
    #[arg(long)]
    category: Option<String>,
    /// Only from this source
    #[arg(long)]
    source: Option<String>,
    /// Only entries of this type
    #[arg(long = "type", value_name = "TYPE")]
    entry_type: Option<String>,
    /// Only of this conversation
    #[arg(long)]
    session: Option<String>,
    /// Only from this document
    #[arg(long)]
    document: Option<String>,
    /// active, expired, consumed, superseded, corrected or trashed; without it all but trashed
    #[arg(long)]
    state: Option<String>,
}

impl Filters {
    fn fields(self) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("tag", self.tag),
            ("category", self.category),
            ("source", self.source),
            ("type", self.entry_type),
            ("session", self.session),
            ("document", self.document),
            ("state", self.state),
        ]
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
    #[command(flatten)]
    filters: Filters,
}

impl List {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<Outcome> {
        let mut fields = self.filters.fields();
        fields.push(("limit", Some(self.limit.to_string())));
        fields.push(("cursor", self.cursor));
        let answer = client.query("GET", "/v1/memories", &fields).await?;
        printer.answer(&answer, tables::memories)?;
        Ok(Outcome::Done)
    }
}

#[derive(Debug, Args)]
pub(super) struct Show {
    /// Id, key, or the first characters of the id
    id: String,
}

impl Show {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<Outcome> {
        let path = format!("/v1/memories/{}", segment(&self.id)?);
        let answer = client.query("GET", &path, &[]).await?;
        printer.answer(&answer, tables::memory)?;
        Ok(Outcome::Done)
    }
}

#[derive(Debug, Args)]
#[group(id = "changes", required = true, multiple = true, args = [
    "content", "tags", "no_tags", "shared", "category", "source", "entry_type", "invalid_at", "revive",
    "pinned", "metadata",
])]
pub(super) struct Edit {
    /// Id, key, or the first characters of the id
    id: String,
    /// The new text; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// The tags that it has from now on, may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Take all tags away
    #[arg(long, conflicts_with = "tags")]
    no_tags: bool,
    /// Whether all agents of the namespace see it
    #[arg(long, value_name = "BOOL")]
    shared: Option<bool>,
    /// What kind of thing it is about; an empty one takes it away
    #[arg(long)]
    category: Option<String>,
    /// Where it comes from; an empty one takes it away
    #[arg(long)]
    source: Option<String>,
    /// What kind of entry it is; an empty one takes it away
    #[arg(long = "type", value_name = "TYPE")]
    entry_type: Option<String>,
    /// Hide it from this time on (RFC 3339)
    #[arg(long, value_name = "TIME")]
    invalid_at: Option<DateTime<Utc>>,
    /// Show an expired or superseded one again
    #[arg(long, conflicts_with = "invalid_at")]
    revive: bool,
    /// Whether it is never forgotten
    #[arg(long, value_name = "BOOL")]
    pinned: Option<bool>,
    /// Anything else, as a JSON object; replaces what was there
    #[arg(long, value_name = "JSON", value_parser = json_object)]
    metadata: Option<Map<String, Value>>,
}

impl Edit {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<Outcome> {
        let tags = (self.no_tags || !self.tags.is_empty()).then_some(self.tags);
        let content = self.content.map(text_or_input).transpose()?;
        let mut fields = object(json!({
            "content": content, "tags": tags, "shared": self.shared, "invalid_at": self.invalid_at,
            "pinned": self.pinned, "metadata": self.metadata,
        }));
        let words = [
            ("category", self.category),
            ("source", self.source),
            ("entry_type", self.entry_type),
        ];
        for (name, word) in words {
            if let Some(word) = word {
                let value = Some(word).filter(|word| !word.is_empty());
                fields.insert(name.to_owned(), value.map_or(Value::Null, Value::from));
            }
        }
        if self.revive {
            fields.insert("invalid_at".to_owned(), Value::Null);
        }
        let path = format!("/v1/memories/{}", segment(&self.id)?);
        let answer = client.send("PATCH", &path, fields).await?;
        printer.answer(&answer, tables::memory)?;
        Ok(Outcome::Done)
    }
}

#[derive(Debug, Args)]
#[group(id = "what", required = true, multiple = true, args = [
    "id", "tag", "category", "source", "entry_type", "session", "document", "state",
])]
pub(super) struct Delete {
    /// Id, key, or the first characters of the id
    #[arg(conflicts_with_all = ["tag", "category", "source", "entry_type", "session", "document", "state"])]
    id: Option<String>,
    #[command(flatten)]
    filters: Filters,
    /// For good, not to the trash
    #[arg(long)]
    purge: bool,
    /// Delete what the filters name without asking
    #[arg(long)]
    yes: bool,
}

impl Delete {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<Outcome> {
        match self.id {
            Some(id) => delete_one(&id, self.purge, client, printer).await,
            None => self.delete_many(client, printer).await,
        }
    }

    /// Counts, asks, and deletes just as many: if others came or went meanwhile, nothing happens.
    async fn delete_many(self, client: &Client, printer: &Printer) -> anyhow::Result<Outcome> {
        let mut fields = self.filters.fields();
        fields.push(("purge", self.purge.then(|| "true".to_owned())));
        let count = count(client, &fields).await?;
        if count == 0 {
            printer.answer(&json!({"deleted": 0}), |_, _| "nothing matches".to_owned())?;
            return Ok(Outcome::NothingFound);
        }
        let memories = if count == 1 { "memory" } else { "memories" };
        let (question, done) = match self.purge {
            true => (
                format!("delete {count} {memories} for good?"),
                "deleted for good",
            ),
            false => (
                format!("move {count} {memories} to the trash?"),
                "in the trash",
            ),
        };
        if !self.yes && !printer.confirms(&question)? {
            bail!("nothing deleted");
        }
        fields.push(("confirm", Some(count.to_string())));
        let answer = client.query("DELETE", "/v1/memories", &fields).await?;
        printer.answer(&answer, |_, _| format!("{count} {memories} {done}"))?;
        Ok(Outcome::Done)
    }
}

async fn delete_one(
    id: &str,
    purge: bool,
    client: &Client,
    printer: &Printer,
) -> anyhow::Result<Outcome> {
    let path = format!("/v1/memories/{}", segment(id)?);
    let purge = purge.then(|| "true".to_owned());
    let answer = client.query("DELETE", &path, &[("purge", purge)]).await?;
    printer.answer(&answer, |answer, _| match answer["id"].as_str() {
        Some(id) => format!("{id}  in the trash\nhint: `keepsake restore {id}` takes it back"),
        None => format!("{id}  deleted for good"),
    })?;
    Ok(Outcome::Done)
}

/// How many memories the filters name: a deletion that confirms none is refused and tells it.
async fn count(client: &Client, fields: &[(&'static str, Option<String>)]) -> anyhow::Result<u64> {
    let mut fields = fields.to_vec();
    fields.push(("confirm", Some("0".to_owned())));
    let (status, answer) = client.exchange("DELETE", "/v1/memories", &fields).await?;
    let answer = answer.unwrap_or_default();
    match status {
        409 => match answer["count"].as_u64() {
            Some(count) => Ok(count),
            None => Err(failure(status, &answer)),
        },
        400.. => Err(failure(status, &answer)),
        _ => Ok(0),
    }
}

#[derive(Debug, Args)]
pub(super) struct Restore {
    /// Id, key, or the first characters of the id
    id: String,
}

impl Restore {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<Outcome> {
        let path = format!("/v1/memories/{}/restore", segment(&self.id)?);
        let answer = client.send("POST", &path, Map::new()).await?;
        printer.answer(&answer, |answer, _| {
            format!(
                "{}  {}",
                tables::text(&answer["id"]),
                tables::text(&answer["state"])
            )
        })?;
        Ok(Outcome::Done)
    }
}

fn json_object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("not a JSON object: {error}"))
}
