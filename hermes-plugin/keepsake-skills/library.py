"""The skills of a Hermes home: where their files are, and what stands at their heads."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

MAX_HEAD_BYTES = 65_536
"""What is read of a file; the front matter stands at its beginning."""


@dataclass(frozen=True)
class Entry:
    """One SKILL.md."""

    path: str
    front_matter: str
    hash: str


def skill_files() -> list[Path]:
    """Every SKILL.md that the host offers: its own folders first, then those of plugins."""
    from agent.skill_utils import get_all_skills_dirs, iter_skill_index_files

    found: dict[Path, None] = {}
    for folder in get_all_skills_dirs():
        if Path(folder).is_dir():
            found.update(dict.fromkeys(iter_skill_index_files(Path(folder), "SKILL.md")))
    found.update(dict.fromkeys(path for path in plugin_skills().values() if path.is_file()))
    return list(found)


def plugin_skills() -> dict[str, Path]:
    """Skills that plugins registered, by the names that `skill_view` takes. Newer hosts may keep
    them elsewhere; then there are none."""
    try:
        from hermes_cli.plugins import get_plugin_manager

        registered = dict(getattr(get_plugin_manager(), "_plugin_skills", {}))
        return {str(name): Path(entry["path"]) for name, entry in registered.items()}
    except Exception:
        return {}


def qualified_names() -> dict[str, str]:
    """What `skill_view` calls the skills of plugins, by path."""
    return {str(path): name for name, path in plugin_skills().items()}


def state_of(files: list[Path]) -> str:
    """A digest that changes whenever a skill is added, edited, removed, enabled or disabled."""
    digest = hashlib.sha256()
    for path in files:
        try:
            seen = path.stat()
        except OSError:
            continue
        digest.update(f"{path}\0{seen.st_mtime_ns}\0{seen.st_size}\n".encode("utf-8", "replace"))
    digest.update("\0".join(sorted(disabled())).encode("utf-8", "replace"))
    return digest.hexdigest()


def disabled() -> set[str]:
    """Names of the skills that the person switched off."""
    try:
        from agent.skill_utils import get_disabled_skill_names

        return {str(name) for name in get_disabled_skill_names()}
    except Exception:
        return set()


def entries(files: list[Path]) -> list[Entry]:
    """The skills as the service takes them, without those that are disabled or not for this
    machine. What cannot be read is left out."""
    off = disabled()
    found = []
    for path in files:
        head = front_matter(path)
        if head is None or is_hidden(path, head, off):
            continue
        digest = hashlib.sha256(head.encode("utf-8", "surrogatepass")).hexdigest()
        found.append(Entry(str(path), head, digest))
    return found


def front_matter(path: Path) -> str | None:
    """The text between the two lines of dashes at the beginning of a file."""
    try:
        with path.open("rb") as file:
            text = file.read(MAX_HEAD_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    text = text.removeprefix("\ufeff").lstrip()
    if not text.startswith("---"):
        return None
    head, separator, _ = text[3:].partition("\n---")
    return head.strip("\r\n") if separator else None


def is_hidden(path: Path, head: str, off: set[str]) -> bool:
    """Whether the host would not offer the skill, by the host's own rules."""
    try:
        from agent.skill_utils import (
            parse_frontmatter,
            skill_matches_environment,
            skill_matches_platform,
        )

        fields, _ = parse_frontmatter(f"---\n{head}\n---\n")
        name = str(fields.get("name") or path.parent.name)
        fits = skill_matches_platform(fields) and skill_matches_environment(fields)
    except Exception:
        return path.parent.name in off
    return name in off or path.parent.name in off or not fits


def categories(files: list[Path]) -> frozenset[str]:
    """The top-level categories that the host groups its skills by: the first folder below a folder
    of skills, and `general` for what lies directly in one."""
    from agent.skill_utils import get_all_skills_dirs

    found = {"general"}
    for folder in map(Path, get_all_skills_dirs()):
        depth = len(folder.parts)
        found.update(f.parts[depth] for f in files if f.parts[:depth] == folder.parts)
    return frozenset(found)
