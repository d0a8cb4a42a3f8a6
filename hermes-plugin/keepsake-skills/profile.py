"""What the profile in use says: its home, its name, its secrets, its settings of Keepsake."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOLDER = "keepsake"
"""The plugins' folder under the Hermes home, and their section under `memory` of config.yaml."""


def hermes_home() -> Path:
    """The Hermes home of the profile in use."""
    from hermes_constants import get_hermes_home

    return Path(get_hermes_home())


def profile_name() -> str:
    """The profile in use, as a name for its memories. Homes outside the usual place have no name of
    their own in Hermes; a digest of the path keeps two of them apart."""
    try:
        from hermes_cli.profiles import get_active_profile_name

        return distinct_name(str(get_active_profile_name()), hermes_home())
    except Exception:
        return "default"


def distinct_name(profile: str, home: Path) -> str:
    """A profile's name that no other home has."""
    if profile != "custom":
        return profile or "default"
    return f"custom-{hashlib.sha256(str(home.resolve()).encode()).hexdigest()[:8]}"


def secret(name: str) -> str:
    """A value of the profile's environment: through the host's scope where there is one, because
    one process may serve many profiles."""
    try:
        from agent.secret_scope import get_secret

        return str(get_secret(name) or "")
    except ImportError:
        return os.environ.get(name, "")
    except Exception:
        # Several profiles, and no turn of any: the environment may be another one's.
        return ""


def from_host() -> Mapping[str, Any]:
    """`memory.keepsake` of config.yaml, through the host's loader."""
    try:
        from hermes_cli.config import load_config

        memory = load_config().get("memory")
    except Exception:
        return {}
    section = memory.get(FOLDER) if isinstance(memory, dict) else None
    return section if isinstance(section, dict) else {}


def from_file(home: Path) -> Mapping[str, Any]:
    """The file that setup and dashboard write."""
    try:
        values = json.loads((home / FOLDER / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}
