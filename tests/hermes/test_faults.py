"""A service that is away never delays a turn for long, never loses a write, and is never silent."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import Home, Proxy, Service, eventually

TIMEOUT = 1.2
SLACK = 0.5
"""What a busy machine may add to a time limit of the plugin."""
AT_ONCE = 0.1
"""A turn that asks nobody."""
QUESTION = "which database does the team use?"


def ready(talk, question: str = QUESTION) -> str:
    """The answer, once the plugin knows that the service is back."""
    return eventually(lambda: talk.say(question), "the service answers again")


@pytest.mark.parametrize("fault", ["hang", "slow", "trickle", "500", "503", "429", "401"])
def test_a_failing_service_delays_one_turn_by_its_timeout_and_the_next_ones_not(
    distant: Home, proxy: Proxy, service: Service, fault: str
) -> None:
    talk = distant.session()
    talk.remember("add", "The team's database is PostgreSQL 16")
    assert "PostgreSQL" in talk.say(QUESTION)

    proxy.fail(fault)
    said, seconds = talk.timed(QUESTION)
    assert said == "" and seconds < TIMEOUT + SLACK
    for _ in range(5):
        said, seconds = talk.timed(QUESTION)
        assert said == "" and seconds < AT_ONCE
    for number in range(40):
        talk.remember("add", f"Fact number {number} of the outage")
    talk.remember("add", "The counter stands at 0.")
    for number in range(1, 20):
        old = f"stands at {number - 1}."
        talk.remember("replace", f"The counter stands at {number}.", old_text=old)
    assert talk.timed(QUESTION)[1] < AT_ONCE

    proxy.heal()
    assert "PostgreSQL" in ready(talk)
    talk.sent()
    contents = service.contents()
    expected = [f"Fact number {number} of the outage" for number in range(40)]
    assert [text for text in contents if text.startswith("Fact")] == expected
    # A replacement out of order would have found nothing to replace, and left one more.
    assert [t for t in contents if t.startswith("The counter")] == ["The counter stands at 19."]
    assert {memory["mentions"] for memory in service.memories()} == {1}


def test_a_session_that_begins_while_the_service_hangs_is_not_held_up(
    distant: Home, proxy: Proxy
) -> None:
    proxy.fail("hang")
    begun = time.monotonic()
    talk = distant.session()
    assert time.monotonic() - begun < 1.0
    assert talk.timed(QUESTION)[1] < TIMEOUT + SLACK
    assert talk.timed(QUESTION)[1] < AT_ONCE


def test_an_absent_service_costs_nothing_and_writes_wait_for_it(
    home: Home, service: Service
) -> None:
    service.stop()
    talk = home.session()
    for number in range(20):
        talk.remember("add", f"Fact number {number} told to nobody")
        assert talk.timed(QUESTION)[1] < TIMEOUT + SLACK
    assert talk.timed(QUESTION)[1] < AT_ONCE
    service.start()
    talk.sent()
    assert service.contents() == [f"Fact number {number} told to nobody" for number in range(20)]


def test_a_service_that_is_killed_in_the_middle_loses_nothing(home: Home, service: Service) -> None:
    talk = home.session()
    told = []
    for number in range(60):
        told.append(f"Fact number {number} around a crash")
        talk.remember("add", told[-1])
        if number == 30:
            service.stop(signal.SIGKILL)
        if number == 50:
            service.start()
    talk.sent()
    assert service.contents() == told
    assert {memory["mentions"] for memory in service.memories()} == {1}
    assert "around a crash" in ready(talk, "what was told around a crash?")


def test_what_a_process_left_unsent_is_sent_by_the_next_one(home: Home, service: Service) -> None:
    service.stop()
    script = home.path / "crash.py"
    script.write_text(
        "import os, pathlib, sys\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from support import Home\n"
        "talk = Home(pathlib.Path(sys.argv[2])).session()\n"
        "for number in range(20):\n"
        "    talk.remember('add', f'Fact number {number} before the crash')\n"
        "talk.remember('replace', 'Fact of another kind', old_text='Fact number 7 ')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    killed = run_python(home, script)
    assert killed == -signal.SIGKILL
    service.start()
    talk = home.session()
    talk.sent()
    expected = [f"Fact number {n} before the crash" for n in range(20) if n != 7]
    assert service.contents() == [*expected, "Fact of another kind"]


def test_several_processes_of_one_home_send_everything_once_and_in_order(
    home: Home, service: Service
) -> None:
    service.stop()
    script = home.path / "writer.py"
    script.write_text(
        "import os, pathlib, sys\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from support import Home\n"
        "talk = Home(pathlib.Path(sys.argv[2])).session()\n"
        "for number in range(20):\n"
        "    text = f'The counter {sys.argv[3]} stands at {number}.'\n"
        "    old = {'old_text': f'counter {sys.argv[3]} stands at {number - 1}.'}\n"
        "    talk.provider.on_memory_write('replace' if number else 'add', 'memory', text, old)\n"
        "print('written', flush=True)\n"
        "talk.sent()\n"
    )
    writers = [start_python(home, script, name) for name in ("one", "two", "three")]
    for writer in writers:
        assert writer.stdout is not None and writer.stdout.readline() == b"written\n"
    service.start()
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    # A replacement out of order would have found nothing to replace, and left one more.
    expected = {f"The counter {name} stands at 19." for name in ("one", "two", "three")}
    assert set(service.contents()) == expected and len(service.contents()) == 3
    memories = service.memories()
    assert len(memories) == 60 and {memory["mentions"] for memory in memories} == {1}


def test_unsent_writes_are_for_their_owner_alone(home: Home, service: Service) -> None:
    service.stop()
    talk = home.session()
    talk.remember("add", "The cellar's code is 4711")
    folder = home.path / "keepsake"
    assert folder.stat().st_mode & 0o777 == 0o700
    modes = {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()}
    assert modes and set(modes.values()) == {0o600}, modes


def test_a_damaged_file_of_unsent_writes_is_put_aside(home: Home, service: Service) -> None:
    folder = home.path / "keepsake"
    folder.mkdir(exist_ok=True)
    (folder / "unsent.db").write_bytes(b"this is no database " * 500)
    talk = home.session()
    talk.remember("add", "The team's database is PostgreSQL 16")
    assert "PostgreSQL" in talk.say(QUESTION)
    assert list(folder.glob("unsent.db.damaged-*"))


def test_a_write_that_the_service_refuses_is_kept_and_shown(home: Home, service: Service) -> None:
    talk = home.session()
    talk.remember("add", "x" * 70_000)
    talk.remember("add", "The team's database is PostgreSQL 16")
    talk.sent()
    assert service.contents() == ["The team's database is PostgreSQL 16"]
    assert "refused writes: 1, the last because: content" in home.hermes("memory", "status")
    assert "x" * 70_000 in home.hermes("keepsake", "status")


def test_writes_that_a_key_may_not_make_wait_and_hold_up_no_message(
    distant: Home, proxy: Proxy, service: Service
) -> None:
    talk = distant.session()
    talk.remember("add", "The team's database is PostgreSQL 16")
    assert "PostgreSQL" in talk.say(QUESTION)
    proxy.fail("403")
    proxy.only = "/v1/memories/operations"
    talk.remember("add", "Fact of a foreign agent")
    eventually(lambda: talk.provider._session.spool._stuck, "the write is refused")
    said, seconds = talk.timed(QUESTION)
    assert "PostgreSQL" in said and seconds < AT_ONCE + SLACK
    proxy.heal()
    talk.sent()
    assert "Fact of a foreign agent" in service.contents()


def test_after_a_long_silence_the_first_message_finds_out_how_the_service_is(
    home: Home, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = home.session()
    talk.remember("add", "The team's database is PostgreSQL 16")
    assert "PostgreSQL" in talk.say(QUESTION)
    service.stop()
    connection = talk.provider._session.connection
    monkeypatch.setattr(sys.modules[type(connection).__module__], "IDLE_SECONDS", 0.0)
    talk.say(QUESTION)
    eventually(lambda: connection.state == "unknown", "nobody looks any more")
    service.start()
    assert "PostgreSQL" in talk.say(QUESTION)


def test_an_outage_is_told_once_to_the_person_and_to_the_log(
    distant: Home, proxy: Proxy, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="keepsake")
    talk = distant.session()
    talk.remember("add", "The team's database is PostgreSQL 16")
    assert talk.say(QUESTION)
    proxy.fail("500")
    for _ in range(3):
        talk.say(QUESTION)
    assert distant.shown == [
        "Keepsake memory is away: the service answers 500: made to fail",
    ]
    proxy.heal()
    ready(talk)
    assert distant.shown[1:] == ["Keepsake memory is back"]
    lines = [record.message for record in caplog.records]
    assert sum("does not answer" in line for line in lines) == 1, lines
    assert sum("answers again" in line for line in lines) == 1, lines


@pytest.mark.parametrize(
    ("fault", "shown"),
    [
        (None, "state: ready (store ok, embedder builtin)"),
        ("401", "state: degraded: the service does not accept the API key (401)"),
        ("500", "state: degraded: the service answers 500"),
        ("hang", "state: degraded: no answer within 1.2 s"),
    ],
)
def test_the_status_command_says_how_memory_is(
    distant: Home, proxy: Proxy, fault: str | None, shown: str
) -> None:
    if fault:
        proxy.fail(fault)
    assert shown in distant.hermes("memory", "status")


def test_the_status_command_counts_what_waits(home: Home, service: Service) -> None:
    service.stop()
    talk = home.session()
    talk.remember("add", "The team's database is PostgreSQL 16")
    told = home.hermes("memory", "status")
    assert "state: degraded: no connection" in told
    assert "start it with `keepsake serve`" in told
    assert "unsent writes: 1, the oldest for" in told


def test_the_prompt_says_that_memory_is_degraded_and_stays_as_it_is(
    distant: Home, proxy: Proxy
) -> None:
    proxy.fail("500")
    talk = distant.session()
    prompt = talk.manager.build_system_prompt()
    assert "degraded" in prompt and len(talk.manager.get_all_tool_names()) == 5
    proxy.heal()
    eventually(lambda: talk.provider._session.connection.state == "ready", "back")
    assert talk.manager.build_system_prompt() == prompt
    assert "degraded" not in distant.session("s2").manager.build_system_prompt()


def start_python(home: Home, script: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """A script with the host's Python and this home."""
    return subprocess.Popen(
        [sys.executable, script, str(Path(__file__).parent), str(home.path), *arguments],
        env={**os.environ, "HERMES_HOME": str(home.path)},
        stdout=subprocess.PIPE,
    )


def run_python(home: Home, script: Path) -> int:
    """Runs a script to its end; its exit code."""
    with start_python(home, script) as process:
        return process.wait(60)
