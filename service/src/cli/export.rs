//! `keepsake export`: every memory, one JSON object a line, as it comes from the store.

use super::Outcome;
use super::client::Client;
use super::printer::{Printer, progress};

pub(super) async fn run(client: &Client, printer: &Printer) -> anyhow::Result<Outcome> {
    let progress = progress(None, "memories")?;
    let mut last_line = Vec::new();
    let count = |chunk: &[u8]| {
        progress.inc(chunk.iter().filter(|byte| **byte == b'\n').count() as u64);
        remember_last_line(&mut last_line, chunk);
    };
    client.copy("/v1/export", printer, count).await?;
    progress.finish_and_clear();
    // An export that breaks off says so in its last line, which is no memory.
    let broken = serde_json::from_slice::<serde_json::Value>(&last_line).ok();
    match broken.as_ref().map(|line| &line["problem"]["detail"]) {
        Some(serde_json::Value::String(detail)) => anyhow::bail!("the export broke off: {detail}"),
        _ => Ok(Outcome::Done),
    }
}

/// Keeps what follows the last line break but one.
fn remember_last_line(last: &mut Vec<u8>, chunk: &[u8]) {
    let body = chunk.strip_suffix(b"\n").unwrap_or(chunk);
    match body.iter().rposition(|byte| *byte == b'\n') {
        Some(at) => *last = chunk[at + 1..].to_vec(),
        None if last.ends_with(b"\n") => *last = chunk.to_vec(),
        None => last.extend(chunk),
    }
}
