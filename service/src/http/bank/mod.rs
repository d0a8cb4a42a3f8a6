//! The bank API under `/v1/default`, as clients of Hindsight speak it. A bank is a namespace: what a
//! bank client retains is found through our own routes, and the other way round.
//!
//! Handlers are thin: they read what these clients send, call the same functions as our own routes,
//! and answer in the clients' words. Conventions that differ from ours are in [`mod@extract`] (null is
//! absent, unknown fields are ignored) and [`mod@speak`] (errors are `{"detail": …}`). How the clients use
//! it is in `service/docs/`.

mod banks;
mod config;
mod documents;
mod entities;
mod extract;
mod items;
mod memories;
mod models;
mod operations;
mod recall;
mod records;
mod reflect;
mod retain;
mod speak;
mod tags;

use axum::http::Method;

use super::Routes;
pub(super) use speak::{PREFIX, speak};

/// Adds the routes.
pub(super) fn routes(routes: Routes) -> Routes {
    const GET: Method = Method::GET;
    const POST: Method = Method::POST;
    const PUT: Method = Method::PUT;
    const PATCH: Method = Method::PATCH;
    const DELETE: Method = Method::DELETE;
    const BANK: &str = "/v1/default/banks/{bank_id}";
    const PROFILE: &str = "/v1/default/banks/{bank_id}/profile";
    const CONFIG: &str = "/v1/default/banks/{bank_id}/config";
    const MEMORIES: &str = "/v1/default/banks/{bank_id}/memories";
    const MEMORY: &str = "/v1/default/banks/{bank_id}/memories/{id}";
    // The name of a document may be a path of its own.
    const DOCUMENT: &str = "/v1/default/banks/{bank_id}/documents/{*id}";
    const OPERATION: &str = "/v1/default/banks/{bank_id}/operations/{id}";
    const MODELS: &str = "/v1/default/banks/{bank_id}/mental-models";
    const MODEL: &str = "/v1/default/banks/{bank_id}/mental-models/{id}";
    routes
        .on(GET, "/v1/default/banks", banks::list)
        .on(PUT, BANK, banks::put)
        .on(PATCH, BANK, banks::patch)
        .on(DELETE, BANK, banks::delete)
        .on(GET, PROFILE, banks::profile)
        .on(PUT, PROFILE, banks::put_disposition)
        .on(GET, "/v1/default/banks/{bank_id}/stats", banks::stats)
        .on(GET, CONFIG, config::get)
        .on(PATCH, CONFIG, config::patch)
        .on(DELETE, CONFIG, config::reset)
        .on(POST, MEMORIES, retain::retain)
        .on(DELETE, MEMORIES, memories::clear)
        .on(
            GET,
            "/v1/default/banks/{bank_id}/memories/list",
            memories::list,
        )
        .on(
            POST,
            "/v1/default/banks/{bank_id}/memories/recall",
            recall::recall,
        )
        .on(GET, MEMORY, memories::get)
        .on(PATCH, MEMORY, memories::patch)
        .on(
            POST,
            "/v1/default/banks/{bank_id}/reflect",
            reflect::reflect,
        )
        .on(
            GET,
            "/v1/default/banks/{bank_id}/documents",
            documents::list,
        )
        .on(GET, DOCUMENT, documents::get)
        .on(PATCH, DOCUMENT, documents::patch)
        .on(DELETE, DOCUMENT, documents::delete)
        .on(
            GET,
            "/v1/default/banks/{bank_id}/operations",
            operations::list,
        )
        .on(GET, OPERATION, operations::get)
        .on(DELETE, OPERATION, operations::cancel)
        .on(
            POST,
            "/v1/default/banks/{bank_id}/operations/{id}/retry",
            operations::retry,
        )
        .on(
            POST,
            "/v1/default/banks/{bank_id}/consolidate",
            operations::consolidate,
        )
        .on(GET, MODELS, models::list)
        .on(POST, MODELS, models::create)
        .on(GET, MODEL, models::get)
        .on(PATCH, MODEL, models::patch)
        .on(DELETE, MODEL, models::delete)
        .on(
            POST,
            "/v1/default/banks/{bank_id}/mental-models/{id}/refresh",
            models::refresh,
        )
        .on(
            GET,
            "/v1/default/banks/{bank_id}/mental-models/{id}/history",
            models::history,
        )
        .on(GET, "/v1/default/banks/{bank_id}/tags", entities::tags)
        .on(GET, "/v1/default/banks/{bank_id}/entities", entities::list)
        .on(
            GET,
            "/v1/default/banks/{bank_id}/entities/{id}",
            entities::get,
        )
}
