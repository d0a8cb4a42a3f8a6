"""The names-only form of the skills in the system prompt, by the host's own function.

The host can list a category by names alone; the wrapper asks it to do so for every category. When
anything about the function is not as expected, it is called as it would have been.
"""

from __future__ import annotations

import inspect
import logging
import sys
from collections.abc import Callable
from typing import Any

logger = logging.getLogger("keepsake")

NAME = "build_skills_system_prompt"
PARAMETER = "compact_categories"
ORIGINAL = "_keepsake_original"


def wrap(categories: Callable[[], frozenset[str]]) -> str:
    """Puts the wrapper in place; `categories` gives what to list by names alone, or nothing.
    Returns why nothing is saved, or an empty string."""
    try:
        import agent.prompt_builder as builder
    except ImportError:
        return "prompt builder not found: no compaction, retrieval works"
    current = getattr(builder, NAME, None)
    original = getattr(current, ORIGINAL, current)
    if not callable(original) or PARAMETER not in inspect.signature(original).parameters:
        return "prompt builder not found: no compaction, retrieval works"
    compact = compacted(original, categories)
    setattr(builder, NAME, compact)
    # The agent calls the function by a name of its own, if it was loaded before.
    agent = sys.modules.get("run_agent")
    if agent is not None:
        own = getattr(agent, NAME, None)
        if own is not current:
            return "the agent's own reference not found: the saving does not materialise"
        setattr(agent, NAME, compact)
    return ""


def compacted(
    original: Callable[..., str], categories: Callable[[], frozenset[str]]
) -> Callable[..., str]:
    """The host's function with every given category by names alone."""

    def build(*args: Any, **kwargs: Any) -> str:
        try:
            bound = inspect.signature(original).bind(*args, **kwargs)
            named = categories()
            if named:
                given = bound.arguments.get(PARAMETER) or frozenset()
                bound.arguments[PARAMETER] = frozenset(given) | named
        except Exception as error:
            logger.warning("Keepsake: skills are listed whole: %r", error)
            return original(*args, **kwargs)
        return original(*bound.args, **bound.kwargs)

    setattr(build, ORIGINAL, original)
    return build


def length(names_only: frozenset[str]) -> int:
    """Characters of the skills' part of the prompt, with these categories by names alone."""
    import agent.prompt_builder as builder

    current = getattr(builder, NAME)
    original = getattr(current, ORIGINAL, current)
    return len(original(**{PARAMETER: names_only or None}))
