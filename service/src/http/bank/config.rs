//! …/config: settings of a bank that clients keep here. They have no effect on this service.

use axum::Json;
use axum::extract::State;
use serde_json::{Map, Value, json};

use super::super::problem::Problem;
use super::banks::{find, keep, settings};
use super::extract::{Bank, Fields};
use super::records::BankRecord;
use crate::app::App;

fn shape(record: &BankRecord) -> Json<Value> {
    Json(json!({"bank_id": record.bank_id, "config": record.config, "overrides": record.config}))
}

pub(super) async fn get(State(app): State<App>, bank: Bank) -> Result<Json<Value>, Problem> {
    Ok(shape(&find(&app, &bank).await?))
}

/// The settings, or an object of them under `updates`.
pub(super) async fn patch(
    State(app): State<App>,
    bank: Bank,
    Fields(mut told): Fields<Map<String, Value>>,
) -> Result<Json<Value>, Problem> {
    let mut record = find(&app, &bank).await?;
    if let Some(Value::Object(updates)) = told.remove("updates") {
        told = updates;
    }
    settings(told, &mut record)?;
    let now = app.clock.now();
    Ok(shape(&keep(&app, &bank, record, now).await?))
}

pub(super) async fn reset(State(app): State<App>, bank: Bank) -> Result<Json<Value>, Problem> {
    let mut record = find(&app, &bank).await?;
    record.config.clear();
    let now = app.clock.now();
    Ok(shape(&keep(&app, &bank, record, now).await?))
}
