//! POST /v1/memories/operations: what a client's spool holds, done in order and once.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::batches::MAX_ITEMS;
use super::extract::{ItemDefaults, Items};
use super::memories::{NewFields, redaction};
use super::problem::Problem;
use crate::app::App;
use crate::error::Error;
use crate::scope::Scope;
use crate::write::Draft;
use crate::write::operations::{self, Change, Outcome, Request, Status};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    op_id: String,
    op: Op,
    old_text: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Op {
    Add,
    Replace,
    Remove,
}

pub(super) async fn operate(State(app): State<App>, body: Items) -> Result<Json<Value>, Problem> {
    let Items { items, defaults } = body;
    if items.len() > MAX_ITEMS {
        return Err(Problem::too_large(format!(
            "there are {} operations, at most {MAX_ITEMS} are allowed",
            items.len()
        )));
    }
    let mut results: Vec<Value> = Vec::with_capacity(items.len());
    let mut waiting: Vec<(usize, Scope, Request)> = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        results.push(json!({"op_id": item.get("op_id").cloned()}));
        match read(&app, &defaults, item) {
            Ok((scope, request)) => {
                if waiting.last().is_some_and(|(_, last, _)| *last != scope) {
                    flush(&app, std::mem::take(&mut waiting), &mut results).await?;
                }
                waiting.push((index, scope, request));
            }
            Err(problem) => invalid(&mut results[index], problem),
        }
    }
    flush(&app, waiting, &mut results).await?;
    Ok(Json(json!({"results": results})))
}

/// Reads one operation; what `remove` does not need may be absent.
fn read(app: &App, defaults: &ItemDefaults, item: Value) -> Result<(Scope, Request), Problem> {
    let Value::Object(mut object) = item else {
        return Err(Problem::invalid_field("body", "must be a JSON object"));
    };
    let own: Map<String, Value> = ["op_id", "op", "old_text"]
        .iter()
        .filter_map(|field| object.remove_entry(*field))
        .collect();
    let own: Own = super::extract::read(Value::Object(own))?;
    if own.op == Op::Remove {
        object.entry("content").or_insert_with(|| Value::from(""));
    }
    let (scope, fields) = defaults.read::<NewFields>(Value::Object(object), &app.settings)?;
    let draft = Draft::from(fields);
    let missing = || Problem::invalid_field("old_text", "is missing");
    let change = match (own.op, own.old_text) {
        (Op::Add, None) => Change::Add(draft),
        (Op::Add, Some(_)) => {
            let message = "belongs to `replace` and `remove`";
            return Err(Problem::invalid_field("old_text", message));
        }
        (Op::Replace, _) if draft.supersedes.is_some() => {
            let message = "belongs to `add`; `replace` finds what it supersedes by `old_text`";
            return Err(Problem::invalid_field("supersedes", message));
        }
        (Op::Replace, old_text) => Change::Replace {
            old_text: old_text.ok_or_else(missing)?,
            draft,
        },
        (Op::Remove, old_text) => Change::Remove {
            old_text: old_text.ok_or_else(missing)?,
            source: draft.details.source,
            origin: draft.origin,
        },
    };
    let key = own.op_id;
    Ok((scope, Request { key, change }))
}

/// Does the operations that wait, all of one scope, and completes their results.
async fn flush(
    app: &App,
    waiting: Vec<(usize, Scope, Request)>,
    results: &mut [Value],
) -> Result<(), Problem> {
    let Some((_, scope, _)) = waiting.first() else {
        return Ok(());
    };
    let scope = scope.clone();
    let (indices, requests): (Vec<usize>, Vec<Request>) = waiting
        .into_iter()
        .map(|(index, _, request)| (index, request))
        .unzip();
    let outcomes = operations::operate(app, &scope, requests, app.clock.now()).await?;
    for (index, outcome) in indices.into_iter().zip(outcomes) {
        complete(&mut results[index], outcome);
    }
    Ok(())
}

fn complete(result: &mut Value, outcome: Result<Outcome, Error>) {
    match outcome {
        Ok(outcome) => {
            result["status"] = json!(match outcome.status {
                Status::Done => "done",
                Status::Repeated => "repeated",
                Status::NoMatch => "no_match",
                Status::Ambiguous => "ambiguous",
            });
            if let Some(id) = outcome.id {
                result["id"] = json!(id.as_str());
            }
            redaction(result, &outcome.redacted);
        }
        Err(error) => invalid(result, error.into()),
    }
}

fn invalid(result: &mut Value, problem: Problem) {
    result["status"] = json!("invalid");
    result["problem"] = json!(problem);
}
