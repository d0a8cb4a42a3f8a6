"""One session of one user of one profile: whose memory it is, and how it is reached."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .connection import START_SECONDS, Connection, connection_to
from .profile import distinct_name, profile_name
from .settings import Settings, load
from .spool import Spool, spool_of

READ_ONLY, TOOLS_ONLY, FULL, NONE = "read", "tools", "full", "off"
MAX_NAME_CHARS = 200


class Session:
    """What the host told at the start, made into a scope."""

    def __init__(self, session_id: str, settings: Settings, told: Mapping[str, Any]) -> None:
        self.id = session_id
        self.settings = settings
        self.access = access(settings, told)
        self.agent_id = agent_of(settings, told)
        self.project = project_name() if settings.scope != "global" else ""
        self.namespace = settings.namespace
        if settings.scope == "per-project":
            self.namespace = self.project
        self.connection = connect(settings)
        self.spool: Spool = spool_of(Path(str(told.get("hermes_home") or "")), self.connection)

    @property
    def reads(self) -> bool:
        """Whether messages bring memories to mind."""
        return self.access in (READ_ONLY, FULL) and self.settings.recall == "auto"

    @property
    def may_write(self) -> bool:
        """Whether the model may change memory on purpose."""
        return self.access in (TOOLS_ONLY, FULL)

    @property
    def records(self) -> bool:
        """Whether what happens in the session is written without being asked for."""
        return self.access == FULL

    @property
    def scope(self) -> dict[str, Any]:
        """The fields of every request that say whose it is."""
        return {
            "agent_id": self.agent_id,
            "is_primary": self.settings.is_primary,
            "namespace": self.namespace,
        }

    def post(self, path: str, *, timeout: float = 0.0, **fields: Any) -> Any:
        """Asks the service; what is queued is sent first, so that it is known. Only while the
        service is being started does this take longer than `timeout`: at most six seconds more."""
        timeout = timeout or self.settings.tool_timeout
        deadline = time.monotonic() + timeout
        _, started = self.connection.settle(timeout, START_SECONDS)
        if started:
            # The first write of a service that just started waits for its model.
            self.spool.flush(START_SECONDS / 2)
            deadline = time.monotonic() + timeout
        else:
            self.spool.flush(timeout / 2)
        left = max(deadline - time.monotonic(), 0.01)
        return self.connection.call("POST", path, timeout=left, body={**self.scope, **fields})

    def call(self, method: str, path: str, query: Mapping[str, str] | None = None) -> Any:
        """A request without a body."""
        scope = {name: encoded(value) for name, value in self.scope.items()}
        return self.connection.call(
            method, path, timeout=self.settings.tool_timeout, query={**scope, **(query or {})}
        )

    def addition(
        self, content: str, *, source: str, context: str = "", category: str | None = None
    ) -> dict[str, Any]:
        """An operation that stores something that the model chose to keep."""
        metadata = {"session_id": self.id, "context": context}
        operation = {
            **self.scope,
            "op": "add",
            "content": content,
            "source": source,
            "category": category,
            "origin": "model",
            "created_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "metadata": {name: value for name, value in metadata.items() if value},
        }
        return self.tagged(operation)

    def tagged(self, operation: dict[str, Any]) -> dict[str, Any]:
        """With the project's tag, where projects are told apart by tags."""
        if self.settings.scope == "per-project-tagged":
            operation["tags"] = [self.project_tag]
        return operation

    @property
    def project_tag(self) -> str:
        """The tag of what belongs to the project."""
        return f"project:{self.project}"


def connect(settings: Settings) -> Connection:
    """The connection that the settings name."""
    return connection_to(
        settings.url,
        settings.api_key,
        autostart=settings.autostart,
        binary=settings.binary,
        probe_timeout=settings.timeout,
    )


def access(settings: Settings, told: Mapping[str, Any]) -> str:
    """What a run may do. Only the person's own conversation writes, unless `cron` says so: what a
    scheduled job or a subagent says to itself is nobody's memory."""
    context = str(told.get("agent_context") or "primary")
    if context == "cron" or told.get("platform") == "cron":
        return settings.cron
    return FULL if context == "primary" else READ_ONLY


def agent_of(settings: Settings, told: Mapping[str, Any]) -> str:
    """Whose memory it is: the profile's, and in a gateway that of each user of it."""
    agent = settings.agent_id
    if not agent and told.get("agent_identity"):
        home = Path(str(told.get("hermes_home") or ""))
        agent = distinct_name(str(told["agent_identity"]), home)
    agent = agent or profile_name()
    user = str(told.get("user_id") or "").strip()
    if user and settings.users == "separate":
        agent = f"{agent}/{told.get('platform') or 'gateway'}/{user}"
    return plain_name(agent)


def project_name() -> str:
    """The name of the working directory, as the host sees it."""
    try:
        from agent.runtime_cwd import resolve_agent_cwd

        folder = Path(resolve_agent_cwd())
    except Exception:
        folder = Path(os.environ.get("TERMINAL_CWD") or Path.cwd())
    return plain_name(folder.resolve().name) or "root"


def plain_name(name: str) -> str:
    """A name that the service takes: no control characters, not too long."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", "", name).strip()[:MAX_NAME_CHARS]


def encoded(value: Any) -> str:
    """A value in a query string."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def session_for_person(home: Path) -> Session:
    """The memory of a profile as its owner sees it from a command line."""
    told = {"hermes_home": str(home), "agent_identity": profile_name()}
    return Session("command line", load(home), told)
