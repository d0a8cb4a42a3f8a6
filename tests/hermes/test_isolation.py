"""Whose memory is whose."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from support import Home, Service

QUESTION = "what is the code of the cellar?"


def test_profiles_of_one_process_do_not_cross(tmp_path: Path, service: Service) -> None:
    homes = [Home.make(tmp_path / name, url=service.url) for name in ("work", "play")]
    talks = [h.session(agent_identity=h.path.name) for h in homes]
    for turn in range(6):
        for talk in talks:
            name = talk.home.path.name
            talk.remember("add", f"The code of the {name} cellar is {name}-{turn}")
    for talk in talks:
        name = talk.home.path.name
        said = talk.say(QUESTION)
        assert f"{name}-" in said
        assert not any(f"{other.path.name}-" in said for other in homes if other.path.name != name)
    for home in homes:
        own = service.contents(is_primary="false", agent_id=home.path.name)
        assert own == [
            f"The code of the {home.path.name} cellar is {home.path.name}-{n}" for n in range(6)
        ]


def test_users_of_one_gateway_do_not_cross(home: Home) -> None:
    """At once, each in a thread of its own, as a gateway does it."""
    failures = []

    def user(number: int) -> None:
        told = {"platform": "telegram", "user_id": f"u{number}"}
        for turn in range(4):
            talk = home.session(f"chat-{number}-{turn}", **told)
            talk.provider.on_memory_write("add", "user", f"The cellar's code is {number}00{turn}")
            said = talk.say(QUESTION)
            seen = {f"{other}00" for other in range(4) if f"code is {other}00" in said}
            if seen != {f"{number}00"}:
                failures.append((number, turn, said))

    threads = [threading.Thread(target=user, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_users_can_be_told_to_share(home: Home) -> None:
    home.configure(url=home_url(home), users="shared")
    first = home.session("s1", platform="telegram", user_id="1")
    first.provider.on_memory_write("add", "user", "The cellar's code is 4711")
    assert "4711" in home.session("s2", platform="telegram", user_id="2").say(QUESTION)


def test_homes_without_a_profile_name_do_not_cross(tmp_path: Path, service: Service) -> None:
    homes = [Home.make(tmp_path / name, url=service.url) for name in ("one", "two")]
    talks = [h.session(agent_identity="custom") for h in homes]
    talks[0].remember("add", "The cellar's code is 4711")
    talks[0].sent()
    assert "4711" in talks[0].say(QUESTION)
    assert talks[1].say(QUESTION) == ""


@pytest.mark.parametrize(
    ("cron", "recalls", "has_tools", "writes_when_asked", "writes_by_itself"),
    [
        (None, True, True, False, False),
        ("off", False, False, False, False),
        ("tools", False, True, True, False),
        ("full", True, True, True, True),
    ],
)
def test_what_a_scheduled_run_may_do(
    home: Home,
    service: Service,
    cron: str | None,
    recalls: bool,
    has_tools: bool,
    writes_when_asked: bool,
    writes_by_itself: bool,
) -> None:
    home.session().remember("add", "The cellar's code is 4711")
    settings = {"cron": cron} if cron else {}
    home.configure(url=service.url, auto_retain="every_n_turns", retain_every_n_turns=1, **settings)
    for told in ({"agent_context": "cron"}, {"platform": "cron"}):
        run = home.session("job", **told)
        assert ("4711" in run.say(QUESTION)) == recalls
        assert ("results" in run.tool("keepsake_search", query=QUESTION)) == has_tools
        stored = run.tool("keepsake_retain", items=[{"content": "The job stores this on purpose"}])
        assert ("count" in stored) == writes_when_asked
        run.provider.on_memory_write("add", "memory", "The host stores this")
        run.answered("Summarise the inbox", "Three messages")
        run.manager.on_session_end([])
        run.sent()
        texts = service.contents()
        assert ("The job stores this on purpose" in texts) == writes_when_asked
        assert ("The host stores this" in texts) == writes_by_itself
        assert any("Three messages" in text for text in texts) == writes_by_itself


def test_a_subagent_reads_and_does_not_write(home: Home, service: Service) -> None:
    home.session().remember("add", "The cellar's code is 4711")
    run = home.session("child", agent_context="subagent")
    assert "4711" in run.say(QUESTION)
    run.provider.on_memory_write("add", "memory", "The subagent's note to itself")
    refused = run.tool("keepsake_retain", items=[{"content": "Another note"}])
    assert refused == {"error": "this run may read memory and not change it"}
    run.sent()
    assert service.contents() == ["The cellar's code is 4711"]


@pytest.mark.parametrize("scope", ["per-project", "per-project-tagged"])
def test_projects_do_not_cross(
    home: Home, service: Service, tmp_path: Path, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.configure(url=service.url, scope=scope)
    for name in ("alpha", "beta gamma"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv("TERMINAL_CWD", str(tmp_path / name))
        talk = home.session()
        talk.remember("add", f"The cellar's code in this project is {name}-4711")
        said = talk.say(QUESTION)
        assert f"{name}-4711" in said and said.count("4711") == 1
    if scope == "per-project-tagged":
        tags = [memory["tags"] for memory in service.memories()]
        assert tags == [["project:alpha"], ["project:beta gamma"]]
        # Asked on purpose, the other project is found.
        found = talk.tool("keepsake_search", query=QUESTION)["results"]
        assert len(found) == 2


def test_a_tag_filter_holds_for_messages(home: Home, service: Service) -> None:
    for tag in ("work", "home", "other"):
        body = {"content": f"The code of the {tag} cellar is {tag}-4711", "tags": [tag]}
        service.ask("POST", "/v1/memories", {**body, "agent_id": "default"})
    home.configure(url=service.url, tag_filter="work, home", top_k=10)
    said = home.session().say(QUESTION)
    assert "work-4711" in said and "home-4711" in said and "other-4711" not in said


def home_url(home: Home) -> str:
    """The service that a home was made for."""
    import json

    line = next(li for li in (home.path / "config.yaml").read_text().splitlines() if "url:" in li)
    return str(json.loads(line.split("url:")[1]))
