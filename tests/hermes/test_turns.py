"""Turns are stored only for those who ask for it, once each, without secrets."""

from __future__ import annotations

from support import Home, Service


def test_by_default_no_turn_is_stored(home: Home, service: Service) -> None:
    talk = home.session()
    talk.answered("what is my password? it is hunter2", "I do not know")
    talk.manager.on_session_end([])
    talk.end()
    assert service.memories() == []


def test_turns_are_stored_every_few_turns_and_the_rest_at_the_end(
    home: Home, service: Service
) -> None:
    home.configure(url=service.url, auto_retain="every_n_turns")
    talk = home.session()
    for number in range(1, 6):
        talk.say(f"question {number}")
        talk.answered(f"question {number}", f"answer {number}")
    talk.end()
    talk.sent()
    turns = service.memories()
    assert [(m["session"], m["turn"], m["content"]) for m in turns] == [
        ("s1", n, f"User: question {n}\nAssistant: answer {n}") for n in range(1, 6)
    ]
    assert {m["mentions"] for m in turns} == {1}
    assert {m["entry_type"] for m in turns} == {"turn"}


def test_a_whole_session_is_stored_at_its_end(home: Home, service: Service) -> None:
    home.configure(url=service.url, auto_retain="full_session")
    talk = home.session()
    for number in range(1, 6):
        talk.answered(f"question {number}", f"answer {number}")
    assert service.memories() == []
    talk.manager.on_session_switch("s2", parent_session_id="s1", reset=True)
    talk.answered("question of the second session", "answer")
    talk.end()
    talk.sent()
    assert [m["session"] for m in service.memories()] == ["s1"] * 5 + ["s2"]


def test_a_session_that_is_resumed_and_told_again_stores_each_turn_once(
    home: Home, service: Service
) -> None:
    home.configure(url=service.url, auto_retain="every_n_turns", retain_every_n_turns=1)
    for turns in (2, 3):
        talk = home.session("resumed")
        for number in range(1, turns + 1):
            talk.answered(f"question {number}", f"answer {number}")
        talk.end()
        talk.sent()
    stored = service.memories()
    assert [m["turn"] for m in stored] == [1, 2, 3]
    assert {m["mentions"] for m in stored} == {1}


def test_secrets_and_recalled_facts_are_not_stored(home: Home, service: Service) -> None:
    home.configure(url=service.url, auto_retain="full_session")
    talk = home.session()
    key = "sk-" + "proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ"
    aws = "AKIA" + "IOSFODNN7EXAMPLA"
    pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----"
    user = (
        f"deploy with {key} and {aws}\n{pem}\n"
        "<memory-context>\n[System note]\n"
        "<keepsake>\n[1] an old fact\n</keepsake>\n</memory-context>"
    )
    talk.answered(user, "done, with Authorization: Bearer abcdefghijklmnop1234567890abcdef")
    talk.end()
    talk.sent()
    (memory,) = service.memories()
    for secret in (key, aws, "MIIEvQIBADANBg", "abcdefghijklmnop1234567890", "an old fact"):
        assert secret not in memory["content"]
    assert "deploy with [redacted" in memory["content"]


def test_a_very_long_turn_is_stored_in_parts(home: Home, service: Service) -> None:
    home.configure(url=service.url, auto_retain="full_session")
    talk = home.session()
    words = " ".join(f"word{number}" for number in range(11_000))
    talk.answered(f"summarise this: {words}", "a short answer at the end")
    talk.end()
    talk.sent()
    parts = service.contents()
    assert (
        len(parts) == 4 and sum(part.endswith("a short answer at the end") for part in parts) == 1
    )
    assert all(any(f"word{number}" in part for part in parts) for number in range(0, 11_000, 500))
