"""The installer, on homes as people have them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import BINARY, PATIENCE, PLUGINS, Home, Service, store_of

STATE = "state: ready (store ok, embedder builtin)"


def install(home: Path, *arguments: str, **environment: str) -> str:
    """Runs the installer as a person does; its output."""
    done = subprocess.run(
        [PLUGINS / "install", *arguments],
        env={
            "HOME": os.environ["HOME"],
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            **store_of(Path(os.environ["KEEPSAKE_DATA_DIR"])),
            "KEEPSAKE_BIN": str(BINARY),
            "HERMES_HOME": str(home),
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=2 * PATIENCE,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files(folder: Path) -> dict[str, str]:
    """What lies under a folder, caches left out."""
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def shipped() -> set[str]:
    """The files of the plugins."""
    return {
        f"{folder.name}/{file.name}"
        for folder in PLUGINS.glob("keepsake*")
        for file in folder.iterdir()
        if file.suffix == ".py" or file.name == "plugin.yaml"
    }


def status(home: Path, service: Service) -> str:
    return Home(home).hermes("memory", "status", KEEPSAKE_URL=service.url)


@pytest.mark.parametrize("name", ["hermes", "a home with spaces", "主目录"])
def test_a_fresh_home(tmp_path: Path, service: Service, name: str) -> None:
    home = tmp_path / name
    told = install(home, KEEPSAKE_URL=service.url)
    assert "Checked: a memory went to the service and came back." in told
    assert set(files(home / "plugins")) == shipped()
    assert STATE in status(home, service)
    assert "keepsake-skills" in Home(home).hermes("plugins", "list", "--plain", "--enabled")
    assert service.memories() == [] and service.memories(namespace="keepsake-install") == []


def test_installing_twice_changes_nothing(tmp_path: Path, service: Service) -> None:
    home = tmp_path / "hermes"
    install(home, KEEPSAKE_URL=service.url)
    before = files(home / "plugins"), files(home / "keepsake"), (home / "config.yaml").read_text()
    install(home, KEEPSAKE_URL=service.url)
    after = files(home / "plugins"), files(home / "keepsake"), (home / "config.yaml").read_text()
    assert after == before


def test_a_profile(tmp_path: Path, service: Service) -> None:
    profile = Path(os.environ["HOME"]) / ".hermes" / "profiles" / "work"
    profile.mkdir(parents=True)
    install(tmp_path / "another", "--profile", "work", KEEPSAKE_URL=service.url)
    told = status(profile, service)
    assert STATE in told and "agent: work" in told
    assert not (tmp_path / "another" / "plugins").exists()


def test_an_unknown_profile_is_an_error_and_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="there is no profile at"):
        install(tmp_path / "hermes", "--profile", "nobody")
    assert not (tmp_path / "hermes").exists()


def test_linked_to_a_copy_of_the_source(tmp_path: Path, service: Service) -> None:
    home = tmp_path / "hermes"
    install(home, "--link", KEEPSAKE_URL=service.url)
    assert (home / "plugins" / "keepsake").is_symlink()
    assert STATE in status(home, service)
    install(home, KEEPSAKE_URL=service.url)
    assert not (home / "plugins" / "keepsake").is_symlink()
    install(home, "--link", KEEPSAKE_URL=service.url)
    install(home, "--uninstall")
    assert (PLUGINS / "keepsake" / "__init__.py").exists()
    assert list((home / "plugins").iterdir()) == []


def test_over_an_older_layout_code_goes_and_data_stays(tmp_path: Path, service: Service) -> None:
    home = tmp_path / "hermes"
    old = home / "plugins" / "keepsake"
    (old / "retrieval").mkdir(parents=True)
    (old / "retrieval" / "ranker.py").write_text("raise SystemExit")
    (old / "removed_module.py").write_text("raise SystemExit")
    (old / "skip_patterns.txt").write_text("ok\n")
    (old / "models").mkdir()
    (old / "models" / "weights.bin").write_text("weights")
    nested = home / "plugins" / "memory" / "keepsake"
    nested.mkdir(parents=True)
    (nested / "__init__.py").write_text("raise SystemExit")
    told = install(home, KEEPSAKE_URL=service.url)
    assert set(files(home / "plugins")) == shipped()
    assert not (home / "plugins" / "memory").exists()
    kept = home / "keepsake" / "earlier" / "keepsake"
    assert files(kept) == {"models/weights.bin": "weights", "skip_patterns.txt": "ok\n"}
    assert f"it is in {kept}" in told
    assert STATE in status(home, service)


def test_over_the_python_keepsake_its_jobs_are_taken_over(tmp_path: Path, service: Service) -> None:
    from cron import jobs

    home = tmp_path / "hermes"
    (home / "scripts").mkdir(parents=True)
    (home / "scripts" / "maintenance.py").write_text("print('damage')")
    old = home / "plugins" / "keepsake"
    old.mkdir(parents=True)
    (old / "__init__.py").write_text("class KeepsakeMemoryProvider: pass  # MemoryProvider")
    (old / "plugin.yaml").write_text("name: keepsake\n")
    with jobs.use_cron_store(home):
        jobs.create_job(
            "", "every 2h", name="memory-maintenance", script="maintenance.py", no_agent=True
        )
        jobs.create_job("find synonyms", "every 1d", name="synonym-discovery-daily")
        jobs.create_job("去重", "every 1h", name="记忆去重")
        jobs.create_job("read my mail", "every 1h", name="mail")
        jobs.create_job("clean my notes", "every 1h", name="memory-maintenance")
    told = install(home, KEEPSAKE_URL=service.url)
    with jobs.use_cron_store(home):
        left = [(job["name"], job["prompt"]) for job in jobs.list_jobs(include_disabled=True)]
    assert left == [
        ("mail", "read my mail"),
        ("memory-maintenance", "clean my notes"),
        ("memory-maintenance", ""),
        ("memory-dedup", ""),
        ("synonym-discovery", ""),
    ]
    kept = json.loads((home / "keepsake" / "earlier" / "cron-jobs.json").read_text())
    assert [job["name"] for job in kept] == [
        "memory-maintenance",
        "synonym-discovery-daily",
        "记忆去重",
    ]
    assert told.count("of the Python Keepsake") == 3
    assert STATE in status(home, service)


def test_another_provider_is_replaced_and_named(tmp_path: Path, service: Service) -> None:
    home = tmp_path / "hermes"
    home.mkdir()
    (home / "config.yaml").write_text("memory:\n  provider: holographic\nmodel: some/model\n")
    told = install(home, KEEPSAKE_URL=service.url)
    assert "before: holographic" in told
    config = (home / "config.yaml").read_text()
    assert "provider: keepsake" in config and "model: some/model" in config


def test_uninstalling_leaves_nothing_but_the_persons_data(tmp_path: Path, service: Service) -> None:
    home = tmp_path / "hermes"
    install(home, KEEPSAKE_URL=service.url)
    install(home, "--uninstall")
    assert list((home / "plugins").iterdir()) == []
    assert set(files(home / "keepsake")) <= {"config.json"}
    assert "keepsake" not in (home / "config.yaml").read_text()
    assert "Provider:  (none" in status(home, service)


def test_uninstalling_keeps_what_was_not_sent(home: Home, service: Service) -> None:
    service.stop()
    talk = home.session()
    talk.remember("add", "My editor is Helix")
    talk.end()
    told = install(home.path, "--uninstall")
    assert "1 unsent writes stay in" in told
    assert (home.path / "keepsake" / "unsent.db").exists()


def test_without_the_program_it_says_how_to_get_it(tmp_path: Path) -> None:
    told = install(tmp_path / "hermes", KEEPSAKE_BIN="", KEEPSAKE_URL="http://127.0.0.1:1")
    assert "get it with `cargo install --path service`" in told
    assert "The plugin is loaded; memory does not work yet: nothing listens" in told


def test_without_hermes_it_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="the Python that runs Hermes was not found"):
        install(tmp_path / "hermes", PATH="/usr/bin:/bin")
    assert not (tmp_path / "hermes").exists()


def test_a_program_in_an_unusual_place_is_started_later(tmp_path: Path) -> None:
    import signal

    from test_autostart import free_port, started

    home = tmp_path / "hermes"
    port = free_port()
    told = install(home, KEEPSAKE_URL=f"http://127.0.0.1:{port}")
    assert "Checked" in told
    (pid,) = started(port)
    os.kill(pid, signal.SIGTERM)
    assert json.loads((home / "keepsake" / "config.json").read_text()) == {"binary": str(BINARY)}


def test_the_wheel_offers_the_provider_to_newer_hosts() -> None:
    import tomllib

    project = tomllib.loads((PLUGINS / "pyproject.toml").read_text(encoding="utf-8"))
    points = project["project"]["entry-points"]["hermes_agent.memory_providers"]
    assert points == {"keepsake": "hermes_keepsake"}
    assert project["tool"]["setuptools"]["package-dir"] == {"hermes_keepsake": "keepsake"}
