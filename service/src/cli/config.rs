//! `keepsake config`: what is set, whether it is sound, where it is written. Works without a store.

use anyhow::bail;
use clap::Subcommand;
use serde_json::{Value, json};

use super::Outcome;
use super::printer::Printer;
use super::tables::{plain, table};
use crate::config::{self, Environment, Fault, Flags, Origin, Report};

#[derive(Debug, Subcommand)]
pub(super) enum Config {
    /// Every setting with its value and where that comes from; secrets are masked
    #[command(after_help = "Example:\n  keepsake config show --json")]
    Show,
    /// Whether the settings are sound; every problem if not
    #[command(after_help = "Example:\n  keepsake config check")]
    Check,
    /// Where the configuration file is
    #[command(after_help = "Example:\n  keepsake config path")]
    Path,
}

impl Config {
    pub(super) fn run(
        self,
        flags: &Flags,
        environment: &Environment,
        printer: &Printer,
    ) -> anyhow::Result<Outcome> {
        let report = config::report(flags, environment);
        match self {
            Config::Show => show(&report, printer),
            Config::Check => check(&report, printer),
            Config::Path => path(&report, printer),
        }?;
        Ok(Outcome::Done)
    }
}

fn show(report: &Report, printer: &Printer) -> anyhow::Result<()> {
    let settings = report.shown.iter().map(|shown| {
        let origin = shown.origin.to_string();
        (
            shown.key.to_owned(),
            json!({"value": shown.value, "origin": origin}),
        )
    });
    let answer = Value::Object(settings.collect());
    printer.answer(&answer, |answer, page| {
        let rows = answer
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, shown)| {
                let value = match &shown["value"] {
                    Value::Null => String::new(),
                    value => plain(value),
                };
                [key.clone(), value, plain(&shown["origin"])]
            });
        table(&["key", "value", "from"], rows, page)
    })?;
    refused(report)
}

fn check(report: &Report, printer: &Printer) -> anyhow::Result<()> {
    let faults: Vec<Value> = report.faults.iter().map(fault).collect();
    let answer = json!({"sound": faults.is_empty(), "faults": faults, "warnings": report.warnings});
    printer.answer(&answer, |answer, _| {
        let warnings = report
            .warnings
            .iter()
            .map(|warning| format!("warning: {warning}\n"));
        let sound = if answer["sound"] == true {
            "the settings are sound\n"
        } else {
            ""
        };
        warnings.collect::<String>() + sound
    })?;
    refused(report)
}

fn path(report: &Report, printer: &Printer) -> anyhow::Result<()> {
    let Some((path, there)) = &report.file else {
        bail!("no file is named by `KEEPSAKE_CONFIG`, and there is no home folder");
    };
    let answer = json!({"path": path.to_string_lossy(), "exists": there});
    printer.answer(&answer, |answer, _| plain(&answer["path"]))?;
    if !there {
        tracing::warn!(
            "`{}` is not there, which is fine: all settings have defaults",
            path.display()
        );
    }
    Ok(())
}

/// Every fault as an error.
fn refused(report: &Report) -> anyhow::Result<()> {
    let faults: Vec<String> = report.faults.iter().map(ToString::to_string).collect();
    anyhow::ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

fn fault(fault: &Fault) -> Value {
    let mut fields = json!({"message": fault.to_string()});
    let origin = match fault {
        Fault::Malformed { origin, .. } => Some(origin),
        _ => fault.key().map(|(_, origin)| origin),
    };
    if let Some((key, _)) = fault.key() {
        fields["key"] = Value::from(key);
    }
    if let Some(Origin::File { path, line, column }) = origin {
        fields["file"] = Value::from(path.to_string_lossy());
        fields["line"] = Value::from(*line);
        fields["column"] = Value::from(*column);
    }
    fields
}
