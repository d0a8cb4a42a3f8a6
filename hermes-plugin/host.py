"""What the installer asks of the host, run by the host's own Python.

`host.py settle` switches the plugins on, takes over what the Python Keepsake left, and lets a
memory make a round trip; `host.py forget` undoes what the host was told.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import logging
import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

NAME = "keepsake"
SKILLS = "keepsake-skills"
PYTHON_KEEPSAKE_JOBS = ("memory-maintenance", "synonym-discovery-daily", "记忆去重")
"""Jobs that work on the data of the Python Keepsake by rules that damage it."""


def main() -> int:
    """Runs one verb; the exit code says whether it worked."""
    # The host and its plugins may talk while they are loaded; what matters is told below.
    logging.getLogger("keepsake").setLevel(logging.ERROR)
    with contextlib.redirect_stdout(io.StringIO()):
        from hermes_constants import get_hermes_home

        home = Path(get_hermes_home())
    return {"settle": settle, "forget": forget}[sys.argv[1]](home)


def settle(home: Path) -> int:
    """After the files are in place."""
    take_over(home)
    before = hermes("config", "get", "memory.provider")
    if before != NAME:
        hermes("config", "set", "memory.provider", NAME)
        if before:
            print(
                f"Memory provider: {NAME}, before: {before} (back: hermes config set "
                f"memory.provider {before})"
            )
    if (home / "plugins" / SKILLS).exists():
        hermes("plugins", "enable", SKILLS)
    provider = loaded()
    if provider is None:
        print("The host does not load the plugin: HERMES_PLUGINS_DEBUG=1 hermes memory status")
        return 1
    name_program(provider, home)
    trouble = round_trip(provider)
    if trouble:
        print(f"The plugin is loaded; memory does not work yet: {trouble}")
    else:
        print("Checked: a memory went to the service and came back.")
    print(
        "Next: start a new session, and restart a running gateway; `hermes memory status` shows "
        "how memory is."
    )
    return 0


def forget(home: Path) -> int:
    """Before the files are taken out."""
    if hermes("config", "get", "memory.provider") == NAME:
        hermes("config", "unset", "memory.provider")
    forget_skills()
    unsent = home / NAME / "unsent.db"
    if unsent.exists() and (counted := count(unsent)):
        print(f"{counted} unsent writes stay in {unsent}; installing again sends them.")
    else:
        for file in unsent.parent.glob("unsent.db*"):
            file.unlink()
    return 0


def forget_skills() -> None:
    """Takes the skills plugin out of the host's lists; `hermes plugins disable` would only move its
    name from one to another."""
    from hermes_cli.config import load_config, save_config

    config = load_config()
    plugins = config.get("plugins")
    if not isinstance(plugins, dict) or SKILLS not in json.dumps(plugins):
        return
    for name in ("enabled", "disabled"):
        listed = plugins.get(name)
        if isinstance(listed, list):
            plugins[name] = [plugin for plugin in listed if plugin != SKILLS]
    if isinstance(plugins.get("entries"), dict):
        plugins["entries"].pop(SKILLS, None)
    save_config(config)


def count(unsent: Path) -> int:
    """Operations in a file of unsent writes, refused ones too."""
    import sqlite3

    with contextlib.closing(sqlite3.connect(unsent)) as database:
        tables = ("waiting", "refused")
        return sum(database.execute(f"SELECT COUNT(*) FROM {t}").fetchone()[0] for t in tables)


def take_over(home: Path) -> None:
    """Removes the Python Keepsake's jobs, through the host, and keeps their definitions."""
    try:
        from cron import jobs
    except ImportError:
        return
    with jobs.use_cron_store(home):
        old = [j for j in jobs.list_jobs(include_disabled=True) if is_python_keepsakes(j)]
        if not old:
            return
        kept = home / NAME / "earlier" / "cron-jobs.json"
        kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        before = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else []
        kept.write_text(json.dumps(before + old, indent=2, ensure_ascii=False), encoding="utf-8")
        for job in old:
            jobs.remove_job(job["id"])
            print(
                f"Removed the cron job `{job['name']}` of the Python Keepsake: it would go on "
                "changing the data by rules that damage it."
            )
        print(f"Their definitions are in {kept}.")


def is_python_keepsakes(job: dict[str, Any]) -> bool:
    """Whether a job is one of those. The one whose name anybody could give has a script."""
    name = job.get("name")
    return name in PYTHON_KEEPSAKE_JOBS and (name != "memory-maintenance" or bool(job["script"]))


def loaded() -> Any:
    """The provider as the host loads it, or None."""
    with contextlib.redirect_stdout(io.StringIO()):
        from plugins.memory import load_memory_provider

        provider = load_memory_provider(NAME)
    return provider if provider is not None and provider.is_available() else None


def part(provider: Any, name: str) -> Any:
    """One of the plugin's modules, as the host loaded it."""
    return importlib.import_module(f"{type(provider).__module__.rsplit('.', 1)[0]}.{name}")


def name_program(provider: Any, home: Path) -> None:
    """Tells the plugin of a `keepsake` program that it would not find."""
    program = os.environ.get("KEEPSAKE_BIN", "")
    if program and part(provider, "autostart").find_binary() is None:
        part(provider, "settings").save({"binary": program}, home)


def round_trip(provider: Any) -> str:
    """Stores a memory in a namespace of its own, finds it, purges it. Returns what went wrong."""
    connection = part(provider, "session").connect(part(provider, "settings").load())
    word = f"round-trip-{uuid.uuid4().hex}"
    scope = {"namespace": "keepsake-install", "agent_id": "install"}

    def ask(method: str, path: str, body: object = None, query: Any = None) -> Any:
        return connection.call(method, path, timeout=20.0, body=body, query=query)

    try:
        stored = ask("POST", "/v1/memories", {**scope, "content": f"Is {word} there?"})
        found = ask("POST", "/v1/search", {**scope, "query": word})
        ask("DELETE", f"/v1/memories/{stored['id']}", query={**scope, "purge": "true"})
    except part(provider, "client").ServiceError as error:
        return str(error)
    hits = [hit["id"] for hit in found["results"]]
    return "" if stored["id"] in hits else "what was stored was not found"


def hermes(*arguments: str) -> str:
    """Runs the host's own command line, of the same installation."""
    beside = Path(sys.executable).with_name("hermes")
    command = [str(beside)] if beside.exists() else [sys.executable, "-m", "hermes_cli.main"]
    done = subprocess.run(
        [*command, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "HERMES_DISABLE_LAZY_INSTALLS": "1"},
        timeout=120,
        check=False,
    )
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
