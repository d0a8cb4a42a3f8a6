//! Whether a query's meaning counts, and its vector.

use crate::app::App;
use crate::error::Error;
use crate::meaning::NotReady;
use crate::query::{Plan, VectorQuery};
use crate::ranking::noise::Hearing;

use super::{Mode, Request};

/// What a query means, as far as it can be had.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryMeaning {
    /// How to search: not [`Mode::Auto`].
    pub mode: Mode,
    /// Absent when words alone count.
    pub vector: Option<VectorQuery>,
    pub hearing: Option<Hearing>,
    /// Why meaning does not count although it should.
    pub degraded: Vec<String>,
}

/// Embeds a query if its mode asks for that. An embedder that fails costs an automatic or hybrid
/// search its meaning and nothing else.
///
/// # Errors
/// When meaning is asked for and there is no embedder; when it alone is asked for and cannot be had.
pub async fn of_query(app: &App, request: &Request) -> Result<QueryMeaning, Error> {
    let words_alone = |degraded| QueryMeaning {
        mode: Mode::Lexical,
        vector: None,
        hearing: None,
        degraded,
    };
    let Some(meaning) = app
        .meaning
        .as_ref()
        .filter(|_| request.mode != Mode::Lexical)
    else {
        return match request.mode {
            Mode::Auto | Mode::Lexical => Ok(words_alone(Vec::new())),
            Mode::Vector | Mode::Hybrid => Err(Error::invalid(
                "mode",
                "needs an embedder, and none is configured; use `auto` or `lexical`",
            )),
        };
    };
    let alone = request.mode == Mode::Vector;
    match meaning.query(&*app.store, &request.query).await {
        Ok(Some(query)) => Ok(QueryMeaning {
            mode: if alone { Mode::Vector } else { Mode::Hybrid },
            hearing: Some(query.model.hearing(&query.values)),
            vector: Some(VectorQuery {
                model: query.model.id,
                values: query.values.into(),
            }),
            degraded: Vec::new(),
        }),
        Ok(None) if alone => Ok(QueryMeaning {
            mode: Mode::Vector,
            ..words_alone(Vec::new())
        }),
        Ok(None) => Ok(words_alone(Vec::new())),
        Err(NotReady::Store(error)) => Err(error.into()),
        Err(error) if alone => Err(error.into()),
        Err(error) => Ok(words_alone(vec![format!("lexical only: {error}")])),
    }
}

impl QueryMeaning {
    /// Makes it part of a plan; a search by meaning alone looks for no words.
    pub fn join(&self, plan: &mut Plan) {
        plan.vector.clone_from(&self.vector);
        if self.mode == Mode::Vector {
            plan.terms.clear();
            plan.claims.clear();
        }
    }
}
