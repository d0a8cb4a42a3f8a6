//! /v1/default/banks: what clients tell about a bank, and its numbers.

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::problem::Problem;
use super::super::shapes::rfc3339;
use super::extract::{Bank, Banks, Fields, Query};
use super::items;
use super::records::{
    self, BankRecord, Disposition, DocumentRecord, ModelRecord, OperationRecord, WrittenRecord,
};
use crate::app::App;
use crate::memory::State as MemoryState;
use crate::store::{Deleted, ListFilters};
use crate::write::documents::all;

/// Longest text that is told about a bank, in characters.
const LONGEST: usize = 16_384;
/// How often a bank to which others write meanwhile is tried to be deleted.
const TRIES: usize = 5;

/// What a client tells of a bank; settings of its own are kept beside.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "BankProfile")]
pub(super) struct Profile {
    name: Option<String>,
    mission: Option<String>,
    reflect_mission: Option<String>,
    background: Option<String>,
    #[serde(default)]
    disposition: Traits,
    disposition_skepticism: Option<i64>,
    disposition_literalism: Option<i64>,
    disposition_empathy: Option<i64>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "BankTraits")]
struct Traits {
    skepticism: Option<i64>,
    literalism: Option<i64>,
    empathy: Option<i64>,
}

impl Traits {
    /// The traits over those that were told before.
    fn over(self, before: Disposition) -> Result<Disposition, Problem> {
        let checked = |name: &str, told: Option<i64>, before: i64| match told.unwrap_or(before) {
            value @ 1..=5 => Ok(value),
            value => {
                let message = format!("is {value}, must be 1 to 5");
                Err(Problem::invalid_field(
                    &format!("disposition.{name}"),
                    message,
                ))
            }
        };
        Ok(Disposition {
            skepticism: checked("skepticism", self.skepticism, before.skepticism)?,
            literalism: checked("literalism", self.literalism, before.literalism)?,
            empathy: checked("empathy", self.empathy, before.empathy)?,
        })
    }
}

impl Profile {
    fn apply(self, record: &mut BankRecord) -> Result<(), Problem> {
        let traits = Traits {
            skepticism: self.disposition_skepticism.or(self.disposition.skepticism),
            literalism: self.disposition_literalism.or(self.disposition.literalism),
            empathy: self.disposition_empathy.or(self.disposition.empathy),
        };
        record.disposition = traits.over(record.disposition)?;
        let mission = self.mission.or(self.reflect_mission);
        for (field, told, kept) in [
            ("name", self.name, &mut record.name),
            ("mission", mission, &mut record.mission),
            ("background", self.background, &mut record.background),
        ] {
            if told
                .as_ref()
                .is_some_and(|told| told.chars().count() > LONGEST)
            {
                let message = format!("is longer than {LONGEST} characters");
                return Err(Problem::invalid_field(field, message));
            }
            *kept = told.or_else(|| kept.take());
        }
        settings(self.rest, record)
    }
}

/// Keeps settings that have no effect here, so that a client reads back what it set.
pub(super) fn settings(told: Map<String, Value>, record: &mut BankRecord) -> Result<(), Problem> {
    record.config.extend(told);
    let length = serde_json::to_string(&record.config).map_or(0, |json| json.len());
    if length > 4 * LONGEST {
        return Err(Problem::invalid_field("config", "is too long"));
    }
    Ok(())
}

/// A bank that a client told of, or that has memories.
pub(super) async fn find(app: &App, bank: &Bank) -> Result<BankRecord, Problem> {
    let now = app.clock.now();
    if let Some(record) = records::get(app, &bank.banks.shelf, &bank.name).await? {
        return Ok(record);
    }
    let stats = app.store.stats(&bank.scope, now).await?;
    if stats.by_state.iter().sum::<u64>() > 0 {
        return Ok(BankRecord::new(&bank.name, now));
    }
    Err(Problem::not_found(format!(
        "there is no bank `{}`",
        bank.name
    )))
}

pub(super) async fn keep(
    app: &App,
    bank: &Bank,
    mut record: BankRecord,
    now: DateTime<Utc>,
) -> Result<BankRecord, Problem> {
    record.updated_at = now;
    records::put(app, &bank.banks.shelf, &record).await?;
    Ok(record)
}

fn shape(record: &BankRecord) -> Value {
    json!({
        "bank_id": record.bank_id,
        "name": record.name.as_deref().unwrap_or(&record.bank_id),
        "disposition": record.disposition,
        "mission": record.mission.as_deref().unwrap_or_default(),
        "background": record.background,
    })
}

pub(super) async fn put(
    State(app): State<App>,
    bank: Bank,
    Fields(told): Fields<Profile>,
) -> Result<Json<Value>, Problem> {
    let now = app.clock.now();
    let known = records::get(&app, &bank.banks.shelf, &bank.name).await?;
    let mut record = known.unwrap_or_else(|| BankRecord::new(&bank.name, now));
    told.apply(&mut record)?;
    Ok(Json(shape(&keep(&app, &bank, record, now).await?)))
}

pub(super) async fn patch(
    State(app): State<App>,
    bank: Bank,
    Fields(told): Fields<Profile>,
) -> Result<Json<Value>, Problem> {
    let mut record = find(&app, &bank).await?;
    told.apply(&mut record)?;
    let now = app.clock.now();
    Ok(Json(shape(&keep(&app, &bank, record, now).await?)))
}

