"""Maintenance as jobs of the host's scheduler, for a service that does not do it by itself.

A job runs a small script under the home's `scripts`, which calls `run` here: with Keepsake's own
binaries when they are on this machine, else through the service.
"""

from __future__ import annotations

import logging
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .autostart import find_binary
from .client import Client, ServiceError, parse_address
from .settings import Settings, load

logger = logging.getLogger("keepsake")

ANOTHER_ONE_RUNS = 75
"""Exit code of a binary whose work is being done already."""
CONFLICT = 409
"""The service's status for the same."""
PATIENCE = 3600.0
"""Seconds that the service may take for a job; the host's own limit is usually shorter."""
SCHEDULED = "scheduled_maintenance"
"""The feature of a service that runs its maintenance by itself."""


@dataclass(frozen=True)
class Job:
    """A job of the host's scheduler."""

    name: str
    schedule: str
    binary: str
    routes: tuple[str, ...]
    """What does the same in the service, under /v1/maintenance/."""

    @property
    def script(self) -> str:
        """The name of its script under the home's `scripts`; it tells our jobs from others'."""
        return f"{self.binary}.py"


JOBS = (
    Job("memory-maintenance", "every 2h", "keepsake-consolidate", ("consolidate", "forget")),
    Job("memory-dedup", "every 1h", "keepsake-dedup", ("dedup",)),
    Job("synonym-discovery", "every 8h", "keepsake-synonyms", ("synonyms", "dictionary")),
)
SCRIPTS = frozenset(job.script for job in JOBS)

SCRIPT = '''\
"""{name}, {schedule}: {binary} for Hermes' scheduler. Keepsake's plugin writes this file anew."""

import importlib
import os
import sys
from pathlib import Path

os.environ["HERMES_HOME"] = str(Path(__file__).resolve().parents[1])
from plugins.memory import load_memory_provider

provider = load_memory_provider("keepsake")
package = type(provider).__module__.rsplit(".", 1)[0]
sys.exit(importlib.import_module(package + ".maintenance").run("{binary}"))
'''


def register(home: Path, client: Client, timeout: float) -> list[str]:
    """Makes the jobs of a home what they should be: there, or gone when the service does the work
    by itself. Returns the names of those that are there; raises ServiceError when that is not
    known. What its owner has changed in a job, or that it is paused, stays until we define it
    otherwise."""
    features = client.call("GET", "/version", timeout=timeout).get("features")
    if isinstance(features, dict) and features.get(SCHEDULED):
        unregister(home)
        return []
    from cron import jobs

    scripts = home / "scripts"
    scripts.mkdir(parents=True, exist_ok=True)
    with jobs.use_cron_store(home):
        registered = ours(jobs.list_jobs(include_disabled=True))
        for job in JOBS:
            definition: dict[str, Any] = {"name": job.name, "schedule": job.schedule}
            text = SCRIPT.format(binary=job.binary, **definition)
            is_another = write(scripts / job.script, text)
            same = registered.get(job.script, [])
            for other in same[1:]:
                jobs.remove_job(other["id"])
            if not same:
                jobs.create_job("", script=job.script, no_agent=True, **definition)
            elif is_another:
                jobs.update_job(same[0]["id"], definition)
    return [job.name for job in JOBS]


def unregister(home: Path) -> list[str]:
    """Takes the jobs and their scripts out of a home; the names of the jobs that were there."""
    try:
        from cron import jobs
    except ImportError:
        return []
    with jobs.use_cron_store(home):
        registered = ours(jobs.list_jobs(include_disabled=True))
        removed = [job for same in registered.values() for job in same]
        for job in removed:
            jobs.remove_job(job["id"])
    for script in SCRIPTS:
        (home / "scripts" / script).unlink(missing_ok=True)
    return [str(job["name"]) for job in removed]


def ours(listed: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The jobs that run a script of ours, by script."""
    found: dict[str, list[dict[str, Any]]] = {}
    for job in listed:
        if job.get("script") in SCRIPTS:
            found.setdefault(job["script"], []).append(job)
    return found


def write(file: Path, text: str) -> bool:
    """Makes a file say something; whether it said anything else."""
    if file.exists() and file.read_text(encoding="utf-8") == text:
        return False
    file.write_text(text, encoding="utf-8")
    return True


def run(binary: str) -> int:
    """Does the work of one binary. Says nothing when there was nothing to do, or when it is being
    done already; returns an exit code."""
    job = next(job for job in JOBS if job.binary == binary)
    settings = load()
    if settings.fatal:
        print(f"keepsake: {settings.fatal}")
        return 1
    program = beside(settings, binary)
    if program is not None:
        done = subprocess.run([program, "--quiet"], stdin=subprocess.DEVNULL, check=False)
        return 0 if done.returncode == ANOTHER_ONE_RUNS else done.returncode
    client = Client(parse_address(settings.url), settings.api_key)
    try:
        for route in job.routes:
            told = told_of(client, route)
            if told:
                print(told)
    except ServiceError as error:
        print(f"keepsake: {error.detail}")
        return 1
    return 0


def beside(settings: Settings, binary: str) -> Path | None:
    """A maintenance binary of this machine, if the memories are on it: beside the service's."""
    if not parse_address(settings.url).is_loopback:
        return None
    service = find_binary(settings.binary)
    found = Path(service).with_name(binary) if service else None
    return found if found is not None and found.exists() else None


def told_of(client: Client, route: str) -> str:
    """Runs a job in the service; a line for a person, or nothing if nothing was changed."""
    path = f"/v1/maintenance/{route}"
    try:
        done = client.call("POST", path, timeout=PATIENCE, body={})
    except ServiceError as error:
        if error.status == CONFLICT:
            return ""
        raise
    changed = done.get("changed", 0)
    if not changed or done.get("dry_run"):
        return ""
    return f"{route}: {changed} of {done.get('examined', 0)} changed"
