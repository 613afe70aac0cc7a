"""Markdown files with front matter that define commands and agents: found, bounded and read."""

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from harness.base.front_matter import FENCE, FrontMatter, front_matter
from harness.definitions.places import Origin, Place, Problem, text_of
from harness.events import Effort

NAME = re.compile(r"\w[\w.-]{0,63}(?::\w[\w.-]{0,63}){0,3}")
MOST_BYTES = 100_000
"""Of one file."""
MOST_FILES = 200
"""Read of one place."""
MOST_FOLDERS = 100
"""Of one place that are looked into."""
MODEL = re.compile(r"[\w.:@/\[\]-]{1,200}")
INHERITED = frozenset({"inherit", "default"})
"""Names of models that mean the one of the session."""
ABOUT = frozenset({"readme", "claude", "agents"})
"""Files that describe the folder they are in."""


@dataclass(frozen=True, slots=True)
class MarkdownFile:
    """One file as it was read."""

    path: Path
    relative: Path
    """From the place, without its end ".md"."""
    place: Place
    parts: FrontMatter

    @property
    def model(self) -> str:
        """The model that it names; empty: that of the session."""
        named = self.parts.values.get("model", "")
        return named if MODEL.fullmatch(named) and named.lower() not in INHERITED else ""

    @property
    def effort(self) -> Effort | Literal[""]:
        """The effort that it names; empty: that of the session."""
        named = self.parts.values.get("effort", "").lower()
        return Effort(named) if named in set(Effort) else ""


@dataclass(frozen=True, slots=True)
class CostClaim:
    """A model or an effort that a file of a project names."""

    file: Path
    key: str
    value: str


def markdown_files(
    place: Place, keys: Collection[str], problems: list[Problem], texts: Collection[str] = ("description",)
) -> Iterator[MarkdownFile]:
    """The files of a place in the order of their names; `problems` takes what is wrong with one.

    `keys` of the front matter are read as they are written, `texts` as YAML. Never raises for what is on the disk.
    """
    paths = list(islice(_paths(place.folder), MOST_FILES + 1))
    if len(paths) > MOST_FILES:
        problems.append(Problem(place.folder, f"holds more files than {MOST_FILES}; the others are not read"))
    for path in paths[:MOST_FILES]:
        try:
            real = path.resolve(strict=True)
            if place.border is not None and not real.is_relative_to(place.border):
                problems.append(Problem(path, f"is left out: it leads to {real}, outside of the project"))
                continue
            text, refusal = text_of(real, MOST_BYTES, "shorten it")
        except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
            problems.append(Problem(path, f"cannot be read: {getattr(error, 'strerror', None) or error}"))
            continue
        if refusal:
            problems.append(Problem(path, refusal))
            continue
        has_head = text.removeprefix("\ufeff").startswith(FENCE)
        parts = front_matter(text, (*keys, *texts), keys) if has_head else FrontMatter({}, text.strip())
        yield MarkdownFile(path, path.relative_to(place.folder).with_suffix(""), place, parts)


def cost_claims(places: Collection[Place], keys: Collection[str] = ("model", "effort")) -> tuple[CostClaim, ...]:
    """The models and efforts that the files of a project name, as far as they are among `keys`."""
    of_project = (place for place in places if place.origin is Origin.PROJECT)
    files = (file for place in of_project for file in markdown_files(place, keys, [], ()))
    claims = (
        CostClaim(file.path, *named) for file in files for named in (("model", file.model), ("effort", file.effort))
    )
    return tuple(claim for claim in claims if claim.value)


def _paths(folder: Path) -> Iterator[Path]:
    for root, folders, files in islice(os.walk(folder), MOST_FOLDERS):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(root, name)
            if path.suffix.lower() == ".md" and path.stem.lower() not in ABOUT and not name.startswith("."):
                yield path
