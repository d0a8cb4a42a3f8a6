//! The verbs for what is known beside the memories: feedback, corrections, topics, entities,
//! synonyms, the lock, counts.

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value, json};

use super::client::{Client, segment};
use super::printer::{Page, Printer};
use super::tables::{self, list, number, plain, table, text};
use super::{Outcome, object};

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
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<Outcome> {
        let fields = json!({"id": self.id, "useful": self.usefulness == Usefulness::Useful});
        let answer = client.send("POST", "/v1/feedback", object(fields)).await?;
        printer.answer(&answer, |answer, _| {
            format!("{}  feedback {}", text(&answer["id"]), answer["feedback"])
        })?;
        Ok(Outcome::Done)
    }
}

#[derive(Debug, Args)]
pub(super) struct Correct {
    /// Ids, keys, or the first characters of ids
    #[arg(required = true)]
    ids: Vec<String>,
    /// Take the correction back
    #[arg(long)]
    undo: bool,
}

impl Correct {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<Outcome> {
        if self.undo {
            return undo(&self.ids, client, printer).await;
        }
        let fields = object(json!({"ids": self.ids}));
        let answer = client.send("POST", "/v1/corrections", fields).await?;
        printer.answer(&answer, |answer, _| {
            format!("{} corrected\n", answer["corrected"])
        })?;
        match list(&answer["unknown"]) {
            [] => Ok(Outcome::Done),
            unknown => anyhow::bail!("there is no memory `{}`", plain(&Value::from(unknown))),
        }
    }
}

