//! POST …/memories: memories of items, of conversations, and of documents.

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::super::problem::Problem;
use super::extract::{Bank, Fields, Time};
use super::items::{self, CONTEXT, TIMELESS};
use super::records::{self, BankRecord, OperationRecord, WrittenRecord};
use super::tags::Tags;
use super::{documents, operations};
use crate::app::App;
use crate::error::{Error, FieldError};
use crate::memory::Details;
use crate::write::documents::{Mode, Request};
use crate::write::{self, Draft, Origin, pieces, transcript};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Retain {
    items: Vec<Item>,
    #[serde(default, rename = "async")]
    is_async: bool,
    #[serde(default)]
    document_tags: Tags,
    operation_id: Option<String>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(rename = "RetainItem")]
struct Item {
    content: Content,
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    timestamp: Timestamp,
    context: Option<String>,
    #[serde(default)]
    metadata: Map<String, Value>,
    document_id: Option<String>,
    update_mode: Option<UpdateMode>,
    #[serde(default)]
    tags: Tags,
    #[serde(default)]
    entities: Vec<Entity>,
}

/// A text, or blocks of which each must be text.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(rename = "RetainContent")]
#[serde(untagged)]
enum Content {
    Text(String),
    Blocks(Vec<Block>),
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(rename = "RetainBlock")]
struct Block {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
}