pub(super) async fn profile(State(app): State<App>, bank: Bank) -> Result<Json<Value>, Problem> {
    Ok(Json(shape(&find(&app, &bank).await?)))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "BankDisposition")]
pub(super) struct NewDisposition {
    disposition: Traits,
}

pub(super) async fn put_disposition(
    State(app): State<App>,
    bank: Bank,
    Fields(told): Fields<NewDisposition>,
) -> Result<Json<Value>, Problem> {
    let mut record = find(&app, &bank).await?;
    record.disposition = told.disposition.over(record.disposition)?;
    let now = app.clock.now();
    Ok(Json(shape(&keep(&app, &bank, record, now).await?)))
}

/// The banks that clients told of or wrote to, and that the caller reaches.
pub(super) async fn list(
    State(app): State<App>,
    known: Banks,
    query: Query,
) -> Result<Json<Value>, Problem> {
    let (page, now) = (query.page()?, app.clock.now());
    let mut banks: Vec<BankRecord> = records::all(&app, &known.shelf).await?;
    banks.retain(|bank| known.scope(&app, &bank.bank_id).is_ok());
    if let Some(part) = query.text("q") {
        let part = part.to_lowercase();
        banks.retain(|bank| {
            let name = bank.name.as_deref().unwrap_or_default();
            [&bank.bank_id, name]
                .iter()
                .any(|text| text.to_lowercase().contains(&part))
        });
    }
    banks.sort_by(|left, right| left.bank_id.cmp(&right.bank_id));
    let total = banks.len();
    let mut items = Vec::new();
    for record in page.of(banks) {
        let scope = known.scope(&app, &record.bank_id)?;
        let stats = app.store.stats(&scope, now).await?;
        let written_at = records::written_at(&app, &known, &record.bank_id)
            .await?
            .map(rfc3339);
        let mut item = shape(&record);
        item["created_at"] = json!(rfc3339(record.created_at));
        item["updated_at"] = json!(rfc3339(record.updated_at));
        item["fact_count"] = json!(stats.by_state[0]);
        item["last_write_at"] = json!(written_at);
        item["last_document_at"] = json!(written_at);
        items.push(item);
    }
    Ok(Json(
        json!({"banks": items, "total": total, "limit": page.limit, "offset": page.offset}),
    ))
}

/// Deletes a bank with everything in it, for good.
pub(super) async fn delete(State(app): State<App>, bank: Bank) -> Result<Json<Value>, Problem> {
    find(&app, &bank).await?;
    let trash = ListFilters {
        state: Some(MemoryState::Trashed),
        ..ListFilters::default()
    };
    let mut count = 0;
    for (filters, index) in [(ListFilters::default(), None), (trash, Some(5))] {
        count += purge(&app, &bank, &filters, index).await?;
    }
    for shelves in bank.all_shelves(&app) {
        records::delete_all::<DocumentRecord>(&app, &shelves.bank).await?;
        records::delete_all::<ModelRecord>(&app, &shelves.bank).await?;
        records::delete_all::<OperationRecord>(&app, &shelves.bank).await?;
        records::delete::<WrittenRecord>(&app, &shelves.banks, &bank.name).await?;
        records::delete::<BankRecord>(&app, &shelves.banks, &bank.name).await?;
    }
    Ok(Json(json!({
        "success": true, "message": format!("the bank `{}` is deleted", bank.name), "deleted_count": count,
    })))
}

/// Deletes what a list holds: everything of one state, or everything but the trash.
async fn purge(
    app: &App,
    bank: &Bank,
    filters: &ListFilters,
    state: Option<usize>,
) -> Result<u64, Problem> {
    for _ in 0..TRIES {
        let now = app.clock.now();
        let states = app.store.stats(&bank.scope, now).await?.by_state;
        let expected = match state {
            Some(index) => states[index],
            None => states[..5].iter().sum(),
        };
        let deleted = app
            .store
            .delete_all(&bank.scope, filters, expected, true, now)
            .await?;
        if deleted == Deleted::Done {
            return Ok(expected);
        }
    }
    let message = format!(
        "the bank `{}` is being written to: nothing was deleted",
        bank.name
    );
    Err(Problem::conflict(message))
}

pub(super) async fn stats(State(app): State<App>, bank: Bank) -> Result<Json<Value>, Problem> {
    let now = app.clock.now();
    let mut kinds: Map<String, Value> = Map::new();
    let mut total = 0_u64;
    for memory in all(&app, &bank.scope, &ListFilters::default(), now).await? {
        if items::is_valid(memory.state(now)) {
            let count = kinds
                .entry(items::fact_type(&memory))
                .or_insert(json!(0_u64));
            *count = json!(count.as_u64().unwrap_or(0) + 1);
            total += 1;
        }
    }
    let documents = records::all::<DocumentRecord>(&app, &bank.shelf)
        .await?
        .len();
    let operations = records::all::<OperationRecord>(&app, &bank.shelf)
        .await?
        .len();
    let written_at = records::written_at(&app, &bank.banks, &bank.name).await?;
    let observations = kinds.get("observation").cloned().unwrap_or(json!(0));
    Ok(Json(json!({
        "bank_id": bank.name, "total_nodes": total, "total_links": 0, "total_documents": documents,
        "nodes_by_fact_type": kinds, "links_by_link_type": {}, "links_by_fact_type": {},
        "links_breakdown": {}, "pending_operations": 0, "failed_operations": 0,
        "operations_by_status": {"completed": operations}, "total_observations": observations,
        "last_memory_write_at": written_at.map(rfc3339),
    })))
}
