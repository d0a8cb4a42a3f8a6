//! The search index of the Python Keepsake. We never ask it: with its language and stop words some
//! questions crash the server. It is left alone until someone wants it gone.

use super::connection::Connection;
use super::errors::is_missing;
use super::options::RedisOptions;
use crate::store::StoreError;

/// What the Python Keepsake calls it.
pub const NAME: &str = "idx:memories";

/// Drops the index and no memory; whether there was one.
///
/// # Errors
/// When Redis fails.
pub async fn drop(options: &RedisOptions) -> Result<bool, StoreError> {
    let mut drop = redis::cmd("FT.DROPINDEX");
    drop.arg(NAME);
    match Connection::new(options)?.command(&drop).await {
        Ok(_) => Ok(true),
        Err(StoreError::Unavailable(error)) if is_missing(error.as_ref()) => Ok(false),
        Err(error) => Err(error),
    }
}