async fn undo(ids: &[String], client: &Client, printer: &Printer) -> anyhow::Result<Outcome> {
    let mut answers = Vec::new();
    for id in ids {
        let path = format!("/v1/corrections/{}", segment(id)?);
        answers.push(client.query("DELETE", &path, &[]).await?);
    }
    let count = answers.len();
    printer.answer(&Value::from(answers), |_, _| {
        format!("{count} no longer corrected\n")
    })?;
    Ok(Outcome::Done)
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Period {
    #[default]
    All,
    /// Today
    Daily,
    /// The last seven days
    Weekly,
}

/// For topics and attention alike.
#[derive(Debug, Args)]
pub(super) struct Ranked {
    /// Which days count
    #[arg(long, default_value = "all")]
    period: Period,
    /// Most topics to list, 1 to 100
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
}

impl Ranked {
    /// `name` is the route and the field of its answer.
    pub(super) async fn run(
        self,
        name: &str,
        client: &Client,
        printer: &Printer,
    ) -> anyhow::Result<Outcome> {
        let period = self
            .period
            .to_possible_value()
            .map(|value| value.get_name().to_owned());
        let fields = [("period", period), ("limit", Some(self.limit.to_string()))];
        let answer = client.query("GET", &format!("/v1/{name}"), &fields).await?;
        printer.answer(&answer, |answer, page| {
            let rows = list(&answer[name]).iter();
            let rows = rows.map(|row| [number(&row["score"]), text(&row["topic"]).to_owned()]);
            table(&["score", "topic"], rows, page)
        })?;
        Ok(Outcome::Done)
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Entities {
    /// What is remembered of a person, place or thing, newest first
    #[command(after_help = "Example:\n  keepsake entities timeline Ann --limit 5")]
    Timeline(Entity),
    /// What occurs together with it, most often first
    #[command(after_help = "Example:\n  keepsake entities related Redis")]
    Related(Entity),
}

#[derive(Debug, Args)]
pub(super) struct Entity {
    /// Its name, in any case
    name: String,
    /// Most entries to list, 1 to 100
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
}

impl Entities {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<Outcome> {
        let (entity, what, draw): (_, _, fn(&Value, Page) -> String) = match self {
            Entities::Timeline(entity) => (entity, "timeline", timeline),
            Entities::Related(entity) => (entity, "related", related),
        };
        let path = format!("/v1/entities/{}/{what}", segment(&entity.name)?);
        let limit = Some(entity.limit.to_string());
        let answer = client.query("GET", &path, &[("limit", limit)]).await?;
        printer.answer(&answer, draw)?;
        Ok(Outcome::Done)
    }
}

fn timeline(answer: &Value, page: Page) -> String {
    let rows = list(&answer["items"]).iter().map(|item| {
        let day = text(&item["created_at"]).get(..10).unwrap_or_default();
        [
            text(&item["id"]),
            day,
            text(&item["state"]),
            text(&item["content"]),
        ]
        .map(str::to_owned)
    });
    table(&["id", "day", "state", "content"], rows, page)
}

fn related(answer: &Value, page: Page) -> String {
    let rows = list(&answer["items"]).iter();
    let rows = rows.map(|item| [item["count"].to_string(), text(&item["entity"]).to_owned()]);
    table(&["count", "entity"], rows, page)
}

#[derive(Debug, Subcommand)]
pub(super) enum Synonyms {
    /// All terms with what they are searched by as well
    #[command(after_help = "Example:\n  keepsake synonyms list")]
    List,
    /// Search by these terms as well when this one is asked for
    #[command(after_help = "Example:\n  keepsake synonyms set k8s kubernetes")]
    Set {
        term: String,
        #[arg(required = true)]
        synonyms: Vec<String>,
    },
    /// Forget the synonyms of a term
    #[command(after_help = "Example:\n  keepsake synonyms remove k8s")]
    Remove { term: String },
}

impl Synonyms {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<Outcome> {
        match self {
            Synonyms::List => {
                let answer = client.query("GET", "/v1/synonyms", &[]).await?;
                printer.answer(&answer, synonyms)?;
            }
            Synonyms::Set { term, synonyms } => {
                let path = format!("/v1/synonyms/{}", segment(&term)?);
                let fields = object(json!({"terms": synonyms}));
                let answer = client.send("PUT", &path, fields).await?;
                printer.answer(&answer, |_, _| format!("{term}: {}\n", synonyms.join(", ")))?;
            }
            Synonyms::Remove { term } => {
                let path = format!("/v1/synonyms/{}", segment(&term)?);
                let answer = client.query("DELETE", &path, &[]).await?;
                printer.answer(&answer, |_, _| format!("{term}: no synonyms\n"))?;
            }
        }
        Ok(Outcome::Done)
    }
}

fn synonyms(answer: &Value, page: Page) -> String {
    let terms = answer["synonyms"].as_object().into_iter().flatten();
    let rows = terms.map(|(term, entry)| {
        [
            term.clone(),
            text(&entry["origin"]).to_owned(),
            plain(&entry["terms"]),
        ]
    });
    table(&["term", "origin", "synonyms"], rows, page)
}

#[derive(Debug, Subcommand)]
pub(super) enum Lock {
    /// Whether retrieval is off, and for how long
    #[command(after_help = "Example:\n  keepsake lock status")]
    Status,
    /// Turn retrieval off for a while
    #[command(after_help = "Example:\n  keepsake lock set --ttl 600")]
    Set {
        /// Seconds until it is on again
        #[arg(long, value_name = "SECONDS", default_value_t = 3_600)]
        ttl: i64,
    },
    /// Turn retrieval on again
    #[command(after_help = "Example:\n  keepsake lock clear")]
    Clear,
}

impl Lock {
    pub(super) async fn run(self, client: &Client, printer: &Printer) -> anyhow::Result<Outcome> {
        let answer = match self {
            Lock::Status => client.query("GET", "/v1/lock", &[]).await?,
            Lock::Set { ttl } => {
                let fields = object(json!({"ttl_seconds": ttl}));
                client.send("PUT", "/v1/lock", fields).await?
            }
            Lock::Clear => client.query("DELETE", "/v1/lock", &[]).await?,
        };
        printer.answer(&answer, |answer, _| {
            match (
                answer["locked"].as_bool(),
                answer["remaining_seconds"].as_i64(),
            ) {
                (Some(true), Some(seconds)) => format!("locked for {seconds} more seconds\n"),
                (Some(true), None) => "locked\n".to_owned(),
                _ => "not locked\n".to_owned(),
            }
        })?;
        Ok(Outcome::Done)
    }
}

/// `keepsake stats`.
pub(super) async fn stats(client: &Client, printer: &Printer) -> anyhow::Result<Outcome> {
    let answer = client.query("GET", "/v1/stats", &[]).await?;
    printer.answer(&answer, |answer, page| {
        let mut rows = Vec::new();
        flatten("", answer, &mut rows);
        table(&["what", "value"], rows.into_iter(), page)
    })?;
    Ok(Outcome::Done)
}

/// Whether the service can answer: what a container's health check asks.
pub(super) async fn ready(client: &Client, printer: &Printer) -> anyhow::Result<Outcome> {
    let (status, answer) = client.exchange("GET", "/readyz", &[]).await?;
    let answer = answer.unwrap_or_default();
    if status != 200 {
        let reasons = answer["reasons"].as_array().cloned().unwrap_or_default();
        let reasons: Vec<_> = reasons.iter().map(tables::plain).collect();
        anyhow::bail!("the service is not ready: {}", reasons.join("; "));
    }
    printer.answer(&answer, |answer, _| {
        let reasons = answer["reasons"].as_array().cloned().unwrap_or_default();
        let reasons = reasons.iter().map(tables::plain);
        std::iter::once("ready".to_owned())
            .chain(reasons)
            .map(|line| line + "\n")
            .collect()
    })?;
    Ok(Outcome::Done)
}

/// Nested fields with their path.
fn flatten(path: &str, value: &Value, rows: &mut Vec<[String; 2]>) {
    let empty = Map::new();
    for (name, value) in value.as_object().unwrap_or(&empty) {
        let path = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        match value {
            Value::Object(_) => flatten(&path, value, rows),
            other => rows.push([path, tables::plain(other)]),
        }
    }
}
