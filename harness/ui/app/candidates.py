"""What the prompt can complete in a session: slash commands, their arguments, files."""

import asyncio
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from harness.base.concurrency import in_thread
from harness.session import Session
from harness.ui.app.completion import Candidate


class CommandInfo(Protocol):
    """The fields of a slash command that a candidate shows."""

    @property
    def name(self) -> str: ...

    @property
    def arguments(self) -> str: ...

    @property
    def help(self) -> str: ...


def command_candidates(commands: Iterable[CommandInfo], session: Session) -> tuple[Candidate, ...]:
    """A candidate per command; of several with one name the last. Those with arguments insert a space."""
    named = {command.name: command for command in commands}
    return tuple(_candidate(command, session) for command in named.values())


def _candidate(command: CommandInfo, session: Session) -> Candidate:
    name = f"/{command.name}"
    insert = f"{name} " if command.arguments else ""
    look_up = argument_finder(command.name, session)
    arguments = () if look_up is not None else tuple(map(Candidate, _arguments(command, session)))
    return Candidate(name, command.help, insert, arguments, look_up)


def _arguments(command: CommandInfo, session: Session) -> list[str]:
    if command.name == "model":
        return list(dict.fromkeys((session.models.current, session.settings.model, *session.settings.fallback_models)))
    words = re.findall(r"(?<=\|)\w+|\w+(?=\|)", command.arguments)
    tools = [tool.name for tool in session.tools] if "TOOL" in command.arguments else []
    return tools + [word for word in words if not word.isupper()]


Words = tuple[str, ...]
"""The words between the command and the word being typed."""


def argument_finder(command: str, session: Session) -> Callable[[Words], Sequence[Candidate]] | None:
    """A function that finds the arguments of a command; None for commands with fixed arguments."""
    find = _FINDERS.get(command)
    return None if find is None else lambda words: tuple(find(session, words))


def _kill(session: Session, words: Words) -> Iterator[Candidate]:
    if not words:
        yield from _agents(session, running_only=True)
        yield from _commands(session, running_only=True)


def _agents_command(session: Session, words: Words) -> Iterator[Candidate]:
    match words:
        case ():
            yield from _agents(session)
            yield Candidate("stop", "stop one", "stop ")
        case ("stop",):
            yield from _agents(session, running_only=True)


def _background(session: Session, words: Words) -> Iterator[Candidate]:
    match words:
        case ():
            yield from _commands(session)
            yield Candidate("keep", "keep one running after the program ends", "keep ")
        case ("keep",):
            yield from _commands(session, running_only=True)


def _fault(session: Session, words: Words) -> Iterable[Candidate]:
    return () if words else map(Candidate, (*session.faults.model_kinds, "off"))


def _toolfault(session: Session, words: Words) -> Iterable[Candidate]:
    match words:
        case ():
            return map(Candidate, (*session.faults.tools, "all", "off"))
        case (tool,) if tool != "off":
            return map(Candidate, session.faults.kinds_of(tool))
        case _:
            return ()


def _memory(session: Session, words: Words) -> Iterable[Candidate]:
    store = session.memory.store
    match words:
        case ():
            return map(Candidate, (*store.names(), "edit", "forget", "undo"))
        case ("edit" | "forget",):
            return map(Candidate, store.names())
        case ("undo",):
            return map(Candidate, reversed(store.forgotten()))
        case _:
            return ()


def _skill(session: Session, words: Words) -> Iterable[Candidate]:
    return () if words else (Candidate(skill.name, skill.description) for skill in session.skills.skills)


def _rewind(session: Session, words: Words) -> Iterator[Candidate]:
    match words:
        case ():
            for point in reversed(session.conversation.rewind_points):
                yield Candidate(str(point.turn), " ".join(point.prompt.split()))
            yield Candidate("undo", "undo the last rewind of files")
        case (turn,) if turn.isdigit():
            yield Candidate("files", "restore the files, too")


def _agents(session: Session, *, running_only: bool = False) -> Iterator[Candidate]:
    rows = sorted(session.subagents.rows, key=lambda row: row.state.value == "ended")
    return (Candidate(row.id, row.task) for row in rows if not running_only or row.state.value != "ended")


def _commands(session: Session, *, running_only: bool = False) -> Iterator[Candidate]:
    rows = sorted(session.background.commands.rows, key=lambda row: row.state.value not in ("waits", "runs"))
    return (Candidate(row.id, row.line) for row in rows if not running_only or row.state.value in ("waits", "runs"))


_FINDERS: Mapping[str, Callable[[Session, Words], Iterable[Candidate]]] = MappingProxyType(
    {
        "agents": _agents_command,
        "background": _background,
        "fault": _fault,
        "toolfault": _toolfault,
        "kill": _kill,
        "memory": _memory,
        "rewind": _rewind,
        "skill": _skill,
    }
)


KNOWN_FOR_S = 5.0
"""Seconds after which a call reads the files again."""


class WorkspaceFiles:
    """Paths of the workspace, cached. A call never blocks.

    When the cache is empty or old, the files are read in a thread; `on_change` is called if they differ.
    """

    def __init__(
        self,
        read: Callable[[], Sequence[str]],
        on_change: Callable[[], None],
        on_read: Callable[[int], None] = lambda count: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            read: returns the paths of the files relative to the workspace, with forward slashes.
            on_change: called when they differ.
            on_read: called with their number.
            clock: seconds.
        """
        self._read = read
        self._on_change = on_change
        self._on_read = on_read
        self._clock = clock
        self._known: Sequence[str] = ()
        self._read_at: float | None = None
        self._reading: asyncio.Task[None] | None = None

    def __call__(self) -> Sequence[str]:
        old = self._read_at is None or self._clock() - self._read_at >= KNOWN_FOR_S
        if old and self._reading is None:
            self._reading = asyncio.get_running_loop().create_task(self._refresh())
        return self._known

    async def _refresh(self) -> None:
        try:
            files = await in_thread(self._read)  # abandoned when the program exits
            known = await in_thread(lambda: with_folders(files))
            self._on_read(len(files))
        finally:
            self._read_at, self._reading = self._clock(), None
        if known != self._known:
            self._known = known
            self._on_change()


def with_folders(files: Sequence[str]) -> tuple[str, ...]:
    """The files and their folders, sorted, without names that a prompt cannot quote."""
    usable = [file for file in files if '"' not in file and "\n" not in file]
    folders = {file[: index + 1] for file in usable for index, character in enumerate(file) if character == "/"}
    return tuple(sorted(folders.union(usable)))
