"""What can follow a slash command as things stand: ids of what works, names of what is kept, turns to go back to."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from harness.session import FAULT_KINDS, TOOL_FAULT_KINDS, Session
from harness.ui.app.completion import Candidate

Words = tuple[str, ...]
"""Those that stand between the command and the word that is typed."""


def looked_up(command: str, session: Session) -> Callable[[Words], Sequence[Candidate]] | None:
    """What finds the arguments of a command when somebody types there; None where they are always the same."""
    find = _FINDERS.get(command)
    return None if find is None else lambda words: tuple(find(session, words))


def _kill(session: Session, words: Words) -> Iterator[Candidate]:
    if not words:
        yield from _agents(session, at_work=True)
        yield from _commands(session, at_work=True)


def _agents_command(session: Session, words: Words) -> Iterator[Candidate]:
    match words:
        case ():
            yield from _agents(session)
            yield Candidate("stop", "end one", "stop ")
        case ("stop",):
            yield from _agents(session, at_work=True)


def _background(session: Session, words: Words) -> Iterator[Candidate]:
    match words:
        case ():
            yield from _commands(session)
            yield Candidate("keep", "let one outlive the program", "keep ")
        case ("keep",):
            yield from _commands(session, at_work=True)


def _fault(session: Session, words: Words) -> Iterable[Candidate]:
    """A kind; the number behind it is none, and stays as it was typed."""
    return () if words else map(Candidate, (*FAULT_KINDS, "off"))


def _toolfault(session: Session, words: Words) -> Iterable[Candidate]:
    match words:
        case ():
            return map(Candidate, (*(tool.name for tool in session.tools), "all", "off"))
        case (tool,) if tool != "off":
            return map(Candidate, TOOL_FAULT_KINDS)
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
    return () if words else (Candidate(skill.name, skill.description) for skill in session.skills)


def _rewind(session: Session, words: Words) -> Iterator[Candidate]:
    match words:
        case ():
            for point in reversed(session.rewind_points):
                yield Candidate(str(point.turn), " ".join(point.prompt.split()))
            yield Candidate("undo", "let the files hold again what they held before they were taken back")
        case (turn,) if turn.isdigit():
            yield Candidate("files", "take the files back, too")


def _agents(session: Session, *, at_work: bool = False) -> Iterator[Candidate]:
    """Those at work first; `at_work`: no others."""
    rows = sorted(session.agents, key=lambda row: row.state.value == "ended")
    return (Candidate(row.id, row.task) for row in rows if not at_work or row.state.value != "ended")


def _commands(session: Session, *, at_work: bool = False) -> Iterator[Candidate]:
    """Those at work first; `at_work`: no others, and none that is not ours any more."""
    rows = sorted(session.background, key=lambda row: row.state.value not in ("waits", "runs"))
    return (Candidate(row.id, row.line) for row in rows if not at_work or row.state.value in ("waits", "runs"))


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
