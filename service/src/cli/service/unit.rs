//! What a service manager is told: the file it reads, and the commands that make it read it.

use std::path::{Path, PathBuf};

use crate::config::Environment;

/// Name of the unit, of the log of a launchd agent, and last part of the agent's label.
const NAME: &str = "keepsake";
/// Label of the launchd agent.
const LABEL: &str = "local.keepsake";

/// Who starts services for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manager {
    Systemd,
    Launchd,
}

/// How the service is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub program: PathBuf,
    /// What follows `keepsake`: `serve` and its flags.
    pub arguments: Vec<String>,
    /// The configuration file, if another than the usual one is in use.
    pub config: Option<String>,
}

impl Manager {
    /// The one of this platform.
    pub(super) fn of_this_machine() -> Manager {
        match cfg!(target_os = "macos") {
            true => Manager::Launchd,
            false => Manager::Systemd,
        }
    }

    /// Where its file for the service belongs; nothing without a home.
    pub(super) fn file(self, environment: &Environment) -> Option<PathBuf> {
        let set = |name: &str| environment.get(name).map(Path::new);
        let home = set("HOME").filter(|home| home.is_absolute());
        Some(match self {
            Manager::Launchd => home?.join(format!("Library/LaunchAgents/{LABEL}.plist")),
            Manager::Systemd => set("XDG_CONFIG_HOME")
                .filter(|folder| folder.is_absolute())
                .map(Path::to_path_buf)
                .or_else(|| home.map(|home| home.join(".config")))?
                .join(format!("systemd/user/{NAME}.service")),
        })
    }

    /// The file's text. `log` is where launchd writes what the service says; systemd has a journal.
    pub(super) fn text(self, wanted: &Wanted, log: &Path) -> String {
        match self {
            Manager::Systemd => systemd(wanted),
            Manager::Launchd => launchd(wanted, log),
        }
    }

    /// The commands that start the service now and at every login.
    pub(super) fn start(self, file: &Path) -> Vec<Vec<String>> {
        let file = file.display().to_string();
        match self {
            Manager::Systemd => vec![
                command(&["systemctl", "--user", "daemon-reload"]),
                command(&["systemctl", "--user", "enable", NAME]),
                command(&["systemctl", "--user", "restart", NAME]),
            ],
            Manager::Launchd => vec![command(&["launchctl", "load", "-w", &file])],
        }
    }

    /// The commands that stop it, now and for good. They may fail when it is not known.
    pub(super) fn stop(self, file: &Path) -> Vec<Vec<String>> {
        let file = file.display().to_string();
        match self {
            Manager::Systemd => vec![command(&["systemctl", "--user", "disable", "--now", NAME])],
            Manager::Launchd => vec![command(&["launchctl", "unload", "-w", &file])],
        }
    }
}

fn command(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A word as systemd reads it: quoted, with nothing that it would expand.
fn systemd_word(word: &str) -> String {
    let mut quoted = String::from("\"");
    for c in word.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '%' | '$' => quoted.extend([c, c]),
            '\n' => quoted.push_str("\\n"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn systemd(wanted: &Wanted) -> String {
    let program = wanted.program.display().to_string();
    let mut words = vec![systemd_word(&program)];
    words.extend(wanted.arguments.iter().map(|word| systemd_word(word)));
    // A `$` stands for itself in an assignment.
    let config = wanted.config.as_ref().map(|path| {
        let assignment = systemd_word(&format!("KEEPSAKE_CONFIG={path}")).replace("$$", "$");
        format!("Environment={assignment}\n")
    });
    format!(
        "[Unit]\n\
         Description=Keepsake, long-term memory for AI agents\n\
         \n\
         [Service]\n\
         ExecStart={}\n\
         {}Restart=on-failure\n\
         RestartSec=2\n\
         NoNewPrivileges=yes\n\
         UMask=0077\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n",
        words.join(" "),
        config.unwrap_or_default(),
    )
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn launchd(wanted: &Wanted, log: &Path) -> String {
    let program = wanted.program.display().to_string();
    let words: String = std::iter::once(&program)
        .chain(&wanted.arguments)
        .map(|word| format!("    <string>{}</string>\n", xml(word)))
        .collect();
    let config = wanted.config.as_ref().map(|path| {
        format!(
            "  <key>EnvironmentVariables</key>\n  <dict>\n    <key>KEEPSAKE_CONFIG</key>\n    \
             <string>{}</string>\n  </dict>\n",
            xml(path)
        )
    });
    let log = xml(&log.display().to_string());
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
         \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n<dict>\n  \
         <key>Label</key>\n  <string>{LABEL}</string>\n  \
         <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n\
         {}  <key>RunAtLoad</key>\n  <true/>\n  \
         <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n  \
         <key>Umask</key>\n  <integer>63</integer>\n  \
         <key>StandardOutPath</key>\n  <string>{log}</string>\n  \
         <key>StandardErrorPath</key>\n  <string>{log}</string>\n\
         </dict>\n</plist>\n",
        config.unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> Wanted {
        Wanted {
            program: "/opt/100% $me/keep\"sake".into(),
            arguments: vec!["serve".into(), "--data-dir".into(), "/a b/<c>&d".into()],
            config: Some("/home/ann/$x/config.json".into()),
        }
    }

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        variables.iter().map(owned).collect()
    }

    #[test]
    fn a_systemd_unit_quotes_every_word() {
        let text = Manager::Systemd.text(&wanted(), Path::new("/log"));
        assert!(
            text.contains(
                "ExecStart=\"/opt/100%% $$me/keep\\\"sake\" \"serve\" \"--data-dir\" \"/a b/<c>&d\"\n"
            ),
            "{text}"
        );
        assert!(
            text.contains("Environment=\"KEEPSAKE_CONFIG=/home/ann/$x/config.json\"\n"),
            "{text}"
        );
    }

    #[test]
    fn a_launchd_agent_is_xml() {
        let text = Manager::Launchd.text(&wanted(), Path::new("/logs/a&b.log"));
        for line in [
            "<string>/opt/100% $me/keep\"sake</string>",
            "<string>/a b/&lt;c&gt;&amp;d</string>",
            "<string>/home/ann/$x/config.json</string>",
            "<string>/logs/a&amp;b.log</string>",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
        let plain = Wanted {
            config: None,
            ..wanted()
        };
        let text = Manager::Launchd.text(&plain, Path::new("/log"));
        assert!(!text.contains("EnvironmentVariables"), "{text}");
    }

    #[test]
    fn files_are_where_the_managers_look() {
        let home = environment(&[("HOME", "/home/ann")]);
        let moved = environment(&[("HOME", "/home/ann"), ("XDG_CONFIG_HOME", "/etc/ann")]);
        let file = |manager: Manager, environment| {
            let file = manager.file(environment)?;
            Some(file.display().to_string())
        };
        assert_eq!(
            file(Manager::Systemd, &home).unwrap(),
            "/home/ann/.config/systemd/user/keepsake.service"
        );
        assert_eq!(
            file(Manager::Systemd, &moved).unwrap(),
            "/etc/ann/systemd/user/keepsake.service"
        );
        assert_eq!(
            file(Manager::Launchd, &home).unwrap(),
            "/home/ann/Library/LaunchAgents/local.keepsake.plist"
        );
        assert_eq!(file(Manager::Systemd, &environment(&[])), None);
    }
}
