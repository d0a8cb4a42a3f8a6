"""Skills on demand for Hermes: the prompt lists their names only, and each message brings the few
skills that fit it. Needs the standard library only; a Keepsake service does the ranking."""

from __future__ import annotations

from typing import Any

from .cli import register_cli
from .retrieval import Retrieval

__all__ = ["register"]


def register(ctx: Any) -> None:
    """Called by the host's plugin manager."""
    retrieval = Retrieval()
    retrieval.begin()
    ctx.register_hook("pre_llm_call", retrieval.before_call)
    if hasattr(ctx, "register_cli_command"):
        ctx.register_cli_command(
            "keepsake-skills",
            help="Skills on demand (Keepsake)",
            setup_fn=register_cli,
        )
