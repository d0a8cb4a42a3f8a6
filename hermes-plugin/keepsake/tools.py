"""The tools that a model may call, and what they ask of the service."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .client import REFUSED, ServiceError

if TYPE_CHECKING:
    from .session import Session

SCHEMAS: tuple[dict[str, Any], ...] = (
    {
        "name": "keepsake_search",
        "description": "Search long-term memory. Facts about the message itself are given already.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Words or a question"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 8},
            },
            "required": ["query"],
        },
    },
    {
        "name": "keepsake_retain",
        "description": "Store durable facts, each whole and understandable alone.",
        "parameters": {
            "type": "object",
            "properties": {
                "items": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "object",
                        "properties": {
                            "content": {"type": "string"},
                            "context": {"type": "string", "description": "Where it comes from"},
                        },
                        "required": ["content"],
                    },
                }
            },
            "required": ["items"],
        },
    },
    {
        "name": "keepsake_forget",
        "description": "Move a memory to the trash.",
        "parameters": {
            "type": "object",
            "properties": {"id": {"type": "string"}},
            "required": ["id"],
        },
    },
    {
        "name": "keepsake_feedback",
        "description": "Say whether a memory helped; better ones come first next time.",
        "parameters": {
            "type": "object",
            "properties": {"id": {"type": "string"}, "useful": {"type": "boolean"}},
            "required": ["id", "useful"],
        },
    },
    {
        "name": "keepsake_topics",
        "description": "What memory is most about.",
        "parameters": {
            "type": "object",
            "properties": {
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
                "period": {"type": "string", "enum": ["all", "daily", "weekly"], "default": "all"},
            },
        },
    },
)

WRITING = ("keepsake_retain", "keepsake_forget", "keepsake_feedback")
RETAIN_SECONDS = 0.3
"""How long storing waits for the ids of what it stored."""
MAX_QUERY_CHARS = 32_768


class Misuse(Exception):
    """A call with wrong arguments; the text is for the model."""


def schemas(recall: str) -> list[dict[str, Any]]:
    """The tools that a model gets. Without recall only storing is left."""
    if recall == "off":
        return [schema for schema in SCHEMAS if schema["name"] == "keepsake_retain"]
    return list(SCHEMAS)


def run(session: Session, name: str, arguments: Mapping[str, Any]) -> str:
    """Runs a tool; the answer, or what went wrong, as JSON."""
    tool = TOOLS.get(name)
    try:
        if tool is None:
            raise Misuse(f"there is no tool {name}")
        if name in WRITING and not session.may_write:
            raise Misuse("this run may read memory and not change it")
        answer = tool(session, arguments)
    except Misuse as error:
        answer = {"error": str(error)}
    except ServiceError as error:
        told = error.detail if error.kind == REFUSED else f"memory does not answer: {error.detail}"
        answer = {"error": told}
    return json.dumps(answer, ensure_ascii=False)


def search(session: Session, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """keepsake_search."""
    query = text(arguments, "query")[:MAX_QUERY_CHARS]
    found = session.post("/v1/search", query=query, top_k=whole(arguments, "limit", 8, 50))
    results = [
        {
            "id": hit["id"],
            "content": hit["content"],
            "created": hit["created_at"],
            "score": round(hit["score"], 3),
            "tags": hit["tags"],
        }
        for hit in found["results"]
    ]
    return {"results": results}


def retain(session: Session, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """keepsake_retain: queued, so that it never fails; with ids if the service is quick."""
    items = arguments.get("items")
    if not isinstance(items, list) or not items:
        raise Misuse("`items` must be a list of at least one object with `content`")
    operations = []
    for item in items:
        if not isinstance(item, dict):
            raise Misuse("each item must be an object with `content`")
        context = item.get("context")
        context = context if isinstance(context, str) and context.strip() else None
        operations.append(
            session.addition(
                text(item, "content"),
                source="hermes",
                context=context or session.settings.retain_context,
            )
        )
    results = session.spool.put_and_wait(operations, RETAIN_SECONDS)
    count = len(operations)
    answer: dict[str, Any] = {
        "result": "1 memory queued." if count == 1 else f"{count} memories queued.",
        "count": count,
    }
    if any(result is not None and result.status == "invalid" for result in results):
        return {"error": "the service refused to store it; shorten it, or see its log"}
    ids = [result.id for result in results if result is not None and result.id]
    return {**answer, "ids": ids} if len(ids) == count else answer


def forget(session: Session, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """keepsake_forget."""
    memory = text(arguments, "id")
    session.spool.flush(session.settings.timeout)
    gone = session.call("DELETE", f"/v1/memories/{quote(memory, safe='')}")
    return {"forgotten": gone["id"], "content": gone["content"]}


def feedback(session: Session, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """keepsake_feedback, also with the argument names of the Python Keepsake."""
    given = dict(arguments)
    given.setdefault("id", given.get("fragment_key"))
    given.setdefault("useful", given.get("is_positive"))
    useful = given["useful"]
    if not isinstance(useful, bool):
        raise Misuse("`useful` must be true or false")
    answer = session.post("/v1/feedback", id=text(given, "id"), useful=useful)
    return {"id": answer["id"], "feedback": answer["feedback"]}


def topics(session: Session, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """keepsake_topics."""
    period = arguments.get("period") or "all"
    if period not in ("all", "daily", "weekly"):
        raise Misuse("`period` must be all, daily or weekly")
    limit = whole(arguments, "limit", 10, 100)
    answer = session.call("GET", "/v1/topics", {"period": period, "limit": str(limit)})
    return {"period": answer["period"], "topics": answer["topics"]}


TOOLS: dict[str, Callable[[Session, Mapping[str, Any]], dict[str, Any]]] = {
    "keepsake_search": search,
    "keepsake_retain": retain,
    "keepsake_forget": forget,
    "keepsake_feedback": feedback,
    "keepsake_topics": topics,
}


def text(arguments: Mapping[str, Any], name: str) -> str:
    """An argument that must be text and not blank."""
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise Misuse(f"`{name}` must be text and not blank")
    return value


def whole(arguments: Mapping[str, Any], name: str, default: int, most: int) -> int:
    """An argument that is a whole number; models like to send 8.0 and "8"."""
    value = arguments.get(name)
    if value is None:
        return default
    try:
        number = int(float(value))
    except (TypeError, ValueError, OverflowError):
        raise Misuse(f"`{name}` must be a whole number from 1 to {most}") from None
    return min(max(number, 1), most)
