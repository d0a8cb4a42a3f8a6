//! `keepsake doctor`: looks at all that a service stands on, and says how to mend what it finds.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chrono::{DateTime, Datelike, SecondsFormat, TimeDelta, Utc};
use clap::Args;
use serde_json::{Value, json};

use super::client::Transport;
use super::printer::{Page, Printer};
use super::tables::plain;
use super::{Global, Outcome, flags};
use crate::app::App;
use crate::clock::Clock;
use crate::config::{self, Environment, Settings};
use crate::scope::Scope;
use crate::store::ListFilters;
use crate::store::finding::{Finding, Grade};

/// An embedder slower than this holds up every message.
const SLOW: Duration = Duration::from_millis(500);
/// How far behind the newest memory the clock may be.
const DRIFT: TimeDelta = TimeDelta::minutes(5);
/// A clock before this year was never set.
const FIRST_YEAR: i32 = 2025;
/// File systems over a network: locks and shared memory of SQLite do not hold on them.
const REMOTE: [&str; 9] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "fuse.sshfs",
    "afs",
    "ceph",
];
/// File systems that forget everything at a restart of the machine.
const FLEETING: [&str; 2] = ["tmpfs", "ramfs"];

#[derive(Debug, Args)]
pub(super) struct Doctor {}

impl Doctor {
    /// Fails if something does not work; what may go wrong later is told and no failure.
    pub(super) async fn run(
        self,
        global: &Global,
        environment: &Environment,
        printer: &Printer,
    ) -> anyhow::Result<Outcome> {
        let mut findings = configuration(global, environment);
        if let Ok(loaded) = config::load(&flags(global), environment) {
            let settings = loaded.settings;
            findings.push(access(&settings, environment));
            findings.extend(folder(&settings.data_dir));
            findings.extend(running(&settings, environment).await);
            findings.extend(inside(settings).await);
        }
        let worst = findings.iter().map(|finding| finding.grade).max();
        let shown: Vec<Value> = findings.iter().map(shape).collect();
        let sound = worst != Some(Grade::Fault);
        printer.answer(&json!({"sound": sound, "findings": shown}), text)?;
        anyhow::ensure!(
            sound,
            "something does not work; each finding says how to mend it"
        );
        Ok(Outcome::Done)
    }
}

fn shape(finding: &Finding) -> Value {
    json!({
        "check": finding.check, "grade": finding.grade.as_str(),
        "found": finding.found, "mend": finding.mend,
    })
}

fn text(answer: &Value, page: Page) -> String {
    let findings = answer["findings"].as_array().into_iter().flatten();
    let lines = findings.map(|finding| {
        let head = format!(
            "{:<8} {:<14} {}\n",
            plain(&finding["grade"]),
            plain(&finding["check"]),
            plain(&finding["found"])
        );
        match &finding["mend"] {
            Value::Null => head,
            mend => format!(
                "{head}{:>24}{}\n",
                "",
                page.title(&format!("→ {}", plain(mend)))
            ),
        }
    });
    lines.collect()
}

fn configuration(global: &Global, environment: &Environment) -> Vec<Finding> {
    const CHECK: &str = "configuration";
    let report = config::report(&flags(global), environment);
    let mend = "`keepsake config check` names the place; `config.example.json` has every key";
    let faults = report.faults.iter();
    let mut findings: Vec<Finding> = faults
        .map(|fault| Finding::fault(CHECK, fault.to_string(), mend))
        .collect();
    let warnings = report.warnings.iter();
    findings.extend(warnings.map(|warning| Finding::warning(CHECK, warning.as_str(), mend)));
    if findings.is_empty() {
        let found = match &report.file {
            Some((path, true)) => format!("`{}` is sound", path.display()),
            _ => "there is no file; everything has a default".to_owned(),
        };
        findings.push(Finding::fine(CHECK, found));
    }
    findings
}

