"""The memories on the disk, in one folder for each place.

    memory/indentation.md                  a memory
    memory/forgotten/000012-indentation.md what it was before, or one that was forgotten

Every change is made under a lock by one session at a time, and every file is written aside and put in its place at
once. A replaced text is in `forgotten` before the new one is written, so no text is lost at any moment, even after a
kill. Reading needs no lock.
"""

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from harness.base.files import locked_file, replace_atomically
from harness.base.front_matter import one_line
from harness.base.secrets import Secret
from harness.memory.files import SUFFIX, file_of, memory_in
from harness.memory.memory import (
    LONGEST_DESCRIPTION,
    MOST_BYTES,
    MOST_FORGOTTEN,
    MOST_MEMORIES,
    USUAL_PLACE,
    Memory,
    MemoryDraft,
    MemoryOwner,
    MemoryProblem,
    MemoryType,
    StoreError,
    refusal,
    secret_in,
    slug,
)

FORGOTTEN = "forgotten"
_KEPT = re.compile(r"(\d{6,})-(.+)\.md")
_NO_YAML = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufffe\uffff]")
"""Characters that no YAML may hold."""


@dataclass(frozen=True, slots=True)
class StoredMemories:
    """The memories on disk."""

    memories: tuple[Memory, ...]
    """The user's first, then by name."""
    problems: tuple[MemoryProblem, ...]

    def named(self, name: str, place: MemoryOwner | None = None) -> tuple[Memory, ...]:
        """The memories of this name, one for each place that has it."""
        wanted = slug(name)
        return tuple(one for one in self.memories if one.name == wanted and place in (None, one.place))


class MemoryStore:
    """The memories of the user and of a project. Without folders there are none, and nothing can be stored."""

    def __init__(
        self,
        folders: Mapping[MemoryOwner, Path],
        *,
        session: str = "",
        now: Callable[[], float],
        secrets: Iterable[Secret | None] = (),
    ) -> None:
        """
        Args:
            folders: made when something is kept in one for the first time.
            session: id of the session that writes.
            now: Unix time in seconds.
            secrets: what this session knows and must never write down.
        """
        self.folders = folders
        self._session = session
        self._now = now
        self._secrets = tuple(secrets)

    def find(self) -> StoredMemories:
        """Read all of it. Never raises for the content of the disk."""
        problems: list[MemoryProblem] = []
        memories: list[Memory] = []
        for place, folder in self.folders.items():
            files = _files(folder, problems)
            if len(files) > MOST_MEMORIES:
                text = f"holds {len(files)} memories; only the first {MOST_MEMORIES} are read"
                problems.append(MemoryProblem(folder, text))
            read = (memory_in(file, place, problems) for file in files[:MOST_MEMORIES])
            memories.extend(memory for memory in read if memory is not None)
        return StoredMemories(tuple(memories), tuple(problems))

    def names(self) -> tuple[str, ...]:
        """Names under which there is a file, also one that cannot be read. No file is opened, so that this is quick."""
        files = (file for folder in self.folders.values() for file in _files(folder, []))
        names = (file.name.removesuffix(SUFFIX) for file in files)
        return tuple(dict.fromkeys(name for name in names if name == slug(name)))

    # ── changes ─────────────────────────────────────────────────────────────────────────────────

    def keep(self, draft: MemoryDraft, place: MemoryOwner) -> Memory:
        """Write a memory; one of that name in this place is kept in `forgotten`.

        Raises StoreError when it cannot be kept as it is, or not at all.
        """
        memory = self._made(draft, place)
        with self._writing(place) as folder:
            before = memory_in(memory.file, place, [])
            if before is not None:
                memory = replace(memory, created=min(before.created, memory.updated))
            if _there(memory.file):
                _keep_aside(memory.file)
            else:
                _require_room(folder, place)
            replace_atomically(memory.file, file_of(memory), private=True)
            _prune(folder)
        return memory

    def forget(self, name: str, place: MemoryOwner | None = None) -> MemoryOwner:
        """Move a memory to `forgotten`, and say where it was. Raises StoreError."""
        wanted, at = slug(name), self._place_of(name, place)
        with self._writing(at) as folder:
            file = folder / f"{wanted}{SUFFIX}"
            if not _there(file):
                raise StoreError(self.unknown(name))
            _require_file(file).rename(_next_kept(file))
            _prune(folder)
        return at

    def undo(self, name: str, place: MemoryOwner | None = None) -> MemoryOwner:
        """Bring back what a memory was before it was forgotten or written over last; what it is now is kept in turn.

        Says where it is. Raises StoreError.
        """
        wanted = slug(name)
        places = [one for one in self.folders if place in (None, one) and self._last_kept(one, wanted)]
        if not places:
            raise StoreError(f"Nothing is kept of a memory {name!r} that was forgotten or written over.")
        if len(places) > 1:
            raise StoreError(_ambiguous(wanted))
        [at] = places
        with self._writing(at) as folder:
            kept, file = self._last_kept(at, wanted), folder / f"{wanted}{SUFFIX}"
            if kept is None:
                raise StoreError(f"Another session has just brought {wanted} back.")
            if _there(file):
                _keep_aside(file)
            else:
                _require_room(folder, at)
            kept.replace(file)
            _prune(folder)
        return at

    # ── questions ───────────────────────────────────────────────────────────────────────────────

    def unknown(self, name: str) -> str:
        """The sentence that says that there is no such memory, and which there are."""
        names = list(dict.fromkeys(memory.name for memory in self.find().memories))
        near = get_close_matches(slug(name), names, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names[:20]) or 'none'}."
        return f"There is no memory {one_line(name)[:80]!r}; {hint}"

    def forgotten(self) -> tuple[str, ...]:
        """Names that `undo` can bring back, the one that went last at the end."""
        kept = (one for folder in self.folders.values() for one in sorted(_kept(folder)))
        return tuple(reversed(dict.fromkeys(name for _, name, _ in reversed(tuple(kept)))))

    def file_to_edit(self, name: str, place: MemoryOwner | None = None) -> Path:
        """Where a memory lies, also one that cannot be read. Raises StoreError."""
        return self.folders[self._place_of(name, place)] / f"{slug(name)}{SUFFIX}"

    def usual_place(self, kind: MemoryType) -> MemoryOwner:
        """Where a memory of this type is kept by default."""
        return USUAL_PLACE[kind] if USUAL_PLACE[kind] in self.folders else next(iter(self.folders))

    def _made(self, draft: MemoryDraft, place: MemoryOwner) -> Memory:
        name = slug(draft.name)
        if reason := refusal(name):
            raise StoreError(reason)
        if place not in self.folders:
            raise StoreError(f"Memories of the {place} are not kept here; use place = {' or '.join(self.folders)}.")
        description = one_line(_NO_YAML.sub("", draft.description))
        text = "\n".join(draft.text.replace("\0", "").splitlines()).strip()
        if not description or not text:
            raise StoreError("A memory needs a description and a text.")
        if len(description) > LONGEST_DESCRIPTION:
            raise StoreError(f"The description has {len(description)} characters; the limit is {LONGEST_DESCRIPTION}.")
        if secret := secret_in(f"{draft.name}\n{draft.description}\n{text}", self._secrets):
            raise StoreError(f"It seems to hold {secret}, which is not written down. Say where it is kept instead.")
        at = float(int(self._now()))
        file = self.folders[place] / f"{name}{SUFFIX}"
        made = Memory(
            name, description, draft.type, text, place, file, 0, created=at, updated=at, session=self._session
        )
        size = len(file_of(made))
        if size > MOST_BYTES:
            raise StoreError(
                f"The memory has {size:,} bytes with its front matter; the limit is {MOST_BYTES:,}. Shorten the text."
            )
        return replace(made, size=size)

    def _place_of(self, name: str, place: MemoryOwner | None) -> MemoryOwner:
        wanted = slug(name)
        places = [
            one
            for one, folder in self.folders.items()
            if place in (None, one) and wanted and _there(folder / f"{wanted}{SUFFIX}")
        ]
        if not places:
            raise StoreError(self.unknown(name))
        if len(places) > 1:
            raise StoreError(_ambiguous(wanted))
        return places[0]

    def _last_kept(self, place: MemoryOwner, name: str) -> Path | None:
        return next((file for _, kept, file in sorted(_kept(self.folders[place]), reverse=True) if kept == name), None)

    @contextmanager
    def _writing(self, place: MemoryOwner) -> Iterator[Path]:
        """Be the one that changes this place. Raises StoreError, also for what the disk refuses inside the block."""
        folder = self.folders[place]
        with locked_file(folder, StoreError, if_held="; try again"):
            (folder / FORGOTTEN).mkdir(mode=0o700, parents=True, exist_ok=True)
            for left in (*folder.glob(".*.tmp"), *(folder / FORGOTTEN).glob(".*.tmp")):
                left.unlink(missing_ok=True)  # of a session that was killed: nobody else writes now
            yield folder


