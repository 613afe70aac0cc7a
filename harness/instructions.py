"""Instruction files: what people wrote down about how work is to be done (facts/lessons.md, s10).

AGENTS.md of the person stands beside their settings; those of a project stand in the workspace and in the folders
above it, up to the root of the git repository. They are read once, when a session begins, so that the system prompt
keeps its bytes (api R25). What they say is text for the model: no setting and no permission is ever read from them.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.model.instruction_texts import Instructions
from harness.regular_file import open_regular
from harness.settings import Settings

NAME = "AGENTS.md"
MOST_CHARACTERS = 32_000
"""Of all files together, about 8,000 tokens. The person's file comes first, then the folder nearest to the work."""
MOST_BYTES = 4 * MOST_CHARACTERS
"""Read of one file, whatever its size."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a file may be."""

    folder: Path
    border: Path | None
    """The folder that a link must not leave; None: the person may link where they like."""


def read_instructions(settings: Settings, tell: Callable[[str], None]) -> tuple[Instructions, ...]:
    """The instruction files, the person's first, then from the root of the repository down to the workspace.

    `tell` hears, in a sentence each, of files that were cut or left out. Nothing is read where the setting is off.
    """
    if not settings.instructions:
        return ()
    room, found = MOST_CHARACTERS, []
    for place in _places(settings):
        file = place.folder / NAME
        text = _text(file, place.border, tell)
        if not text:
            continue
        kept = _within(text, room)
        if kept != text:
            tell(f"{file} is cut: instructions of more than {MOST_CHARACTERS:,} characters are not sent.")
        room -= len(kept)
        if kept:
            found.append(Instructions(str(file), kept, of_the_person=place.border is None))
    found.sort(key=lambda one: (not one.of_the_person, len(Path(one.path).parts)))
    return tuple(found)


def project_folders(workspace: Path) -> tuple[Path, ...]:
    """The workspace and the folders above it up to the root of the repository; the workspace alone outside of one."""
    above = (workspace, *workspace.parents)
    for number, folder in enumerate(above, 1):
        with suppress(OSError):
            if (folder / ".git").exists():
                return above[:number]
    return above[:1]


def _places(settings: Settings) -> Iterator[_Place]:
    if settings.user_dir is not None:
        yield _Place(settings.user_dir, None)
    folders = project_folders(settings.workspace.resolve())
    for folder in folders:
        if settings.user_dir is None or folder != settings.user_dir.resolve():
            yield _Place(folder, folders[-1])


def _text(file: Path, border: Path | None, tell: Callable[[str], None]) -> str:
    """What the file says; "" where there is none, or none that can be used."""
    try:
        real = file.resolve(strict=True)
        if border is not None and not real.is_relative_to(border):
            tell(f"{file} is left out: it leads to {real}, outside of the project.")
            return ""
        with open_regular(real) as opened:
            data = opened.read(MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        tell(f"{file} is left out: {getattr(error, 'strerror', None) or 'it cannot be read'}.")
        return ""
    if b"\0" in data:
        tell(f"{file} is left out: it is no text in UTF-8.")
        return ""
    return data.decode("utf-8-sig", "replace").strip()


def _within(text: str, room: int) -> str:
    """The whole lines of a text that have room; of a single long line what fits."""
    if len(text) <= room:
        return text
    return text[: text.rfind("\n", 0, room) + 1].rstrip() or text[:room].rstrip()
