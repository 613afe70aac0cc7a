"""Folders of Markdown files that define commands, agents and skills, and how they are read."""

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Literal

from harness.base.files import NotRegularError, read_regular
from harness.base.front_matter import FENCE, FrontMatter, front_matter
from harness.events import Effort


class DefinitionOrigin(StrEnum):
    """The owner of a file."""

    USER = "user"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class DefinitionFolder:
    """A folder with such files in it."""

    folder: Path
    origin: DefinitionOrigin
    border: Path | None = None
    """No link may lead out of this folder; None: the user may link to folders elsewhere."""


@dataclass(frozen=True, slots=True)
class DefinitionProblem:
    """A problem with a file."""

    file: Path
    text: str
    """A sentence without its full stop."""


class Problems(list[DefinitionProblem]):
    """The problems found so far."""

    def note(self, file: Path, text: str) -> None:
        """Add one."""
        self.append(DefinitionProblem(file, text))


def definition_folders(
    kind: str, workspace: Path, user_dir: Path | None = None, home_dir: Path | None = None
) -> tuple[DefinitionFolder, ...]:
    """The folders for one kind of files ("commands"), from the weakest to the strongest.

    A project goes before the user, and a folder of this program before those of others.
    """
    root = workspace.resolve()
    found = [] if home_dir is None else [DefinitionFolder(home_dir / ".claude" / kind, DefinitionOrigin.USER)]
    found += [] if home_dir is None else [DefinitionFolder(home_dir / ".agents" / kind, DefinitionOrigin.USER)]
    found += [] if user_dir is None else [DefinitionFolder(user_dir / kind, DefinitionOrigin.USER)]
    found += [
        DefinitionFolder(root / name / kind, DefinitionOrigin.PROJECT, root)
        for name in (".claude", ".agents", ".harness")
    ]
    return tuple(found)


def text_of(real: Path, most_bytes: int, remedy: str) -> tuple[str, str]:
    """The text of a file whose links are resolved, or why it is left out; `remedy` ends that for one too large.

    Raises OSError where it cannot be read.
    """
    try:
        data = read_regular(real, most_bytes)
    except NotRegularError as error:
        return "", f"is left out: it is {error.strerror}; {remedy}"
    if b"\0" in data:
        return "", "is left out: it is no text in UTF-8"
    return data.decode("utf-8-sig", "replace"), ""


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
    place: DefinitionFolder
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
    place: DefinitionFolder,
    keys: Collection[str],
    problems: Problems,
    texts: Collection[str] = ("description",),
) -> Iterator[MarkdownFile]:
    """The files of a place in the order of their names; problems are added to `problems`.

    `keys` of the front matter are read as written, `texts` as YAML. Never raises for the content of the disk.
    """
    paths = list(islice(_paths(place.folder), MOST_FILES + 1))
    if len(paths) > MOST_FILES:
        problems.note(place.folder, f"holds more files than {MOST_FILES}; the others are not read")
    for path in paths[:MOST_FILES]:
        try:
            real = path.resolve(strict=True)
            if place.border is not None and not real.is_relative_to(place.border):
                problems.note(path, f"is left out: it leads to {real}, outside of the project")
                continue
            text, refusal = text_of(real, MOST_BYTES, "shorten it")
        except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
            problems.note(path, f"cannot be read: {getattr(error, 'strerror', None) or error}")
            continue
        if refusal:
            problems.note(path, refusal)
            continue
        has_head = text.removeprefix("\ufeff").startswith(FENCE)
        parts = front_matter(text, (*keys, *texts), keys) if has_head else FrontMatter({}, text.strip())
        yield MarkdownFile(path, path.relative_to(place.folder).with_suffix(""), place, parts)


def cost_claims(
    places: Collection[DefinitionFolder], keys: Collection[str] = ("model", "effort")
) -> tuple[CostClaim, ...]:
    """The models and efforts that the files of a project name, as far as they are among `keys`."""
    of_project = (place for place in places if place.origin is DefinitionOrigin.PROJECT)
    files = (file for place in of_project for file in markdown_files(place, keys, Problems(), ()))
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