def _files(folder: Path, problems: list[MemoryProblem]) -> list[Path]:
    """What could be memories, by name."""
    try:
        return sorted(one for one in folder.iterdir() if one.name.endswith(SUFFIX) and one.name[0] != ".")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        problems.append(MemoryProblem(folder, f"cannot be read: {error.strerror or error}"))
        return []


def _kept(folder: Path) -> Iterator[tuple[int, str, Path]]:
    """Number, name and file of forgotten or replaced memories."""
    for file in _files(folder / FORGOTTEN, []):
        if match := _KEPT.fullmatch(file.name):
            yield int(match[1]), match[2], file


def _next_kept(file: Path) -> Path:
    """The file in `forgotten` for what this one holds now."""
    number = 1 + max((number for number, _, _ in _kept(file.parent)), default=0)
    return file.parent / FORGOTTEN / f"{number:06}-{file.name}"


def _keep_aside(file: Path) -> None:
    """Keep the text that is about to be replaced. A memory stays where it is meanwhile; what cannot be one is moved."""
    status = _require_file(file).lstat()
    if stat.S_ISREG(status.st_mode) and status.st_size <= MOST_BYTES:
        replace_atomically(_next_kept(file), file.read_bytes(), private=True)
    else:
        file.rename(_next_kept(file))


def _prune(folder: Path) -> None:
    """Remove the oldest of the kept texts."""
    for _, _, file in sorted(_kept(folder))[:-MOST_FORGOTTEN]:
        file.unlink(missing_ok=True)


def _require_room(folder: Path, place: MemoryOwner) -> None:
    if len(_files(folder, [])) >= MOST_MEMORIES:
        raise StoreError(f"There are {MOST_MEMORIES} memories of the {place} already; forget one that is not needed.")


def _require_file(file: Path) -> Path:
    if file.is_dir() and not file.is_symlink():
        raise StoreError(f"{file} is a folder; move it away.")
    return file


def _there(file: Path) -> bool:
    return os.path.lexists(file)


def _ambiguous(name: str) -> str:
    return f"There are two memories {name}, one of the user and one of the project; say which."
