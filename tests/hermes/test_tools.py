"""The tools that a model may call."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support import Home, Proxy, Service

CHARS_OF_A_TOKEN = 2.5
"""Fewer than any model's tokenizer needs for English words in JSON, which is 3 to 4."""


def test_all_schemas_cost_less_than_600_tokens(home: Home) -> None:
    schemas = home.session().manager.get_all_tool_schemas()
    assert len(schemas) == 5
    text = json.dumps(schemas, ensure_ascii=False, separators=(",", ":"))
    assert len(text) / CHARS_OF_A_TOKEN < 600


def test_tools_are_listed_while_the_service_is_away(distant: Home, proxy: Proxy) -> None:
    proxy.fail("500")
    names = distant.session().manager.get_all_tool_names()
    assert names == {
        "keepsake_search",
        "keepsake_retain",
        "keepsake_forget",
        "keepsake_feedback",
        "keepsake_topics",
    }


def test_storing_answers_with_ids_that_the_other_tools_take(home: Home, service: Service) -> None:
    talk = home.session()
    talk.say("hello there, how are you")
    two = [
        {"content": "Ann drinks green tea", "context": "kitchen talk"},
        {"content": "Bob drinks coffee"},
    ]
    stored = talk.tool("keepsake_retain", items=two)
    assert stored["result"] == "2 memories queued." and stored["count"] == 2
    ann, bob = stored["ids"]
    memory = service.ask("GET", f"/v1/memories/{ann}?is_primary=true")
    assert memory["metadata"] == {"session_id": "s1", "context": "kitchen talk"}
    assert (
        service.ask("GET", f"/v1/memories/{bob}?is_primary=true")["metadata"]["context"] == "hermes"
    )
    (hit, *_) = talk.tool("keepsake_search", query="what does Ann drink?")["results"]
    assert hit["id"] == ann and set(hit) == {"id", "content", "created", "score", "tags"}
    assert talk.tool("keepsake_feedback", id=ann, useful=True)["id"] == ann
    assert talk.tool("keepsake_feedback", fragment_key=f"memory:frag:{ann}", is_positive=False)
    assert talk.tool("keepsake_forget", id=ann)["forgotten"] == ann
    assert "Ann" not in talk.say("what does Ann drink?")
    topics = talk.tool("keepsake_topics", limit=3)
    assert topics["period"] == "all" and len(topics["topics"]) <= 3


def test_one_memory_is_said_in_the_singular(home: Home) -> None:
    stored = home.session().tool("keepsake_retain", items=[{"content": "Ann drinks tea"}])
    assert stored["result"] == "1 memory queued."


def test_storing_works_while_the_service_is_away(
    distant: Home, proxy: Proxy, service: Service
) -> None:
    proxy.fail("500")
    talk = distant.session()
    talk.say("which editor do I use?")
    stored = talk.tool("keepsake_retain", items=[{"content": "Ann drinks tea"}])
    assert stored == {"result": "1 memory queued.", "count": 1}
    found = talk.tool("keepsake_search", query="tea")
    assert found["error"].startswith("memory does not answer: the service answers 500")
    proxy.heal()
    talk.sent()
    assert service.contents() == ["Ann drinks tea"]


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("keepsake_search", {}, "`query` must be text"),
        ("keepsake_search", {"query": " "}, "`query` must be text"),
        ("keepsake_search", {"query": "tea", "limit": "many"}, "`limit` must be a whole number"),
        ("keepsake_retain", {}, "`items` must be a list"),
        ("keepsake_retain", {"items": []}, "`items` must be a list"),
        ("keepsake_retain", {"items": ["tea"]}, "each item must be an object"),
        ("keepsake_retain", {"items": [{"content": ""}]}, "`content` must be text"),
        ("keepsake_forget", {"id": 7}, "`id` must be text"),
        ("keepsake_forget", {"id": "zzzzzzzzzzzz"}, "zzzzzzzzzzzz"),
        ("keepsake_feedback", {"id": "zzzzzz", "useful": "yes"}, "`useful` must be true or false"),
        ("keepsake_topics", {"period": "yearly"}, "`period` must be all, daily or weekly"),
    ],
)
def test_a_wrong_call_is_told_what_is_wrong(
    home: Home, name: str, arguments: dict[str, Any], error: str
) -> None:
    assert error in home.session().tool(name, **arguments)["error"]


def test_before_the_beginning_and_after_the_end(home: Home) -> None:
    from plugins.memory import load_memory_provider

    with home.active():
        fresh = load_memory_provider("keepsake")
    told = json.loads(fresh.handle_tool_call("keepsake_retain", {"items": [{"content": "x"}]}))
    assert told == {"error": "keepsake is not initialised for this session."}
    talk = home.session()
    talk.end()
    told = talk.tool("keepsake_retain", items=[{"content": "x"}])
    assert told == {"error": "keepsake retain queue is closed."}


@pytest.mark.parametrize(
    ("recall", "names", "says_something"),
    [("auto", 5, True), ("tools", 5, False), ("off", 1, False)],
)
def test_modes_of_recall(
    home: Home, service: Service, recall: str, names: int, says_something: bool
) -> None:
    text = {"content": "My editor is Helix", "agent_id": "default"}
    service.ask("POST", "/v1/memories", text)
    home.configure(url=service.url, recall=recall)
    talk = home.session()
    assert bool(talk.say("which editor do I use?")) == says_something
    assert len(talk.manager.get_all_tool_names()) == names
    assert ("keepsake_search" in talk.manager.build_system_prompt()) == (recall != "off")


def test_the_command_line_of_the_host(home: Home) -> None:
    assert home.hermes("keepsake", "add", "Ann", "drinks", "tea").startswith("stored: ")
    assert "Ann drinks tea" in home.hermes("keepsake", "search", "what does Ann drink?")
    assert home.hermes("keepsake", "lock", "set", "--seconds", "60").startswith("retrieval is off")
    assert home.hermes("keepsake", "search", "Ann").startswith("nothing found (skipped)")
    assert home.hermes("keepsake", "lock", "clear") == "retrieval is on\n"
    assert "state: ready" in home.hermes("keepsake", "status")
