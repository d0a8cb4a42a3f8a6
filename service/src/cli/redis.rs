//! `keepsake redis`: what concerns Redis alone.

use clap::{Args, Subcommand};
use serde_json::json;

use super::printer::Printer;
use super::{Global, Outcome, flags, settings};
use crate::config::{Environment, StoreChoice};
use crate::store::redis::python_index;

#[derive(Debug, Args)]
pub(super) struct Redis {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Delete the index of the Python Keepsake (`idx:memories`), not the memories
    ///
    /// It is of no use to this Keepsake and costs memory and time with each write; the Python Keepsake
    /// makes it again when it starts.
    #[command(after_help = "Example:\n  keepsake redis drop-python-index")]
    DropPythonIndex,
}

impl Redis {
    pub(super) async fn run(
        self,
        global: &Global,
        environment: &Environment,
        printer: &Printer,
    ) -> anyhow::Result<Outcome> {
        let StoreChoice::Redis(options) = settings(&flags(global), environment)?.store else {
            anyhow::bail!("no Redis is configured\nhint: set `redis_url`");
        };
        match self.verb {
            Verb::DropPythonIndex => {
                let dropped = python_index::drop(&options).await?;
                printer.answer(&json!({"dropped": dropped}), |_, _| {
                    let name = python_index::NAME;
                    if dropped {
                        format!("dropped the index {name}; the memories are as they were\n")
                    } else {
                        format!("there is no index {name}\n")
                    }
                })?;
                Ok(Outcome::Done)
            }
        }
    }
}
