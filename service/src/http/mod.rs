//! The service: all routes, what wraps them, and serving.
//!
//! A handler extracts, calls one function of the library, converts, and returns. Statuses are given
//! in `problem.rs` and nowhere else.

mod access;
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
mod metrics;
mod ndjson;
mod openapi;
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
use access::Route;
use idempotency::Idempotency;
use openapi::{Described, Entry};
use problem::Problem;

/// Routes with what each is, so that tables of them can be complete.
#[derive(Default)]
struct Routes {
    router: Router<App>,
    entries: Vec<Entry>,
}

impl Routes {
    fn on<H: Handler<T, App> + Described<D>, T: 'static, D>(
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
        self.entries.push(Entry {
            method: name,
            path,
            describe: H::describe,
        });
        let declared = Route { method: name, path };
        let admitted = middleware::from_fn_with_state(declared, access::admit);
        let route = on(filter, handler).route_layer(admitted);
        self.router = self.router.route(path, route);
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
        .on(GET, "/metrics", metrics::metrics)
        .on(GET, "/openapi.json", openapi::json)
        .on(GET, "/docs", openapi::docs)
        .on(GET, "/healthz", health::healthz)
        .on(GET, "/readyz", health::readyz)
        .on(GET, "/version", health::version)
        .on(GET, "/health", health::health)
        .on(GET, "/health/ready", health::health)
        .on(GET, "/health/live", health::live);
    let mut routes = bank::routes(maintenance::routes(own));
    // What is said there is the protocol's; its route is made where its requests can go on.
    routes.entries.push(Entry {
        method: "POST",
        path: MCP,
        describe: |_, _| {},
    });
    routes
}

/// How long requests that are under way may take when the service is asked to stop.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(8);
/// Where the tools for models are.
const MCP: &str = "/mcp";

/// Method and path of every route.
pub fn route_list() -> Vec<(&'static str, &'static str)> {
    let entries = routes().entries;
    entries
        .iter()
        .map(|entry| (entry.method, entry.path))
        .collect()
}

/// Every route of the service, over the settings that hold when a request comes.
pub fn router(app: App) -> Router {
    let metrics = app.metrics.clone();
    limits::wrap(Router::new().fallback_service(live::Live::new(app)))
        .layer(middleware::from_fn_with_state(metrics, metrics::observe))
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
        .with_state(app.clone());
    // A tool sends its request to the same routes.
    let tools = routes.clone();
    let declared = Route {
        method: "POST",
        path: MCP,
    };
    let admitted = middleware::from_fn_with_state(declared, access::admit);
    let mcp = post(move |request: Request| mcp::answer(tools, request))
        .route_layer(admitted)
        .fallback(|| async { Problem::method_not_allowed() });
    routes
        .route(MCP, mcp)
        .layer(middleware::from_fn_with_state(app, access::authenticate))
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
