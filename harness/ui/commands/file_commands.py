"""Slash commands that files define, beside those of the program, whose names go first."""

from collections.abc import Collection, Iterable, Iterator

from harness.base.terminal_text import visible
from harness.session import CommandFile, Session
from harness.ui.lines.columns import Groups

TITLE = "From files"


def file_command(line: str, session: Session, taken: Collection[str]) -> tuple[CommandFile, str] | None:
    """The command of a file that a line names, and what is typed behind the name; None: it names none.

    `taken` are the names of the program's own commands.
    """
    if not line.startswith("/") or line.startswith("//"):
        return None
    name, *rest = line[1:].strip().split(maxsplit=1) or [""]
    command = None if name.lower() in taken else session.commands.get(name.lower())
    return None if command is None else (command, rest[0] if rest else "")


def file_command_names(session: Session) -> frozenset[str]:
    """The names of all of them."""
    return frozenset(command.name for command in session.commands.commands)


def help_of(commands: Iterable[CommandFile], taken: Collection[str]) -> Groups:
    """Their part of `/help`; none where there is none."""
    rows = tuple((f"/{one.name}", _line(one)) for one in commands if one.name not in taken)
    return ((TITLE, rows),) if rows else ()


def typed(command: CommandFile) -> str:
    """How one is typed, what it does and where it is from."""
    parts = [
        f"/{command.name} {command.hint}".rstrip(),
        f"  {command.description}",
        f"  {command.file}",
        *_also(command),
    ]
    return "\n".join(map(visible, parts))


def _line(command: CommandFile) -> str:
    return " ".join(visible(f"{command.description} ({command.origin})").split())


def _also(command: CommandFile) -> Iterator[str]:
    if command.model:
        yield f"  model: {command.model}"
    if command.tools is not None:
        yield f"  tools: {command.tools}"
    if command.shell:
        yield "  its !`…` are not run; the model is told so, and its own commands are asked about as always"
