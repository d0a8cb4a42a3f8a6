"""Measures skills on demand, with the real host and the real service.

Usage: target/hermes-venv/bin/python tests/hermes/measure_skills.py SKILLS [QUESTIONS]

SKILLS is a home of Hermes, with skills/category/name/SKILL.md. Printed are the tokens of the prompt
with and without descriptions, and how long a search takes over HTTP. QUESTIONS is a folder of a
labelled set (memories.jsonl, queries.jsonl); printed is Recall@5 by words, and with meaning.
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from support import Service

REQUESTS = 600
TOP_K = 8
ASKED = (
    "deploy this service to kubernetes",
    "make a ten-slide deck for the investor pitch",
    "帮我修改PDF文档里的文字",
    "why does my test fail only on the build server?",
    "summarise the newest papers on protein folding",
    "thanks, that is all",
)


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        measure_prompt(Path(sys.argv[1]), Path(folder))
        for embedder in ("none", "builtin"):
            service = started(Path(folder) / embedder, embedder)
            try:
                measure_speed(service, Path(sys.argv[1]), embedder)
                if len(sys.argv) > 2:
                    measure_recall(service, Path(sys.argv[2]), embedder)
            finally:
                service.stop()


def started(folder: Path, embedder: str) -> Service:
    folder.mkdir()
    config = folder / "config.json"
    config.write_text(json.dumps({"embedder": {"provider": embedder}}))
    return Service(folder / "store").start(KEEPSAKE_CONFIG=str(config))


def measure_prompt(skills: Path, folder: Path) -> None:
    """The skills' part of the prompt, four characters a token."""
    os.environ["HERMES_HOME"] = str(folder)
    (folder / "skills").symlink_to(skills.resolve() / "skills")
    from agent.prompt_builder import build_skills_system_prompt as build

    categories = frozenset(path.name for path in (skills / "skills").iterdir()) | {"general"}
    whole, names = len(build()), len(build(compact_categories=categories))
    print(f"prompt: about {whole // 4} tokens, by names alone {names // 4}")


def put(service: Service, skills: list[dict[str, str]]) -> Any:
    return service.ask("PUT", "/v1/skills", {"skills": skills})


def measure_speed(service: Service, skills: Path, embedder: str) -> None:
    """Searches one after the other on one connection, as seen by the client."""
    given = []
    for file in sorted(skills.rglob("SKILL.md")):
        text = file.read_text(encoding="utf-8", errors="replace").removeprefix("---")
        head = text.partition("\n---")[0]
        given.append({"path": str(file), "front_matter": head, "hash": ""})
    begun = time.perf_counter()
    count = put(service, given)["count"]
    indexed = (time.perf_counter() - begun) * 1e3
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    took = []
    for number in range(REQUESTS):
        body = json.dumps({"query": ASKED[number % len(ASKED)], "top_k": TOP_K})
        begun = time.perf_counter()
        connection.request("POST", "/v1/skills/search", body, {"content-type": "application/json"})
        connection.getresponse().read()
        took.append((time.perf_counter() - begun) * 1e3)
    cuts = statistics.quantiles(took, n=100)
    print(
        f"embedder {embedder}: {count} skills put in {indexed:.0f} ms; a search takes "
        f"{statistics.median(took):.2f} ms, p95 {cuts[94]:.2f} ms, p99 {cuts[98]:.2f} ms"
    )


def lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def measure_recall(service: Service, questions: Path, embedder: str) -> None:
    """Recall@5, ignored skills taken out before the cut."""
    skills = []
    for memory in lines(questions / "memories.jsonl"):
        name, _, description = memory["content"].partition(": ")
        head = f"name: {json.dumps(name)}\ndescription: {json.dumps(description)}"
        skills.append({"path": memory["id"], "front_matter": head, "hash": ""})
    put(service, skills)
    recalls: dict[str, list[float]] = {}
    for query in lines(questions / "queries.jsonl"):
        body = {"query": query["text"], "top_k": 20}
        results = service.ask("POST", "/v1/skills/search", body)["results"]
        ignored = query.get("ignore", [])
        first = [one["path"] for one in results if one["path"] not in ignored][:5]
        found = sum(path in first for path in query["relevant"]) / len(query["relevant"])
        for category in ("all", query.get("category", "")):
            recalls.setdefault(category, []).append(found)
    told = ", ".join(f"{name} {statistics.mean(all_):.3f}" for name, all_ in recalls.items())
    print(f"embedder {embedder}: Recall@5 {told}")


if __name__ == "__main__":
    main()
