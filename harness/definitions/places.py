"""Folders with files that define something: whose they are, and how one of their files is read."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.base.regular_file import NotRegularError, read_regular


class Origin(StrEnum):
    """Whose file it is."""

    PERSON = "person"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Place:
    """A folder with such files in it."""

    folder: Path
    origin: Origin
    border: Path | None = None
    """No link may lead out of this folder; None: the person may link to folders elsewhere."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a file."""

    file: Path
    text: str
    """A sentence without its full stop."""


def places(kind: str, workspace: Path, user_dir: Path | None = None, home_dir: Path | None = None) -> tuple[Place, ...]:
    """The folders for one kind of files ("commands"), from the weakest to the strongest.

    A project goes before the user, and a folder of this program before those of others.
    """
    root = workspace.resolve()
    found = [] if home_dir is None else [Place(home_dir / ".claude" / kind, Origin.PERSON)]
    found += [] if home_dir is None else [Place(home_dir / ".agents" / kind, Origin.PERSON)]
    found += [] if user_dir is None else [Place(user_dir / kind, Origin.PERSON)]
    found += [Place(root / name / kind, Origin.PROJECT, root) for name in (".claude", ".agents", ".harness")]
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
