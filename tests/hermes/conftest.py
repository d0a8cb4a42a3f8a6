from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import Home, Proxy, Service, empty_redis, store_of

# Nothing that whoever runs the tests has set.
for name in list(os.environ):
    if name.startswith(("KEEPSAKE_URL", "KEEPSAKE_API", "KEEPSAKE_BIN", "HERMES_")):
        del os.environ[name]
os.environ["HERMES_DISABLE_LAZY_INSTALLS"] = "1"
os.environ["VIRTUAL_ENV"] = sys.prefix


@pytest.fixture(autouse=True)
def nothing_of_this_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees or touches the home or the memories of whoever runs it."""
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "unused"))
    empty_redis()
    for name, value in store_of(tmp_path / "data").items():
        monkeypatch.setenv(name, value)
    (tmp_path / "person").mkdir()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = Service(tmp_path / "store").start()
    yield running
    running.stop()


@pytest.fixture
def home(tmp_path: Path, service: Service) -> Home:
    return Home.make(tmp_path / "hermes", url=service.url)


@pytest.fixture
def proxy(service: Service) -> Iterator[Proxy]:
    between = Proxy(service)
    yield between
    between.close()


@pytest.fixture
def distant(tmp_path: Path, proxy: Proxy) -> Home:
    """A home whose service can be made to fail."""
    return Home.make(tmp_path / "distant", url=proxy.url)
