"""Writes that wait for the service: one ordered queue for a Hermes home, kept in a file.

An operation is in the file before anyone is told that it was taken, and leaves it when the service
has answered for it. Its id makes sending it again harmless, so a crash, a lost answer, and two
processes that send the same file at once all end in each operation done once, in order.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .client import REFUSED, ServiceError
from .connection import DOWN, Connection

logger = logging.getLogger("keepsake")

BATCH = 16
"""Operations of one request."""
PATIENCE_SECONDS = 5.0
"""How long operations that are in no hurry wait for others."""
SEND_SECONDS = 30.0
"""How long the service may take for a batch."""
RETRY_SECONDS = 5.0
"""Pause after a batch that was not answered while other calls are."""
MAX_REFUSED = 1000
"""Operations that the service refused for good, kept to be looked at."""
AT_FAULT = (400, 413, 422)
"""Statuses that say that the request itself is wrong."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS waiting (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, op_id TEXT NOT NULL UNIQUE, queued_at REAL NOT NULL,
    operation TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS refused (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, refused_at REAL NOT NULL, reason TEXT NOT NULL,
    operation TEXT NOT NULL);
"""


@dataclass(frozen=True)
class Result:
    """What the service made of an operation."""

    status: str
    id: str


class Spool:
    """The queue. Putting into it takes about a tenth of a millisecond; a thread sends."""

    def __init__(self, path: Path, connection: Connection) -> None:
        self._path = path
        self._connection = connection
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._database = open_database(path)
        self._hurry = False
        self._stuck = False
        """Whether the last batch was not taken although the service answers: nobody waits then."""
        self._results: dict[str, Result | None] = {}
        self._sender: threading.Thread | None = None

    def resume(self) -> None:
        """Sends what an earlier process left."""
        with self._lock:
            if self._count() > 0:
                self._hurry = True
                self._ensure_sender()

    def put(self, operations: Iterable[dict[str, Any]], *, at_once: bool) -> list[str]:
        """Takes operations; each without an `op_id` is given one. Returns the ids."""
        ids = []
        with self._changed:
            for operation in operations:
                op_id = operation.setdefault("op_id", uuid.uuid4().hex)
                ids.append(op_id)
                row = (op_id, time.time(), json.dumps(operation))
                self._execute(
                    "INSERT OR IGNORE INTO waiting (op_id, queued_at, operation) VALUES (?, ?, ?)",
                    row,
                )
            self._hurry = self._hurry or at_once
            self._ensure_sender()
            self._changed.notify_all()
        return ids

    def put_and_wait(self, operations: list[dict[str, Any]], timeout: float) -> list[Result | None]:
        """Takes operations and waits a moment for what becomes of them; None for those of which
        nothing is known yet."""
        for operation in operations:
            self._results[operation.setdefault("op_id", uuid.uuid4().hex)] = None
        ids = self.put(operations, at_once=True)
        deadline = time.monotonic() + timeout
        with self._changed:
            while any(self._results[op_id] is None for op_id in ids):
                left = deadline - time.monotonic()
                if left <= 0 or self._stuck or self._connection.state == DOWN:
                    break
                self._changed.wait(left)
            return [self._results.pop(op_id) for op_id in ids]

    def flush(self, timeout: float) -> bool:
        """Waits until everything was sent; at once False while the service is down."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while self._count() > 0:
                left = deadline - time.monotonic()
                if left <= 0 or self._stuck or self._connection.state == DOWN:
                    return False
                self._hurry = True
                self._ensure_sender()
                self._changed.notify_all()
                self._changed.wait(min(left, 0.25))
            return True

    @property
    def waiting(self) -> int:
        """Operations that were not sent."""
        with self._lock:
            return self._count()

    def oldest_seconds(self) -> float:
        """How long the first of them has waited."""
        with self._lock:
            row = self._execute("SELECT MIN(queued_at) FROM waiting").fetchone()
        return max(0.0, time.time() - row[0]) if row and row[0] is not None else 0.0

    def refused(self) -> list[tuple[str, str]]:
        """Operations that the service refused for good: why, and the operation as JSON."""
        with self._lock:
            rows = self._execute("SELECT reason, operation FROM refused ORDER BY seq").fetchall()
        return [(str(reason), str(operation)) for reason, operation in rows]

    def _count(self) -> int:
        return int(self._execute("SELECT COUNT(*) FROM waiting").fetchone()[0])

    def _ensure_sender(self) -> None:
        if self._sender is None or not self._sender.is_alive():
            self._sender = threading.Thread(
                target=self._send_all, name="keepsake-send", daemon=True
            )
            # While Python shuts down no thread starts; the file keeps what waits.
            with suppress(RuntimeError):
                self._sender.start()

    def _execute(self, sql: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        """Runs one statement. A file that fails, on a full disk for instance, is left as it is, and
        what comes from now on is kept in memory."""
        try:
            return self._database.execute(sql, values)
        except sqlite3.Error as error:
            logger.error("Keepsake: unsent writes cannot be kept in %s: %s", self._path, error)
            self._database = open_database(None)
            return self._database.execute(sql, values)

    def _send_all(self) -> None:
        while True:
            with self._changed:
                batch = self._next_batch()
                if batch is None:
                    return
            if self._connection.state == DOWN:
                self._connection.watch()
                self._wake_waiters()
                self._connection.wait_for_change(RETRY_SECONDS)
            elif self._send(batch):
                self._stuck = False
            else:
                self._stuck = self._connection.state != DOWN
                self._wake_waiters()
                if self._stuck:
                    time.sleep(RETRY_SECONDS)

    def _wake_waiters(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _next_batch(self) -> list[tuple[str, dict[str, Any]]] | None:
        """What to send next, after waiting for more if nothing is in a hurry; None at the end."""
        while True:
            rows = self._execute(
                "SELECT op_id, operation, queued_at FROM waiting ORDER BY seq LIMIT ?", (BATCH,)
            ).fetchall()
            if not rows:
                self._hurry = False
                self._changed.notify_all()
                self._sender = None
                return None
            age = time.time() - rows[0][2]
            if self._hurry or len(rows) == BATCH or not 0 <= age < PATIENCE_SECONDS:
                break
            self._changed.wait(PATIENCE_SECONDS - age)
        batch: list[tuple[str, dict[str, Any]]] = []
        for op_id, text, _ in rows:
            operation = json.loads(text)
            batch.append((op_id, operation))
            if operation["op"] == "replace":
                # It may turn into an add, which must be done before what follows.
                break
        return batch

    def _send(self, batch: list[tuple[str, dict[str, Any]]]) -> bool:
        operations = [operation for _, operation in batch]
        try:
            answer = self._connection.call(
                "POST", "/v1/memories/operations", body=operations, timeout=SEND_SECONDS
            )
        except ServiceError as error:
            if error.kind != REFUSED or error.status not in AT_FAULT:
                return False
            if len(batch) > 1:
                return all(self._send([one]) for one in batch)
            self._settle(*batch[0], {"status": "invalid", "problem": {"detail": error.detail}})
            return True
        results = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(results, list) or len(results) != len(batch):
            logger.error("Keepsake: the answer to queued writes is not understood")
            return False
        for (op_id, operation), result in zip(batch, results, strict=True):
            self._settle(op_id, operation, result if isinstance(result, dict) else {})
        return True

    def _settle(self, op_id: str, operation: dict[str, Any], result: dict[str, Any]) -> None:
        """Records what became of one operation."""
        status = str(result.get("status"))
        with self._changed:
            if operation["op"] == "replace" and status in ("no_match", "ambiguous"):
                logger.warning(
                    "Keepsake: no one memory to replace (%s): the new text is stored beside",
                    status,
                )
                add = {key: value for key, value in operation.items() if key != "old_text"}
                add.update(op="add", op_id=f"{op_id}-add")
                self._execute(
                    "UPDATE waiting SET op_id = ?, operation = ? WHERE op_id = ?",
                    (add["op_id"], json.dumps(add), op_id),
                )
                return
            if status == "invalid":
                self._refuse(operation, result)
            elif operation["op"] == "remove" and status in ("no_match", "ambiguous"):
                logger.warning("Keepsake: no one memory to remove (%s)", status)
            self._execute("DELETE FROM waiting WHERE op_id = ?", (op_id,))
            if op_id in self._results:
                self._results[op_id] = Result(status, str(result.get("id") or ""))
            self._changed.notify_all()

    def _refuse(self, operation: dict[str, Any], result: dict[str, Any]) -> None:
        problem = result.get("problem")
        problem = problem if isinstance(problem, dict) else {}
        errors = problem.get("errors")
        said = errors[0] if isinstance(errors, list) and errors else problem
        reason = " ".join(
            str(said.get(key) or "") for key in ("field", "message", "detail")
        ).strip()
        logger.error("Keepsake refused a write: %s (see `hermes keepsake status`)", reason)
        self._execute(
            "INSERT INTO refused (refused_at, reason, operation) VALUES (?, ?, ?)",
            (time.time(), reason, json.dumps(operation)),
        )
        self._execute(
            "DELETE FROM refused WHERE seq <= (SELECT MAX(seq) FROM refused) - ?", (MAX_REFUSED,)
        )


def open_database(path: Path | None) -> sqlite3.Connection:
    """The queue's file, for its owner alone; a damaged one is put aside, and where none can be
    written, the queue is kept in memory."""
    if path is not None:
        for _ in range(2):
            try:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
                path.chmod(0o600)
                return prepared(str(path))
            except sqlite3.OperationalError as error:
                logger.error("Keepsake: unsent writes cannot be kept in %s: %s", path, error)
                break
            except sqlite3.DatabaseError as error:
                aside = path.with_name(f"{path.name}.damaged-{int(time.time())}")
                logger.error("Keepsake: %s is damaged (%s), kept as %s", path, error, aside.name)
                with suppress(OSError):
                    path.replace(aside)
            except OSError as error:
                logger.error("Keepsake: unsent writes cannot be kept in %s: %s", path, error)
                break
    return prepared(":memory:")


def prepared(name: str) -> sqlite3.Connection:
    """A database with the tables; every statement is a transaction of its own."""
    database = sqlite3.connect(name, timeout=0.5, isolation_level=None, check_same_thread=False)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.executescript(SCHEMA)
    except BaseException:
        database.close()
        raise
    return database


_spools: dict[tuple[Path, int], Spool] = {}
_spools_lock = threading.Lock()


def spool_of(home: Path, connection: Connection) -> Spool:
    """The queue of a Hermes home, shared by all sessions of this process."""
    path = home.resolve() / "keepsake" / "unsent.db"
    with _spools_lock:
        key = (path, id(connection))
        if key not in _spools:
            _spools[key] = Spool(path, connection)
        return _spools[key]
