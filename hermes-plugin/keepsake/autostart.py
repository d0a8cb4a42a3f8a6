"""Starts `keepsake serve` when a service of this machine is wanted and none is there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .client import Address, ServiceError

READY_SECONDS = 15.0
"""How long a service may take from its start to its first answer."""
PAUSE_SECONDS = 60.0
"""Least time between two attempts of one process."""
HOW_TO_GET = "get it with `cargo install --path service` in a copy of Keepsake's source"


def data_folder() -> Path:
    """The service's own data folder, as far as the environment tells."""
    named = os.environ.get("KEEPSAKE_DATA_DIR", "").strip()
    if named:
        return Path(named).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "keepsake"
    base = os.environ.get("XDG_DATA_HOME", "").strip()
    return (Path(base) if base else Path.home() / ".local" / "share") / "keepsake"


def find_binary(named: str = "") -> str | None:
    """The `keepsake` program: the named one, or the first of the usual places."""
    if named:
        return shutil.which(Path(named).expanduser())
    usual = [Path.home() / ".cargo/bin", Path.home() / ".local/bin", Path("/usr/local/bin")]
    places = ["keepsake", *(str(folder / "keepsake") for folder in usual)]
    found = map(shutil.which, places)
    return next((path for path in found if path), None)


class Starter:
    """Starts the service for one address, seldom."""

    def __init__(self, address: Address, binary: str) -> None:
        self._address = address
        self._binary = binary
        self._last = float("-inf")

    def may(self) -> bool:
        """Whether another attempt is due."""
        return time.monotonic() - self._last >= PAUSE_SECONDS

    def start(self, probe: Callable[[], None]) -> str:
        """Starts the service, detached, and waits until `probe` no longer raises. Returns why that
        did not work, or an empty string. Of several processes that want to, one does."""
        self._last = time.monotonic()
        binary = find_binary(self._binary)
        if binary is None:
            what = f"`{self._binary}`" if self._binary else "no `keepsake` program"
            return f"nothing listens at {self._address.listen}, and {what} was found; {HOW_TO_GET}"
        folder = data_folder()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _alone(folder / "autostart.lock"):
                if _answers(probe):
                    return ""
                return self._run(binary, folder / "autostart.log", probe)
        except OSError as error:
            return f"`{binary} serve` could not be started: {error}"

    def _run(self, binary: str, log: Path, probe: Callable[[], None]) -> str:
        environment = {k: v for k, v in os.environ.items() if k != "KEEPSAKE_URL"}
        with open(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as output:
            process = subprocess.Popen(
                [binary, "serve", "--listen", self._address.listen],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=log.parent,
                env=environment,
                start_new_session=True,
            )
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            if _answers(probe):
                return ""
            if process.poll() is not None:
                said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
                return f"`{binary} serve` ended at once: {said[-1] if said else process.returncode}"
            time.sleep(0.03)
        return f"`{binary} serve` runs and does not answer; see {log}"


def _answers(probe: Callable[[], None]) -> bool:
    try:
        probe()
    except ServiceError:
        return False
    return True


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Holds a lock that ends with the process, where the system has such locks."""
    with open(path, "ab") as file:
        try:
            import fcntl
        except ImportError:
            yield
            return
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
