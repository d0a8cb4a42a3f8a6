"""The real service, the real host, and a proxy between them that can be made to fail."""

from __future__ import annotations

import http.client
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "hermes-plugin"
BINARY = Path(os.environ.get("KEEPSAKE_TEST_BINARY") or ROOT / "target/release/keepsake")
PATIENCE = 60.0
"""Seconds that anything may take on a machine that is busy."""


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def eventually(condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    """Waits until something holds, and returns it."""
    deadline = time.monotonic() + patience
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, f"not within {patience:g} s: {what}"
        time.sleep(0.02)


def store_of(folder: Path) -> dict[str, str]:
    """The environment of a program whose memories are in a folder, or with KEEPSAKE_TEST_REDIS, the
    address of a Redis, in a part of that one which belongs to the folder."""
    environment = {"KEEPSAKE_DATA_DIR": str(folder)}
    if redis := os.environ.get("KEEPSAKE_TEST_REDIS"):
        environment |= {"KEEPSAKE_REDIS_URL": redis, "KEEPSAKE_REDIS_PREFIX": f"{folder}:"}
    return environment


def empty_redis() -> None:
    """Forgets what earlier tests left in the Redis: a new index reads all keys that there are."""
    if redis := os.environ.get("KEEPSAKE_TEST_REDIS"):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(redis.removeprefix("redis+unix://"))
            connection.sendall(b"FLUSHALL\r\n")
            assert connection.recv(64).startswith(b"+OK")


class Service:
    """A `keepsake serve` on a free port, with a store of its own."""

    def __init__(self, folder: Path, port: int | None = None) -> None:
        self.folder = folder
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *arguments: str, **variables: str) -> Service:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("KEEPSAKE_")}
        environment |= store_of(self.folder) | variables
        self._process = subprocess.Popen(
            [
                *(BINARY, "serve", "--listen", f"127.0.0.1:{self.port}"),
                *arguments,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            env=environment,
        )
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE)
        assert ready and b"listening" in self._process.stdout.readline()
        return self

    def stop(self, how: int = signal.SIGTERM) -> None:
        """Ends the process; SIGKILL leaves it no time."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(PATIENCE)
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """One request; the JSON of a success."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"content-type": "application/json"} if body is not None else {}
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        assert response.status < 300, text
        return json.loads(text)

    def contents(self, **query: str) -> list[str]:
        """Every active memory, oldest first."""
        return [memory["content"] for memory in self.memories(state="active", **query)]

    def memories(self, **query: str) -> list[Any]:
        """Memories of all agents of the default namespace, oldest first."""
        asked = {"is_primary": "true", "limit": "100", **query}
        items = self.ask("GET", "/v1/memories?" + "&".join(f"{k}={v}" for k, v in asked.items()))
        return list(reversed(items["items"]))


class Proxy:
    """Passes everything on to a service, unless it is told to fail."""

    def __init__(self, target: Service) -> None:
        self.fault: str | None = None
        """None, "hang", "slow", "trickle", or a status as text."""
        self.only: str | None = None
        """The one path that fails; None: all of them."""
        self.delay = 5.0
        self.paths: list[str] = []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                body = self.rfile.read(length)
                proxy.paths.append(self.path.split("?")[0])
                fault = proxy.fault if proxy.only in (None, self.path) else None
                if fault == "hang":
                    proxy.released.wait(PATIENCE)
                    self.close_connection = True
                    return
                if fault == "slow":
                    proxy.released.wait(proxy.delay)
                if fault == "trickle":
                    self.trickle()
                    return
                if fault and fault.isdigit():
                    self.reply(int(fault), b'{"title": "made to fail"}')
                    return
                onward = http.client.HTTPConnection("127.0.0.1", target.port, timeout=PATIENCE)
                try:
                    headers = {"content-type": self.headers.get("content-type") or ""}
                    onward.request(self.command, self.path, body or None, headers)
                    got = onward.getresponse()
                    self.reply(got.status, got.read())
                except OSError:
                    self.close_connection = True
                finally:
                    onward.close()

            def trickle(self) -> None:
                """A byte now and then, so that no single wait is ever long."""
                self.close_connection = True
                try:
                    for byte in b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n" + b" " * 900:
                        self.wfile.write(bytes([byte]))
                        if proxy.released.wait(0.1):
                            return
                except OSError:
                    return

            def reply(self, status: int, body: bytes) -> None:
                try:
                    self.send_response(status)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    self.close_connection = True

            do_GET = do_POST = do_PUT = do_DELETE = answer

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def fail(self, fault: str) -> None:
        """From now on requests fail in this way."""
        self.released.clear()
        self.fault = fault

    def heal(self) -> None:
        """From now on requests are passed on."""
        self.fault = None
        self.released.set()

    def close(self) -> None:
        self.heal()
        self._server.shutdown()
        self._server.server_close()


