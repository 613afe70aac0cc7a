"""The slash command about the members of a session."""

import shlex
from functools import partial
from io import StringIO

from harness import journal
from harness.base.concurrency import in_thread
from harness.base.errors import HarnessError
from harness.base.external_text import visible
from harness.policies.protocols.table import RequestMessage
from harness.session import Session
from harness.ui.commands.results import CommandError, CommandResult, ShowText, StartTask
from harness.ui.plain.printer import RecordedPrinter

NO_TEAM = "This session has no team; start with `--team`, or set team = true in the settings."
LOG_LINES = 60
"""Of the transcript of a member."""
USAGE = (
    "Type /team for the list, /team NAME for the transcript of one, /team say NAME TEXT (several names with commas, or "
    "all), /team answer ID agree (or decline WHY, or TEXT), /team claims on (or off), /team stop NAME (or all)."
)


def team(session: Session, argument: str) -> CommandResult:
    """List the members, show one, write to some, or end one."""
    if not session.background.has_team:
        return ShowText(NO_TEAM)
    match argument.split(maxsplit=2):
        case []:
            return ShowText(visible(session.background.team.listed()))
        case ["say", names, text]:
            return StartTask(session.background.team.say([name for name in names.split(",") if name], text))
        case ["claims", "on" | "off" as switch]:
            if (claims := session.background.team.claims) is None:
                raise CommandError("This session has no task board; start it with --board session.")
            claims.switch(on=switch == "on", why="the user said so")
            return ShowText(f"Idle members claim ready tasks of the board: {switch}.")
        case ["stop", "all"]:
            return StartTask(session.background.team.end_all("the user ended it"))
        case ["stop", name]:
            return StartTask(_ended(session, name))
        case ["answer", id, answer]:
            return StartTask(session.background.team.reply(id, *_meaning(answer)))
        case [name] if name not in ("say", "stop", "answer", "claims"):
            return StartTask(_transcript(session, name))
        case _:
            raise CommandError(USAGE)


def _meaning(answer: str) -> tuple[RequestMessage, str]:
    """What an answer to a request says, and its text."""
    first, _, rest = answer.partition(" ")
    said = {"agree": RequestMessage.AGREE, "decline": RequestMessage.DECLINE}.get(first.strip(":,"))
    return (RequestMessage.ANSWER, answer) if said is None else (said, rest)


async def _ended(session: Session, name: str) -> str:
    await session.background.team.end(name, "the user ended it")
    return f"{name} has ended; its history is kept."


async def _transcript(session: Session, name: str) -> str:
    """The end of what a member has done, and how to replay all of it."""
    if (row := session.background.team.named(name)) is None:
        raise HarnessError(f"There is no member {name}; /team lists them.")
    path = session.agents_folder / f"{row.agent}.jsonl"
    if not path.exists():
        raise HarnessError(f"{name} has no journal yet; /team shows how far it is.")
    records = (await in_thread(partial(journal.read, path))).records
    out = StringIO()
    printer = RecordedPrinter(out, colours=False)
    for record in records:
        printer.show(record.event)
    lines = out.getvalue().rstrip("\n").split("\n")
    cut = [f"… {len(lines) - LOG_LINES} lines before"] if len(lines) > LOG_LINES else []
    return "\n".join((*cut, *lines[-LOG_LINES:], f"replay: harness replay {shlex.quote(str(path))}"))
