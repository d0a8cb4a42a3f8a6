"""`hermes keepsake status|search|add|lock`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from . import status
from .client import ServiceError
from .profile import hermes_home
from .session import session_for_person
from .settings import load


def register_cli(subparser: argparse.ArgumentParser) -> None:
    """Called by the host with the parser of `hermes keepsake`."""
    verbs = subparser.add_subparsers(dest="keepsake_verb")
    verbs.add_parser("status", help="how memory is, and which writes the service refused")
    search = verbs.add_parser("search", help="find memories")
    search.add_argument("query", nargs="+")
    search.add_argument("--limit", type=int, default=8)
    add = verbs.add_parser("add", help="store a memory")
    add.add_argument("content", nargs="+")
    lock = verbs.add_parser("lock", help="turn retrieval off for a while")
    lock.add_argument("action", nargs="?", choices=["show", "set", "clear"], default="show")
    lock.add_argument("--seconds", type=int, default=3600)
    subparser.set_defaults(func=keepsake_command)


def keepsake_command(args: argparse.Namespace) -> None:
    """Runs a verb; what goes wrong is one line on standard error and exit code 1."""
    fatal = load().fatal
    if fatal:
        sys.exit(f"keepsake: {fatal}")
    verb = VERBS[getattr(args, "keepsake_verb", None) or "status"]
    try:
        verb(args)
    except ServiceError as error:
        sys.exit(f"keepsake: {error.detail}")


def show_status(args: argparse.Namespace) -> None:
    """hermes keepsake status"""
    for name, value in status.lines(hermes_home()).items():
        print(f"{name}: {value}")
    for reason, operation in session_for_person(hermes_home()).spool.refused():
        print(f"refused ({reason}): {operation}")


def search(args: argparse.Namespace) -> None:
    """hermes keepsake search"""
    session = session_for_person(hermes_home())
    found = session.post("/v1/search", query=" ".join(args.query), top_k=args.limit)
    for hit in found["results"]:
        print(f"{hit['score']:.3f}  {hit['id']}  {hit['created_at'][:10]}  {printable(hit)}")
    if not found["results"]:
        print(f"nothing found ({found['empty']})")


def add(args: argparse.Namespace) -> None:
    """hermes keepsake add"""
    session = session_for_person(hermes_home())
    content = " ".join(args.content)
    stored = session.post("/v1/memories", content=content, source="hermes", origin="person")
    print(f"{'already there' if stored['reinforced'] else 'stored'}: {stored['id']}")


def lock(args: argparse.Namespace) -> None:
    """hermes keepsake lock"""
    session = session_for_person(hermes_home())
    method = {"show": "GET", "set": "PUT", "clear": "DELETE"}[args.action]
    body = {"ttl_seconds": args.seconds} if args.action == "set" else None
    timeout = session.settings.tool_timeout
    told = session.connection.call(method, "/v1/lock", timeout=timeout, body=body)
    if told["locked"]:
        print(f"retrieval is off for {told['remaining_seconds']} s")
    else:
        print("retrieval is on")


VERBS = {"status": show_status, "search": search, "add": add, "lock": lock}


def printable(hit: dict[str, Any]) -> str:
    """A memory on one line that commands no terminal."""
    return "".join(char if char.isprintable() else " " for char in hit["content"])
