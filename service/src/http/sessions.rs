//! POST /v1/sessions: a client's session begins.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::extract::SessionFields;
use super::problem::Problem;
use super::shapes::{MAX_TOP_K, TagList};
use crate::app::App;
use crate::error::FieldError;
use crate::session::SessionSettings;
use crate::write::validate;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Fields {
    session_id: String,
    tag_filter: Option<TagList>,
    top_k: Option<usize>,
}

/// What holds for requests that carry the session's id and say nothing else.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SessionSettings")]
struct Effective {
    session_id: String,
    namespace: String,
    agent_id: Option<String>,
    is_primary: bool,
    tag_filter: Vec<String>,
    top_k: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SessionAnswer")]
pub(super) struct Begun {
    settings: Effective,
    reloaded: bool,
}

pub(super) async fn begin(
    State(app): State<App>,
    body: SessionFields<Fields>,
) -> Result<Json<Begun>, Problem> {
    let fields = body.value;
    let mut errors = Vec::new();
    if let Err(error) = validate::name("session_id", &fields.session_id) {
        errors.push(error);
    }
    if let Some(top_k) = fields
        .top_k
        .filter(|top_k| !(1..=MAX_TOP_K).contains(top_k))
    {
        let message = format!("is {top_k}, must be 1 to {MAX_TOP_K}");
        errors.push(FieldError::new("top_k", message));
    }
    let tag_filter = fields.tag_filter.map(TagList::into_tags);
    if let Err(error) = validate::tag_filter(tag_filter.as_deref().unwrap_or_default()) {
        errors.push(error);
    }
    if !errors.is_empty() {
        return Err(Problem::invalid(errors));
    }
    let reloaded = reload_if_changed(&app).await;
    let now = app.current().settings;
    let settings = SessionSettings {
        agent_id: body.agent_id.clone(),
        is_primary: body.is_primary,
        tag_filter: tag_filter.clone(),
        top_k: fields.top_k,
    };
    let reach = body.caller.reach();
    app.sessions.start(
        &reach.own(&body.scope.namespace),
        &fields.session_id,
        settings,
    );
    let settings = Effective {
        session_id: fields.session_id,
        namespace: body.scope.namespace,
        // What the request does not say is as the configuration says now.
        agent_id: body
            .agent_id
            .filter(|agent| !agent.is_empty())
            .or_else(|| reach.agent.clone())
            .or_else(|| now.agent_id.clone()),
        is_primary: reach.primary(body.is_primary, now.is_primary),
        tag_filter: tag_filter.unwrap_or_else(|| now.tag_filter.clone()),
        top_k: fields.top_k.unwrap_or(now.top_k),
    };
    Ok(Json(Begun { settings, reloaded }))
}

/// Reading files blocks, if only for a moment.
async fn reload_if_changed(app: &App) -> bool {
    let app = app.clone();
    let look = tokio::task::spawn_blocking(move || app.reload_if_changed());
    look.await.unwrap_or(false)
}
