"""Placeholders for long pastes and files in the prompt."""

import re
from collections.abc import Iterable
from pathlib import Path

from harness.base.external_text import counted
from harness.base.files import open_regular
from harness.media.formats import PDF, media_type, pdf_pages, size_of
from harness.media.mentions import mention

MOST_LINES = 8
"""Longer pastes get a placeholder."""
MOST_CHARACTERS = 2_000
"""Longer pastes get a placeholder."""

LOOKED_AT = 256 * 1024
"""Bytes read to find the size of an image or PDF."""

_PASTED = "[pasted "
_PLACEHOLDER = re.compile(r"\[(?:pasted [\d,]+ lines? #\d+|(?:image|PDF) \d+: [^\[\]\n]*)\]")
_NOT_IN_A_NAME = re.compile(r"[\[\]\x00-\x1f\x7f-\x9f]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def cleaned(text: str) -> str:
    """Text with uniform line breaks and without control characters other than tabs."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def files_at(paths: Iterable[str]) -> dict[str, str]:
    """A description of each path if all are images or PDF files, else an empty dict. Blocks."""
    found: dict[str, str] = {}
    for path in paths:
        about = None if '"' in path else about_file(path)
        if about is None:
            return {}
        found[path] = about
    return found


def about_file(path: str) -> str | None:
    """Kind, name and size of an image or PDF file; None for other files. Blocks."""
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
        return f"PDF {name}" + (f" {counted(pages, 'page')}" if pages else "")
    size = size_of(head)
    return f"image {name}" + (f" {size.width}×{size.height}" if size else "")


class Pastes:
    """The pastes and files behind the placeholders of one prompt.

    Deleting a placeholder deletes its paste. Typed text that looks like a placeholder is left alone.
    """

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}
        self._gone: dict[str, str] = {}
        self._number = 0

    def fold(self, text: str) -> str:
        """A placeholder for a long paste, else the paste itself.

        A paste that contains a placeholder is folded, too, so that it comes out unchanged.
        """
        lines = text.count("\n") + 1
        if lines <= MOST_LINES and len(text) <= MOST_CHARACTERS and not _PLACEHOLDER.search(text):
            return text
        self._number += 1
        placeholder = f"[pasted {counted(lines, 'line')} #{self._number}]"
        self._kept[placeholder] = text
        return placeholder

    def fold_files(self, files: Iterable[tuple[str, str]]) -> str:
        """Placeholders for paths, given with their descriptions. They are sent as mentions."""
        shown = []
        for path, about in files:
            self._number += 1
            kind, _, rest = about.partition(" ")
            placeholder = f"[{kind} {self._number}: {rest}]"
            self._kept[placeholder] = mention(path)
            shown.append(f"{placeholder} ")
        return "".join(shown)

    def before(self, text: str) -> int:
        """Length of the placeholder at the end of `text`; 0 for none."""
        return next((len(placeholder) for placeholder in self._kept if text.endswith(placeholder)), 0)

    def unfold(self, text: str) -> str:
        """The text with each placeholder replaced by its paste, once; blanks set mentions of files off from words."""
        waiting = dict(self._kept)

        def unfolded(found: re.Match[str]) -> str:
            paste = waiting.pop(found[0], None)
            if paste is None or found[0].startswith(_PASTED):
                return found[0] if paste is None else paste
            before, behind = text[: found.start()][-1:], text[found.end() :][:1]
            return f"{' ' * bool(before.strip())}{paste}{' ' * bool(behind.strip())}"

        return _PLACEHOLDER.sub(unfolded, text)

    def follow(self, text: str) -> None:
        """Delete the pastes whose placeholders are no longer in `text`."""
        for placeholder in [placeholder for placeholder in self._kept if placeholder not in text]:
            self._gone[placeholder] = self._kept.pop(placeholder)

    def revive(self, text: str) -> None:
        """Restore deleted pastes whose placeholders are in `text` again, after undo or from the history."""
        for placeholder in [placeholder for placeholder in self._gone if placeholder in text]:
            self._kept[placeholder] = self._gone.pop(placeholder)

    def forget(self) -> None:
        """Start a new prompt."""
        self._kept.clear()
        self._gone.clear()
        self._number = 0
