"""Keepsake as a memory provider of Hermes: `register_memory_provider` below is what the host looks
for. The plugin talks to a Keepsake service over HTTP and needs the standard library only."""

from __future__ import annotations

from typing import Any

from .provider import KeepsakeProvider

__all__ = ["KeepsakeProvider", "register"]


def register(ctx: Any) -> None:
    """Called by the host's loader, whose context has this method alone."""
    if hasattr(ctx, "register_memory_provider"):
        ctx.register_memory_provider(KeepsakeProvider())
