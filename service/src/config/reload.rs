//! Following the files of a running process.

use std::sync::{Mutex, PoisonError};

use super::file::Files;
use super::layers::{Environment, Flags, Layers};
use super::{ConfigError, Fault, Loaded, Origin, Read};

/// Where settings come from, and what was read of it last.
pub struct Source {
    flags: Flags,
    environment: Environment,
    /// What keys that need a restart stay at.
    start: Layers,
    files: Mutex<Files>,
}

/// What a second look found.
#[derive(Debug)]
pub enum Reloaded {
    Unchanged,
    /// The settings that hold now; the warnings also name what needs a restart.
    Changed(Box<Loaded>),
    /// Something is wrong: what held before goes on.
    Broken(ConfigError),
}

impl Source {
    /// Loads the settings, like [`super::load`], and keeps what it takes to see a change.
    ///
    /// # Errors
    /// As [`super::load`].
    pub fn load(flags: Flags, environment: Environment) -> Result<(Source, Loaded), ConfigError> {
        let (start, mut read) = Read::gather(&flags, &environment);
        let source = Source {
            flags,
            environment,
            start,
            files: Mutex::new(std::mem::take(&mut read.files)),
        };
        Ok((source, read.loaded()?))
    }

    /// Reads everything again if one of the files changed.
    pub fn reload(&self) -> Reloaded {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if !files.changed() {
            return Reloaded::Unchanged;
        }
        let (mut layers, mut read) = Read::gather(&self.flags, &self.environment);
        if let (true, Some(path)) = (read.faults.is_empty(), read.files.emptied(&files)) {
            read.faults.push(Fault::Malformed {
                origin: Origin::File {
                    path,
                    line: 1,
                    column: 1,
                },
                message: "the file is empty or gone\nhint: `{}` sets nothing".to_owned(),
            });
        }
        if !read.faults.is_empty() {
            *files = read.files;
            return Reloaded::Broken(ConfigError(read.faults));
        }
        let kept = layers.keep_fixed(&self.start);
        let mut read = match kept.is_empty() {
            true => read,
            // Once more with the old values in place; the warnings of the first reading hold.
            false => Read {
                warnings: read.warnings,
                ..Read::new(&layers, &self.environment, read.files)
            },
        };
        let restart = |key: &&str| format!("`{key}` changed: restart to use it");
        read.warnings.extend(kept.iter().map(restart));
        *files = read.files;
        if read.faults.is_empty() {
            Reloaded::Changed(Box::new(Loaded {
                settings: read.settings,
                warnings: read.warnings,
            }))
        } else {
            Reloaded::Broken(ConfigError(read.faults))
        }
    }
}
