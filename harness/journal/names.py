"""Names that users give to sessions, each in a file beside the journal, and the search through the journals."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from harness.base.errors import JournalError
from harness.base.files import open_regular, replace_atomically
from harness.events import Json, MessageAdded, TurnStarted, name_of
from harness.journal.records import object_of

LONGEST_NAME = 80
"""Characters."""
SUFFIX = ".name"
LONGEST_HIT = 100
"""Characters of the text around a hit."""


def names_in(folder: Path) -> Mapping[str, str]:
    """The names of the sessions in a folder, by id. One that cannot be read is left out."""
    return {path.stem: name for path in folder.glob(f"*{SUFFIX}") if (name := name_of_session(path))}


def name_of_session(path: Path) -> str:
    """The name of the session with the journal at `path`; empty: it has none."""
    try:
        with open_regular(path.with_suffix(SUFFIX)) as file:
            return _one_line(file.read(4 * LONGEST_NAME).decode("utf-8", "replace"))
    except OSError:
        return ""


def rename(path: Path, name: str) -> str:
    """Name the session with the journal at `path`; returns the name as kept, in one line. Raises JournalError."""
    kept = _one_line(name)
    if not kept:
        raise JournalError("A name needs at least one character.")
    try:
        replace_atomically(path.with_suffix(SUFFIX), f"{kept}\n".encode(), private=True)
    except OSError as error:
        raise JournalError(f"The session cannot be named: {error.strerror}.") from error
    return kept


def _one_line(name: str) -> str:
    return " ".join(name.split())[:LONGEST_NAME].rstrip()


# ── search ──────────────────────────────────────────────────────────────────────────────────────


def first_hit(path: Path, text: str) -> str | None:
    """The line of a prompt or an answer in which a text occurs first, whatever its case; None: in none.

    A journal that cannot be read has no hit.
    """
    needle = text.casefold()
    # Journals are ASCII. Of other characters only the escaped form is there, whose case is a different number.
    quick = json.dumps(text)[1:-1].lower().encode() if text.isascii() else b""
    try:
        with open_regular(path) as file:
            for line in file:
                if quick in line.lower():
                    for said in _said(line):
                        if needle in said.casefold():
                            return _around(said, needle)
    except OSError:
        return None
    return None


def _said(line: bytes) -> Iterator[str]:
    """The prompts and answers in a line of a journal."""
    try:
        data = object_of(line)
    except ValueError:
        return
    if data.get("type") == name_of(TurnStarted):
        yield str(data.get("prompt", ""))
    elif data.get("type") == name_of(MessageAdded) and data.get("origin") == "reply":
        yield from _texts(data.get("message"))


def _texts(message: object) -> Iterator[str]:
    content = message.get("content") if isinstance(message, dict) else None
    blocks: Iterable[object] = content if isinstance(content, list) else ()
    found: Iterable[Json] = (block for block in blocks if isinstance(block, dict))
    yield from (str(block.get("text", "")) for block in found if block.get("type") == "text")


def _around(said: str, needle: str) -> str:
    """The line with the hit, cut around it."""
    line = next((line for line in said.splitlines() if needle in line.casefold()), said)
    line = " ".join(line.split())
    start = max(0, line.casefold().find(needle) - LONGEST_HIT // 3)
    cut = line[start : start + LONGEST_HIT]
    return f"{'…' * bool(start)}{cut}{'…' * (start + LONGEST_HIT < len(line))}"
