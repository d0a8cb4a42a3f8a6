//! `keepsake key`: API keys in the configuration file, which a running service follows.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::printer::Printer;
use super::tables::{plain, table};
use super::{Global, Outcome, flags, settings};
use crate::config::{Environment, NewKey, add_key, remove_key};
use crate::keys::{ApiKey, KeyHash, generate};

#[derive(Debug, Subcommand)]
pub(super) enum Key {
    /// Make a key; it is shown this once. --agent, --namespace and --primary bind it
    #[command(
        after_help = "Example:\n  keepsake key create laptop --agent hermes\n  keepsake key create dashboards --admin --read-only"
    )]
    Create(Create),
    /// Every key with what it reaches; never the keys themselves
    #[command(after_help = "Example:\n  keepsake key list")]
    List,
    /// Take a key away: it opens nothing from then on
    #[command(after_help = "Example:\n  keepsake key revoke laptop")]
    Revoke {
        #[arg(value_name = "NAME")]
        name: String,
    },
}

#[derive(Debug, Args)]
pub(super) struct Create {
    /// What to call it: letters, digits, `-`, `_` and `.`
    #[arg(value_name = "NAME")]
    name: String,
    /// May use what concerns the whole service: maintenance, export, import, metrics
    #[arg(long)]
    admin: bool,
    /// Writes nothing
    #[arg(long)]
    read_only: bool,
}

impl Key {
    pub(super) fn run(
        self,
        global: &Global,
        environment: &Environment,
        printer: &Printer,
    ) -> anyhow::Result<Outcome> {
        match self {
            Key::Create(create) => create.run(global, environment, printer),
            Key::List => list(global, environment, printer),
            Key::Revoke { name } => revoke(&name, environment, printer),
        }?;
        Ok(Outcome::Done)
    }
}

impl Create {
    fn run(
        self,
        global: &Global,
        environment: &Environment,
        printer: &Printer,
    ) -> anyhow::Result<()> {
        let is_bound = global.agent.is_some() || global.namespace.is_some() || global.primary;
        anyhow::ensure!(
            !(self.admin && is_bound),
            "an admin key reaches everything: `--admin` does not go with --agent, --namespace or --primary"
        );
        let key = generate()?;
        let new = NewKey {
            hash: KeyHash::of(key.expose()).to_string(),
            agent_id: global.agent.clone(),
            namespace: global.namespace.clone(),
            is_primary: global.primary.then_some(true),
            admin: self.admin,
            read_only: self.read_only,
            name: self.name,
        };
        let file = add_key(environment, &new)?;
        let answer = json!({"name": new.name, "key": key.expose(), "file": file.to_string_lossy()});
        printer.answer(&answer, |answer, _| {
            format!(
                "{}\nIt is shown this once; {} holds its hash.",
                plain(&answer["key"]),
                plain(&answer["file"])
            )
        })
    }
}

fn list(global: &Global, environment: &Environment, printer: &Printer) -> anyhow::Result<()> {
    let settings = settings(&flags(global), environment)?;
    let keys: Vec<Value> = settings.api_keys.iter().map(shape).collect();
    printer.answer(&json!({"keys": keys}), |answer, page| {
        let keys = answer["keys"].as_array().into_iter().flatten();
        let rows = keys.map(|key| {
            let or_any = |value: &Value| match value {
                Value::Null => "any".to_owned(),
                value => plain(value),
            };
            [
                plain(&key["name"]),
                or_any(&key["agent_id"]),
                or_any(&key["namespace"]),
                rights(key),
            ]
        });
        table(&["name", "agent", "namespace", "may"], rows, page)
    })
}

fn shape(key: &ApiKey) -> Value {
    json!({
        "name": key.name, "agent_id": key.reach.agent, "namespace": key.reach.namespace,
        "is_primary": key.reach.primary, "admin": key.admin, "read_only": key.read_only,
    })
}

fn rights(key: &Value) -> String {
    let mut rights = vec![match key["read_only"] == true {
        true => "read",
        false => "read and write",
    }];
    rights.extend((key["admin"] == true).then_some("administer"));
    rights.extend((key["is_primary"] == true).then_some("see all agents"));
    rights.join(", ")
}

fn revoke(name: &str, environment: &Environment, printer: &Printer) -> anyhow::Result<()> {
    let file = remove_key(environment, name)?;
    let answer = json!({"revoked": name, "file": file.to_string_lossy()});
    printer.answer(&answer, |answer, _| {
        format!(
            "`{}` is revoked in {}",
            plain(&answer["revoked"]),
            plain(&answer["file"])
        )
    })
}
