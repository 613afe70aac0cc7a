"""The sessions on disk: where their files lie, their list, names and search, and the copy that a fork continues."""

import hashlib
import json
import os
import re
import secrets
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from harness.base.errors import JournalError, UnknownSession
from harness.base.files import open_regular, private_folder, replace_atomically
from harness.events import Json, MessageAdded, SessionStarted, TurnEnded, TurnStarted, name_of
from harness.journal.records import lines_backwards, object_of, time_of
from harness.journal.session_state import title_of
from harness.journal.writer import writer_of

NEAR_LINES = 100
"""Lines at either end of a file that are searched for the first prompt and the end of the last turn."""
LATEST = "latest"
WORKTREES = "worktrees"
"""In the state folder; in it are the worktrees of each workspace, under its name for a folder."""
OWN_FOLDERS = ("sessions", "logs", "boards", "schedules", "slots")
"""Folders of this program in the state folder."""


# ── folders and ids ─────────────────────────────────────────────────────────────────────────────


def workspace_slug(workspace: Path) -> str:
    """A folder name for a workspace: its last part, and a digest that distinguishes workspaces of the same name."""
    root = workspace.resolve()
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:8]
    name = re.sub(r"\W+", "-", os.fsencode(root.name).decode("utf-8", "replace"))[:40].strip("-")
    return f"{name or 'root'}-{digest}"


def state_folder(state_dir: Path | None = None) -> Path:
    """The folder of everything that outlives a run; `state_dir` replaces the platform's default."""
    if state_dir is None:
        from platformdirs import user_state_path

        state_dir = user_state_path("harness", appauthor=False)
    return state_dir


def close_to_others(state: Path, workspace: Path) -> None:
    """Make the state folder one that only its owner may enter, whatever the umask, also one that was open before.

    A folder that others work in as well, because it holds the workspace or is like /tmp, is left as it is; in it only
    what belongs to this program is closed. Never raises: writing to the folder reports its problems.
    """
    with suppress(OSError):
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        state.joinpath("sessions").mkdir(mode=0o700, exist_ok=True)
        if state.stat().st_mode & stat.S_ISVTX or workspace.is_relative_to(state.resolve()):
            pass
        elif state.stat().st_mode & 0o077:
            state.chmod(0o700)
        else:
            return  # nobody else can reach what is in it
        for name in OWN_FOLDERS:
            private_folder(state / name)


def session_folder(workspace: Path, state_dir: Path | None = None) -> Path:
    """The folder of a workspace's sessions, also for one of its worktrees; `state_dir` as in `state_folder`."""
    state = state_folder(state_dir)
    return state / "sessions" / (slug_of_tree(workspace, state) or workspace_slug(workspace))


def slug_of_tree(workspace: Path, state: Path) -> str:
    """The folder name of the workspace whose worktree this one is; empty: it is none in this state folder."""
    root, trees = workspace.resolve(), state.resolve() / WORKTREES
    return next(iter(root.relative_to(trees).parts), "") if root.is_relative_to(trees) else ""


def outputs_folder(path: Path) -> Path:
    """The folder of the long tool outputs of the session with the journal at `path`."""
    return path.with_name(path.stem + ".outputs")


def agents_folder(path: Path) -> Path:
    """The folder of the journals of the subagents of the session with the journal at `path`."""
    return path.with_name(path.stem + ".agents")


def new_session_id() -> str:
    """A fresh id that sorts by time (UTC): "20261121-0345-7f3a9c"."""
    return time.strftime("%Y%m%d-%H%M-", time.gmtime()) + secrets.token_hex(3)


# ── the list ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session in a list."""

    id: str
    path: Path
    title: str
    """The first prompt in one line; empty before the first turn."""
    workspace: str
    model: str
    """The model that the session began with."""
    started_at: float
    """Unix time."""
    updated_at: float
    """Unix time of the last event."""
    interrupted: bool
    """Whether the last turn did not end, and no process is running it."""
    size: int
    """Bytes."""
    name: str = ""
    """Given by the user."""


def sessions(folder: Path) -> tuple[SessionSummary, ...]:
    """The sessions in a folder, most recently used first.

    Reads only the first and last lines of each file; there is no separate index. A file that cannot be opened is
    listed with the reason as its title.
    """
    names = names_in(folder)
    found = [_summary(path, names.get(path.stem, "")) for path in folder.glob("*.jsonl")]
    return tuple(sorted(found, key=lambda summary: (summary.updated_at, summary.id), reverse=True))


def find(folder: Path, wanted: str) -> Path:
    """The journal of the session with this id or name, a unique beginning of one, or "latest".

    The latest is the most recently used session with a prompt. Names are compared without case. Raises UnknownSession
    with the nearest ids and names.
    """
    if wanted == LATEST:
        return _latest(sessions(folder))
    ids = sorted(path.stem for path in folder.glob("*.jsonl"))
    names = {id: name for id, name in names_in(folder).items() if id in ids}
    matches = _matches(wanted, ids, names)
    if len(matches) != 1:
        raise UnknownSession(_explanation(wanted, matches, (*ids, *names.values())))
    return folder / f"{matches[0]}.jsonl"


