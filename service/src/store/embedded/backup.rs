//! A consistent copy of a store while it is used.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::FILE;
use super::sqlite::{self, from_sqlite};
use crate::store::StoreError;

/// Name of a copy that is not complete.
const PARTIAL: &str = "keepsake.db.partial";

/// A copy that is being made; a folder of its own, which is a store when it is complete.
pub struct Backup {
    source: Connection,
    size: u64,
    to: PathBuf,
}

impl Backup {
    /// Gets ready to copy the store in `folder` into the folder `to`, which must be empty or not be
    /// there.
    ///
    /// # Errors
    /// When there is no store, or it cannot be read, or there is something in `to`.
    pub fn prepare(folder: &Path, to: &Path) -> Result<Backup, StoreError> {
        let unusable = |what: String| StoreError::Unavailable(what.into());
        let file = folder.join(FILE);
        if !file.is_file() {
            let what = format!("there is no store in `{}`", folder.display());
            return Err(unusable(what));
        }
        let entries = fs::read_dir(to).map(|mut entries| entries.next().is_some());
        match entries {
            Ok(false) => {}
            Ok(true) => {
                let what = format!("`{}` is not empty; name a new folder", to.display());
                return Err(unusable(what));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(unusable(format!("cannot use `{}`: {error}", to.display())));
            }
        }
        let source = sqlite::open_copier(&file)?;
        let size = fs::metadata(&file)
            .map_err(|error| StoreError::Unavailable(error.into()))?
            .len();
        Ok(Backup {
            source,
            size,
            to: to.to_owned(),
        })
    }

    /// Size of the store's file in bytes; about that of the copy.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The file that grows while the copy is being made.
    pub fn partial(&self) -> PathBuf {
        self.to.join(PARTIAL)
    }

    /// Copies and checks the copy; its size in bytes. The store can be written meanwhile: the copy is
    /// of the moment that this began. Until it is complete it has another name.
    ///
    /// # Errors
    /// When the store is damaged or the copy cannot be written; nothing is left behind then.
    pub fn copy(self) -> Result<u64, StoreError> {
        let io = |error: std::io::Error| StoreError::Unavailable(error.into());
        super::create_private(&self.to).map_err(io)?;
        let partial = self.partial();
        let made = sqlite::copy(&self.source, &partial).and_then(|()| {
            let file = File::open(&partial).map_err(io)?;
            file.sync_all().map_err(io)?;
            fs::rename(&partial, self.to.join(FILE)).map_err(io)?;
            File::open(&self.to)
                .and_then(|folder| folder.sync_all())
                .map_err(io)?;
            Ok(file.metadata().map_err(io)?.len())
        });
        if made.is_err() {
            // What cannot be removed has the name of an incomplete copy.
            drop(fs::remove_file(&partial));
            drop(fs::remove_dir(&self.to));
        }
        made
    }
}

/// Whether SQLite finds the store's file sound; `Corrupt` says what it found.
///
/// # Errors
/// When it is damaged or cannot be read.
pub(super) fn check(file: &Path) -> Result<(), StoreError> {
    let connection = sqlite::open_follower(file)?;
    let found: String = connection
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(from_sqlite)?;
    if found == "ok" {
        return Ok(());
    }
    Err(StoreError::Corrupt {
        what: found,
        source: None,
    })
}
