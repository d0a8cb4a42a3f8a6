//! The files of an import: opening them, and what they look like.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use chrono::{DateTime, Utc};

use super::{Format, hermes, retinue};

type Opened = (Box<dyn BufRead>, Option<u64>, Option<DateTime<Utc>>);

/// A file with its size and the time of its last change, where it has them.
pub(super) fn open(path: &Path) -> anyhow::Result<Opened> {
    if path.as_os_str() == "-" {
        return Ok((Box::new(BufReader::new(std::io::stdin())), None, None));
    }
    let file = File::open(path)?;
    let about = file.metadata()?;
    let modified = about.modified().ok().map(DateTime::<Utc>::from);
    Ok((Box::new(BufReader::new(file)), Some(about.len()), modified))
}

/// What a file looks like, by how it begins and what it is called.
pub(super) fn guess(path: &Path, beginning: &[u8]) -> Format {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().to_lowercase());
    let name = name.unwrap_or_default();
    let text = String::from_utf8_lossy(beginning);
    let ends_with = |ending: &str| name.ends_with(ending);
    if beginning.starts_with(retinue::MAGIC) {
        Format::Retinue
    } else if matches!(name.as_str(), "memory.md" | "user.md") || hermes::is_separated(&text) {
        Format::Hermes
    } else if [".ndjson", ".jsonl", ".json"]
        .iter()
        .any(|ending| ends_with(ending))
        || text
            .trim_start_matches('\u{feff}')
            .trim_start()
            .starts_with('{')
    {
        Format::Ndjson
    } else {
        Format::Text
    }
}

/// Whom the entries of a Hermes file are about.
pub(super) fn category(path: &Path) -> &'static str {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().to_lowercase());
    match name.as_deref() {
        Some("user.md") => "user",
        _ => "memory",
    }
}
