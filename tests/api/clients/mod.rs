//! Real client programs from the registries, each version in an environment of its own below
//! `target/`, made on first use. What cannot be installed fails its test: nothing is skipped.

mod hindsight;
mod mcp;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::run;

/// An environment that has exactly these packages; the path of its interpreter.
fn environment(packages: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients");
    std::fs::create_dir_all(&folder).unwrap();
    let place = folder.join(packages.join("+"));
    let ready = place.join("ready");
    // Tests of several processes may want the same one.
    let lock = std::fs::File::create(folder.join(format!("{}.lock", packages.join("+")))).unwrap();
    lock.lock().unwrap();
    let python = place.join("bin/python");
    if !ready.exists() {
        let mut create = Command::new("python3");
        create.args(["-m", "venv", "--clear"]).arg(&place);
        done(create);
        let mut install = Command::new(&python);
        install.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]);
        install.args(packages);
        done(install);
        std::fs::write(ready, "").unwrap();
    }
    python
}

/// Runs a script of `tests/clients/` in an environment with these packages; it says `ok` at its end.
fn script(packages: &[&str], name: &str, arguments: &[&str]) {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/clients");
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(environment(packages));
    command
        .arg(scripts.join(name))
        .args(arguments)
        .current_dir(home.path())
        .env("HOME", home.path())
        .env("PYTHONDONTWRITEBYTECODE", "1");
    // No proxy of this machine stands between a client and a service on it.
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env_remove(name);
    }
    let printed = done(command);
    assert_eq!(
        printed.trim().lines().last(),
        Some("ok"),
        "{name}: {printed}"
    );
}

/// Runs a command that must succeed; what it printed.
fn done(command: Command) -> String {
    let shown = format!("{command:?}");
    let output = run(command, b"");
    assert_eq!(
        output.code, 0,
        "{shown}\n{}\n{}",
        output.stdout, output.stderr
    );
    output.stdout
}
