//! `keepsake service`: the service started at every login, by systemd or launchd.

mod unit;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use clap::{Args, Subcommand};
use serde_json::json;

use super::printer::Printer;
use super::{Global, Outcome, flags, settings};
use crate::config::Environment;
use unit::{Manager, Wanted};

#[derive(Debug, Args)]
pub(super) struct Service {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Have the service run now and after every login
    #[command(after_help = "Example:\n  keepsake service install --dry-run")]
    Install(Install),
    /// Stop the service, now and for good; memories stay
    #[command(after_help = "Example:\n  keepsake service uninstall")]
    Uninstall(Uninstall),
}

#[derive(Debug, Args)]
struct Install {
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Show the file and the commands, and do nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
struct Uninstall {
    /// Show what would be done
    #[arg(long)]
    dry_run: bool,
}

/// Names of the environment that the unit keeps, or that say nothing about the service.
const KEPT: [&str; 4] = [
    "KEEPSAKE_CONFIG",
    "KEEPSAKE_DATA_DIR",
    "KEEPSAKE_LOG",
    "KEEPSAKE_URL",
];

impl Service {
    pub(super) fn run(
        self,
        global: &Global,
        environment: &Environment,
        program: Option<PathBuf>,
        printer: &Printer,
    ) -> anyhow::Result<Outcome> {
        let manager = Manager::of_this_machine();
        let file = manager
            .file(environment)
            .context("there is no home folder: `HOME` is not set")?;
        let by = By {
            manager,
            file,
            environment,
            printer,
        };
        match self.verb {
            Verb::Install(install) => by.install(&install, global, program),
            Verb::Uninstall(uninstall) => by.uninstall(&uninstall),
        }
    }
}

/// The manager at work.
struct By<'a> {
    manager: Manager,
    file: PathBuf,
    environment: &'a Environment,
    printer: &'a Printer,
}

impl By<'_> {
    fn install(
        &self,
        install: &Install,
        global: &Global,
        program: Option<PathBuf>,
    ) -> anyhow::Result<Outcome> {
        let mut flags = flags(global);
        flags.extend(install.listen.clone().map(|listen| ("listen", listen)));
        // What would stop the service from starting is told now.
        let settings = settings(&flags, self.environment)?;
        let set = |name: &str| self.environment.get(name).filter(|text| !text.is_empty());
        let mut arguments = vec!["serve".to_owned()];
        if let Some(listen) = &install.listen {
            arguments.extend(["--listen".to_owned(), listen.clone()]);
        }
        if global.data_dir.is_some() || set("KEEPSAKE_DATA_DIR").is_some() {
            let folder = std::path::absolute(&settings.data_dir)?;
            arguments.extend(["--data-dir".to_owned(), folder.display().to_string()]);
        }
        let config = set("KEEPSAKE_CONFIG")
            .map(std::path::absolute)
            .transpose()?;
        let wanted = Wanted {
            program: program.context("where this program is cannot be told")?,
            arguments,
            config: config.map(|path| path.display().to_string()),
        };
        let text = self
            .manager
            .text(&wanted, &settings.data_dir.join("service.log"));
        let commands = self.manager.start(&self.file);
        if !install.dry_run {
            let was_there = self.file.exists();
            if was_there && self.manager == Manager::Launchd {
                // launchd reads a file again only after it let go of it.
                self.run_all(&self.manager.stop(&self.file)).ok();
            }
            std::fs::create_dir_all(&settings.data_dir)
                .and_then(|()| write(&self.file, &text))
                .with_context(|| format!("cannot write `{}`", self.file.display()))?;
            self.run_all(&commands).with_context(|| {
                format!(
                    "`{}` is written; the service was not started",
                    self.file.display()
                )
            })?;
        }
        let left = self.left_behind();
        let answer = json!({
            "file": self.file, "text": text, "commands": commands, "dry_run": install.dry_run,
            "not_kept": left,
        });
        self.printer.answer(&answer, |_, _| {
            let mut shown = match install.dry_run {
                true => format!(
                    "would write {}:\n\n{text}\nwould run:\n{}",
                    self.file.display(),
                    listed(&commands)
                ),
                false => format!(
                    "the service runs, now and after every login ({})\n",
                    self.file.display()
                ),
            };
            if !left.is_empty() {
                shown.push_str(&format!(
                    "hint: the service does not see {} of this shell: put them in the configuration file\n",
                    left.join(", ")
                ));
            }
            shown
        })?;
        Ok(Outcome::Done)
    }

    fn uninstall(&self, uninstall: &Uninstall) -> anyhow::Result<Outcome> {
        if !self.file.exists() {
            let answer = json!({"file": null, "commands": [], "dry_run": uninstall.dry_run});
            let text = format!("nothing to uninstall: there is no {}", self.file.display());
            self.printer.answer(&answer, |_, _| text)?;
            return Ok(Outcome::Done);
        }
        let commands = self.manager.stop(&self.file);
        if !uninstall.dry_run {
            self.run_all(&commands)?;
            std::fs::remove_file(&self.file)
                .with_context(|| format!("cannot remove `{}`", self.file.display()))?;
        }
        let answer = json!({"file": self.file, "commands": commands, "dry_run": uninstall.dry_run});
        self.printer
            .answer(&answer, |_, _| match uninstall.dry_run {
                true => format!(
                    "would run:\n{}would remove {}",
                    listed(&commands),
                    self.file.display()
                ),
                false => format!("the service is stopped, {} is removed", self.file.display()),
            })?;
        Ok(Outcome::Done)
    }

    /// Settings of this shell that a service started at login does not have. A secret among them
    /// does not belong in a unit either.
    fn left_behind(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .environment
            .iter()
            .filter(|(name, value)| name.starts_with("KEEPSAKE_") && !value.is_empty())
            .map(|(name, _)| name.clone())
            .filter(|name| !KEPT.contains(&name.as_str()))
            .collect();
        names.sort();
        names
    }

    fn run_all(&self, commands: &[Vec<String>]) -> anyhow::Result<()> {
        for words in commands {
            let line = words.join(" ");
            let done = Command::new(&words[0])
                .args(&words[1..])
                .envs(self.environment)
                .output()
                .with_context(|| format!("cannot run `{line}`"))?;
            let said = String::from_utf8_lossy(&done.stderr);
            anyhow::ensure!(done.status.success(), "`{line}` failed: {}", said.trim());
        }
        Ok(())
    }
}

/// Commands as lines to read.
fn listed(commands: &[Vec<String>]) -> String {
    commands
        .iter()
        .map(|words| format!("  {}\n", words.join(" ")))
        .collect()
}

/// Writes a file as a whole.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let new = path.with_extension("new");
    std::fs::write(&new, text)?;
    std::fs::rename(new, path)
}
