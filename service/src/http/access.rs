//! Who may use which route.
//!
//! A request first becomes that of a [`Caller`] ([`authenticate`]), then its route asks what the caller
//! may do ([`admit`]); what a caller reaches within a route is up to the scope (`extract`). A route that
//! nothing is said about here writes, so that forgetting one refuses too much rather than too little.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::problem::Problem;
use crate::app::App;
use crate::keys::{ApiKey, Reach};

/// Paths that need no key, and answer however busy the service is.
pub(super) const OPEN: [&str; 6] = [
    "/healthz",
    "/readyz",
    "/version",
    "/health",
    "/health/ready",
    "/health/live",
];
/// Posts that write nothing, besides what they are asked with. A tool for models is asked by `/mcp`;
/// what it sends has its own route.
const READING_POSTS: [&str; 7] = [
    "/v1/search",
    "/v1/prefetch",
    "/v1/sessions",
    "/v1/skills/search",
    "/mcp",
    "/v1/default/banks/{bank_id}/memories/recall",
    "/v1/default/banks/{bank_id}/reflect",
];
/// What concerns more than the caller: every method below these paths.
const ADMIN: [&str; 6] = [
    "/v1/maintenance",
    "/v1/export",
    "/v1/import",
    "/metrics",
    "/docs",
    "/openapi.json",
];
/// Single methods of the same kind.
const ADMIN_METHODS: [(&str, &str); 8] = [
    ("PUT", "/v1/lock"),
    ("DELETE", "/v1/lock"),
    ("PUT", "/v1/synonyms/{term}"),
    ("DELETE", "/v1/synonyms/{term}"),
    ("DELETE", "/v1/memories"),
    ("DELETE", "/v1/default/banks/{bank_id}"),
    ("DELETE", "/v1/default/banks/{bank_id}/memories"),
    ("POST", "/v1/default/banks/{bank_id}/consolidate"),
];

/// What a route asks of its caller, when there are keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Nothing.
    Open,
    /// A key.
    Any { writes: bool },
    /// An admin key.
    Admin { writes: bool },
}

impl Access {
    /// What a route asks, by its method and its path as the router has it.
    pub(super) fn of(method: &str, path: &str) -> Access {
        if OPEN.contains(&path) {
            return Access::Open;
        }
        let writes = method != "GET" && !(method == "POST" && READING_POSTS.contains(&path));
        let below = |prefix: &str| {
            let rest = path.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if ADMIN.iter().any(|prefix| below(prefix)) || ADMIN_METHODS.contains(&(method, path)) {
            Access::Admin { writes }
        } else {
            Access::Any { writes }
        }
    }
}

/// What a caller reaches that nothing binds.
static EVERYTHING: Reach = Reach {
    agent: None,
    namespace: None,
    primary: None,
};

/// Who sent a request: the holder of a key, or someone who needs none.
#[derive(Debug, Clone, Default)]
pub(super) struct Caller(Option<Arc<ApiKey>>);

impl Caller {
    /// Whoever uses this process, or a service without keys.
    pub(super) fn owner() -> Caller {
        Caller(None)
    }

    /// The holder of a key.
    pub(super) fn with(key: Arc<ApiKey>) -> Caller {
        Caller(Some(key))
    }

    /// The name of the key, if there is one.
    pub(super) fn key_name(&self) -> Option<&str> {
        self.0.as_ref().map(|key| key.name.as_str())
    }

    pub(super) fn reach(&self) -> &Reach {
        self.0.as_ref().map_or(&EVERYTHING, |key| &key.reach)
    }

    pub(super) fn is_admin(&self) -> bool {
        self.0.as_ref().is_none_or(|key| key.admin)
    }

    pub(super) fn may_write(&self) -> bool {
        self.0.as_ref().is_none_or(|key| !key.read_only)
    }
}

/// Finds out who sent a request. Without keys everybody is the owner; a request of this process
/// brings its caller with it.
pub(super) async fn authenticate(
    State(app): State<App>,
    mut request: Request,
    next: Next,
) -> Response {
    let keys = &app.settings.api_keys;
    if request.extensions().get::<Caller>().is_none() {
        let caller = if keys.is_empty() {
            Some(Caller::owner())
        } else {
            bearer(&request)
                .and_then(|key| keys.find(key))
                .map(Caller::with)
        };
        match caller {
            Some(caller) => {
                request.extensions_mut().insert(caller);
            }
            None if OPEN.contains(&request.uri().path()) => {}
            None => return Problem::unauthorized().into_response(),
        }
    }
    next.run(request).await
}

/// The key that a request presents.
fn bearer(request: &Request) -> Option<&str> {
    let value = request
        .headers()
        .get(header::AUTHORIZATION)?
        .to_str()
        .ok()?;
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

/// A route as it is declared; an answer carries that of its request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Route {
    pub method: &'static str,
    pub path: &'static str,
}

/// Lets a caller into a route, or says why not.
pub(super) async fn admit(State(route): State<Route>, request: Request, next: Next) -> Response {
    let access = Access::of(route.method, route.path);
    let mut response = match refusal(access, request.extensions().get::<Caller>()) {
        None => next.run(request).await,
        Some(problem) => problem.into_response(),
    };
    response.extensions_mut().insert(route);
    response
}

fn refusal(access: Access, caller: Option<&Caller>) -> Option<Problem> {
    let (admin, writes) = match access {
        Access::Open => return None,
        Access::Any { writes } => (false, writes),
        Access::Admin { writes } => (true, writes),
    };
    let Some(caller) = caller else {
        return Some(Problem::unauthorized());
    };
    if admin && !caller.is_admin() {
        return Some(Problem::forbidden("this needs an admin key"));
    }
    (writes && !caller.may_write()).then(|| Problem::forbidden("the API key may only read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_writes() {
        use Access::{Admin, Any, Open};
        for (method, path, expected) in [
            ("GET", "/healthz", Open),
            ("GET", "/v1/memories", Any { writes: false }),
            ("POST", "/v1/search", Any { writes: false }),
            ("POST", "/v1/anything/new", Any { writes: true }),
            ("PUT", "/v1/search", Any { writes: true }),
            ("DELETE", "/v1/memories", Admin { writes: true }),
            ("DELETE", "/v1/memories/{id}", Any { writes: true }),
            ("POST", "/v1/maintenance/forget", Admin { writes: true }),
            ("GET", "/v1/export", Admin { writes: false }),
            ("GET", "/v1/exported", Any { writes: false }),
            ("GET", "/metrics", Admin { writes: false }),
        ] {
            assert_eq!(Access::of(method, path), expected, "{method} {path}");
        }
    }
}
