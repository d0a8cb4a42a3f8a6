//! `keepsake model`: embedding models on this machine.

use std::io::IsTerminal;

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};

use super::printer::Printer;
use super::{Global, Outcome, flags, settings};
use crate::config::Environment;
use crate::embedding::Embedder;
use crate::embedding::download::{HUB, download};
use crate::embedding::model2vec::Folder;

#[derive(Debug, Args)]
pub(super) struct Model {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Fetch a model2vec model from the hub (or from `HF_ENDPOINT`), once
    #[command(
        after_help = "Example:\n  keepsake model download minishlab/potion-multilingual-128M"
    )]
    Download {
        /// Name on the hub, such as minishlab/potion-multilingual-128M
        name: String,
    },
}

impl Model {
    pub(super) async fn run(
        self,
        global: &Global,
        environment: &Environment,
        printer: &Printer,
    ) -> anyhow::Result<Outcome> {
        let Verb::Download { name } = self.verb;
        let models = settings(&flags(global), environment)?.models_dir();
        let hub = environment
            .get("HF_ENDPOINT")
            .filter(|hub| !hub.is_empty())
            .map_or(HUB, String::as_str);
        let bar = if std::io::stderr().is_terminal() {
            ProgressBar::no_length()
        } else {
            ProgressBar::hidden()
        };
        bar.set_style(ProgressStyle::with_template(
            "{msg} {bar:40} {bytes}/{total_bytes} {eta}",
        )?);
        let folder = models.join(&name);
        download(hub, &name, &folder, |file, there, total| {
            bar.set_message(file.to_owned());
            if let Some(total) = total {
                bar.set_length(total);
            }
            bar.set_position(there);
        })
        .await?;
        bar.finish_and_clear();
        // What cannot be loaded shows now, not at the next start.
        let model = Folder::new(&name, &models).model().await?;
        let answer = serde_json::json!({
            "model": name, "folder": folder, "dimension": model.id.dimension(),
        });
        printer.answer(&answer, |_, _| {
            format!(
                "{name}: {} dimensions, in {}\nhint: `KEEPSAKE_EMBEDDER=model2vec KEEPSAKE_EMBEDDER_MODEL={name}` uses it",
                model.id.dimension(),
                folder.display()
            )
        })?;
        Ok(Outcome::Done)
    }
}