/// Who can reach the service.
fn access(settings: &Settings, environment: &Environment) -> Finding {
    const CHECK: &str = "access";
    let (keys, listen) = (settings.api_keys.iter().count(), settings.listen);
    match (keys, listen.ip().is_loopback()) {
        (0, true) => Finding::fine(
            CHECK,
            format!("this machine alone, on {listen}; no key is asked for"),
        ),
        (0, false) => Finding::warning(
            CHECK,
            format!("whoever reaches {listen} reads and writes everything"),
            "`keepsake key create NAME`, unless something in front asks who comes",
        ),
        (_, is_local) => {
            let short = environment
                .get("KEEPSAKE_API_KEY")
                .is_some_and(|key| !key.starts_with('[') && key.chars().count() < 16);
            let place = if is_local {
                "this machine alone"
            } else {
                "other machines too"
            };
            match short {
                true => Finding::warning(
                    CHECK,
                    "`KEEPSAKE_API_KEY` is short and can be guessed",
                    "put one of `keepsake key create` there",
                ),
                false => Finding::fine(CHECK, format!("{place}, on {listen}; {keys} keys open")),
            }
        }
    }
}

/// The folder and what it lies on.
fn folder(data_dir: &Path) -> Vec<Finding> {
    const CHECK: &str = "folder";
    // What is not there yet will be made in the nearest folder that is.
    let there = data_dir.ancestors().find(|path| path.exists());
    let there = there.unwrap_or(Path::new("/"));
    let mut findings = Vec::new();
    findings.push(match tempfile::tempfile_in(there) {
        Ok(_) => Finding::fine(CHECK, format!("`{}` can be written", data_dir.display())),
        Err(error) => Finding::fault(
            CHECK,
            format!("`{}` cannot be written: {error}", data_dir.display()),
            "make room on the disk, or give the folder to the user that runs the service",
        ),
    });
    if let Some(kind) = file_system(there) {
        let found = format!("`{}` is on {kind}", data_dir.display());
        findings.push(if REMOTE.contains(&kind.as_str()) {
            Finding::fault(
                "file system",
                format!("{found}, a file system of another machine"),
                "move the data folder to a disk of this machine: `keepsake backup DIR`, then `data_dir`",
            )
        } else if FLEETING.contains(&kind.as_str()) {
            Finding::warning(
                "file system",
                format!("{found}, which a restart of the machine empties"),
                "set `data_dir` to a folder on a disk",
            )
        } else {
            Finding::fine("file system", found)
        });
    }
    findings
}

/// The kind of file system that a path lies on, where the system tells.
fn file_system(path: &Path) -> Option<String> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    kind_of_mount(&mounts, &path.canonicalize().ok()?)
}

/// The kind of the mount that is nearest to a path, of lines as in `proc_pid_mountinfo(5)`.
fn kind_of_mount(mounts: &str, path: &Path) -> Option<String> {
    let parsed = mounts.lines().filter_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let point = before.split(' ').nth(4)?.replace("\\040", " ");
        Some((PathBuf::from(point), after.split(' ').next()?.to_owned()))
    });
    // Of mounts over one another the last one shows.
    parsed
        .filter(|(point, _)| path.starts_with(point))
        .max_by_key(|(point, _)| point.components().count())
        .map(|(_, kind)| kind)
}

/// The service that runs on the folder, if one does.
async fn running(settings: &Settings, environment: &Environment) -> Vec<Finding> {
    const CHECK: &str = "service";
    let key = environment
        .get("KEEPSAKE_API_KEY")
        .filter(|key| !key.is_empty());
    let key = key.map(crate::secret::Secret::new);
    let Some(transport) = Transport::running(&settings.data_dir, key.as_ref()).await else {
        return vec![Finding::fine(CHECK, "none runs on the folder")];
    };
    let asked = transport.send("GET", "/readyz", "", Vec::new()).await;
    let ready = asked
        .ok()
        .and_then(|(_, body)| serde_json::from_slice::<Value>(&body).ok());
    let Some(ready) = ready else {
        return vec![Finding::fault(
            CHECK,
            "one runs on the folder and does not answer",
            "look at its log, and start it again",
        )];
    };
    let mut findings = vec![Finding::fine(CHECK, "one runs on the folder and answers")];
    let reasons = ready["reasons"].as_array().into_iter().flatten();
    findings.extend(reasons.map(|reason| {
        let mend = "its log tells more";
        match ready["ready"] == true {
            true => Finding::warning(CHECK, plain(reason), mend),
            false => Finding::fault(CHECK, plain(reason), mend),
        }
    }));
    findings
}

