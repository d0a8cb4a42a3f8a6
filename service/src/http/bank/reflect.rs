//! POST …/reflect: an answer made of what is remembered. No language model is asked: the memories
//! that matter are told one after the other.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::problem::Problem;
use super::extract::{Bank, Fields};
use super::items;
use super::recall::{Budget, Search, as_type, check_types, fitting};
use super::tags::Wanted;
use crate::app::App;
use crate::ranking::Hit;

/// Budget of text, in tokens, when none is given.
const TEXT: usize = 4_096;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Reflect {
    query: String,
    budget: Option<Budget>,
    max_tokens: Option<usize>,
    #[serde(default)]
    include: Include,
    response_schema: Option<Value>,
    #[serde(flatten)]
    wanted: Wanted,
    #[serde(default)]
    fact_types: Vec<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "ReflectInclude")]
struct Include {
    facts: Option<Value>,
    tool_calls: Option<Value>,
}

pub(super) async fn reflect(
    State(app): State<App>,
    bank: Bank,
    Fields(reflect): Fields<Reflect>,
) -> Result<Json<Value>, Problem> {
    if reflect.response_schema.is_some() {
        let message = "no language model is configured, so no answer can follow a schema";
        return Err(Problem::invalid_field("response_schema", message));
    }
    check_types(&reflect.fact_types)?;
    let search = Search {
        query: reflect.query,
        budget: reflect.budget.unwrap_or(Budget::Low),
        tag_rule: reflect.wanted.rule()?,
        ..Search::default()
    };
    let answer = search.run(&app, &bank.scope, app.clock.now()).await?;
    let hits = fitting(answer.hits, reflect.max_tokens.unwrap_or(TEXT));
    let mut body = json!({"text": told(&hits)});
    if reflect.include.facts.is_some() {
        let memories: Vec<Value> = hits
            .iter()
            .map(|hit| items::hit(hit, as_type(&reflect.fact_types, hit)))
            .collect();
        body["based_on"] = json!({"memories": memories, "mental_models": [], "directives": []});
    }
    if reflect.include.tool_calls.is_some() {
        body["trace"] = json!({"tool_calls": [], "llm_calls": []});
    }
    Ok(Json(body))
}

/// The memories as one text; empty if there are none.
pub(super) fn told(hits: &[Hit]) -> String {
    let lines = hits
        .iter()
        .map(|hit| format!("- {}", hit.memory.content.trim()));
    lines.collect::<Vec<_>>().join("\n")
}
