"""Whether a service answers, told once; and calls that cost nothing while it does not.

A call that fails opens the circuit: further calls fail at once, without a word to the network, and
a thread in the background asks the service until it answers. Nobody's turn pays for that.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from typing import Any

from .autostart import Starter
from .client import UNREACHABLE, Client, ServiceError, parse_address

logger = logging.getLogger("keepsake")

UNKNOWN = "unknown"
STARTING = "starting"
READY = "ready"
DOWN = "down"

FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
"""Seconds between two looks at a service that does not answer, at first and at most."""
START_SECONDS = 4.0
"""How long a call may wait for a service that is being started on this machine."""
IDLE_SECONDS = 600.0
"""Without a call for so long, nobody needs to know whether the service is back."""
PROBE_NAMESPACE = "keepsake-health"
"""A namespace that holds nothing: asking it goes a prefetch's way and touches no memory."""


class Connection:
    """What this process knows of one service, shared by every session that uses it."""

    def __init__(self, client: Client, starter: Starter | None, probe_timeout: float) -> None:
        self.client = client
        self._starter = starter
        self._probe_timeout = probe_timeout
        self._changed = threading.Condition()
        self._state = UNKNOWN
        self._error: ServiceError | None = None
        self._wait = FIRST_WAIT
        self._watching = False
        self._told = ""
        self._last_call = time.monotonic()

    @property
    def state(self) -> str:
        """`unknown` (nobody asked yet), `starting`, `ready` or `down`."""
        return self._state

    @property
    def reason(self) -> str:
        """Why the service is down, for a person; else empty."""
        error = self._error
        return error.detail if self._state == DOWN and error else ""

    def watch(self) -> None:
        """Begins to find out in the background whether the service answers; returns at once."""
        with self._changed:
            if self._watching or self._state == READY:
                return
            self._watching = True
        try:
            threading.Thread(target=self._watch, name="keepsake-watch", daemon=True).start()
        except RuntimeError:
            # Python is shutting down.
            self._watching = False

    def settle(self, timeout: float, start_timeout: float = 0.0) -> tuple[str, bool]:
        """Waits until it is known whether the service answers. Returns the state, and whether the
        service was being started meanwhile, for which the longer of both times is allowed."""
        begun = time.monotonic()
        started = False
        if self._state == UNKNOWN:
            self.watch()
        with self._changed:
            while self._state in (UNKNOWN, STARTING):
                started = started or self._state == STARTING
                left = begun + (max(timeout, start_timeout) if started else timeout)
                left -= time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            return self._state, started

    def wait_for_change(self, timeout: float) -> None:
        """Waits until the state changes, or for `timeout` seconds."""
        with self._changed:
            self._changed.wait(timeout)

    def call(
        self,
        method: str,
        path: str,
        *,
        timeout: float,
        body: object = None,
        query: Mapping[str, str] | None = None,
    ) -> Any:
        """Like `Client.call`, at once with the known error while the service is down. Only a call
        that finds the service being started waits longer than `timeout`: four seconds at most."""
        self._last_call = time.monotonic()
        deadline = self._last_call + timeout
        if self._state == DOWN:
            self.watch()
        deadline = self._wait_until_ready(deadline, timeout)
        try:
            return self._attempt(method, path, deadline - time.monotonic(), body, query)
        except ServiceError as error:
            # Only a service of this machine that is gone can be brought back at once.
            if error.kind != UNREACHABLE or self._starter is None:
                raise
        deadline = self._wait_until_ready(deadline, timeout)
        return self._attempt(method, path, deadline - time.monotonic(), body, query)

    def _wait_until_ready(self, deadline: float, timeout: float) -> float:
        """Returns the deadline of a call that may go on: a new one if the service had to be
        started. Raises what is known when it may not."""
        state, started = self.settle(deadline - time.monotonic(), START_SECONDS)
        if state != READY:
            known = self._error or ServiceError(UNREACHABLE, f"the service is {state}")
            # One that is raised again and again would keep the frames of every call.
            raise ServiceError(known.kind, known.detail, status=known.status)
        return time.monotonic() + timeout if started else deadline

    def _attempt(
        self,
        method: str,
        path: str,
        timeout: float,
        body: object,
        query: Mapping[str, str] | None,
    ) -> Any:
        try:
            answer = self.client.call(
                method, path, timeout=max(timeout, 0.001), body=body, query=query
            )
        except ServiceError as error:
            if error.is_outage:
                self._failed(error)
            else:
                self._answered()
            raise
        self._answered()
        return answer

    def _answered(self) -> None:
        self._wait = FIRST_WAIT
        self._become(READY, None)

    def _failed(self, error: ServiceError) -> None:
        can_start = error.kind == UNREACHABLE and self._starter is not None and self._starter.may()
        self._become(UNKNOWN if can_start else DOWN, error)
        self.watch()

    def _become(
        self, state: str, error: ServiceError | None, *, watching: bool | None = None
    ) -> None:
        with self._changed:
            before, told = self._state, self._told
            self._state, self._error = state, error
            if watching is not None:
                self._watching = watching
            if state in (DOWN, READY):
                self._told = self.reason
            self._changed.notify_all()
        if state == DOWN and told != self.reason:
            logger.warning("Keepsake does not answer: %s", self.reason)
        elif state == READY and before != READY and told:
            logger.info("Keepsake answers again")

    def probe(self, timeout: float) -> None:
        """Asks the service as a prefetch does; raises ServiceError when it would fail."""
        body = {"query": "is anyone there", "top_k": 1, "namespace": PROBE_NAMESPACE}
        try:
            self.client.call("POST", "/v1/prefetch", timeout=timeout, body=body)
        except ServiceError as error:
            # A key that may not look into this namespace is told so by a service that is well.
            if error.is_outage:
                raise

    def _watch(self) -> None:
        while True:
            state, error = self._look()
            idle = time.monotonic() - self._last_call > IDLE_SECONDS
            done = state == READY or idle
            # Whoever asks after a long silence finds out, rather than being told what was.
            known = state if state == READY or not idle else UNKNOWN
            self._become(known, error, watching=not done)
            if done:
                return
            # A call that succeeds resets this, a look does not: a service that answers looks and
            # fails calls is asked less and less often.
            time.sleep(self._wait)
            self._wait = min(self._wait * 2, LONGEST_WAIT)

    def _look(self) -> tuple[str, ServiceError | None]:
        """Looks once; starts the service if that is allowed and helps."""
        try:
            self.probe(self._probe_timeout)
        except ServiceError as error:
            starter = self._starter
            if error.kind != UNREACHABLE or starter is None or not starter.may():
                return DOWN, error
            self._become(STARTING, error, watching=True)
            failure = starter.start(lambda: self.probe(self._probe_timeout))
            return (DOWN, ServiceError(UNREACHABLE, failure)) if failure else (READY, None)
        return READY, None


_connections: dict[tuple[object, ...], Connection] = {}
_lock = threading.Lock()


def connection_to(
    url: str, api_key: str, *, autostart: bool, binary: str, probe_timeout: float
) -> Connection:
    """The connection of this process to a service; raises ValueError for a URL that is none."""
    address = parse_address(url)
    key = (address, api_key, autostart, binary, probe_timeout)
    with _lock:
        found = _connections.get(key)
        if found is None:
            starter = Starter(address, binary) if autostart and address.is_loopback else None
            found = Connection(Client(address, api_key), starter, probe_timeout)
            _connections[key] = found
        return found