@dataclass
class Home:
    """A Hermes home with the plugin in it."""

    path: Path
    shown: list[str] = field(default_factory=list)
    """What a person at the terminal was told."""

    @staticmethod
    def make(path: Path, **settings: Any) -> Home:
        (path / "plugins").mkdir(parents=True)
        shutil.copytree(
            PLUGINS / "keepsake",
            path / "plugins" / "keepsake",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        home = Home(path)
        home.configure(**settings)
        return home

    def configure(self, **settings: Any) -> None:
        """Writes config.yaml; a JSON value is YAML as well."""
        values = {"autostart": False, "binary": str(BINARY), **settings}
        text = "".join(f"    {key}: {json.dumps(value)}\n" for key, value in values.items())
        self.write_config(f"memory:\n  provider: keepsake\n  keepsake:\n{text}")

    def write_config(self, text: str) -> None:
        (self.path / "config.yaml").write_text(text, encoding="utf-8")

    @contextmanager
    def active(self) -> Iterator[None]:
        """This home is the host's, for code of this context."""
        from hermes_constants import reset_hermes_home_override, set_hermes_home_override

        token = set_hermes_home_override(self.path)
        try:
            yield
        finally:
            reset_hermes_home_override(token)

    def session(self, session_id: str = "s1", **told: Any) -> Conversation:
        """A conversation through the host's own memory manager, as its agent makes one."""
        return Conversation(self, session_id, told)

    def hermes(self, *arguments: str, **environment: str) -> str:
        """Runs `hermes …` with this home; its output."""
        done = subprocess.run(
            [str(Path(os.environ["VIRTUAL_ENV"]) / "bin" / "hermes"), *arguments],
            env={**os.environ, "HERMES_HOME": str(self.path), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


class Conversation:
    """What the agent does with memory, without a model."""

    def __init__(self, home: Home, session_id: str, told: dict[str, Any]) -> None:
        from agent.memory_manager import MemoryManager
        from plugins.memory import load_memory_provider
        from tools.memory_tool import MemoryStore

        self.home = home
        self.turn = 0
        with home.active():
            provider = load_memory_provider("keepsake")
            assert provider is not None and provider.is_available()
            self.provider = provider
            self.manager = MemoryManager()
            self.manager.add_provider(provider)
            given = {
                "platform": "cli",
                "agent_context": "primary",
                "agent_identity": "default",
                "agent_workspace": "hermes",
                "hermes_home": str(home.path),
                "warning_callback": home.shown.append,
                "status_callback": home.shown.append,
                **told,
            }
            self.manager.initialize_all(session_id, **given)
            self.store = MemoryStore(memory_char_limit=200_000, user_char_limit=200_000)
            self.store.load_from_disk()

    def say(self, message: str) -> str:
        """A message begins a turn; the text that memory puts into it."""
        self.turn += 1
        with self.home.active():
            self.manager.on_turn_start(self.turn, message)
            return str(self.manager.prefetch_all(message))

    def timed(self, message: str) -> tuple[str, float]:
        """A message, and the seconds that memory delayed the turn."""
        begun = time.monotonic()
        return self.say(message), time.monotonic() - begun

    def composed(self, message: str) -> str:
        """The user message as the model gets it."""
        from agent.turn_context import compose_user_api_content

        return str(compose_user_api_content(message, self.say(message), ""))

    def remember(self, action: str, content: str = "", old_text: str = "") -> None:
        """The model uses the host's own memory tool, and the host tells its provider."""
        from tools.memory_tool import memory_tool

        arguments = {
            "action": action,
            "target": "memory",
            "content": content or None,
            "old_text": old_text or None,
        }
        with self.home.active():
            result = memory_tool(**arguments, store=self.store)
            assert json.loads(result)["success"], result
            self.manager.notify_memory_tool_write(
                result, arguments, build_metadata=lambda: {"session_id": "s1"}
            )

    def answered(self, user: str, assistant: str) -> None:
        """A turn ends."""
        self.manager.sync_all(user, assistant, session_id="", messages=[])
        assert self.manager.flush_pending(PATIENCE)

    def tool(self, name: str, **arguments: Any) -> Any:
        """The model calls one of our tools."""
        with self.home.active():
            return json.loads(self.manager.handle_tool_call(name, arguments))

    def sent(self) -> None:
        """Waits until nothing is unsent."""
        spool = self.provider._session.spool
        eventually(lambda: spool.waiting == 0, "every write is sent")

    def end(self) -> None:
        self.manager.shutdown_all()