#[derive(Debug, Clone, Copy, Default)]
enum Timestamp {
    #[default]
    Now,
    /// The client says that it is of no time.
    Unset,
    At(DateTime<Utc>),
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = Value::deserialize(deserializer)?;
        Ok(match given.as_str() {
            Some("") => Timestamp::Now,
            Some("unset") => Timestamp::Unset,
            _ => {
                let time = serde_json::from_value::<Time>(given);
                Timestamp::At(time.map_err(serde::de::Error::custom)?.0)
            }
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum UpdateMode {
    Replace,
    Append,
}

/// A name, alone or with its kind.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(rename = "RetainEntity")]
#[serde(untagged)]
enum Entity {
    Named { text: String },
    Name(String),
}

pub(super) async fn retain(
    State(app): State<App>,
    bank: Bank,
    Fields(retain): Fields<Retain>,
) -> Result<Json<Value>, Problem> {
    let now = app.clock.now();
    let count = retain.items.len();
    let mut answer = json!({
        "success": true, "bank_id": bank.name, "items_count": count, "async": retain.is_async,
        "usage": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0},
    });
    let parts = parts(&app, &retain)?;
    let mut operation = None;
    if retain.is_async {
        let document = parts.iter().find_map(|part| part.document.clone());
        let fingerprint = fingerprint(&parts);
        let id = retain.operation_id.as_deref();
        let begun = operations::begin(&app, &bank, "retain", id, fingerprint, now).await?;
        answer["operation_id"] = json!(begun.record.id);
        answer["operation_ids"] = json!([begun.record.id]);
        if begun.is_done {
            return Ok(Json(answer));
        }
        operation = Some(OperationRecord {
            items_count: count,
            document_id: document,
            ..begun.record
        });
    }
    if !parts.is_empty() {
        touch(&app, &bank, now).await?;
        store(&app, &bank, parts, operation.as_ref(), now).await?;
    }
    if let Some(operation) = operation {
        records::put(&app, &bank.shelf, &operation).await?;
    }
    Ok(Json(answer))
}

/// The memories of one item.
struct Part {
    document: Option<String>,
    mode: Mode,
    passages: Vec<Draft>,
    details: Details,
    /// As given, without what is kept beside it.
    metadata: Map<String, Value>,
    context: Option<String>,
}

/// Reads and checks every item, so that nothing is stored when one is wrong.
fn parts(app: &App, retain: &Retain) -> Result<Vec<Part>, Problem> {
    let mut parts = Vec::with_capacity(retain.items.len());
    let mut documents = std::collections::HashSet::new();
    for (index, item) in retain.items.iter().enumerate() {
        let part = part(app, item, &retain.document_tags)
            .map_err(|error| Problem::from(at(index, error)))?;
        let appends = item.update_mode == Some(UpdateMode::Append);
        match &part.document {
            Some(id) if !documents.insert(id.clone()) => {
                let message = format!("the document `{id}` is named twice in one request");
                return Err(Problem::malformed(message));
            }
            None if appends => {
                let message = "`update_mode` append needs a `document_id`";
                return Err(Problem::malformed(message));
            }
            _ => parts.push(part),
        }
    }
    Ok(parts)
}

/// Says which item has the wrong fields.
fn at(index: usize, error: Error) -> Error {
    let named = |error: FieldError| FieldError {
        field: format!("items.{index}.{}", error.field),
        ..error
    };
    match error {
        Error::Invalid(errors) => Error::Invalid(errors.into_iter().map(named).collect()),
        other => other,
    }
}

fn part(app: &App, item: &Item, document_tags: &Tags) -> Result<Part, Error> {
    let content = text(&item.content)?;
    let mut own = Map::new();
    if let Some(context) = item
        .context
        .as_deref()
        .filter(|context| !context.is_empty())
    {
        own.insert(CONTEXT.to_owned(), Value::from(context));
    }
    let mut said_at = None;
    match item.timestamp {
        Timestamp::Now => {}
        Timestamp::Unset => drop(own.insert(TIMELESS.to_owned(), Value::Bool(true))),
        Timestamp::At(time) => said_at = Some(time),
    }
    let mut tags = item.tags.clone().0;
    tags.extend(
        document_tags
            .0
            .iter()
            .filter(|tag| !item.tags.0.contains(tag))
            .cloned(),
    );
    let details = Details {
        tags,
        metadata: items::metadata(item.metadata.clone(), own),
        ..Details::default()
    };
    let entities = item.entities.iter().map(|entity| match entity {
        Entity::Named { text } | Entity::Name(text) => text.clone(),
    });
    let model = Draft {
        details: details.clone(),
        entities: entities.filter(|name| !name.trim().is_empty()).collect(),
        // What a client sends was said by anyone.
        origin: Origin::Automatic,
        ..Draft::default()
    };
    let mut passages = Vec::new();
    for (text, time) in passages_of(&content, said_at) {
        for content in pieces::pieces(&text, app.settings.max_content_chars) {
            let draft = Draft {
                content,
                created_at: time,
                ..model.clone()
            };
            write::check(app, &draft)?;
            passages.push(draft);
        }
    }
    if passages.is_empty() {
        return Err(Error::invalid("content", "must not be blank"));
    }
    let document = item.document_id.clone().filter(|id| !id.is_empty());
    if let Some(id) = &document {
        let checked = write::validate::name("document_id", id);
        checked.map_err(|error| Error::Invalid(vec![error]))?;
    }
    Ok(Part {
        document,
        mode: match item.update_mode {
            Some(UpdateMode::Append) => Mode::Append,
            _ => Mode::Replace,
        },
        passages,
        details,
        metadata: item.metadata.clone(),
        context: item.context.clone(),
    })
}

/// The messages of a conversation, each at its own time or that of the item; else the text.
fn passages_of(
    content: &str,
    said_at: Option<DateTime<Utc>>,
) -> Vec<(String, Option<DateTime<Utc>>)> {
    match transcript::messages(content) {
        Some(messages) => messages
            .into_iter()
            .map(|message| (message.text, message.said_at.or(said_at)))
            .collect(),
        None => vec![(content.to_owned(), said_at)],
    }
}

fn text(content: &Content) -> Result<String, Error> {
    let blocks = match content {
        Content::Text(text) => return Ok(text.clone()),
        Content::Blocks(blocks) => blocks,
    };
    let mut texts = Vec::with_capacity(blocks.len());
    for block in blocks {
        match (block.kind.as_deref(), &block.text) {
            (None | Some("text"), Some(text)) => texts.push(text.as_str()),
            _ => {
                let message = "only blocks of text can be stored";
                return Err(Error::invalid("content", message));
            }
        }
    }
    Ok(texts.join("\n"))
}

/// What tells one request from another: everything that it would store.
fn fingerprint(parts: &[Part]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        let appends = part.mode == Mode::Append;
        let (tags, metadata) = (&part.details.tags, &part.details.metadata);
        hash.update(json!([part.document, appends, tags, metadata]).to_string());
        for passage in &part.passages {
            let time = passage.created_at.map(|time| time.timestamp_millis());
            hash.update(json!([passage.content, time, passage.entities]).to_string());
        }
    }
    data_encoding::HEXLOWER.encode(&hash.finalize())
}

/// Remembers the bank, and that it was written to.
async fn touch(app: &App, bank: &Bank, now: DateTime<Utc>) -> Result<(), Problem> {
    let known: Option<BankRecord> = records::get(app, &bank.banks.shelf, &bank.name).await?;
    if known.is_none() {
        records::put(app, &bank.banks.shelf, &BankRecord::new(&bank.name, now)).await?;
    }
    let written = WrittenRecord {
        bank_id: bank.name.clone(),
        at: now,
    };
    records::put(app, &bank.banks.shelf, &written).await
}

async fn store(
    app: &App,
    bank: &Bank,
    parts: Vec<Part>,
    operation: Option<&OperationRecord>,
    now: DateTime<Utc>,
) -> Result<(), Problem> {
    let mut alone = Vec::new();
    for part in parts {
        match part.document {
            Some(id) => {
                let request = Request {
                    document: id.clone(),
                    mode: part.mode,
                    passages: part.passages,
                };
                write::documents::write(app, &bank.scope, request, now).await?;
                let details = documents::Told {
                    id,
                    tags: part.details.tags,
                    metadata: part.metadata,
                    context: part.context,
                };
                documents::remember(app, bank, details, now).await?;
            }
            None => alone.extend(part.passages),
        }
    }
    if let Some(operation) = operation {
        for (index, draft) in alone.iter_mut().enumerate() {
            draft.once = Some(format!("retain {} {index}", operation.id));
        }
    }
    write::documents::store(app, &bank.scope, alone, now).await?;
    Ok(())
}
