"""A memory is written, perhaps over an old one. One function is missing; TASK.md says what it has to do."""

from typing import Protocol


class Disk(Protocol):
    """The folder with the memories. The program can be killed before, after and in the middle of each change."""

    def names(self) -> list[str]:
        """The files: `tabs.md` is a memory, `forgotten/000007-tabs.md` what one was before, `….tmp` nothing yet."""

    def read(self, name: str) -> str:
        """What a file holds."""

    def write(self, name: str, text: str) -> None:
        """Piece by piece: a kill in the middle leaves the first part of the text."""

    def rename(self, old: str, new: str) -> None:
        """At one blow. A file that is called `new` already is replaced."""

    def remove(self, name: str) -> None:
        """For good."""


def forgotten(disk: Disk) -> list[str]:
    """The files with old texts, the oldest first."""
    return sorted(name for name in disk.names() if name.startswith("forgotten/") and name.endswith(".md"))


def number_of(file: str) -> int:
    """The number of a file with an old text: 7 for `forgotten/000007-tabs.md`."""
    return int(file.removeprefix("forgotten/").partition("-")[0])


def keep(disk: Disk, name: str, text: str, most: int) -> None:
    """Write the memory `name`. `most`, at least 1, is how many old texts are kept. Raises ValueError for no text."""
    # ── your part begins ─────────────────────────────────────────────
    if not text.strip():
        raise ValueError("A memory needs a text.")
    file = f"{name}.md"
    if file in disk.names():
        number = 1 + max(map(number_of, forgotten(disk)), default=0)
        _put(disk, f"forgotten/{number:06}-{file}", disk.read(file))
    _put(disk, file, text)
    for old in forgotten(disk)[:-most]:
        disk.remove(old)


def _put(disk: Disk, file: str, text: str) -> None:
    disk.write("half.tmp", text)
    disk.rename("half.tmp", file)
    # ── your part ends ───────────────────────────────────────────────
