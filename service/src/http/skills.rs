//! /v1/skills: the skills of an agent's host, found on demand.

use axum::extract::State;
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::access::Caller;
use super::extract::{Body, Params};
use super::problem::Problem;
use super::shapes::{MAX_QUERY_CHARS, MAX_TOP_K};
use crate::app::App;
use crate::skills::shelf::Shelf;
use crate::skills::{self, Given, MAX_SKILLS};
use crate::write::validate;

/// The collection of a client that names none.
const DEFAULT_COLLECTION: &str = "default";
/// Skills of an answer when the request does not say.
const TOP_K: usize = 8;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "NewSkill")]
#[serde(deny_unknown_fields)]
struct GivenFields {
    path: String,
    front_matter: String,
    hash: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PutFields {
    collection: Option<String>,
    skills: Vec<GivenFields>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RefusedSkill")]
struct RefusedShape {
    path: String,
    reason: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SkillsPut")]
pub(super) struct PutShape {
    /// Skills that the collection holds.
    count: usize,
    /// Skills that are new, differ, or are gone.
    changed: usize,
    refused: Vec<RefusedShape>,
}

pub(super) async fn put(
    State(app): State<App>,
    Extension(shelf): Extension<Shelf>,
    caller: Caller,
    body: Body<PutFields>,
) -> Result<Json<PutShape>, Problem> {
    let collection = collection(&caller, body.value.collection)?;
    let given = body.value.skills;
    if given.len() > MAX_SKILLS {
        return Err(Problem::too_large(format!(
            "there are {} skills, at most {MAX_SKILLS} are allowed",
            given.len()
        )));
    }
    let given = given.into_iter().map(|fields| Given {
        path: fields.path,
        front_matter: fields.front_matter,
        hash: fields.hash,
    });
    let namespace = &body.scope.namespace;
    let put = skills::put(&app, &shelf, namespace, &collection, given.collect()).await?;
    let refused = put.refused.into_iter().map(|refused| RefusedShape {
        path: refused.path,
        reason: refused.reason,
    });
    Ok(Json(PutShape {
        count: put.count,
        changed: put.changed,
        refused: refused.collect(),
    }))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListParams {
    collection: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Skill")]
struct SkillShape {
    path: String,
    name: String,
    description: String,
    hash: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SkillList")]
pub(super) struct Listed {
    skills: Vec<SkillShape>,
}

pub(super) async fn list(
    State(app): State<App>,
    caller: Caller,
    params: Params<ListParams>,
) -> Result<Json<Listed>, Problem> {
    let collection = collection(&caller, params.value.collection)?;
    let listed = skills::list(&app, &params.scope.namespace, &collection).await?;
    let listed = listed.into_iter().map(|skill| SkillShape {
        path: skill.path,
        name: skill.name,
        description: skill.description,
        hash: skill.hash,
    });
    Ok(Json(Listed {
        skills: listed.collect(),
    }))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchFields {
    query: String,
    top_k: Option<usize>,
    collection: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SkillMatch")]
struct MatchShape {
    name: String,
    description: String,
    path: String,
    score: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SkillsFound")]
pub(super) struct FoundShape {
    results: Vec<MatchShape>,
    degraded: Vec<String>,
}

pub(super) async fn search(
    State(app): State<App>,
    Extension(shelf): Extension<Shelf>,
    caller: Caller,
    body: Body<SearchFields>,
) -> Result<Json<FoundShape>, Problem> {
    let fields = body.value;
    let collection = collection(&caller, fields.collection)?;
    if fields.query.chars().count() > MAX_QUERY_CHARS {
        let message = format!("is longer than {MAX_QUERY_CHARS} characters");
        return Err(Problem::invalid_field("query", message));
    }
    let top_k = fields.top_k.unwrap_or(TOP_K);
    if !(1..=MAX_TOP_K).contains(&top_k) {
        let message = format!("is {top_k}, must be 1 to {MAX_TOP_K}");
        return Err(Problem::invalid_field("top_k", message));
    }
    let namespace = &body.scope.namespace;
    let found = skills::search(&app, &shelf, namespace, &collection, &fields.query, top_k).await?;
    let results = found.matches.into_iter().map(|found| MatchShape {
        name: found.skill.name,
        description: found.skill.description,
        path: found.skill.path,
        score: found.score,
    });
    Ok(Json(FoundShape {
        results: results.collect(),
        degraded: found.degraded,
    }))
}

/// The collection that is named, or the caller's own of that name.
fn collection(caller: &Caller, given: Option<String>) -> Result<String, Problem> {
    let name = given.unwrap_or_else(|| DEFAULT_COLLECTION.to_owned());
    validate::name("collection", &name).map_err(|error| Problem::invalid(vec![error]))?;
    Ok(caller.reach().own(&name))
}
