//! /v1/synonyms: words that mean the same, for a whole namespace.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::extract::{Body, NoFields, Params, Segment};
use super::problem::Problem;
use crate::analysis::normalise::{fold, normalise};
use crate::app::App;
use crate::store::Synonyms;

/// Longest term, in characters.
const MAX_TERM_CHARS: usize = 128;
/// Most synonyms of one term.
const MAX_TERMS: usize = 64;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Fields {
    terms: Vec<String>,
}

pub(super) async fn list(
    State(app): State<App>,
    params: Params<NoFields>,
) -> Result<Json<Value>, Problem> {
    let synonyms = app.store.synonyms(&params.scope.namespace).await?;
    Ok(Json(shape(synonyms)))
}

pub(super) async fn set(
    State(app): State<App>,
    Segment(name): Segment,
    body: Body<Fields>,
) -> Result<Json<Value>, Problem> {
    let term = term("term", &name)?;
    let given = body.value.terms;
    if given.is_empty() || given.len() > MAX_TERMS {
        let message = format!(
            "has {} terms, must have 1 to {MAX_TERMS}; DELETE removes them",
            given.len()
        );
        return Err(Problem::invalid_field("terms", message));
    }
    let mut terms: Vec<String> = Vec::with_capacity(given.len());
    for text in &given {
        let synonym = self::term("terms", text)?;
        if synonym != term && !terms.contains(&synonym) {
            terms.push(synonym);
        }
    }
    if terms.is_empty() {
        let message = "has nothing but the term itself";
        return Err(Problem::invalid_field("terms", message));
    }
    let synonyms = Synonyms {
        term,
        terms,
        manual: true,
    };
    app.store
        .set_synonyms(&body.scope.namespace, synonyms.clone())
        .await?;
    Ok(Json(shape(vec![synonyms])))
}

pub(super) async fn remove(
    State(app): State<App>,
    Segment(name): Segment,
    params: Params<NoFields>,
) -> Result<Json<Value>, Problem> {
    let namespace = &params.scope.namespace;
    let term = term("term", &name)?;
    let known = app.store.synonyms(namespace).await?;
    let Some(removed) = known.into_iter().find(|synonyms| synonyms.term == term) else {
        return Err(Problem::no_synonyms());
    };
    let none = Synonyms {
        term,
        terms: Vec::new(),
        manual: true,
    };
    app.store.set_synonyms(namespace, none).await?;
    Ok(Json(shape(vec![removed])))
}

/// A term as search compares words: folded.
fn term(field: &str, text: &str) -> Result<String, Problem> {
    let folded = fold(&normalise(text)).trim().to_owned();
    let length = folded.chars().count();
    if !(1..=MAX_TERM_CHARS).contains(&length) || !folded.chars().any(char::is_alphanumeric) {
        let message = format!("must be a word of 1 to {MAX_TERM_CHARS} characters");
        return Err(Problem::invalid_field(field, message));
    }
    Ok(folded)
}

fn shape(synonyms: Vec<Synonyms>) -> Value {
    let entry = |synonyms: Synonyms| {
        let origin = if synonyms.manual { "manual" } else { "found" };
        (
            synonyms.term,
            json!({"terms": synonyms.terms, "origin": origin}),
        )
    };
    let synonyms: Map<String, Value> = synonyms.into_iter().map(entry).collect();
    json!({"synonyms": synonyms})
}
