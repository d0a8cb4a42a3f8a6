//! What Redis reports, in the words that both stores share, with what to do about it.

use redis::{ErrorKind, RedisError, ServerErrorKind};

use crate::store::StoreError;

/// The error that the script for reading raises while an index is being built.
const INDEXING: &str = "KEEPSAKEINDEXING";

/// A message with the cause behind it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct Explained {
    message: String,
    source: Option<RedisError>,
}

/// An error of our own making.
pub(super) fn explained(message: impl Into<String>) -> Box<dyn std::error::Error + Send + Sync> {
    Box::new(Explained {
        message: message.into(),
        source: None,
    })
}

/// Names what Redis reported.
pub(super) fn from_redis(error: RedisError) -> StoreError {
    let text = error.to_string();
    let lower = text.to_lowercase();
    let explain = |message: &str, error: RedisError| {
        Box::new(Explained {
            message: message.to_owned(),
            source: Some(error),
        })
    };
    if error.is_timeout() {
        return StoreError::Timeout(Box::new(error));
    }
    if lower.contains("wrongpass")
        || lower.contains("noauth")
        || lower.contains("invalid password")
        || error.kind() == ErrorKind::AuthenticationFailed
    {
        return StoreError::Refused(explain(
            "Redis refuses the user or the password\nhint: set `redis_username` and `redis_password`, or give both in `redis_url`",
            error,
        ));
    }
    if error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly) || lower.contains("readonly") {
        return StoreError::ReadOnly(explain(
            "this Redis is a replica and takes no writes\nhint: point `redis_url` at the master, or use sentinels",
            error,
        ));
    }
    if lower.contains("misconf") {
        return StoreError::ReadOnly(explain(
            "Redis takes no writes because it cannot save to disk\nhint: look at its log and free space on its disk",
            error,
        ));
    }
    if text.contains("OOM") {
        return StoreError::Full(explain(
            "Redis has reached its `maxmemory`\nhint: raise it, or forget memories",
            error,
        ));
    }
    if error.kind() == ErrorKind::Server(ServerErrorKind::NoPerm)
        || lower.contains("noperm")
        || lower.contains("acl failure")
        || lower.contains("no permissions")
    {
        return StoreError::Refused(explain(
            "the Redis user has no permission for this\nhint: it needs the keys `memory:*` and `keepsake:*` and the commands +@read +@write +@scripting +@transaction +@connection +@search (or +ft.search +ft.aggregate +ft.create +ft.info +ft.alter +ft.aliasadd +ft.aliasupdate +ft.dropindex) +info",
            error,
        ));
    }
    if matches!(
        error.kind(),
        ErrorKind::Server(
            ServerErrorKind::Moved
                | ServerErrorKind::Ask
                | ServerErrorKind::CrossSlot
                | ServerErrorKind::ClusterDown
        )
    ) {
        return StoreError::Refused(explain(CLUSTER, error));
    }
    if text.contains(INDEXING) || is_missing_index(&error) {
        return StoreError::Unavailable(explain("the search index is being built", error));
    }
    if lower.contains("unknown command") && lower.contains("ft.") {
        return StoreError::Refused(explain(NO_MODULE, error));
    }
    StoreError::Unavailable(Box::new(error))
}

pub(super) const CLUSTER: &str = "this Redis is a cluster, which Keepsake does not support: a memory, its statistics and its counters must change in one step, and a cluster spreads them over servers\nhint: use a single Redis, or one with sentinels";

pub(super) const NO_MODULE: &str = "this Redis has no search module\nhint: use Redis 8, Redis Stack 7, or load redisearch.so (version 2.6 or later); or remove the `redis_*` settings to use the embedded store";

/// Whether the index that was asked is not there: dropped, or never made.
pub(super) fn is_missing_index(error: &RedisError) -> bool {
    is_missing(error)
}

/// Whether the library of functions is not loaded.
pub(super) fn is_missing_function(error: &RedisError) -> bool {
    error
        .to_string()
        .to_lowercase()
        .contains("function not found")
}

/// Whether the connection broke, so that nobody knows whether the command was done.
pub(super) fn is_broken(error: &RedisError) -> bool {
    error.is_connection_dropped() || error.is_io_error() && !error.is_timeout()
}

/// Whether an error of ours says that an index is not there.
pub(super) fn is_missing(error: &(dyn std::error::Error + 'static)) -> bool {
    let said = said(error);
    said.contains("no such index") || said.contains("unknown index name")
}

/// An error and its causes, in lower case and without the marks that the client puts around the first
/// word of what the server said.
pub(super) fn said(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let words: Vec<String> = causes
        .map(|error| error.to_string().to_lowercase().replace(['"', ':'], ""))
        .collect();
    words.join("; ")
}
