"""Settings: a wrong value is told and never stops the agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import Home, Service


def plugin(home: Home) -> Any:
    """The plugin's module of settings, loaded by the host."""
    import importlib

    from plugins.memory import load_memory_provider

    with home.active():
        provider = load_memory_provider("keepsake")
    package = type(provider).__module__.rsplit(".", 1)[0]
    return importlib.import_module(f"{package}.settings")


def loaded(home: Home) -> Any:
    module = plugin(home)
    with home.active():
        return module.load()


def test_nothing_needs_to_be_set(tmp_path: Path) -> None:
    home = Home.make(tmp_path / "hermes")
    home.write_config("memory:\n  provider: keepsake\n")
    settings = loaded(home)
    assert (settings.url, settings.recall, settings.timeout) == (
        "http://127.0.0.1:7437",
        "auto",
        1.2,
    )
    assert settings.problems == () and settings.fatal == ""


def test_a_bare_off_of_yaml_means_off(tmp_path: Path) -> None:
    home = Home.make(tmp_path / "hermes")
    home.write_config(
        "memory:\n  provider: keepsake\n  keepsake:\n    recall: off\n    cron: off\n"
    )
    settings = loaded(home)
    assert (settings.recall, settings.cron, settings.problems) == ("off", "off", ())


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("top_k", "five", "`top_k` must be a whole number from 0 to 1000, not `five`"),
        ("top_k", True, "`top_k` must be a whole number"),
        ("timeout", 9, "`timeout` must be a number from 0.05 to 7, not `9`"),
        ("timeout", "nan", "`timeout` must be a number"),
        ("recall", "sometimes", "`recall` must be one of auto, tools, off, not `sometimes`"),
        ("autostart", 1, "`autostart` must be true or false, not `1`"),
        ("agent_id", "a\nb", "`agent_id` must be text on one line"),
        ("tag_filter", 7, "`tag_filter` must be a list of tags"),
        ("top-k", 5, "`top-k` is not a setting; did you mean `top_k`?"),
    ],
)
def test_a_wrong_value_is_told_and_its_default_used(
    home: Home, service: Service, key: str, value: object, told: str
) -> None:
    home.configure(url=service.url, **{key: value})
    settings = loaded(home)
    assert len(settings.problems) == 1 and told in settings.problems[0]
    assert told in home.hermes("memory", "status")
    talk = home.session()
    talk.remember("add", "My editor is Helix")
    assert "Helix" in talk.say("which editor do I use?")


@pytest.mark.parametrize(
    "url", ["ftp://x", "127.0.0.1:7437", "http://", "http://u:p@h", "http://h:99999"]
)
def test_a_url_that_is_none_is_said_and_memory_stays_off(home: Home, url: str) -> None:
    home.configure(url=url)
    told = home.hermes("memory", "status")
    assert "state: not usable: the " in told and "not available" in told


def test_the_environment_is_stronger_than_config_and_config_than_the_forms_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home.make(tmp_path / "hermes", url="http://127.0.0.1:2")
    folder = home.path / "keepsake"
    folder.mkdir()
    form = {"url": "http://127.0.0.1:1", "recall": "tools", "autostart": "false"}
    (folder / "config.json").write_text(json.dumps(form))
    settings = loaded(home)
    assert (settings.url, settings.recall, settings.autostart) == (
        "http://127.0.0.1:2",
        "tools",
        False,
    )
    monkeypatch.setenv("KEEPSAKE_URL", "http://127.0.0.1:3")
    monkeypatch.setenv("KEEPSAKE_API_KEY", "a secret key")
    settings = loaded(home)
    assert (settings.url, settings.api_key) == ("http://127.0.0.1:3", "a secret key")
    assert "a secret key" not in repr(settings)


def test_a_profiles_own_key_is_used_where_one_process_serves_many(tmp_path: Path) -> None:
    from agent.secret_scope import reset_secret_scope, set_multiplex_active, set_secret_scope

    home = Home.make(tmp_path / "hermes")
    set_multiplex_active(True)
    token = set_secret_scope({"KEEPSAKE_API_KEY": "of this profile"})
    try:
        assert loaded(home).api_key == "of this profile"
    finally:
        reset_secret_scope(token)
        set_multiplex_active(False)


def test_setup_switches_the_provider_on_and_says_how_it_is(home: Home, service: Service) -> None:
    home.write_config("memory:\n  provider: ''\n")
    told = home.hermes("memory", "setup", "keepsake", KEEPSAKE_URL=service.url)
    assert "Memory provider: keepsake" in told and "state: ready" in told
    assert "provider: keepsake" in (home.path / "config.yaml").read_text()


def test_the_dashboards_form_is_found(home: Home) -> None:
    from plugins.memory.config_schema import get_provider_config_schema

    with home.active():
        schema = get_provider_config_schema("keepsake")
    assert schema is not None
    assert {field.key for field in schema.fields} == {"url", "api_key", "recall", "autostart"}


def test_a_backup_holds_the_services_own_folder(home: Home, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    provider = home.session().provider
    with home.active():
        assert provider.backup_paths() == [str(tmp_path / "data")]
        home.configure(url="http://192.0.2.1:7437")
        assert provider.backup_paths() == []


def test_the_plugin_needs_the_standard_library_and_the_host_only() -> None:
    import ast
    import sys

    from support import PLUGINS

    host = {"agent", "cron", "hermes_cli", "hermes_constants", "plugins", "run_agent"}
    for file in PLUGINS.glob("keepsake*/*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [str(node.module)]
            for name in names:
                top = name.split(".")[0]
                assert top in sys.stdlib_module_names or top in host, f"{file.name}: {name}"
