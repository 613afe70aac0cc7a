"""The slash commands as a table. Nothing here knows what the screen looks like."""

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from harness.base.clock import time_of_day
from harness.base.terminal_text import counted, visible
from harness.events import OWN_EFFORT, BreakerCommand, Effort
from harness.session import Opening, Session, in_words, report_lines, table_lines
from harness.ui.commands.context import context
from harness.ui.commands.file_commands import file_command, file_command_names, help_of, typed
from harness.ui.commands.memory import memory
from harness.ui.commands.permissions import permissions
from harness.ui.commands.plan import plan
from harness.ui.commands.prompt import prompt
from harness.ui.commands.results import CommandError, GoOn, Leave, Play, Result, Say, ShowList
from harness.ui.commands.session_list import session_lines
from harness.ui.commands.skills import skill, skills
from harness.ui.commands.work import agents, background, kill
from harness.ui.lines.columns import Groups
from harness.ui.lines.events import cache_miss_line, dollars, priced
from harness.ui.lines.exit_codes import exits_in_words


@dataclass(frozen=True, slots=True)
class Command:
    """One slash command."""

    name: str
    arguments: str
    """As the help shows them."""
    help: str
    """One line."""
    run: Callable[[Session, str], Result]
    """Raises HarnessError, one sentence, when it cannot be done."""


def is_command(line: str, others: Collection[str] = ()) -> bool:
    """Whether a line is a command and not a prompt.

    A prompt may begin with a path: when the first word has another slash in it, or names a file and no command. `//`
    begins a prompt that begins with a slash. `others` are names of commands besides those of this module.
    """
    if not line.startswith("/") or line.startswith("//"):
        return False
    if (name := _name(line)) in COMMANDS or name in others:
        return True
    word = line.split(maxsplit=1)[0]
    return "/" not in word[1:] and (word == "/" or not os.path.exists(word))  # noqa: PTH110 (it never raises)


def _name(line: str) -> str:
    """The name of the command in a line."""
    name = line[1:].strip().partition(" ")[0].lower()
    return ALIASES.get(name, name)


def prompt_of(line: str) -> str:
    """The prompt in a line that is no command."""
    return line[1:] if line.startswith("//") else line


def run_command(line: str, session: Session) -> Result:
    """Do what the line says. Raises HarnessError, one sentence, for an unknown command or one that fails."""
    if (found := file_command(line, session, TAKEN)) is not None:
        return Play(session.run_command(*found))
    command = _known(line, file_command_names(session))
    argument = line[1:].strip().partition(" ")[2]
    if argument.strip() and not command.arguments:
        raise CommandError(f"/{command.name} takes nothing after it; type /{command.name} alone.")
    return command.run(session, argument.strip())


def _known(line: str, others: Collection[str] = ()) -> Command:
    """The command of a line. Raises CommandError with the nearest one, also of `others`."""
    command = COMMANDS.get(_name(line))
    if command is None:
        name = line[1:].strip().partition(" ")[0]
        near = get_close_matches(name.lower(), (*COMMANDS, *others), n=1, cutoff=0.4)
        hint = f"did you mean /{near[0]}?" if near else "/help lists them."
        raise CommandError(f"There is no command /{name}; {hint}")
    return command


def leaves(line: str) -> bool:
    """Whether a line is the command that ends the program."""
    return _name(line) == "exit"


def works_any_time(line: str, others: Collection[str] = ()) -> bool:
    """Whether the command in a line can be done while a turn runs; one that does not exist is told of at once.

    `others` are names of commands that begin a turn.
    """
    name = _name(line)
    return name in ANY_TIME if name in COMMANDS else name not in others


def _help(session: Session, argument: str) -> Result:
    if not argument:
        return ShowList((*help_groups(), *help_of(session.commands.commands, TAKEN)))
    line = f"/{argument.removeprefix('/')}"
    if (found := file_command(line, session, TAKEN)) is not None:
        return Say(typed(found[0]))
    command = _known(line, file_command_names(session))
    return Say(f"/{command.name} {command.arguments}".rstrip() + f"\n  {command.help}")


def help_groups() -> Groups:
    """The commands as `/help` shows them."""
    return tuple((title, tuple((f"/{one.name}", one.help) for one in group)) for title, group in _GROUPS)


def _clear(session: Session, argument: str) -> Result:
    session.clear()
    return Say("The conversation is forgotten; the journal keeps it.")


def _compact(session: Session, argument: str) -> Result:
    return Play(session.compact(argument))


def _retry(session: Session, argument: str) -> Result:
    return Play(session.retry())


