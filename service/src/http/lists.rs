//! GET and DELETE /v1/memories: what filters name, listed or deleted.

use axum::Json;
use axum::extract::State;
use chrono::DateTime;
use data_encoding::BASE64URL_NOPAD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::extract::Params;
use super::problem::Problem;
use super::shapes::MemoryShape;
use crate::app::App;
use crate::memory::{MemoryId, State as MemoryState};
use crate::store::{Cursor, Deleted, ListFilters};

const DEFAULT_PAGE: usize = 50;
const MAX_PAGE: usize = 100;

/// The filters, and what only one of the two takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListParams {
    limit: Option<usize>,
    cursor: Option<String>,
    confirm: Option<u64>,
    purge: Option<bool>,
    tag: Option<String>,
    category: Option<String>,
    source: Option<String>,
    #[serde(rename = "type")]
    entry_type: Option<String>,
    session: Option<String>,
    document: Option<String>,
    state: Option<String>,
}

impl ListParams {
    fn filters(self) -> Result<ListFilters, Problem> {
        let unknown_state = || {
            let names = MemoryState::ALL.map(MemoryState::as_str).join(", ");
            Problem::invalid_field("state", format!("must be one of {names}"))
        };
        let state = self
            .state
            .map(|name| MemoryState::parse(&name).ok_or_else(unknown_state))
            .transpose()?;
        Ok(ListFilters {
            tag: self.tag,
            category: self.category,
            source: self.source,
            entry_type: self.entry_type,
            session: self.session,
            document: self.document,
            state,
        })
    }
}

/// Refuses a parameter that only the other of the two methods takes.
fn refuse(name: &str, is_given: bool) -> Result<(), Problem> {
    if is_given {
        return Err(Problem::invalid_field(name, "is unknown here"));
    }
    Ok(())
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MemoryPage")]
pub(super) struct Page {
    items: Vec<MemoryShape>,
    next_cursor: Option<String>,
}

pub(super) async fn list(
    State(app): State<App>,
    params: Params<ListParams>,
) -> Result<Json<Page>, Problem> {
    let now = app.clock.now();
    let mut fields = params.value;
    refuse("confirm", fields.confirm.is_some())?;
    refuse("purge", fields.purge.is_some())?;
    let limit = fields.limit.unwrap_or(DEFAULT_PAGE);
    if !(1..=MAX_PAGE).contains(&limit) {
        let message = format!("is {limit}, must be 1 to {MAX_PAGE}");
        return Err(Problem::invalid_field("limit", message));
    }
    let after = fields
        .cursor
        .take()
        .map(|cursor| {
            decode_cursor(&cursor)
                .ok_or_else(|| Problem::invalid_field("cursor", "is not one that a list gave out"))
        })
        .transpose()?;
    let filters = fields.filters()?;
    // One more than asked for tells whether there is a next page.
    let mut memories = app
        .store
        .list(&params.scope, &filters, after.as_ref(), limit + 1, now)
        .await?;
    let more = memories.len() > limit;
    memories.truncate(limit);
    let last = memories.last().filter(|_| more).map(|memory| Cursor {
        created_at: memory.created_at,
        id: memory.id.clone(),
    });
    let items = memories
        .iter()
        .map(|memory| MemoryShape::new(memory, now))
        .collect();
    Ok(Json(Page {
        items,
        next_cursor: last.map(|cursor| encode_cursor(&cursor)),
    }))
}

/// Deletes what the filters name. A client says how many that are, so that a filter which names more
/// than it thinks deletes nothing.
pub(super) async fn delete(
    State(app): State<App>,
    params: Params<ListParams>,
) -> Result<Json<Value>, Problem> {
    let fields = params.value;
    refuse("limit", fields.limit.is_some())?;
    refuse("cursor", fields.cursor.is_some())?;
    let (confirm, purge) = (fields.confirm, fields.purge.unwrap_or_default());
    let filters = fields.filters()?;
    if filters == ListFilters::default() {
        return Err(Problem::invalid_field(
            "filters",
            "at least one of tag, category, source, type, session, document, state is needed",
        ));
    }
    let expected = confirm.ok_or_else(|| {
        Problem::invalid_field("confirm", "must be the number of memories to delete")
    })?;
    let now = app.clock.now();
    let deleted = app
        .store
        .delete_all(&params.scope, &filters, expected, purge, now)
        .await?;
    match deleted {
        Deleted::Done => {
            let done = if purge { "purged" } else { "trashed" };
            Ok(Json(json!({done: expected})))
        }
        Deleted::Differs(count) => Err(Problem::wrong_count(expected, count)),
    }
}

fn encode_cursor(cursor: &Cursor) -> String {
    BASE64URL_NOPAD
        .encode(format!("{} {}", cursor.created_at.timestamp_millis(), cursor.id).as_bytes())
}

fn decode_cursor(text: &str) -> Option<Cursor> {
    let text = String::from_utf8(BASE64URL_NOPAD.decode(text.as_bytes()).ok()?).ok()?;
    let (millis, id) = text.split_once(' ')?;
    Some(Cursor {
        created_at: DateTime::from_timestamp_millis(millis.parse().ok()?)?,
        id: MemoryId::new(id),
    })
}
