"""HTTP to a Keepsake service: one call, one deadline, one kind of error.

The deadline holds for everything that a call does, looking up the name and a server that sends a
byte a second included: the exchange runs in a thread of its own, which is left behind when time is
up. Nothing is retried and no redirect is followed here.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import queue
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

DEFAULT_URL = "http://127.0.0.1:7437"
MAX_ANSWER_BYTES = 32 * 1024 * 1024

UNREACHABLE = "unreachable"
"""Nothing listens at the address, or the connection broke."""
TIMEOUT = "timeout"
"""No whole answer in time."""
UNAUTHORIZED = "unauthorized"
"""The service does not accept the API key."""
FAILING = "failing"
"""The service answers that it cannot: 5xx, 429, or something that is not Keepsake's JSON."""
REFUSED = "refused"
"""The service is well and refuses this one request: any other 4xx."""


class ServiceError(Exception):
    """A call that brought no answer. `kind` is one of the constants above."""

    def __init__(self, kind: str, detail: str, *, status: int = 0) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.status = status

    @property
    def is_outage(self) -> bool:
        """Whether the next call would probably fail as well."""
        return self.kind != REFUSED


@dataclass(frozen=True)
class Address:
    """Where a service is, taken apart once."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can be meant."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def listen(self) -> str:
        """The address as `keepsake serve --listen` takes it."""
        host = "127.0.0.1" if self.host == "localhost" else self.host
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"


def parse_address(url: str) -> Address:
    """Takes a URL apart; raises ValueError with a sentence for a person."""
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"the URL `{url}` must begin with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise ValueError("the URL must hold no user name and no password; use KEEPSAKE_API_KEY")
    if not parts.hostname:
        raise ValueError(f"the URL `{url}` names no host")
    try:
        port = parts.port
    except ValueError:
        raise ValueError(f"the port of `{url}` must be 1 to 65535") from None
    default = 443 if parts.scheme == "https" else 80
    return Address(parts.scheme, parts.hostname, port or default, parts.path.rstrip("/"))


@dataclass(frozen=True)
class Client:
    """Calls one service with one key; has no state, so that threads can share it."""

    address: Address
    api_key: str = field(default="", repr=False)

    def call(
        self,
        method: str,
        path: str,
        *,
        timeout: float,
        body: object = None,
        query: Mapping[str, str] | None = None,
    ) -> Any:
        """The JSON that the service answers, within `timeout` seconds; else raises ServiceError."""
        connection = self._connection(timeout)
        answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def exchange() -> None:
            try:
                answers.put(self._exchange(connection, method, path, body, query))
            except ServiceError as error:
                answers.put(error)
            except TimeoutError:
                answers.put(ServiceError(TIMEOUT, f"no answer within {timeout:g} s"))
            except (OSError, http.client.HTTPException) as error:
                detail = f"no connection ({error or type(error).__name__})"
                answers.put(ServiceError(UNREACHABLE, detail))
            except Exception as error:
                answers.put(ServiceError(FAILING, f"the request failed: {error!r}"))
            finally:
                connection.close()

        try:
            threading.Thread(target=exchange, name="keepsake-http", daemon=True).start()
        except RuntimeError as error:
            # Python is shutting down, and starts no threads any more.
            raise ServiceError(UNREACHABLE, str(error)) from None
        try:
            answer = answers.get(timeout=timeout)
        except queue.Empty:
            abandon(connection)
            raise ServiceError(TIMEOUT, f"no answer within {timeout:g} s") from None
        if isinstance(answer, ServiceError):
            raise answer
        return answer

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        address = self.address
        if address.scheme == "https":
            return http.client.HTTPSConnection(address.host, address.port, timeout=timeout)
        return http.client.HTTPConnection(address.host, address.port, timeout=timeout)

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: object,
        query: Mapping[str, str] | None,
    ) -> Any:
        target = self.address.path + path + (f"?{urlencode(query)}" if query else "")
        headers = {"accept": "application/json", "user-agent": "keepsake-hermes"}
        if self.api_key:
            headers["authorization"] = f"Bearer {self.api_key}"
        payload = None
        if body is not None:
            # Lone surrogates, which no UTF-8 has, travel as escapes.
            payload = json.dumps(body).encode("ascii")
            headers["content-type"] = "application/json"
        connection.request(method, target, body=payload, headers=headers)
        response = connection.getresponse()
        text = response.read(MAX_ANSWER_BYTES + 1)
        if len(text) > MAX_ANSWER_BYTES:
            raise ServiceError(FAILING, "the answer is longer than 32 MiB")
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        if 200 <= response.status < 300 and answer is not None:
            return answer
        raise refusal(response.status, answer)


def refusal(status: int, answer: object) -> ServiceError:
    """What an answer that is no success means."""
    problem = answer if isinstance(answer, dict) else {}
    detail = str(problem.get("detail") or problem.get("title") or "").strip()
    errors = problem.get("errors")
    if isinstance(errors, list) and errors:
        said = [f"{e.get('field')} {e.get('message')}" for e in errors if isinstance(e, dict)]
        detail = "; ".join(said) or detail
    if status == 401:
        text = "the service does not accept the API key (401): check KEEPSAKE_API_KEY"
        return ServiceError(UNAUTHORIZED, text, status=status)
    if status == 429 or status >= 500:
        text = f"the service answers {status}" + (f": {detail}" if detail else "")
        return ServiceError(FAILING, text, status=status)
    if status < 400 or not problem:
        text = f"the answer ({status}) is not Keepsake's: is the URL right?"
        return ServiceError(FAILING, text, status=status)
    return ServiceError(REFUSED, detail or f"the service answers {status}", status=status)


def abandon(connection: http.client.HTTPConnection) -> None:
    """Ends an exchange that another thread waits in."""
    sock = connection.sock
    if sock is not None:
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)