def _model(session: Session, argument: str) -> Result:
    if not argument:
        fallbacks = ", ".join(session.settings.fallback_models)
        return Say(f"{session.model} answers" + (f"; when it is overloaded: {fallbacks}" if fallbacks else ""))
    if " " in argument:
        raise CommandError(f"{argument!r} is no model name; it has a space in it.")
    session.set_model(argument)
    return Say(f"{argument} answers from the next prompt on.")


def _effort(session: Session, argument: str) -> Result:
    names = tuple(Effort)
    if not argument:
        levels = ", ".join(names if session.efforts is None else session.efforts)
        takes = f"{session.model} takes {levels}" if levels else f"{session.model} takes no effort"
        return Say(f"effort: {session.effort or OWN}; {takes}")
    if argument not in (*names, OWN_EFFORT):
        raise CommandError(f"{argument!r} is no effort; type /effort {', '.join(names)} or {OWN_EFFORT}.")
    effort = None if argument == OWN_EFFORT else Effort(argument)
    if effort is session.effort:
        return Say(f"effort: {effort or OWN}, as it was")
    session.set_effort(effort)
    cache = "; the prompt cache begins again with it" if session.spend.requests else ""
    return Say(f"effort: {effort or OWN}, from the next prompt on{cache}")


OWN = "the model's own"
MODES: Mapping[str, str] = MappingProxyType(
    {
        "ask": "asks before writing or running",
        "edits": "writes files without asking, asks before running",
        "yolo": "everything allowed",
        "deny": "read only",
    }
)
"""What a permission mode means."""


def _mode(session: Session, argument: str) -> Result:
    mode = "deny" if argument == "read" else argument
    if argument and mode not in MODES:
        raise CommandError(f"{argument!r} is no permission mode; type /mode ask, edits, read or yolo.")
    if mode:
        session.set_permission_mode(mode)
    return Say(f"permissions: {MODES[session.permission_mode]}")


def _resume(session: Session, argument: str) -> Result:
    found = session.sessions()
    if not argument:
        return Say("\n".join((*session_lines(found), "Type /resume and a number or an id.")))
    id = argument
    if argument.isdigit() and len(argument) < 4:
        if not 1 <= int(argument) <= len(found):
            raise CommandError(f"There is no session number {argument}; /sessions lists {len(found)}.")
        id = found[int(argument) - 1].id
    if id == session.id:
        raise CommandError(f"{id} is the session you are in.")
    return GoOn(Opening(id), f"The session before: harness --resume {session.id}")


def _fork(session: Session, argument: str) -> Result:
    return GoOn(Opening(session.fork()), f"This is a copy; the original stays: harness --resume {session.id}")


def _export(session: Session, argument: str) -> Result:
    *names, last = argument.split() or [""]
    form: Literal["markdown", "json"] = "json" if last == "json" or last.endswith(".json") else "markdown"
    if last not in ("markdown", "json", ""):
        names.append(last)
    name = " ".join(names) or f"{session.id}.{'md' if form == 'markdown' else 'json'}"
    file = session.settings.workspace / Path(name).expanduser()
    if file.exists():
        raise CommandError(f"{file} exists already; name another file.")
    session.export(file, form)
    return Say(f"Written to {file}")


def _rewind(session: Session, argument: str) -> Result:
    points = session.rewind_points
    if not argument:
        lines = (f"  {point.turn:>3}  {_one_line(point.prompt)}" for point in points)
        how = "Type /rewind and the number of a turn to go back to before it" if points else "There is no way back."
        also = "; /rewind TURN files takes the files back, too." if points else ""
        return Say("\n".join((*lines, how + also)))
    if argument == "undo":
        return Play(session.undo_rewind())
    turn, _, what = argument.partition(" ")
    if not turn.isdigit():
        raise CommandError(f"{turn!r} is no number of a turn; /rewind lists them.")
    if what.strip() not in ("", "files"):
        raise CommandError(f"{what.strip()!r} cannot be taken back; type /rewind {turn} or /rewind {turn} files.")
    if what:
        return Play(session.rewind_with_files(int(turn)))
    prompt = session.rewind(int(turn))
    return Say(
        f"The model knows nothing from turn {turn} on any more; files are not taken back.\n"
        f"The prompt was: {visible(prompt)}"
    )


def _one_line(prompt: str, width: int = 100) -> str:
    line = " ".join(visible(prompt).split())
    return line if len(line) <= width else line[: width - 1] + "…"


_UNPRICED = '\n{} without a known price; give one as [prices."NAME"], with input and output, in your settings.toml'


def _cost(session: Session, argument: str) -> Result:
    spend = session.spend
    retries = f"; of it on failed and repeated requests: {dollars(spend.retry_cost_usd)}" if spend.cost_usd else ""
    tokens = f"{spend.usage.prompt:,} tokens in ({spend.usage.cache_read:,} from the cache), {spend.usage.output:,} out"
    if spend.usage.web_searches:
        tokens += f", {counted(spend.usage.web_searches, 'web search', 'web searches')}"
    unknown = _UNPRICED.format(counted(spend.unpriced, "request")) if spend.unpriced else ""
    cost = priced(spend.cost_usd, spend.unpriced)
    missed = f"\n{line}" if (line := cache_miss_line(session.cache_misses)) else ""
    return Say(f"{counted(spend.requests, 'request')}, {tokens}\n{cost}{retries}{unknown}{missed}")


