//! The service: all routes, what wraps them, and serving.
//!
//! A handler extracts, calls one function of the library, converts, and returns. Statuses are given
//! in `problem.rs` and nowhere else.

mod bank;
mod batches;
mod corrections;
mod export;
mod extract;
mod feedback;
mod health;
mod idempotency;
mod import;
mod limits;
mod lists;
mod live;
pub mod local;
mod lock;
mod maintenance;
mod mcp;
mod memories;
mod ndjson;
mod operations;
mod prefetch;
mod problem;
mod search;
mod sessions;
mod shapes;
mod signals;
mod skills;
mod synonyms;

use std::future::Future;

use axum::extract::Request;
use axum::handler::Handler;
use axum::http::Method;
use axum::middleware;
use axum::routing::{MethodFilter, on, post};
use axum::{Extension, Router};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::app::App;
use crate::skills::shelf::Shelf;
use idempotency::Idempotency;
use problem::Problem;

/// Routes with a list of what they are, so that a table of them can be complete.
#[derive(Default)]
struct Routes {
    router: Router<App>,
    list: Vec<(&'static str, &'static str)>,
}

impl Routes {
    fn on<H: Handler<T, App>, T: 'static>(
        mut self,
        method: Method,
        path: &'static str,
        handler: H,
    ) -> Routes {
        let (name, filter) = match method {
            Method::GET => ("GET", MethodFilter::GET),
            Method::PUT => ("PUT", MethodFilter::PUT),
            Method::PATCH => ("PATCH", MethodFilter::PATCH),
            Method::DELETE => ("DELETE", MethodFilter::DELETE),
            _ => ("POST", MethodFilter::POST),
        };
        self.list.push((name, path));
        self.router = self.router.route(path, on(filter, handler));
        self
    }
}

fn routes() -> Routes {
    const GET: Method = Method::GET;
    const POST: Method = Method::POST;
    const PUT: Method = Method::PUT;
    const PATCH: Method = Method::PATCH;
    const DELETE: Method = Method::DELETE;
    let own = Routes::default()
        .on(POST, "/v1/memories", memories::add)
        .on(GET, "/v1/memories", lists::list)
        .on(DELETE, "/v1/memories", lists::delete)
        .on(POST, "/v1/memories/batch", batches::add)
        .on(POST, "/v1/memories/operations", operations::operate)
        .on(GET, "/v1/memories/{id}", memories::get)
        .on(PATCH, "/v1/memories/{id}", memories::edit)
        .on(DELETE, "/v1/memories/{id}", memories::delete)
        .on(POST, "/v1/memories/{id}/restore", memories::restore)
        .on(POST, "/v1/search", search::post)
        .on(GET, "/v1/search", search::get)
        .on(POST, "/v1/prefetch", prefetch::post)
        .on(POST, "/v1/feedback", feedback::give)
        .on(POST, "/v1/corrections", corrections::correct)
        .on(DELETE, "/v1/corrections/{id}", corrections::undo)
        .on(GET, "/v1/lock", lock::get)
        .on(PUT, "/v1/lock", lock::set)
        .on(DELETE, "/v1/lock", lock::clear)
        .on(GET, "/v1/topics", signals::topics)
        .on(GET, "/v1/attention", signals::attention)
        .on(GET, "/v1/entities/{name}/timeline", signals::timeline)
        .on(GET, "/v1/entities/{name}/related", signals::related)
        .on(GET, "/v1/synonyms", synonyms::list)
        .on(PUT, "/v1/synonyms/{term}", synonyms::set)
        .on(DELETE, "/v1/synonyms/{term}", synonyms::remove)
        .on(POST, "/v1/sessions", sessions::begin)
        .on(PUT, "/v1/skills", skills::put)
        .on(GET, "/v1/skills", skills::list)
        .on(POST, "/v1/skills/search", skills::search)
        .on(GET, "/v1/stats", health::stats)
        .on(GET, "/v1/export", export::export)
        .on(POST, "/v1/import", import::import)
        .on(GET, "/healthz", health::healthz)
        .on(GET, "/readyz", health::readyz)
        .on(GET, "/version", health::version)
        .on(GET, "/health", health::health)
        .on(GET, "/health/ready", health::health)
        .on(GET, "/health/live", health::live);
    bank::routes(maintenance::routes(own))
}

