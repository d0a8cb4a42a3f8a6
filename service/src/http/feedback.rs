//! POST /v1/feedback.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::extract::Body;
use super::problem::Problem;
use crate::app::App;
use crate::write;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Fields {
    /// An id, a key or the beginning of an id; clients that hold a key may call it one.
    #[serde(alias = "key")]
    id: String,
    useful: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "FeedbackAnswer")]
pub(super) struct Given {
    id: String,
    feedback: f64,
}

pub(super) async fn give(
    State(app): State<App>,
    body: Body<Fields>,
) -> Result<Json<Given>, Problem> {
    let (id, feedback) = write::feedback(
        &app,
        &body.scope,
        &body.value.id,
        body.value.useful,
        app.clock.now(),
    )
    .await?;
    Ok(Json(Given {
        id: id.to_string(),
        feedback,
    }))
}