def _status(session: Session, argument: str) -> Result:
    settings, (tokens, window) = session.settings, session.context
    facts: dict[str, object] = {
        "session": f"{session.id}, {counted(session.turn, 'turn')}",
        "model": f"{session.model} at {session.address}",
        "effort": session.effort or OWN,
        "folder": settings.workspace,
        "permissions": MODES[session.permission_mode],
        "context": f"about {tokens:,} of {window:,} tokens",
        "spent": priced(session.spend.cost_usd, session.spend.unpriced),
        "journal": session.path,
    }
    if session.exits.started:
        facts["processes"] = exits_in_words(session.exits)
    return Say("\n".join(f"  {name:<12} {value}" for name, value in facts.items()))


def _tools(session: Session, argument: str) -> Result:
    effects = {"read": "reads", "write": "writes", "run": "runs", "delegate": "asks"}
    lines = (
        f"  {tool.name:<12} {effects[tool.effect]:<7} {_first_sentence(tool.description)}" for tool in session.tools
    )
    return Say("\n".join(lines))


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.:]) ", " ".join(text.split()), maxsplit=1)[0]


def _breakers(session: Session, argument: str) -> Result:
    if argument:
        session.set_dispatch_limits(**_numbers(argument))
    limits, report = session.dispatch_limits, session.report
    numbers = (
        f"a breaker opens after {counted(limits.threshold, 'failure')} in a row; "
        f"its probe comes {counted(limits.probe_distance, 'step')} later (several together: {limits.cascade.value})"
    )
    return Say(
        "\n".join(
            (*table_lines(session.health, session.step, time_of_day), _used(report.consumed, report.budget), numbers)
        )
    )


def _numbers(text: str) -> dict[str, object]:
    """`threshold=4 cascade=confirm` as values."""
    found: dict[str, object] = {}
    for part in text.split():
        name, sign, value = part.partition("=")
        if not sign or not value:
            raise CommandError(f"{part!r} is not understood; type for example /breakers threshold=4 cascade=confirm.")
        found[name] = int(value) if value.removeprefix("-").isdigit() else value
    return found


def _budget(session: Session, argument: str) -> Result:
    if argument:
        if not argument.isdigit():
            raise CommandError(f"{argument!r} is no number of failures; type for example /budget 8.")
        session.set_dispatch_limits(budget=int(argument))
    report = session.report
    failures = (f"  step {entry.step}: {entry.tool}: {entry.failure.message}" for entry in report.log)
    return Say("\n".join((_used(report.consumed, report.budget), *failures)))


def _used(consumed: int, budget: int) -> str:
    return f"failure budget: {consumed} of {budget} used in this turn"


def _report(session: Session, argument: str) -> Result:
    return Say("\n".join(report_lines(session.report)))


def _loops(session: Session, argument: str) -> Result:
    if argument:
        session.set_escape(argument)
    return Say("\n".join(session.loop_lines))


def _fault(session: Session, argument: str) -> Result:
    return Say(session.break_model(argument))


def _toolfault(session: Session, argument: str) -> Result:
    return Say(session.break_tool(argument))


def _hooks(session: Session, argument: str) -> Result:
    none = "There are no hooks; [[hooks]] in your settings file runs a command at fixed points (docs/hooks.md)."
    return Say("\n".join(session.hook_lines) or none)


def _move(command: BreakerCommand, done: str) -> Callable[[Session, str], Result]:
    def run(session: Session, argument: str) -> Result:
        if not argument:
            raise CommandError(f"Which tool? Type /{command.value} and its name; /breakers lists them.")
        every = command is BreakerCommand.RESET and argument == "all"
        session.command_breaker(command, "" if every else argument)
        return Say(f"{'Every breaker' if every else argument} {done}.")

    return run


def _confirm(session: Session, argument: str) -> Result:
    session.command_breaker(BreakerCommand.CONFIRM)
    return Say("Confirmed: tools that failed together are tried again, one of them first.")


def _routes(session: Session, argument: str) -> Result:
    if not argument:
        raise CommandError("Which tool? Type /routes and its name; /tools lists them.")
    lines = (f"  {number}. {in_words(route)}" for number, route in enumerate(session.routes(argument), 1))
    return Say("\n".join((f"Without {argument}:", *lines)))


def _sessions(session: Session, argument: str) -> Result:
    return Say("\n".join(session_lines(session.sessions())))


