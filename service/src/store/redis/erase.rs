//! Deleting a whole store: only one that has a prefix of its own, such as those of an evaluation.

use super::connection::Connection;
use super::keys::Keys;
use super::options::RedisOptions;
use super::transaction::unexpected;
use super::values::{answers, list, text};
use crate::store::StoreError;

const STEP: usize = 1000;

/// Deletes every key that begins with the prefix, and the index. Does nothing without a prefix.
///
/// # Errors
/// When Redis fails.
pub async fn erase(options: &RedisOptions) -> Result<(), StoreError> {
    if options.prefix.is_empty() {
        return Ok(());
    }
    let connection = Connection::new(options)?;
    let mut drop = redis::cmd("FT.DROPINDEX");
    drop.arg(Keys::new(&options.prefix).alias());
    // An index that was never made is gone, too.
    let _ = connection.command(&drop).await;
    let mut cursor = "0".to_owned();
    loop {
        let mut scan = redis::cmd("SCAN");
        scan.arg(&cursor).arg("MATCH").arg(format!(
            "{}*",
            super::adoption::glob_escaped(&options.prefix)
        ));
        scan.arg("COUNT").arg(STEP);
        let mut answer = list(connection.command(&scan).await?)?.into_iter();
        cursor = answer.next().and_then(text).ok_or_else(unexpected)?;
        let keys = answer.next().and_then(answers).ok_or_else(unexpected)?;
        let keys: Vec<Vec<u8>> = keys.into_iter().flatten().collect();
        if !keys.is_empty() {
            let mut unlink = redis::cmd("UNLINK");
            unlink.arg(keys);
            connection.command(&unlink).await?;
        }
        if cursor == "0" {
            return Ok(());
        }
    }
}