/// How long requests that are under way may take when the service is asked to stop.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(8);
/// Where the tools for models are.
const MCP: &str = "/mcp";

/// Method and path of every route.
pub fn route_list() -> Vec<(&'static str, &'static str)> {
    let mut list = routes().list;
    list.push(("POST", MCP));
    list
}

/// Every route of the service, over the settings that hold when a request comes.
pub fn router(app: App) -> Router {
    limits::wrap(Router::new().fallback_service(live::Live::new(app)))
        .layer(middleware::from_fn(bank::speak))
}

/// Every route, over the settings of this app.
fn over(app: App, idempotency: Idempotency, shelf: Shelf) -> Router {
    let once = middleware::from_fn_with_state(idempotency, idempotency::once);
    let routes = routes()
        .router
        .layer(once)
        .layer(Extension(shelf))
        .fallback(|| async { Problem::no_route() })
        .method_not_allowed_fallback(|| async { Problem::method_not_allowed() })
        .with_state(app);
    // A tool sends its request to the same routes.
    let tools = routes.clone();
    let mcp = post(move |request: Request| mcp::answer(tools, request))
        .fallback(|| async { Problem::method_not_allowed() });
    routes.route(MCP, mcp)
}

/// Serves until `shutdown` ends, then finishes what was accepted. Meanwhile memories without a vector
/// get one, it is stored when memories were found, and if the app says so, maintenance is done.
///
/// # Errors
/// When the listener fails.
pub async fn serve(
    listener: TcpListener,
    app: App,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let mut background = vec![
        tokio::spawn(store_recalls(app.clone())),
        tokio::spawn(follow_dictionary(app.clone())),
    ];
    background.extend(app.meaning.clone().map(|meaning| {
        let store = app.store.clone();
        tokio::spawn(async move { meaning.keep_complete(store).await })
    }));
    if app.maintains {
        background.push(tokio::spawn(maintenance::keep_up(app.clone())));
    }
    let kept = app.clone();
    let (asked, stopping) = oneshot::channel();
    let shutdown = async move {
        shutdown.await;
        // Nobody listens when the listener has failed.
        let _ = asked.send(());
    };
    let served = tokio::select! {
        served = axum::serve(listener, router(app)).with_graceful_shutdown(shutdown) => served,
        () = out_of_patience(stopping) => {
            tracing::warn!("stopping: what still goes on is broken off");
            Ok(())
        }
    };
    background.iter().for_each(tokio::task::JoinHandle::abort);
    if let Err(error) = kept.store_recalls().await {
        tracing::warn!(%error, "when memories were last found is not stored");
    }
    served
}

/// Ends when requests have had long enough to come to an end: one that streams can go on for hours.
/// What it was answered for stays.
async fn out_of_patience(stopping: oneshot::Receiver<()>) {
    if stopping.await.is_ok() {
        tokio::time::sleep(PATIENCE).await;
    } else {
        std::future::pending::<()>().await;
    }
}

/// How often the version of the dictionary is looked at.
const DICTIONARY: std::time::Duration = std::time::Duration::from_secs(1);

/// Takes up what other processes learnt.
async fn follow_dictionary(app: App) {
    loop {
        if let Err(error) = app.refresh_dictionary().await {
            tracing::debug!(%error, "the dictionary cannot be looked at");
        }
        tokio::time::sleep(DICTIONARY).await;
    }
}

/// How often it is stored when memories were found: losing that much is accepted.
const RECALLS: std::time::Duration = std::time::Duration::from_secs(60);

async fn store_recalls(app: App) {
    loop {
        tokio::time::sleep(RECALLS).await;
        if let Err(error) = app.store_recalls().await {
            tracing::warn!(%error, "when memories were last found is not stored");
        }
    }
}
