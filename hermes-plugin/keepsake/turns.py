"""Turns of a conversation as memories, for those who ask for that (`auto_retain`)."""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from .settings import Settings

MAX_PART_CHARS = 30_000
"""A longer turn becomes several memories: the service takes 65,536 characters by default."""

BLOCKS = re.compile(r"<(keepsake|memory-context)>.*?</\1>\s*", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Turn:
    """What was said, and when."""

    number: int
    user: str
    assistant: str
    at: datetime

    def operations(self, session: str) -> Iterator[dict[str, Any]]:
        """The turn as additions; the same turn of the same session has the same ids."""
        text = f"User: {self.user}\nAssistant: {self.assistant}"
        for start in range(0, len(text), MAX_PART_CHARS):
            content = text[start : start + MAX_PART_CHARS]
            said = f"{session}\0{self.number}\0{content}".encode("utf-8", "surrogatepass")
            yield {
                "op": "add",
                "op_id": f"turn-{hashlib.sha256(said).hexdigest()[:40]}",
                "content": content,
                "session": session,
                "turn": self.number,
                "created_at": self.at.isoformat(timespec="milliseconds"),
                "source": "hermes_turns",
                "entry_type": "turn",
                "origin": "automatic",
            }


def without_blocks(text: str) -> str:
    """A message without what memory itself put into it."""
    return BLOCKS.sub("", text).strip()


@dataclass
class Turns:
    """The turns of a session that were not stored yet, and the last ones that were."""

    settings: Settings
    session: str
    number: int = 0
    _new: list[Turn] = field(default_factory=list)
    _sent: deque[Turn] = field(default_factory=deque)

    def add(self, user: str, assistant: str) -> list[dict[str, Any]]:
        """Takes a finished turn; returns what is to be stored now."""
        if self.settings.auto_retain == "off":
            return []
        self.number += 1
        turn = Turn(self.number, without_blocks(user), without_blocks(assistant), datetime.now(UTC))
        if turn.user or turn.assistant:
            self._new.append(turn)
        every = self.settings.retain_every_n_turns
        if self.settings.auto_retain == "every_n_turns" and len(self._new) >= every:
            return self.take()
        return []

    def take(self) -> list[dict[str, Any]]:
        """Everything that was not stored yet, after a few turns that were: they are sent again in
        case they were lost, and known by their ids if they were not."""
        if not self._new:
            return []
        overlap = self.settings.retain_overlap_turns
        turns = [*self._sent, *self._new]
        self._sent = deque(turns[-overlap:] if overlap else [], maxlen=overlap)
        self._new = []
        return [operation for turn in turns for operation in turn.operations(self.session)]
