"""The skills that fit a message, before each call of the model.

The service ranks. While it is away, a plain match of words over the copy of the index that lies
under the Hermes home does, and nobody waits.
"""

from __future__ import annotations

import contextvars
import json
import logging
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import library, prompt
from .client import DEFAULT_URL, Client, ServiceError, parse_address
from .profile import FOLDER, from_file, from_host, hermes_home, profile_name, secret

logger = logging.getLogger("keepsake")

TOP_K = 8
TIMEOUT = 1.0
"""Seconds that a message may be held up by the search."""
PUT_SECONDS = 20.0
"""Seconds that the service may take for a whole set, which no message waits for."""
LOOK_SECONDS = 1.0
"""Files are looked at again after so long."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Seconds for which a service that failed is left alone, at first and at most."""
MAX_DESCRIPTION_CHARS = 200
MAX_QUERY_CHARS = 32_768
COPY = "skills.json"


@dataclass
class Index:
    """The skills of one Hermes home."""

    home: Path
    state: str = ""
    """Of the files as they were last looked at."""
    sent: str = ""
    """Of the files as the service knows them."""
    looked_at: float = float("-inf")
    skills: list[dict[str, str]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """What `skill_view` calls a skill that a plugin brought, by path."""
    categories: frozenset[str] = frozenset()
    trouble: str = ""
    """Why the service is not asked, or empty."""
    pause: float = FIRST_PAUSE
    sending: threading.Lock = field(default_factory=threading.Lock)
    done: threading.Event = field(default_factory=threading.Event)
    """Set when no attempt to send the set is at work."""


class Retrieval:
    """Skills on demand, for every profile of the process."""

    def __init__(self) -> None:
        self._indices: dict[Path, Index] = {}
        self._lock = threading.Lock()
        self.top_k = top_k()

    def begin(self) -> None:
        """At the start: the index of the profile is sent, and the prompt shortened."""
        index = self.index()
        trouble = prompt.wrap(self.names_only)
        if trouble:
            logger.warning("Keepsake skills: %s", trouble)
        logger.info("Keepsake skills: registered (top_k=%d, compact=%s)", self.top_k, not trouble)
        self._refresh(index, wait=0.0)

    def index(self) -> Index:
        """The index of the profile in use."""
        home = hermes_home().resolve()
        with self._lock:
            if home not in self._indices:
                self._indices[home] = Index(home, skills=read_copy(home))
            return self._indices[home]

    def names_only(self) -> frozenset[str]:
        """Categories that the prompt lists by names: all, if a message can bring the rest."""
        index = self.index()
        self._refresh(index, wait=0.0)
        if not index.skills:
            index.done.wait(TIMEOUT)
        return index.categories if index.skills else frozenset()

    def before_call(self, **told: Any) -> dict[str, str] | None:
        """The host's hook; never raises, and never waits long."""
        try:
            message = str(told.get("user_message") or "").strip()
            text = self.context(message) if message else ""
        except Exception as error:
            logger.warning("Keepsake skills: no skills for this message: %r", error)
            return None
        return {"context": text} if text else None

    def context(self, message: str) -> str:
        """The text for a message, or nothing when no skill fits."""
        index = self.index()
        deadline = time.monotonic() + TIMEOUT
        self._refresh(index, wait=TIMEOUT / 2)
        fitting = self._ask(index, message, deadline - time.monotonic())
        if fitting is None:
            fitting = matching(index.skills, message, self.top_k)
        return rendered(index, fitting)

    def _ask(self, index: Index, message: str, timeout: float) -> list[dict[str, str]] | None:
        """The service's answer; nothing while it is away."""
        if index.trouble or not index.sent or timeout <= 0:
            return None
        body = {"query": message[:MAX_QUERY_CHARS], "top_k": self.top_k, **scope()}
        try:
            answer = client().call("POST", "/v1/skills/search", body=body, timeout=timeout)
            return list(answer["results"])
        except (ServiceError, KeyError, TypeError, ValueError) as error:
            self._leave_alone(index, str(error))
            return None

    def _refresh(self, index: Index, wait: float) -> None:
        """Looks at the files, and sends the set when they changed; waits for that no longer than
        asked."""
        now = time.monotonic()
        if now - index.looked_at >= LOOK_SECONDS:
            index.looked_at = now
            files = library.skill_files()
            index.state = library.state_of(files)
            index.categories = library.categories(files)
        if index.state != index.sent and not index.trouble and index.sending.acquire(False):
            index.done.clear()
            in_background(lambda: self._send(index))
        if index.state != index.sent and not index.trouble:
            index.done.wait(wait)

    def _send(self, index: Index) -> None:
        """Puts the whole set, and keeps a copy of what the service made of it."""
        try:
            files = library.skill_files()
            state = library.state_of(files)
            found = library.entries(files)
            body = {"skills": [vars(entry) for entry in found], **scope()}
            put = client().call("PUT", "/v1/skills", body=body, timeout=PUT_SECONDS)
            listed = client().call("GET", "/v1/skills", query=scope(), timeout=PUT_SECONDS)
            index.skills = [
                {key: str(skill[key]) for key in ("path", "name", "description")}
                for skill in listed["skills"]
            ]
            index.names = library.qualified_names()
            index.sent = index.state = state
            index.pause = FIRST_PAUSE
            write_copy(index)
            if put["changed"]:
                logger.info("Keepsake skills: index built: %d skills", put["count"])
            if not index.skills:
                logger.warning("Keepsake skills: no skills found")
            for refused in put["refused"]:
                logger.warning("Keepsake skills: %s: %s", refused["path"], refused["reason"])
        except (ServiceError, KeyError, TypeError, ValueError, OSError) as error:
            self._leave_alone(index, str(error))
        finally:
            index.sending.release()
            index.done.set()

    def _leave_alone(self, index: Index, reason: str) -> None:
        """Asks the service nothing for a while; then the set is sent again, behind everyone's
        back, and when that works the service is asked again."""
        if index.trouble:
            return
        index.trouble = reason
        logger.warning("Keepsake skills: the service is not asked: %s", reason)

        def try_again() -> None:
            time.sleep(index.pause)
            index.pause = min(index.pause * 2, LONGEST_PAUSE)
            index.trouble = index.sent = ""
            if index.sending.acquire(False):
                self._send(index)

        in_background(try_again)


def in_background(work: Callable[[], None]) -> None:
    """Runs something that nobody waits for, for the profile in use."""
    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(work,), name="keepsake-skills", daemon=True)
    # While Python shuts down no thread starts, and nobody needs skills.
    with suppress(RuntimeError):
        thread.start()


