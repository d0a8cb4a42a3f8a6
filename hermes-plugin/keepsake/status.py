"""How memory is, in words: for `hermes memory status`, setup and the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .autostart import HOW_TO_GET, find_binary
from .client import UNREACHABLE, ServiceError
from .connection import Connection
from .session import Session, session_for_person
from .settings import Settings, load


def lines(home: Path) -> dict[str, str]:
    """Names and values, the state first."""
    settings = load(home)
    if settings.fatal:
        return {"state": f"not usable: {settings.fatal}"}
    session = session_for_person(home)
    told = {
        "state": state(session),
        "url": settings.url,
        "agent": session.agent_id,
        "recall": settings.recall,
    }
    waiting = session.spool.waiting
    if waiting:
        age = duration(session.spool.oldest_seconds())
        told["unsent writes"] = f"{waiting}, the oldest for {age}; sent when the service answers"
    refused = session.spool.refused()
    if refused:
        told["refused writes"] = f"{len(refused)}, the last because: {refused[-1][0]}"
    for number, problem in enumerate(settings.problems, start=1):
        told[f"setting {number}"] = problem
    return told


def state(session: Session) -> str:
    """Whether memory works right now, and what to do if it does not."""
    settings = session.settings
    connection = session.connection
    try:
        connection.probe(settings.timeout)
        return f"ready ({of_service(connection, settings.timeout)})"
    except ServiceError as error:
        return f"degraded: {error.detail}; {advice(settings, error)}"


def advice(settings: Settings, error: ServiceError) -> str:
    """What a person can do."""
    if error.kind != UNREACHABLE:
        return "see the service's log"
    if find_binary(settings.binary) is None:
        return f"no `keepsake` program was found, {HOW_TO_GET}"
    if settings.autostart:
        return "the next message starts the service"
    return "start it with `keepsake serve`"


def of_service(connection: Connection, timeout: float) -> str:
    """Store and embedder, as the service tells them."""
    ready: dict[str, Any] = connection.client.call("GET", "/readyz", timeout=timeout)
    embedder = ready.get("embedder")
    embedder = embedder if isinstance(embedder, dict) else {}
    name, how = embedder.get("name"), embedder.get("state")
    meaning = "lexical only" if name in (None, "none") else f"embedder {name}"
    if how in ("switching", "failing"):
        meaning = f"lexical only, {meaning} is {how}"
    return f"store {ready.get('store')}, {meaning}"


def duration(seconds: float) -> str:
    """A time span in the largest fitting unit."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
