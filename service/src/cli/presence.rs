//! How a service says that it runs on a data folder: a file with its address, locked for as long as
//! it runs. The lock ends with the process, however that ends, so a file that was left tells nothing.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::Path;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

/// Its name in the data folder.
const FILE: &str = "service.json";

/// Says where a service is. The file must be kept open; `None` if another service runs on the folder.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn announce(
    data_dir: &Path,
    url: &str,
    now: DateTime<Utc>,
) -> std::io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(data_dir.join(FILE))?;
    if file.try_lock().is_err() {
        return Ok(None);
    }
    let told = json!({"url": url, "pid": std::process::id(), "started_at": now.to_rfc3339()});
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(told.to_string().as_bytes())?;
    Ok(Some(file))
}

/// Takes the file away when the service ends.
pub(super) fn withdraw(held: File, data_dir: &Path) {
    // One that stays is not believed once the lock is gone.
    drop(std::fs::remove_file(data_dir.join(FILE)));
    drop(held);
}

/// The address of the service that runs on a data folder, if one does.
pub(super) fn announced(data_dir: &Path) -> Option<String> {
    let mut file = File::open(data_dir.join(FILE)).ok()?;
    if file.try_lock_shared().is_ok() {
        return None;
    }
    let mut told = String::new();
    file.read_to_string(&mut told).ok()?;
    let told: Value = serde_json::from_str(&told).ok()?;
    told["url"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_known_for_as_long_as_it_runs() {
        let folder = tempfile::tempdir().unwrap();
        let announce = |url| announce(folder.path(), url, DateTime::UNIX_EPOCH).unwrap();
        assert_eq!(announced(folder.path()), None);
        let first = announce("http://127.0.0.1:1");
        assert!(
            announce("http://127.0.0.1:2").is_none(),
            "one folder, one service that is told"
        );
        assert_eq!(announced(folder.path()).unwrap(), "http://127.0.0.1:1");
        drop(first);
        assert_eq!(announced(folder.path()), None);
        let _second = announce("http://127.0.0.1:2");
        assert_eq!(announced(folder.path()).unwrap(), "http://127.0.0.1:2");
    }
}
