"""Long pastes and files, folded to one placeholder each while the prompt is edited."""

import re
from collections.abc import Iterable
from pathlib import Path

from harness.base.regular_file import open_regular
from harness.media.formats import PDF, media_type, pdf_pages, size_of
from harness.media.mentions import mention

MOST_LINES = 8
"""A paste of more lines is folded."""
MOST_CHARACTERS = 2_000
"""A paste of more characters is folded."""

LOOKED_AT = 256 * 1024
"""Bytes of a file in which its size is looked for."""

_PLACEHOLDER = re.compile(r"\[(?:pasted [\d,]+ lines? #\d+|(?:image|PDF) \d+: [^\[\]\n]*)\]")
_NOT_IN_A_NAME = re.compile(r"[\[\]\x00-\x1f\x7f-\x9f]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def cleaned(text: str) -> str:
    """Text from outside as a prompt may hold it: one kind of line break, no control characters but tabs."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def files_at(paths: Iterable[str]) -> dict[str, str]:
    """The paths, where all of them lead to images and PDF files, and a few words about each; else nothing. Blocks."""
    found: dict[str, str] = {}
    for path in paths:
        about = None if '"' in path else about_file(path)
        if about is None:
            return {}
        found[path] = about
    return found


def about_file(path: str) -> str | None:
    """ "image", the name and the size of an image, or the same of a PDF; None for any other file. Blocks."""
    try:
        file = Path(path).expanduser()
        with open_regular(file) as opened:
            head = opened.read(LOOKED_AT)
    except (OSError, ValueError, RuntimeError):
        return None
    kind, name = media_type(head), _NOT_IN_A_NAME.sub("?", file.name)[-60:]
    if kind is None:
        return None
    if kind == PDF:
        pages = pdf_pages(head)
        return f"PDF {name}" + (f" {pages} page{'s' * (pages != 1)}" if pages else "")
    size = size_of(head)
    return f"image {name}" + (f" {size.width}×{size.height}" if size else "")


class Pastes:
    """The long pastes and the files of one prompt.

    The prompt shows a placeholder for each. Whoever deletes the placeholder deletes the paste; what looks like one
    and was typed by hand stays what it is.
    """

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}
        self._gone: dict[str, str] = {}
        self._number = 0

    def fold(self, text: str) -> str:
        """What the prompt shows for a paste: itself, or a placeholder where it is long.

        A paste that holds something like a placeholder is folded too, so that it comes out as it went in.
        """
        lines = text.count("\n") + 1
        if lines <= MOST_LINES and len(text) <= MOST_CHARACTERS and not _PLACEHOLDER.search(text):
            return text
        self._number += 1
        placeholder = f"[pasted {lines:,} line{'s' * (lines != 1)} #{self._number}]"
        self._kept[placeholder] = text
        return placeholder

    def fold_files(self, files: Iterable[tuple[str, str]]) -> str:
        """What the prompt shows for paths and what `about_file` tells of each. They are sent as mentions."""
        shown = []
        for path, about in files:
            self._number += 1
            kind, _, rest = about.partition(" ")
            placeholder = f"[{kind} {self._number}: {rest}]"
            self._kept[placeholder] = mention(path)
            shown.append(f"{placeholder} ")
        return "".join(shown)

    def before(self, text: str) -> int:
        """Length of the placeholder that `text` ends with; 0 where it ends with anything else."""
        return next((len(placeholder) for placeholder in self._kept if text.endswith(placeholder)), 0)

    def unfold(self, text: str) -> str:
        """The prompt with every paste in its place, each once."""
        waiting = dict(self._kept)
        return _PLACEHOLDER.sub(lambda found: waiting.pop(found[0], found[0]), text)

    def follow(self, text: str) -> None:
        """Take note of an edit: the paste of a placeholder that is no longer in `text` is deleted."""
        for placeholder in [placeholder for placeholder in self._kept if placeholder not in text]:
            self._gone[placeholder] = self._kept.pop(placeholder)

    def revive(self, text: str) -> None:
        """Take note that an earlier `text` came back, by undo or from the history, with the pastes it had."""
        for placeholder in [placeholder for placeholder in self._gone if placeholder in text]:
            self._kept[placeholder] = self._gone.pop(placeholder)

    def forget(self) -> None:
        """Begin a new prompt."""
        self._kept.clear()
        self._gone.clear()
        self._number = 0
