"""Skills on the disk: folders `NAME` with a file SKILL.md in them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.base.front_matter import front_matter, one_line
from harness.definitions.files import DefinitionFolder, DefinitionOrigin, DefinitionProblem, Problems, text_of

FILE = "SKILL.md"
MOST_BYTES = 100_000
"""Of one SKILL.md; more text belongs into files beside it."""
MOST_SKILLS = 200
"""Read of one place."""
NAME = re.compile(r"\w[\w.-]{0,63}")


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill as it was read."""

    name: str
    description: str
    """One line."""
    text: str
    folder: Path
    """Absolute, links resolved."""
    origin: DefinitionOrigin


@dataclass(frozen=True, slots=True)
class DiscoveredSkills:
    """The skills on disk."""

    skills: tuple[Skill, ...]
    """By name."""
    problems: tuple[DefinitionProblem, ...]


def discover(places: Iterable[DefinitionFolder]) -> DiscoveredSkills:
    """Read the skills of all places; of two with one name the later one is used, which is reported.

    Never raises for the content of the disk.
    """
    found: dict[str, Skill] = {}
    problems = Problems()
    for place in places:
        here: dict[str, Skill] = {}
        for entry in _entries(place, problems):
            skill = _read(entry, place, problems)
            if skill is None:
                continue
            if (first := here.setdefault(skill.name, skill)) is not skill:
                problems.note(entry / FILE, f"is left out: {first.folder} is called {skill.name} as well")
        for name, skill in here.items():
            if name in found and found[name].folder != skill.folder:  # a link to the same one hides nothing
                problems.note(found[name].folder / FILE, f"is hidden by {skill.folder} of the same name")
            found[name] = skill
    return DiscoveredSkills(tuple(found[name] for name in sorted(found)), tuple(problems))


def _entries(place: DefinitionFolder, problems: Problems) -> list[Path]:
    try:
        entries = sorted(entry for entry in place.folder.iterdir() if not entry.name.startswith("."))
        entries = [entry for entry in entries if entry.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        problems.note(place.folder, f"cannot be read: {error.strerror}")
        return []
    if len(entries) > MOST_SKILLS:
        problems.note(place.folder, f"holds {len(entries)} folders; only the first {MOST_SKILLS} are read")
    return entries[:MOST_SKILLS]


def _read(entry: Path, place: DefinitionFolder, problems: Problems) -> Skill | None:
    file = entry / FILE
    try:
        folder, real = entry.resolve(strict=True), file.resolve(strict=True)
        text, refusal = _text(folder, real, place.border)
    except FileNotFoundError:
        text, refusal, folder = "", f"is missing in the folder {entry.name}", entry
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        text, refusal, folder = "", f"cannot be read: {getattr(error, 'strerror', None) or error}", entry
    if refusal:
        problems.note(file, refusal)
        return None
    parts = front_matter(text)
    wrong = [*parts.problems]
    name = parts.values.get("name", "")
    if not NAME.fullmatch(name):
        if name:
            wrong.append(f"{name[:80]!r} is no name for a skill: letters, digits, - _ . and at most 64 of them")
        elif not parts.problems:
            wrong.append("it has no name; that of its folder is taken")
        name = one_line(entry.name)
    description = parts.values.get("description", "")
    if not description:
        if not parts.problems:
            wrong.append("it has no description; its first line is taken")
        description = next((one_line(line.lstrip("# ")) for line in parts.body.splitlines() if line.strip("# ")), "")
    problems.extend(DefinitionProblem(file, problem) for problem in wrong)
    if not NAME.fullmatch(name) or not parts.body:
        problems.note(file, "is left out: " + ("it says nothing" if not parts.body else "it has no name"))
        return None
    return Skill(name, description, parts.body, folder, place.origin)


def _text(folder: Path, real: Path, border: Path | None) -> tuple[str, str]:
    """The text of the file, or why it is not read."""
    if border is not None and not folder.is_relative_to(border):
        return "", f"is left out: its folder leads to {folder}, outside of the project"
    if not real.is_relative_to(folder):
        return "", f"is left out: it leads to {real}, outside of its folder"
    return text_of(real, MOST_BYTES, "put long parts of a skill into files beside it")
