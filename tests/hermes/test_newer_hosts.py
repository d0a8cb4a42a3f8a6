"""What newer hosts ask for and 0.19.0 does not know; without them all is as before."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import agent.memory_provider as host
import pytest
from support import PLUGINS, Home


class Context:
    """A context that collects what is registered."""

    def __init__(self) -> None:
        self.providers: list[Any] = []

    def register_memory_provider(self, provider: Any) -> None:
        self.providers.append(provider)


def test_it_loads_as_the_package_that_the_entry_point_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hermes_keepsake").symlink_to(PLUGINS / "keepsake")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("hermes_keepsake")
    try:
        context = Context()
        module.register(context)
        assert [provider.name for provider in context.providers] == ["keepsake"]
        # A context that cannot take a provider is none of ours.
        module.register(object())
    finally:
        for name in [name for name in sys.modules if name.startswith("hermes_keepsake")]:
            del sys.modules[name]


def test_how_much_was_recalled_is_told_to_hosts_that_show_it(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    @dataclass(frozen=True)
    class RecallStatus:
        provider_label: str
        count: int
        glyph: str = "*"

    talk = home.session()
    talk.remember("add", "The team's database is PostgreSQL 16")
    assert talk.say("which database does the team use?")
    assert talk.provider.recall_status() is None
    monkeypatch.setattr(host, "RecallStatus", RecallStatus, raising=False)
    assert talk.provider.recall_status() == RecallStatus("Keepsake", 1)
    assert talk.say("ok") == "" and talk.provider.recall_status() is None


def test_a_host_that_only_looks_starts_nothing(tmp_path: Path) -> None:
    from plugins.memory import load_memory_provider

    home = Home.make(tmp_path / "hermes", url="http://127.0.0.1:1", autostart=True)
    with home.active():
        provider = load_memory_provider("keepsake")
        provider.initialize_for_inspection("s1", hermes_home=str(home.path))
        assert "keepsake_search" in provider.system_prompt_block()
        assert len(provider.get_tool_schemas()) == 5
    assert not (home.path / "keepsake").exists()


def test_why_it_cannot_work_is_a_sentence(tmp_path: Path) -> None:
    from plugins.memory import load_memory_provider

    home = Home.make(tmp_path / "hermes", url="ftp://127.0.0.1")
    with home.active():
        provider = load_memory_provider("keepsake")
        assert not provider.is_available()
        assert provider.unavailable_reason().startswith("the URL `ftp://127.0.0.1` must begin with")