/// The store, the embedder, the clock and the lock.
async fn inside(settings: Settings) -> Vec<Finding> {
    let app = match App::open(settings, Clock::System) {
        Ok(app) => app,
        Err(error) => {
            let mend = "the sentence says what is in the way; a copy of `keepsake backup` brings back a store that is lost";
            return vec![Finding::fault("store", chain(&error), mend)];
        }
    };
    let now = app.clock.now();
    let mut findings = match app.store.examine().await {
        Ok(findings) => findings,
        Err(error) => vec![Finding::fault(
            "store",
            chain(&error),
            "put a copy of `keepsake backup` in the place of the data folder",
        )],
    };
    findings.push(embedder(&app).await);
    findings.push(clock(&app, now).await);
    findings.push(match app.store.lock(now).await {
        Ok(None) => Finding::fine("lock", "retrieval is on"),
        Ok(Some(until)) => Finding::warning(
            "lock",
            match until {
                Some(until) => format!("retrieval is off until {}", rfc3339(until)),
                None => "retrieval is off until somebody turns it on".to_owned(),
            },
            "`keepsake lock clear`, if no workflow needs it",
        ),
        Err(error) => Finding::fault("lock", chain(&error), "see the store"),
    });
    findings
}

/// Whether the embedder answers, and where texts go.
async fn embedder(app: &App) -> Finding {
    const CHECK: &str = "embedder";
    let Some(meaning) = &app.meaning else {
        return Finding::fine(CHECK, "none: words alone find; texts stay on this machine");
    };
    let embedder = meaning.embedder();
    let texts = match embedder.destination() {
        None => "texts stay on this machine".to_owned(),
        Some(url) => format!("texts go to {url}"),
    };
    let name = embedder.name();
    let begun = Instant::now();
    let failed = match embedder.model().await {
        Err(error) => Some(error),
        Ok(_) => embedder.embed(&["a cup of tea".to_owned()]).await.err(),
    };
    let mend = "check `embedder` in the configuration and whether its service answers; until then words alone find";
    match failed {
        Some(error) => Finding::fault(CHECK, format!("`{name}`: {}; {texts}", chain(&error)), mend),
        None if embedder.destination().is_some() && begun.elapsed() > SLOW => Finding::warning(
            CHECK,
            format!("`{name}` took {} ms; {texts}", begun.elapsed().as_millis()),
            "messages wait for it: a nearer service, or the built-in model",
        ),
        None => Finding::fine(CHECK, format!("`{name}` answers; {texts}")),
    }
}

/// Whether the clock is where the memories are.
async fn clock(app: &App, now: DateTime<Utc>) -> Finding {
    const CHECK: &str = "clock";
    let mend = "set the clock of this machine (`timedatectl set-ntp true`)";
    if now.year() < FIRST_YEAR {
        return Finding::fault(CHECK, format!("it is said to be {}", rfc3339(now)), mend);
    }
    let filters = ListFilters::default();
    match app
        .store
        .list(&Scope::owner(), &filters, None, 1, now)
        .await
    {
        Ok(newest) => match newest
            .first()
            .filter(|memory| memory.created_at > now + DRIFT)
        {
            Some(memory) => Finding::warning(
                CHECK,
                format!(
                    "it is {}, and the newest memory is of {}",
                    rfc3339(now),
                    rfc3339(memory.created_at)
                ),
                format!("{mend}, unless the memory was told with a time to come"),
            ),
            None => Finding::fine(CHECK, rfc3339(now)),
        },
        Err(error) => Finding::fault(CHECK, chain(&error), "see the store"),
    }
}

fn rfc3339(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// An error with its causes.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mount_says_what_a_folder_lies_on() {
        let mounts = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                      30 22 0:5 / /home rw,nosuid shared:2 - nfs4 host:/home rw\n\
                      31 22 0:6 / /home/my\\040disk rw - xfs /dev/sdb rw\n";
        let kind = |path: &str| kind_of_mount(mounts, Path::new(path)).unwrap();
        assert_eq!(kind("/var/lib"), "ext4");
        assert_eq!(kind("/home/ann"), "nfs4");
        assert_eq!(kind("/homes"), "ext4");
        assert_eq!(kind("/home/my disk/data"), "xfs");
    }
}
