//! What is wrong with a configuration, and where.

use std::fmt;
use std::path::PathBuf;

/// Where a value is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Default,
    /// Line and column count from 1.
    File {
        path: PathBuf,
        line: usize,
        column: usize,
    },
    Environment(String),
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => write!(formatter, "the default"),
            Origin::File { path, line, column } => {
                write!(
                    formatter,
                    "`{}`, line {line}, column {column}",
                    path.display()
                )
            }
            Origin::Environment(name) => write!(formatter, "the environment variable `{name}`"),
            Origin::Flag(name) => write!(formatter, "the flag `{name}`"),
        }
    }
}

/// One thing that keeps settings from being used.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("cannot read the configuration `{}`: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{origin}: not valid JSON: {message}")]
    Malformed { origin: Origin, message: String },
    #[error("{origin}: `{key}` is {found}, allowed is {allowed}")]
    Value {
        origin: Origin,
        key: String,
        found: String,
        allowed: String,
    },
    /// A value that is sound by itself and impossible beside others.
    #[error("{origin}: `{key}` is {found}, {problem}\nhint: {hint}")]
    Combination {
        origin: Origin,
        key: &'static str,
        found: String,
        problem: String,
        hint: &'static str,
    },
}

impl Fault {
    /// The key at fault and where it is written, if it is one.
    pub fn key(&self) -> Option<(&str, &Origin)> {
        match self {
            Fault::Value { key, origin, .. } => Some((key, origin)),
            Fault::Combination { key, origin, .. } => Some((key, origin)),
            Fault::Unreadable { .. } | Fault::Malformed { .. } => None,
        }
    }
}

/// Settings that cannot be used, with every reason.
#[derive(Debug, thiserror::Error)]
#[error("{}", lines(.0))]
pub struct ConfigError(pub Vec<Fault>);

fn lines(faults: &[Fault]) -> String {
    faults
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}
