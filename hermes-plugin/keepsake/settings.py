"""The plugin's settings: `memory.keepsake` of config.yaml, the setup's own file, the environment.

What is stronger comes first: `KEEPSAKE_URL` and `KEEPSAKE_API_KEY`, then config.yaml, then
`keepsake/config.json` under the Hermes home (what `hermes memory setup` and the dashboard write),
then defaults. A wrong value is told and its default used; only a URL that is none is fatal.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .client import DEFAULT_URL, parse_address
from .profile import FOLDER, from_file, from_host, hermes_home, secret

CHOICES: dict[str, tuple[str, ...]] = {
    "recall": ("auto", "tools", "off"),
    "scope": ("global", "per-project", "per-project-tagged"),
    "users": ("separate", "shared"),
    "auto_retain": ("off", "every_n_turns", "full_session"),
    "cron": ("read", "off", "tools", "full"),
}
"""Settings that are one of a few words; the first is the default."""


@dataclass(frozen=True)
class Settings:
    """Everything that can be set. Times are in seconds."""

    url: str = DEFAULT_URL
    api_key: str = field(default="", repr=False)
    agent_id: str = ""
    is_primary: bool = False
    namespace: str = "default"
    top_k: int = 0
    """Entries that a message brings to mind; 0 leaves it to the service."""
    tag_filter: tuple[str, ...] = ()
    recall: str = "auto"
    scope: str = "global"
    users: str = "separate"
    timeout: float = 1.2
    tool_timeout: float = 5.0
    auto_retain: str = "off"
    retain_every_n_turns: int = 3
    retain_overlap_turns: int = 2
    retain_context: str = "hermes"
    cron: str = "read"
    autostart: bool = True
    binary: str = ""
    problems: tuple[str, ...] = ()
    """What was wrong with the given values, each a sentence."""
    fatal: str = ""
    """Why the plugin cannot work at all, or empty."""


NUMBERS: dict[str, tuple[float, float]] = {
    "top_k": (0, 1000),
    "timeout": (0.05, 7),
    "tool_timeout": (0.05, 60),
    "retain_every_n_turns": (1, 1000),
    "retain_overlap_turns": (0, 100),
}
"""Least and greatest value; the host gives up on a prefetch after 8 s."""
BOOLEANS = ("is_primary", "autostart")
TEXTS = ("url", "agent_id", "namespace", "retain_context", "binary")
KEYS = (*TEXTS, *NUMBERS, *BOOLEANS, *CHOICES, "tag_filter")


def resolve(layers: list[Mapping[str, Any]], environment: Mapping[str, str]) -> Settings:
    """Settings from the given layers, the strongest first."""
    values: dict[str, Any] = {}
    problems: list[str] = []
    for layer in layers:
        for key, value in layer.items():
            if key not in KEYS:
                near = difflib.get_close_matches(str(key), KEYS, 1)
                hint = f"; did you mean `{near[0]}`?" if near else ""
                problems.append(f"`{key}` is not a setting{hint}")
            elif key not in values and value is not None and value != "":
                try:
                    values[key] = checked(key, value)
                except ValueError as error:
                    problems.append(f"`{key}` {error}; its default is used")
    url = environment.get("KEEPSAKE_URL", "").strip()
    if url:
        values["url"] = url
    fatal = ""
    try:
        parse_address(values.get("url", DEFAULT_URL))
    except ValueError as error:
        fatal = str(error)
    api_key = environment.get("KEEPSAKE_API_KEY", "").strip()
    return Settings(**values, api_key=api_key, problems=tuple(problems), fatal=fatal)


def checked(key: str, value: Any) -> Any:
    """One value as it is used; raises ValueError with what is allowed."""
    if key in CHOICES:
        return choice(value, CHOICES[key])
    if key in BOOLEANS:
        return boolean(value)
    if key in NUMBERS:
        return number(value, *NUMBERS[key], whole=key not in ("timeout", "tool_timeout"))
    if key == "tag_filter":
        listed = value.split(",") if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(tag, str) for tag in listed):
            raise ValueError("must be a list of tags, or tags separated by commas")
        return tuple(tag.strip() for tag in listed if tag.strip())
    if not isinstance(value, str) or any(not char.isprintable() for char in value):
        raise ValueError("must be text on one line")
    return value.strip()


def choice(value: Any, allowed: tuple[str, ...]) -> str:
    """One of a few words. YAML reads a bare `off` as false, and a bare `on` as true."""
    if value is False and "off" in allowed:
        return "off"
    if value is True and "auto" in allowed:
        return "auto"
    if isinstance(value, str) and value.strip().lower() in allowed:
        return value.strip().lower()
    raise ValueError(f"must be one of {', '.join(allowed)}, not `{value}`")


def boolean(value: Any) -> bool:
    """A truth value; forms and files write some as text."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    raise ValueError(f"must be true or false, not `{value}`")


def number(value: Any, least: float, most: float, *, whole: bool) -> float | int:
    """A number in a range; forms and files write some as text."""
    try:
        read = int(str(value)) if whole else float(str(value))
    except ValueError:
        read = None
    if read is None or isinstance(value, bool) or not least <= read <= most:
        kind = "a whole number" if whole else "a number"
        raise ValueError(f"must be {kind} from {least:g} to {most:g}, not `{value}`")
    return read


def load(home: Path | None = None) -> Settings:
    """The settings of a Hermes home, by default of the profile in use."""
    home = home or hermes_home()
    environment = {name: secret(name) for name in ("KEEPSAKE_URL", "KEEPSAKE_API_KEY")}
    return resolve([from_host(), from_file(home)], environment)


def save(values: Mapping[str, Any], home: Path) -> Path:
    """Adds values to the setup's file; those that equal None or nothing are taken out."""
    path = home / FOLDER / "config.json"
    kept = {**from_file(home), **values}
    kept = {key: value for key, value in kept.items() if value is not None and value != ""}
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    temporary.chmod(0o600)
    temporary.replace(path)
    return path
