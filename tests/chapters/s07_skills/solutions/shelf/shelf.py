"""A tool that reads skills. One function is missing; TASK.md says what it has to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path


@dataclass(frozen=True)
class Skill:
    """One skill, read at the start of the session."""

    name: str
    description: str
    text: str
    folder: Path
    """Absolute, and no part of it is a link."""


class ToolError(Exception):
    """A refused call. The model reads the text, one sentence."""


def line(skill: Skill) -> str:
    """A skill in the list of all."""
    return f"- {skill.name}: {skill.description}"


def files(skill: Skill) -> list[str]:
    """The files that belong to a skill, as paths in its folder. Links are not among them."""
    found = (path for path in skill.folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(path.relative_to(skill.folder).as_posix() for path in found if path.name != "SKILL.md")


def read(skills: Sequence[Skill], name: str | None = None, file: str | None = None) -> str:
    """The list of skills, one skill, or a file of a skill. Raises ToolError."""
    # ── your part begins ─────────────────────────────────────────────
    if name is None:
        return "\n".join(map(line, skills))
    names = [skill.name for skill in skills]
    if name not in names:
        near = get_close_matches(name, names) or names
        raise ToolError(f"No skill is called {name!r}; perhaps you mean {', '.join(near)}.")
    skill = skills[names.index(name)]
    if file is None:
        return "\n".join((f"The skill {name} lies in {skill.folder}.", "", skill.text, "", *files(skill)))
    path = (skill.folder / file).resolve()
    if not path.is_relative_to(skill.folder):
        raise ToolError(f"{file} lies outside of the folder of the skill {name}.")
    if not path.is_file():
        raise ToolError(f"The skill {name} has no file {file}; it has {', '.join(files(skill)) or 'none'}.")
    return path.read_text("utf-8")
    # ── your part ends ───────────────────────────────────────────────
