"""Nobody needs to start anything: the first message finds a service, or says why there is none."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from support import BINARY, Home, Service, eventually, free_port


@pytest.fixture
def port():
    """A port on which the plugin may start a service, which ends with the test."""
    chosen = free_port()
    yield chosen
    for pid in started(chosen):
        os.kill(pid, signal.SIGTERM)
        eventually(lambda pid=pid: not alive(pid), "the service ends")


def started(port: int) -> list[int]:
    """Processes `keepsake serve` for a port."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"serve" in words and f"127.0.0.1:{port}".encode() in words and alive(int(folder.name)):
            found.append(int(folder.name))
    return found


def alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not asked for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def make(path: Path, port: int, **settings) -> Home:
    return Home.make(path, url=f"http://127.0.0.1:{port}", **{"autostart": True, **settings})


def test_with_nothing_running_the_first_message_is_answered(tmp_path: Path, port: int) -> None:
    before = Service(tmp_path / "data").start()
    text = "My editor is Helix with the gruvbox theme"
    before.ask("POST", "/v1/memories", {"content": text, "agent_id": "default"})
    before.stop()
    talk = make(tmp_path / "hermes", port).session()
    assert "Helix" in talk.say("which editor do I use?")
    assert len(started(port)) == 1


def test_a_service_that_was_killed_is_there_again_for_the_next_message(
    tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = make(tmp_path / "hermes", port).session()
    talk.remember("add", "My editor is Helix with the gruvbox theme")
    assert "Helix" in talk.say("which editor do I use?")
    starter = talk.provider._session.connection._starter
    # As if the first start were more than a minute ago.
    starter._last = float("-inf")
    (pid,) = started(port)
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: not started(port), "the service is gone")
    assert "Helix" in talk.say("which editor do I use?")


def test_several_processes_at_once_start_one_service(tmp_path: Path, port: int) -> None:
    homes = [make(tmp_path / f"hermes-{number}", port) for number in range(4)]
    talks = [home.session(user_id=str(number)) for number, home in enumerate(homes)]
    for talk in talks:
        talk.say("which editor do I use?")
    assert len(started(port)) == 1


def test_no_program_is_a_clear_state_and_no_delay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    home = make(tmp_path / "hermes", free_port(), binary="")
    talk = home.session()
    talk.say("which editor do I use?")
    begun = time.monotonic()
    assert talk.say("which editor do I use?") == ""
    assert time.monotonic() - begun < 0.1
    assert "no `keepsake` program was found; get it with" in home.shown[0]
    told = home.hermes("memory", "status")
    assert "no `keepsake` program was found, get it with" in told


def test_a_program_that_ends_at_once_is_told_with_its_reason(tmp_path: Path) -> None:
    broken = tmp_path / "keepsake"
    broken.write_text("#!/bin/sh\necho the disk is full >&2\nexit 1\n")
    broken.chmod(0o755)
    home = make(tmp_path / "hermes", free_port(), binary=str(broken))
    assert home.session().say("which editor do I use?") == ""
    assert home.shown[0].endswith("ended at once: the disk is full")


def test_autostart_can_be_turned_off(tmp_path: Path, port: int) -> None:
    talk = make(tmp_path / "hermes", port, autostart=False).session()
    assert talk.say("which editor do I use?") == ""
    assert started(port) == []


def test_a_service_of_another_machine_is_never_started(tmp_path: Path) -> None:
    home = Home.make(tmp_path / "hermes", url="http://192.0.2.1:7437", autostart=True, timeout=0.2)
    talk = home.session()
    assert talk.say("which editor do I use?") == ""
    assert talk.provider._session.connection._starter is None


def test_a_started_service_outlives_the_agent(tmp_path: Path, port: int) -> None:
    talk = make(tmp_path / "hermes", port, binary=str(BINARY)).session()
    talk.say("which editor do I use?")
    (pid,) = started(port)
    assert os.getsid(pid) == pid
    talk.end()
    assert started(port) == [pid]
