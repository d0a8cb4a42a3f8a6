"""What docker-compose.yml says, and its services as processes of this machine."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docker-compose.yml"
BINARIES = ROOT / "target/release"

VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::(?P<kind>[-?])(?P<rest>[^}]*))?\}")


def interpolated(value: Any, variables: Mapping[str, str]) -> Any:
    """A value of the file with its variables filled in, as Docker Compose does it.

    Raises KeyError with the file's own words when one is required and missing.
    """
    if isinstance(value, dict):
        return {key: interpolated(item, variables) for key, item in value.items()}
    if isinstance(value, list):
        return [interpolated(item, variables) for item in value]
    if not isinstance(value, str):
        return value

    def fill(found: re.Match[str]) -> str:
        given = variables.get(found["name"], "")
        if given:
            return given
        if found["kind"] == "?":
            raise KeyError(found["rest"])
        return found["rest"] or ""

    return VARIABLE.sub(fill, value)


def raw() -> dict[str, Any]:
    """The file as it is written, with its anchors and merges resolved."""
    loaded: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return loaded


def services(variables: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The services by name, with variables filled in."""
    found: dict[str, dict[str, Any]] = interpolated(raw()["services"], variables)
    return found


def command_line(service: Mapping[str, Any]) -> list[str]:
    """What the container runs: the image's entry point or the file's, and its arguments."""
    entrypoint = service.get("entrypoint", ["keepsake"])
    return [*entrypoint, *service.get("command", [])]


class Running:
    """A service of the file as a process, with what a container would give it: its own environment
    alone, and the names of the network and the volumes replaced by what they are here."""

    def __init__(self, service: Mapping[str, Any], here: Mapping[str, str], folder: Path) -> None:
        program, *arguments = command_line(service)
        self.log = folder / f"{program}.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [BINARIES / program, *arguments],
                env=environment(service, here, folder),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def stop(self) -> int:
        """Asks it to stop as Docker does, and returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(10)
        finally:
            self.process.kill()


def environment(
    service: Mapping[str, Any], here: Mapping[str, str], folder: Path
) -> dict[str, str]:
    """The environment of a service's container, where it differs on this machine replaced."""
    stated = {name: str(value) for name, value in service["environment"].items()}
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "KEEPSAKE_DATA_DIR": str(folder / "data"),
        **stated,
        **here,
    }