def top_k() -> int:
    """SKILL_RETRIEVAL_TOP_K, 1 to 50."""
    given = os.environ.get("SKILL_RETRIEVAL_TOP_K", "").strip()
    if not given:
        return TOP_K
    if not given.isdigit() or not 1 <= int(given) <= 50:
        logger.warning("SKILL_RETRIEVAL_TOP_K must be 1 to 50, not `%s`", given)
        return TOP_K
    if int(given) < 5:
        logger.warning("SKILL_RETRIEVAL_TOP_K below 5 misses skills that would fit")
    return int(given)


def client() -> Client:
    """The service that the memory provider uses; raises ValueError for a URL that is none."""
    section = {**from_file(hermes_home()), **from_host()}
    url = secret("KEEPSAKE_URL") or section.get("url") or DEFAULT_URL
    return Client(parse_address(str(url)), secret("KEEPSAKE_API_KEY"))


def scope() -> dict[str, str]:
    """A collection for each profile."""
    return {"collection": profile_name()}


def rendered(index: Index, fitting: list[dict[str, str]]) -> str:
    """Skills as text for the model."""
    if not fitting:
        return ""
    lines = ["Skills that may fit this message; skill_view(name) shows the whole of one:"]
    for skill in fitting:
        name = index.names.get(skill["path"], skill["name"])
        described = plain(skill["description"])
        if len(described) > MAX_DESCRIPTION_CHARS:
            described = described[: MAX_DESCRIPTION_CHARS - 1].rstrip() + "…"
        lines.append(f"- {plain(name)}: {described}" if described else f"- {plain(name)}")
    return "\n".join(lines)


def plain(text: str) -> str:
    """A description on one line that opens and closes no block of the host or of memory."""
    text = "".join(char if char.isprintable() else " " for char in text)
    return re.sub(r"<(?=\s*/?\s*(?:memory-context|keepsake))", "&lt;", text, flags=re.IGNORECASE)


COMMON = frozenset(
    re.findall(
        "[a-z]+",
        "a about an and are as at be but by can do for from get give has have help how i if in into"
        " is it its let like make me my no not of ok on or our please should so some something that"
        " the them then there these they thing this to up us use used user users using want was we"
        " what when where which who why will with would you your",
    )
)
"""Words that say nothing about a skill."""


def words(text: str) -> set[str]:
    """Words of a text, and pairs of characters where words have no spaces."""
    text = text.lower()
    found = set(re.findall(r"[a-z0-9]{2,}", text)) - COMMON
    for run in re.findall(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+", text):
        found.update(run[at : at + 2] for at in range(len(run) - 1))
    return found


def matching(skills: list[dict[str, str]], message: str, most: int) -> list[dict[str, str]]:
    """Skills that share words with a message: rare words count more, and those of a name twice."""
    asked = words(message)
    held = [words(f"{skill['name']} {skill['description']}") for skill in skills]
    counts = Counter(word for own in held for word in own)
    scored = []
    for skill, own in zip(skills, held, strict=True):
        named = words(skill["name"])
        score = sum((2 if word in named else 1) / counts[word] for word in asked & own)
        if score > 0:
            scored.append((-score, skill["path"], skill))
    return [skill for _, _, skill in sorted(scored, key=lambda one: one[:2])[:most]]


def read_copy(home: Path) -> list[dict[str, str]]:
    """The index as it was when the service last answered."""
    try:
        skills = json.loads((home / FOLDER / COPY).read_text(encoding="utf-8"))
        return [{key: str(s[key]) for key in ("path", "name", "description")} for s in skills]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def write_copy(index: Index) -> None:
    """Keeps the index for times without the service."""
    folder = index.home / FOLDER
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = folder / f"{COPY}.new"
        new.write_text(json.dumps(index.skills, ensure_ascii=False), encoding="utf-8")
        new.replace(folder / COPY)
    except OSError as error:
        logger.warning("Keepsake skills: the copy of the index cannot be kept: %s", error)
