"""`hermes keepsake-skills status`."""

from __future__ import annotations

import argparse
from typing import Any

from . import prompt
from .client import ServiceError
from .retrieval import Retrieval, client, scope

CHARS_OF_A_TOKEN = 4
"""Of English text, roughly."""


def register_cli(subparser: argparse.ArgumentParser) -> None:
    """Called by the host with the parser of `hermes keepsake-skills`."""
    verbs = subparser.add_subparsers(dest="keepsake_skills_verb")
    verbs.add_parser("status", help="how skills on demand are, and what they save")
    subparser.set_defaults(func=status)


def status(args: argparse.Namespace) -> None:
    """How many skills there are, whether the service answers, and what the prompt costs."""
    retrieval = Retrieval()
    index = retrieval.index()
    categories = retrieval.names_only()
    told: dict[str, Any] = {"skills": len(index.skills), "top_k": retrieval.top_k}
    try:
        listed = client().call("GET", "/v1/skills", query=scope(), timeout=2.0)["skills"]
        told["service"] = f"answers, and knows {len(listed)} skills"
    except (ServiceError, ValueError, KeyError) as error:
        told["service"] = f"does not answer ({error}); words are matched in the copy of the index"
    whole, names = prompt.length(frozenset()), prompt.length(categories)
    told["prompt"] = (
        f"about {names // CHARS_OF_A_TOKEN} tokens instead of {whole // CHARS_OF_A_TOKEN}: "
        f"{(whole - names) // CHARS_OF_A_TOKEN} saved in every call"
    )
    for name, value in told.items():
        print(f"{name}: {value}")
