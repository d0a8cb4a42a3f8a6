//! …/entities and …/tags: what the memories of a bank name and are tagged with.

use std::collections::HashMap;

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::super::problem::Problem;
use super::super::shapes::rfc3339;
use super::extract::{Bank, Id, Query};
use super::items;
use crate::app::App;
use crate::memory::Memory;
use crate::store::ListFilters;
use crate::write::documents::all;

/// Most observations that are told of an entity.
const MOST_OBSERVATIONS: usize = 100;

/// Every memory of the bank that may be recalled, the newest first.
async fn valid(app: &App, bank: &Bank, now: DateTime<Utc>) -> Result<Vec<Memory>, Problem> {
    let mut memories = all(app, &bank.scope, &ListFilters::default(), now).await?;
    memories.retain(|memory| items::is_valid(memory.state(now)));
    Ok(memories)
}

/// Names with counts that hold a part, the most frequent first, then by name.
fn ranked<T>(
    counted: impl IntoIterator<Item = (String, T)>,
    part: Option<&str>,
    count: impl Fn(&T) -> usize,
) -> Vec<(String, T)> {
    let part = part.map(str::to_lowercase);
    let holds = |name: &str| {
        part.as_ref()
            .is_none_or(|part| name.to_lowercase().contains(part))
    };
    let mut ranked: Vec<(String, T)> = counted
        .into_iter()
        .filter(|(name, _)| holds(name))
        .collect();
    ranked.sort_by(|left, right| {
        let more = count(&right.1).cmp(&count(&left.1));
        more.then_with(|| left.0.cmp(&right.0))
    });
    ranked
}

pub(super) async fn tags(
    State(app): State<App>,
    bank: Bank,
    query: Query,
) -> Result<Json<Value>, Problem> {
    let page = query.page()?;
    let mut counts: HashMap<String, usize> = HashMap::new();
    for memory in valid(&app, &bank, app.clock.now()).await? {
        for tag in memory.details.tags {
            *counts.entry(tag).or_default() += 1;
        }
    }
    let tags = ranked(counts, query.text("q"), |count| *count);
    let total = tags.len();
    let items: Vec<Value> = page
        .of(tags)
        .into_iter()
        .map(|(tag, count)| json!({"tag": tag, "count": count}))
        .collect();
    Ok(Json(
        json!({"items": items, "total": total, "limit": page.limit, "offset": page.offset}),
    ))
}

/// What is known of an entity.
struct Seen {
    name: String,
    count: usize,
    first: DateTime<Utc>,
    last: DateTime<Utc>,
}

/// The entities of memories, by name without case.
fn seen(memories: &[Memory]) -> HashMap<String, Seen> {
    let mut seen: HashMap<String, Seen> = HashMap::new();
    for memory in memories {
        let told = memory.created_at;
        for name in &memory.analysis.entities {
            let entity = seen.entry(name.to_lowercase()).or_insert_with(|| Seen {
                name: name.clone(),
                count: 0,
                first: told,
                last: told,
            });
            entity.count += 1;
            entity.first = entity.first.min(told);
            entity.last = entity.last.max(told);
        }
    }
    seen
}

fn shape(seen: &Seen) -> Value {
    json!({
        "id": seen.name, "canonical_name": seen.name, "mention_count": seen.count,
        "first_seen": rfc3339(seen.first), "last_seen": rfc3339(seen.last), "metadata": {},
    })
}

pub(super) async fn list(
    State(app): State<App>,
    bank: Bank,
    query: Query,
) -> Result<Json<Value>, Problem> {
    let page = query.page()?;
    let seen = seen(&valid(&app, &bank, app.clock.now()).await?);
    let entities = ranked(seen, query.text("q"), |seen| seen.count);
    let total = entities.len();
    let items: Vec<Value> = page
        .of(entities)
        .iter()
        .map(|(_, seen)| shape(seen))
        .collect();
    Ok(Json(
        json!({"items": items, "total": total, "limit": page.limit, "offset": page.offset}),
    ))
}

pub(super) async fn get(
    State(app): State<App>,
    bank: Bank,
    Id(id): Id,
) -> Result<Json<Value>, Problem> {
    let name = id.to_lowercase();
    let names = |memory: &Memory| {
        let entities = &memory.analysis.entities;
        entities.iter().any(|entity| entity.to_lowercase() == name)
    };
    let mut memories = valid(&app, &bank, app.clock.now()).await?;
    memories.retain(names);
    let seen = seen(&memories);
    let unknown = || Problem::not_found(format!("there is no entity `{id}`"));
    let mut entity = shape(seen.get(&name).ok_or_else(unknown)?);
    let observations = memories.iter().take(MOST_OBSERVATIONS);
    entity["observations"] = observations
        .map(|memory| json!({"text": memory.content, "mentioned_at": rfc3339(memory.created_at)}))
        .collect();
    Ok(Json(entity))
}
