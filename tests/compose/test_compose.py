"""docker-compose.yml follows the specification, gives nothing away, and its command lines work."""

from __future__ import annotations

import json
import re
import shlex
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import compose
import jsonschema
import pytest

SECRETS = {
    "REDIS_PASSWORD": "redis-secret-of-this-test",
    "KEEPSAKE_API_KEY": "key-of-this-test-0123456789abcdef",
}
PATIENCE = 60.0
"""Seconds that anything may take on a machine that is busy."""
JOBS = {"consolidate", "dedup", "synonyms"}


def eventually(condition: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not within {PATIENCE:g} s: {what}"
        time.sleep(0.05)
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def specification() -> jsonschema.Draft7Validator:
    """The specification's own schema, which this folder holds."""
    text = Path(__file__).with_name("compose-spec.json").read_text(encoding="utf-8")
    return jsonschema.Draft7Validator(json.loads(text))


def test_the_file_follows_the_compose_specification(
    specification: jsonschema.Draft7Validator,
) -> None:
    specification.validate(compose.raw())
    specification.validate({"services": compose.services(SECRETS)})


def test_the_schema_refuses_what_is_not_compose(
    specification: jsonschema.Draft7Validator,
) -> None:
    wrong = compose.raw()
    wrong["services"]["keepsake"]["helthcheck"] = {}
    with pytest.raises(jsonschema.ValidationError, match="helthcheck"):
        specification.validate(wrong)


@pytest.mark.parametrize("missing", sorted(SECRETS))
def test_without_a_secret_nothing_starts_and_the_reason_is_said(missing: str) -> None:
    given = {name: value for name, value in SECRETS.items() if name != missing}
    with pytest.raises(KeyError, match=f"write {missing} into .env"):
        compose.services(given)


def test_only_the_service_is_published_and_only_to_this_machine() -> None:
    ports = {name: service.get("ports", []) for name, service in compose.services(SECRETS).items()}
    assert ports.pop("keepsake") == ["127.0.0.1:7437:7437"]
    assert not any(ports.values())


def test_every_service_restarts_is_bounded_and_ours_have_no_rights() -> None:
    for name, service in compose.services(SECRETS).items():
        assert service["restart"] == "unless-stopped", name
        assert service["mem_limit"], name
        if name != "redis":
            assert service["read_only"] is True, name
            assert service["cap_drop"] == ["ALL"], name
            assert "no-new-privileges:true" in service["security_opt"], name


def test_what_must_last_is_on_a_volume() -> None:
    services = compose.services(SECRETS)
    assert "redis-data:/data" in services["redis"]["volumes"]
    assert "keepsake-data:/var/lib/keepsake" in services["keepsake"]["volumes"]
    assert "--appendonly yes" in services["redis"]["environment"]["REDIS_ARGS"]


def test_the_image_has_every_program_that_the_file_starts() -> None:
    dockerfile = (compose.ROOT / "service/Dockerfile").read_text(encoding="utf-8")
    for name, service in compose.services(SECRETS).items():
        if name != "redis":
            program = compose.command_line(service)[0]
            assert re.search(rf"\b{program}\b", dockerfile), program
    assert re.search(r"^USER nonroot$", dockerfile, re.MULTILINE)


def test_the_image_is_built_from_all_that_its_sources_name(tmp_path: Path) -> None:
    ignored = (compose.ROOT / "service/Dockerfile.dockerignore").read_text(encoding="utf-8")
    for line in ignored.splitlines():
        if line.startswith("!"):
            (tmp_path / line[1:]).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(
                ["cp", "--archive", compose.ROOT / line[1:], tmp_path / line[1:]], check=True
            )
    subprocess.run(
        ["cargo", "metadata", "--locked", "--offline", "--format-version=1", "--no-deps"],
        cwd=tmp_path,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    included = re.compile(r'include_(?:str|bytes)!\("([^"]+)"\)')
    for source in (tmp_path / "service/src").rglob("*.rs"):
        for path in included.findall(source.read_text(encoding="utf-8")):
            assert (source.parent / path).is_file(), f"{source}: {path}"


@contextmanager
def redis(service: dict[str, Any], folder: Path) -> Iterator[int]:
    """The Redis of the file, on a free port, with the arguments that the file gives it."""
    home = compose.ROOT / "target/redis"
    port = free_port()
    folder.mkdir()
    arguments = shlex.split(service["environment"]["REDIS_ARGS"])
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                (home / "redis-server").resolve(),
                *("--loadmodule", (home / "redisearch.so").resolve()),
                *("--port", str(port), "--dir", folder),
                *arguments,
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        eventually(lambda: connects(port), "redis answers")
        yield port
    finally:
        process.terminate()
        process.wait(PATIENCE)


def connects(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def ask(port: int, method: str, path: str, body: Any = None, key: str | None = None) -> Any:
    """What the service answers."""
    headers = {"content-type": "application/json"}
    if key is not None:
        headers["authorization"] = f"Bearer {key}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, headers, method=method)
    with urllib.request.urlopen(request, timeout=PATIENCE) as response:
        return json.load(response)


def test_each_command_line_runs_as_the_file_states_it(tmp_path: Path) -> None:
    services = compose.services(SECRETS)
    key = SECRETS["KEEPSAKE_API_KEY"]
    with redis(services["redis"], tmp_path / "redis") as redis_port:
        here = {"KEEPSAKE_REDIS_HOST": "127.0.0.1", "KEEPSAKE_REDIS_PORT": str(redis_port)}
        port = free_port()
        # As in the file, an address that is not this machine's alone: the key makes it allowed.
        listening = {
            "KEEPSAKE_LISTEN": f"0.0.0.0:{port}",
            "KEEPSAKE_URL": f"http://127.0.0.1:{port}",
        }
        service = compose.Running(services["keepsake"], {**here, **listening}, tmp_path)
        running = [service]
        try:
            check = services["keepsake"]["healthcheck"]["test"]
            assert check[0] == "CMD"
            health = compose.environment(services["keepsake"], {**here, **listening}, tmp_path)
            eventually(
                lambda: (
                    subprocess.run(
                        [compose.BINARIES / check[1], *check[2:]], env=health, check=False
                    ).returncode
                    == 0
                ),
                f"the health check passes: {service.said()}",
            )
            with pytest.raises(urllib.error.HTTPError, match="401"):
                ask(port, "POST", "/v1/search", {"query": "tea"})
            memory = {"content": "Ann prefers green tea", "is_primary": True}
            ask(port, "POST", "/v1/memories", memory, key)
            found = ask(port, "POST", "/v1/search", {"query": "tea", "is_primary": True}, key)
            assert found["results"][0]["content"] == memory["content"]

            jobs = {name: compose.Running(services[name], here, tmp_path) for name in sorted(JOBS)}
            running += jobs.values()
            for name, job in jobs.items():
                # A first run is over at once on so little; it stays for the next one.
                eventually(lambda name=name: last_run(port, key, name), f"{name}: {job.said()}")
                assert job.process.poll() is None, job.said()
        finally:
            codes = [process.stop() for process in reversed(running)]
        assert codes == [0] * len(running)
        assert all(
            secret not in process.said() for process in running for secret in SECRETS.values()
        )


def last_run(port: int, key: str, job: str) -> Any:
    """The last run of a maintenance job that the service knows of."""
    return ask(port, "GET", "/v1/maintenance?is_primary=true", key=key)["jobs"][job]
