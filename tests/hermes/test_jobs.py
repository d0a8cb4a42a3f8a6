"""Maintenance is scheduled by the host, once, as long as the service does not do it by itself."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from support import BINARY, Home, Service, eventually, store_of
from test_install import install

NAMES = ["memory-maintenance", "memory-dedup", "synonym-discovery"]
SCRIPTS = ["keepsake-consolidate.py", "keepsake-dedup.py", "keepsake-synonyms.py"]


def jobs_of(home: Path) -> list[dict[str, Any]]:
    """The jobs of a home, as the host lists them."""
    from cron import jobs

    with jobs.use_cron_store(home):
        return jobs.list_jobs(include_disabled=True)


def change(home: Path, job: dict[str, Any], **updates: Any) -> None:
    """What `hermes cron edit` does."""
    from cron import jobs

    with jobs.use_cron_store(home):
        jobs.update_job(job["id"], updates)


def run_job(home: Path, job: dict[str, Any]) -> tuple[bool, str]:
    """Runs a job's script as the host's scheduler does; whether it worked, and what it said."""
    from cron import scheduler

    with Home(home).active():
        return scheduler._run_job_script(job["script"])


def test_the_installer_registers_three_jobs_once(tmp_path: Path, service: Service) -> None:
    home = tmp_path / "hermes"
    told = install(home, KEEPSAKE_URL=service.url)
    assert f"Cron jobs: {', '.join(NAMES)}" in told
    install(home, KEEPSAKE_URL=service.url)
    registered = jobs_of(home)
    assert [job["name"] for job in registered] == NAMES
    assert [job["schedule_display"] for job in registered] == [
        "every 120m",
        "every 60m",
        "every 480m",
    ]
    assert all(job["no_agent"] for job in registered)
    assert sorted(path.name for path in (home / "scripts").iterdir()) == SCRIPTS


def test_a_session_registers_them_and_says_so_in_the_log(
    home: Home, service: Service, caplog: Any
) -> None:
    caplog.set_level("INFO", "keepsake")
    home.session()
    eventually(lambda: len(jobs_of(home.path)) == 3, "the jobs are there")
    eventually(lambda: f"cron jobs registered: {', '.join(NAMES)}" in caplog.text, "it is told")


def test_what_their_owner_changed_stays(tmp_path: Path, service: Service) -> None:
    home = tmp_path / "hermes"
    install(home, KEEPSAKE_URL=service.url)
    maintenance, dedup, _ = jobs_of(home)
    change(home, maintenance, enabled=False)
    change(home, dedup, schedule="every 6h")
    install(home, KEEPSAKE_URL=service.url)
    maintenance, dedup, _ = jobs_of(home)
    assert maintenance["enabled"] is False
    assert dedup["schedule_display"] == "every 360m"


def test_a_new_definition_is_taken_over(tmp_path: Path, service: Service) -> None:
    home = tmp_path / "hermes"
    install(home, KEEPSAKE_URL=service.url)
    _, dedup, _ = jobs_of(home)
    change(home, dedup, schedule="every 6h", name="dedup")
    (home / "scripts" / dedup["script"]).write_text("# as an earlier version wrote it")
    install(home, KEEPSAKE_URL=service.url)
    _, dedup, _ = jobs_of(home)
    assert (dedup["name"], dedup["schedule_display"]) == ("memory-dedup", "every 60m")


def test_uninstalling_removes_them_and_nobody_elses(tmp_path: Path, service: Service) -> None:
    from cron import jobs

    home = tmp_path / "hermes"
    install(home, KEEPSAKE_URL=service.url)
    with jobs.use_cron_store(home):
        jobs.create_job("read my mail", "every 1h", name="memory-dedup")
    told = install(home, "--uninstall")
    assert "Removed the cron job `synonym-discovery`." in told
    assert [job["prompt"] for job in jobs_of(home)] == ["read my mail"]
    assert list((home / "scripts").iterdir()) == []


def test_a_service_that_maintains_itself_needs_no_jobs(tmp_path: Path, service: Service) -> None:
    home = tmp_path / "hermes"
    install(home, KEEPSAKE_URL=service.url)
    service.stop()
    service.start("--maintenance")
    told = install(home, KEEPSAKE_URL=service.url)
    assert "Maintenance: the service does it by itself." in told
    assert jobs_of(home) == []


def test_a_job_runs_the_binary_beside_the_service(
    tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "hermes"
    install(home, KEEPSAKE_URL=service.url)
    text = "The kitchen light is switched by the door"
    for content in (text, text + "."):
        service.ask("POST", "/v1/memories", {"content": content, "agent_id": "default"})
    for name, value in {"KEEPSAKE_URL": service.url, **store_of(service.folder)}.items():
        monkeypatch.setenv(name, value)
    _, dedup, _ = jobs_of(home)
    worked, said = run_job(home, dedup)
    assert worked, said
    assert service.contents() == [text + "."]


@pytest.fixture
def without_binaries(tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home whose `keepsake` program has no maintenance binaries beside it."""
    alone = tmp_path / "programs" / "keepsake"
    alone.parent.mkdir()
    shutil.copy(BINARY, alone)
    home = tmp_path / "hermes"
    install(home, KEEPSAKE_URL=service.url, KEEPSAKE_BIN=str(alone))
    monkeypatch.setenv("KEEPSAKE_URL", service.url)
    return home


def test_without_the_binaries_a_job_asks_the_service(
    without_binaries: Path, service: Service
) -> None:
    assert [run_job(without_binaries, job) for job in jobs_of(without_binaries)] == [(True, "")] * 3
    runs = service.ask("GET", "/v1/maintenance?is_primary=true")["jobs"]
    assert all(runs[name] for name in ("consolidate", "forget", "dedup", "synonyms", "dictionary"))


def test_a_job_whose_service_is_away_says_so(without_binaries: Path, service: Service) -> None:
    service.stop()
    _, dedup, _ = jobs_of(without_binaries)
    worked, said = run_job(without_binaries, dedup)
    assert not worked and "keepsake: no connection" in said