def _exit(session: Session, argument: str) -> Result:
    return Leave()


_GROUPS: Sequence[tuple[str, Sequence[Command]]] = (
    (
        "Conversation",
        (
            Command("help", "[COMMAND]", "this list, or how one command is typed", _help),
            Command("clear", "", "forget the conversation and start over", _clear),
            Command("compact", "[focus]", "shorten the history; focus: what must stay", _compact),
            Command("rewind", "[TURN [files]|undo]", "go back before a turn, or undo that", _rewind),
            Command("retry", "", "go on from where the last turn stopped", _retry),
            Command("context", "", "what fills the model's window", context),
            Command("plan", "", "the model's plan, and how far it is", plan),
            Command("prompt", "[PART]", "what stands before the conversation", prompt),
            Command("cost", "", "tokens and money, and what retries cost", _cost),
        ),
    ),
    (
        "Sessions",
        (
            Command("status", "", "session, model, folder, journal", _status),
            Command("sessions", "", "list the sessions of this folder", _sessions),
            Command("resume", "[ID]", "go on with another session", _resume),
            Command("fork", "", "go on in a copy of this session", _fork),
            Command("export", "[FILE] [markdown|json]", "write the session to a file", _export),
            Command("exit", "", "leave; so does /quit", _exit),
        ),
    ),
    (
        "Model and permissions",
        (
            Command("model", "[NAME]", "show the model, or ask another from now on", _model),
            Command("effort", f"[{'|'.join(Effort)}|{OWN_EFFORT}]", "how much the model thinks", _effort),
            Command("mode", "[ask|edits|read|yolo]", "what may run without a question", _mode),
            Command("permissions", "[allow|ask|deny|remove RULE]", "rules: always, ask, never", permissions),
        ),
    ),
    (
        "What the model knows",
        (
            Command("skills", "[reload]", "which skills there are, and from where", skills),
            Command("skill", "NAME", "send a skill along with the next prompt", skill),
            Command("memory", "[NAME|edit NAME|forget NAME|undo NAME]", "what is remembered; change it", memory),
            Command("hooks", "", "your commands at fixed points", _hooks),
        ),
    ),
    (
        "Tools and failures",
        (
            Command("tools", "", "what the model may use", _tools),
            Command("breakers", "[name=value]", "breaker of each tool; or change the limits", _breakers),
            Command("budget", "[NUMBER]", "failures allowed in a turn, and used", _budget),
            Command("report", "", "what is done, what is not, and why", _report),
            Command("routes", "TOOL", "what can take the place of a tool", _routes),
            Command("loops", "[on|off|name=value]", "what repeats, and what is done about it", _loops),
            Command("trip", "TOOL", "open a breaker; probes come as usual", _move(BreakerCommand.TRIP, "is open")),
            Command("isolate", "TOOL", "switch a tool off", _move(BreakerCommand.ISOLATE, "is switched off")),
            Command(
                "release", "TOOL", "switch it on again", _move(BreakerCommand.RELEASE, "is tried at its next call")
            ),
            Command("reset", "TOOL|all", "close a breaker", _move(BreakerCommand.RESET, "is closed")),
            Command("confirm", "", "try tools again that failed together", _confirm),
        ),
    ),
    (
        "In the background",
        (
            Command("agents", "[ID|stop ID]", "subagents; look at one, or stop it", agents),
            Command("background", "[ID|keep ID]", "background commands; read or keep one", background),
            Command("kill", "ID", "end an agent or a background command", kill),
        ),
    ),
    (
        "For practice",
        (
            Command("fault", "[KIND [n] [after s]|off]", "break the practice model on purpose", _fault),
            Command("toolfault", "[TOOL KIND [n]|off]", "break a tool on purpose", _toolfault),
        ),
    ),
)
COMMANDS: Mapping[str, Command] = MappingProxyType({one.name: one for _, group in _GROUPS for one in group})
ALIASES: Mapping[str, str] = MappingProxyType({"quit": "exit"})
"""Names that other programs use, and the command that is meant."""

TAKEN = frozenset({*COMMANDS, *ALIASES, "theme", "copy", "panel", "keys"})
"""Names that no file can give to a command: those of this module, and of the screen."""

ANY_TIME = frozenset({"help", "cost", "context", "status", "tools", "sessions", "export", "mode", "exit"}) | frozenset(
    {"breakers", "budget", "report", "routes", "loops", "hooks", "trip", "isolate", "release", "reset", "confirm"}
    | {"agents", "background", "kill", "permissions"}
    | {"plan", "prompt", "skill", "skills", "memory"}
    | {"fault", "toolfault", "effort"}
)
"""Commands that can be done while a turn runs: they only look, or move breakers, and the next decision goes by that;
or they are about work beside the turn, or about the next one."""
