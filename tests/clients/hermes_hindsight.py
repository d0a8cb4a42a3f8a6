"""The Hindsight provider that comes with Hermes, against a service of Keepsake, with its default settings.

Usage: hermes_hindsight.py URL
"""

import json
import os
import pathlib
import sys
import urllib.parse
import urllib.request

URL = sys.argv[1]
HOME = pathlib.Path(os.environ["HOME"])
# All of it is read on import.
os.environ.update(
    HERMES_HOME=str(HOME), HERMES_DISABLE_LAZY_INSTALLS="1", HINDSIGHT_MODE="local_external", HINDSIGHT_API_URL=URL
)
(HOME / "config.yaml").write_text("memory:\n  provider: hindsight\n")
(HOME / "hindsight").mkdir(exist_ok=True)
settings = {"mode": "local_external", "api_url": URL, "bank_id": "hermes"}
(HOME / "hindsight" / "config.json").write_text(json.dumps(settings))

from agent.memory_manager import MemoryManager, build_memory_context_block  # noqa: E402
from plugins.memory import load_memory_provider  # noqa: E402


def get(path):
    with urllib.request.urlopen(f"{URL}/v1/default/banks/hermes/{path}") as response:
        return json.load(response)


def remembered():
    return sorted(item["text"] for item in get("memories/list")["items"])


def finish_writes(provider):
    """The provider writes in a thread of its own."""
    provider._retain_queue.join()


provider = load_memory_provider("hindsight")
assert provider and provider.is_available()
manager = MemoryManager(external_prefetch_timeout=30)
manager.add_provider(provider)
manager.initialize_all(
    "s1", platform="cli", agent_context="primary", agent_identity="default", agent_workspace="hermes"
)
assert provider._mode == "local_external", provider._mode
assert manager.prefetch_all("which database do we use?") == ""

# A turn is stored, and recalled on the next message with the defaults, which ask for observations alone.
manager.sync_all("We use PostgreSQL for billing", "Noted: PostgreSQL it is.", session_id="s1", messages=[])
assert manager.flush_pending(30)
finish_writes(provider)
assert remembered() == ["Assistant: Noted: PostgreSQL it is.", "User: We use PostgreSQL for billing"], remembered()
manager.queue_prefetch_all("which database does billing use?", session_id="s1")
assert manager.flush_pending(30)
text = manager.prefetch_all("which database does billing use?")
assert "User: We use PostgreSQL for billing" in text, text
assert "PostgreSQL" in build_memory_context_block(text)

# What is appended belongs to the document of the session, with its tags.
document = get(f"documents/{urllib.parse.quote('s1', safe='')}")
assert document["memory_unit_count"] == 2 and "session:s1" in document["tags"], document

# A switch of sessions sends turns again that were appended already: they are stored once.
manager.on_session_switch("s2", parent_session_id="s1", reset=True, reason="new_session")
finish_writes(provider)
assert len(remembered()) == 2, remembered()

# The tools.
told = json.loads(manager.handle_tool_call("hindsight_retain", {"content": "The crew meets on Mondays", "tags": ["crew"]}))
assert "successfully" in told["result"], told
told = json.loads(manager.handle_tool_call("hindsight_recall", {"query": "when does the crew meet?"}))
assert "The crew meets on Mondays" in told["result"], told
told = json.loads(manager.handle_tool_call("hindsight_reflect", {"query": "when does the crew meet?"}))
assert "The crew meets on Mondays" in told["result"], told
manager.shutdown_all()
print("ok")