def _matches(wanted: str, ids: Sequence[str], names: Mapping[str, str]) -> Sequence[str]:
    """The ids that are meant: by a whole id, a whole name, or else the beginning of either."""
    start = wanted.casefold()
    return (
        [id for id in ids if id == wanted]
        or [id for id in names if names[id].casefold() == start]
        or [id for id in ids if start and (id.startswith(wanted) or names.get(id, "").casefold().startswith(start))]
    )


def _latest(listed: tuple[SessionSummary, ...]) -> Path:
    for summary in (*(one for one in listed if one.title), *listed):
        return summary.path
    raise UnknownSession("There is no session for this folder yet; start one with a prompt.")


def _explanation(wanted: str, matches: Sequence[str], known: Sequence[str]) -> str:
    if matches:
        shown = ", ".join(matches[:5]) + (", …" if len(matches) > 5 else "")
        return f"{len(matches)} sessions of this folder begin with {wanted!r}: {shown}; give more of the id."
    if near := get_close_matches(wanted, known, n=3, cutoff=0.5):
        return f"No session of this folder has the id or name {wanted!r}; the nearest: {', '.join(near)}."
    return f"No session of this folder has the id or name {wanted!r}; `harness sessions` lists them."


def search(listed: Iterable[SessionSummary], text: str) -> Iterator[tuple[SessionSummary, str]]:
    """The sessions with a text in their name, a prompt or an answer, each with the line of the first hit."""
    for summary in listed:
        if text.casefold() in summary.name.casefold():
            yield summary, summary.name
        elif (hit := first_hit(summary.path, text)) is not None:
            yield summary, hit


def _summary(path: Path, name: str) -> SessionSummary:
    try:
        status = path.stat()
        with open_regular(path) as file:
            head = _until({name_of(TurnStarted)}, _objects(file))
            tail = _until({name_of(TurnStarted), name_of(TurnEnded)}, _objects(lines_backwards(file)))
    except OSError as error:
        title = f"(cannot be read: {error.strerror})"
        return SessionSummary(path.stem, path, title, "", "", 0, 0, interrupted=False, size=0, name=name)
    started: Json = next((data for data in head if data.get("type") == name_of(SessionStarted)), {})
    prompt: Json = next((data for data in head if data.get("type") == name_of(TurnStarted)), {})
    ended = any(data.get("type") == name_of(TurnEnded) for data in tail)
    return SessionSummary(
        id=path.stem,
        path=path,
        title=title_of(str(prompt.get("prompt", ""))),
        workspace=str(started.get("workspace", "")),
        model=str(started.get("model", "")),
        started_at=next(_times(head), status.st_mtime),
        updated_at=next(_times(tail), status.st_mtime),
        interrupted=bool(prompt) and not ended and writer_of(path) is None,
        size=status.st_size,
        name=name,
    )


def _objects(lines: Iterable[bytes]) -> Iterator[Json]:
    for line in islice(lines, NEAR_LINES):
        if (data := _object_or_none(line)) is not None:
            yield data


def _object_or_none(line: bytes) -> Json | None:
    try:
        return object_of(line)
    except ValueError:
        return None


def _times(objects: Iterable[Json]) -> Iterator[float]:
    return (at for data in objects if (at := time_of(data)) is not None)


def _until(names: set[str], objects: Iterable[Json]) -> list[Json]:
    found: list[Json] = []
    for data in objects:
        found.append(data)
        if data.get("type") in names:
            break
    return found


# ── forks ───────────────────────────────────────────────────────────────────────────────────────


def fork(path: Path, folder: Path, new_id: str) -> Path:
    """Copy the journal at `path` as the beginning of a new session and return the path of the copy.

    The copy holds every whole line, including those of newer versions, and names the original in its
    `SessionStarted`. An unfinished last line is left out. The original may be in use. Raises JournalError.
    """
    copy = folder / f"{new_id}.jsonl"
    if copy.exists():
        raise JournalError(f"The session {new_id} already exists in {folder}; fork to another id.")
    unfinished = copy.with_suffix(".fork")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished.touch(mode=0o600)
        with unfinished.open("wb") as file:
            file.writelines(_copied(path, new_id))
        unfinished.replace(copy)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise JournalError(f"The session {path.stem} cannot be forked into {folder}: {error.strerror}.") from error
    return copy


def _copied(path: Path, new_id: str) -> Iterator[bytes]:
    renamed = False
    with open_regular(path) as file:
        for line in file:
            data = _object_or_none(line) if not renamed or not line.endswith(b"\n") else None
            if data is not None and not renamed and data.get("type") == name_of(SessionStarted):
                renamed = True
                data |= {"session_id": new_id, "forked_from": data.get("session_id")}
                yield json.dumps(data, separators=(",", ":")).encode("ascii") + b"\n"
            elif line.endswith(b"\n"):
                yield line
            elif data is not None:
                yield line + b"\n"


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
    """The first line of a prompt or an answer that contains a text, compared without case; None: in none.

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
    elif data.get("type") == name_of(MessageAdded) and data.get("origin") in ("reply", "steering"):
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
