//! `keepsake service`: what systemd is told. A `systemctl` of the test's own notes what it is asked.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::{Home, run};
use crate::support::Output;

const UNIT: &str = ".config/systemd/user/keepsake.service";

/// A home whose systemd says yes, or no.
fn home(answer: &str) -> Home {
    let home = Home::new();
    let script = format!("#!/bin/sh\necho \"$@\" >> \"$HOME/asked\"\n{answer}\n");
    let file = home.write("systemctl", script);
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    home
}

fn service(home: &Home, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = home.command(&[&["service"], arguments].concat());
    let path = format!("{}:/usr/bin:/bin", home.path().display());
    command.env("PATH", path).envs(variables.iter().copied());
    run(command, b"")
}

fn asked(home: &Home) -> String {
    std::fs::read_to_string(home.path().join("asked")).unwrap_or_default()
}

#[cfg(target_os = "linux")]
#[test]
fn installing_writes_a_unit_and_starts_it_as_often_as_asked() {
    let home = home("exit 0");
    for _ in 0..2 {
        let output = service(&home, &["install", "--listen", "127.0.0.1:8000"], &[]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        assert!(
            output
                .stdout
                .starts_with("the service runs, now and after every login")
        );
    }
    let once = "--user daemon-reload\n--user enable keepsake\n--user restart keepsake\n";
    assert_eq!(asked(&home), once.repeat(2));
    let unit = std::fs::read_to_string(home.path().join(UNIT)).unwrap();
    let program = env!("CARGO_BIN_EXE_keepsake");
    let data = home.path().join("data").display().to_string();
    let start = format!(
        "ExecStart=\"{program}\" \"serve\" \"--listen\" \"127.0.0.1:8000\" \"--data-dir\" \"{data}\"\n"
    );
    assert!(unit.contains(&start), "{unit}");
    // systemd itself reads it, where it is there.
    let verified = Command::new("systemd-analyze")
        .args(["--user", "verify"])
        .arg(home.path().join(UNIT))
        .env("XDG_RUNTIME_DIR", home.path())
        .output();
    if let Ok(verified) = verified {
        let said = String::from_utf8_lossy(&verified.stderr).into_owned();
        assert!(!said.contains("keepsake.service:"), "{said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_dry_run_shows_all_and_does_nothing() {
    let home = home("exit 0");
    let output = service(&home, &["install", "--dry-run"], &[]);
    assert_eq!(output.code, 0);
    for shown in [
        "[Install]\nWantedBy=default.target",
        "  systemctl --user restart keepsake",
    ] {
        assert!(output.stdout.contains(shown), "{}", output.stdout);
    }
    assert_eq!(asked(&home), "");
    assert!(!home.path().join(UNIT).exists() && !home.path().join("data").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn secrets_and_settings_of_the_shell_stay_out_of_the_unit_and_are_named() {
    let home = home("exit 0");
    let config = home.write("my config.json", "{}");
    let variables = [
        ("KEEPSAKE_CONFIG", config.to_str().unwrap()),
        ("KEEPSAKE_API_KEY", "a-secret"),
        ("KEEPSAKE_TOP_K", "7"),
    ];
    let output = service(&home, &["install"], &variables);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let unit = std::fs::read_to_string(home.path().join(UNIT)).unwrap();
    assert!(!unit.contains("a-secret") && !output.stdout.contains("a-secret"));
    assert!(unit.contains(&format!(
        "Environment=\"KEEPSAKE_CONFIG={}\"",
        config.display()
    )));
    assert!(
        output
            .stdout
            .contains("does not see KEEPSAKE_API_KEY, KEEPSAKE_TOP_K of this shell")
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_manager_that_says_no_is_told_with_its_reason() {
    let home = home("echo 'Failed to connect to bus' >&2; exit 1");
    let output = service(&home, &["install"], &[]);
    assert_eq!(output.code, 1);
    assert!(
        output
            .stderr
            .contains("is written; the service was not started")
    );
    assert!(
        output
            .stderr
            .contains("`systemctl --user daemon-reload` failed: Failed to connect to bus")
    );
}

#[cfg(target_os = "linux")]
#[test]
fn uninstalling_stops_it_and_keeps_the_memories() {
    let home = home("exit 0");
    home.run(&["add", "The pool opens at nine"]);
    assert_eq!(service(&home, &["install"], &[]).code, 0);
    assert_eq!(service(&home, &["uninstall", "--dry-run"], &[]).code, 0);
    assert!(home.path().join(UNIT).exists());
    assert_eq!(service(&home, &["uninstall"], &[]).code, 0);
    assert!(asked(&home).ends_with("--user disable --now keepsake\n"));
    assert!(!home.path().join(UNIT).exists());
    assert!(
        home.run(&["list"])
            .stdout
            .contains("The pool opens at nine")
    );
    let again = service(&home, &["uninstall"], &[]);
    assert_eq!(again.code, 0);
    assert!(again.stdout.starts_with("nothing to uninstall"));
}
