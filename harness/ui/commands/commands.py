"""The slash commands: one table from name to function, with its help. Knows nothing of the screen."""

import os
import re
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from harness.base.external_text import visible
from harness.events import OWN_EFFORT, BreakerCommand, Effort, Event
from harness.session import CommandFile, Session, Skill
from harness.ui.commands import repository_commands, session_commands, tool_commands, worktree_commands
from harness.ui.commands.background_commands import agents, background, cron, fleet, kill, tasks
from harness.ui.commands.context_commands import checklist, context, hooks, memory, prompt, skill, skills
from harness.ui.commands.results import CommandError, CommandResult, PlayEvents, ShowList, ShowText
from harness.ui.commands.suggestions import suggestion
from harness.ui.commands.team_commands import team
from harness.ui.lines.line import Groups

_NAME = re.compile(r"/(\?|[^\W\d][\w:.-]*)")
_TURNS = frozenset({"review", "init"})
"""Commands that are a turn of the model and so need no conversation."""


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A slash command of the program."""

    name: str
    arguments: str
    """As the help shows them; empty: the command takes none."""
    help: str
    """One line."""
    run: Callable[[Session, str], CommandResult]
    """Raises HarnessError with one sentence."""
    waits: bool = False
    """Runs only between turns. The others read, affect the next decision or prompt, or concern background work."""


@dataclass(frozen=True, slots=True)
class FileCommand:
    """A slash command that a file defines."""

    name: str
    arguments: str
    help: str


def is_command(line: str, others: Collection[str] = ()) -> bool:
    """Whether a line is a command and not a prompt.

    A line that starts with a path is a prompt: its first word contains another slash, or names a file and no command.
    So is one whose first word could be no name, such as `/*`. `//` starts a prompt with a slash. `others` are names of
    further commands.
    """
    if not line.startswith("/") or line.startswith("//"):
        return False
    if (name := _name(line)) in COMMANDS or name in others:
        return True
    word = line.split(maxsplit=1)[0]
    return word == "/" or (_NAME.fullmatch(word) is not None and not os.path.exists(word))  # noqa: PTH110 (never raises)


def prompt_of(line: str) -> str:
    """The prompt in a line that is not a command."""
    return line[1:] if line.startswith("//") else line


def run_command(line: str, session: Session) -> CommandResult:
    """Run the command in a line. Raises HarnessError with one sentence if it is unknown or fails."""
    if (events := defined_turn(line, session)) is not None:
        return PlayEvents(events)
    command = _known(line, file_command_names(session))
    argument = line[1:].strip()[len(_word(line)) :].strip()
    if argument and not command.arguments:
        raise CommandError(f"/{command.name} takes no arguments; type /{command.name} alone.")
    return command.run(session, argument)


def turn_alone(line: str, session: Session, added: str = "") -> AsyncGenerator[Event, None]:
    """The turn of a prompt, or of a command that needs no conversation. Raises CommandError for any other command.

    `added` follows a prompt and the arguments of a command that a file defines.
    """
    whole = f"{line}\n\n{added}" if added else line
    if not is_command(line, file_command_names(session)):
        return session.run(prompt_of(whole))
    if (events := defined_turn(whole, session)) is not None:
        return events
    if (name := _known(line, file_command_names(session)).name) not in _TURNS:
        raise CommandError(f"/{name} works in a conversation only; start `harness` without -p.")
    if "\n" in line.strip():
        raise CommandError(f"/{name} takes no text from standard input; add `< /dev/null`.")
    result = run_command(line, session)
    assert isinstance(result, PlayEvents)
    return result.events


def quits(line: str) -> bool:
    """Whether a line is the command that ends the program."""
    return _name(line) == "exit"


def works_any_time(line: str, others: Collection[str] = ()) -> bool:
    """Whether a command runs at once while a turn is running; an unknown one is reported at once.

    `others` are names of commands that start a turn.
    """
    command = COMMANDS.get(_name(line))
    if command is None:
        return _name(line) not in others and not _of_server(_name(line))
    return not command.waits


def _name(line: str) -> str:
    name = _word(line).lower()
    return ALIASES.get(name, name)


def _word(line: str) -> str:
    return next(iter(line[1:].split(maxsplit=1)), "")


def _known(line: str, others: Collection[str]) -> SlashCommand:
    command = COMMANDS.get(_name(line))
    if command is None:
        name = _word(line)
        if name.lower() in OF_THE_SCREEN:
            raise CommandError(f"/{name} needs the screen; start `harness` without --plain.")
        meant = suggestion(name.lower(), {*COMMANDS, *OF_THE_SCREEN, *others})
        does = f" ({COMMANDS[meant].help})" if meant in COMMANDS else ""
        raise CommandError(
            f"Unknown command /{name}; {f'did you mean /{meant}?{does}' if meant else '/help lists them.'}"
        )
    return command


# ── commands defined by files ───────────────────────────────────────────────────────────────────


def defined_command(line: str, session: Session) -> tuple[CommandFile | Skill, str] | None:
    """The command file or skill that a line calls, with its arguments; None if it calls none."""
    if not line.startswith("/") or line.startswith("//"):
        return None
    name, *rest = line[1:].strip().split(maxsplit=1) or [""]
    if not name or name.lower() in TAKEN:
        return None
    command = session.commands.get(name.lower()) or session.skills.called(name)
    return None if command is None else (command, rest[0] if rest else "")


def defined_turn(line: str, session: Session) -> AsyncGenerator[Event, None] | None:
    """The turn that such a line asks for."""
    match defined_command(line, session):
        case (CommandFile() as command, arguments):
            return session.run_command(command, arguments)
        case (Skill() as skill, arguments):
            return session.run_skill(skill, arguments)
        case _ if _of_server(_name(line)) and not line.startswith("//"):
            return session.run_server_prompt(_name(line), line[1:].strip()[len(_word(line)) :].strip())
        case _:
            return None


def _of_server(name: str) -> bool:
    """A prompt of an MCP server, by its name; the server may not have said yet that it has it."""
    return name.startswith("mcp__")


def file_command_names(session: Session) -> frozenset[str]:
    """Names of all command files and skills."""
    return frozenset(info.name for info in file_commands(session))


def file_commands(session: Session) -> tuple[FileCommand, ...]:
    """The command files, the skills and the prompts of MCP servers without those that something else hides."""
    found = {
        skill.name.lower(): FileCommand(
            skill.name.lower(), "[ARGUMENTS]", f"{skill.description} ({skill.origin} skill)"
        )
        for skill in session.skills.skills
    }
    for name, of_server in session.server_prompts.items():
        found[name] = FileCommand(name, of_server.hint, f"{of_server.description} (MCP server)")
    for one in session.commands.commands:
        found[one.name] = FileCommand(one.name, one.hint, f"{one.description} ({one.origin})")
    return tuple(found[name] for name in sorted(found) if name not in TAKEN)


def all_commands(session: Session) -> tuple[SlashCommand | FileCommand, ...]:
    """The commands of the program, then those of `file_commands`."""
    return (*COMMANDS.values(), *file_commands(session))


def file_command_help(session: Session) -> Groups:
    """They as groups of `/help`; no group if there are none."""
    found: dict[str, list[tuple[str, str]]] = {}
    for one in file_commands(session):
        title = "From MCP servers" if _of_server(one.name) else "From files"
        found.setdefault(title, []).append((f"/{one.name}", " ".join(visible(one.help).split())))
    return tuple((title, tuple(rows)) for title, rows in sorted(found.items()))


def _usage_of_file(command: CommandFile | Skill) -> str:
    if isinstance(command, Skill):
        return visible(f"/{command.name} [ARGUMENTS]\n  {command.description}\n  {command.folder}")
    lines = [f"/{command.name} {command.hint}".rstrip(), f"  {command.description}", f"  {command.file}"]
    if command.model:
        lines.append(f"  model: {command.model}")
    if command.tools is not None:
        lines.append(f"  tools: {command.tools}")
    if command.shell:
        lines.append("  !`…` is not expanded; the model can run the command itself, with the usual permission")
    return "\n".join(map(visible, lines))


# ── help ────────────────────────────────────────────────────────────────────────────────────────


def _help(session: Session, argument: str) -> CommandResult:
    if not argument:
        return ShowList((*help_groups(), *file_command_help(session)))
    line = f"/{argument.removeprefix('/')}"
    if (found := defined_command(line, session)) is not None:
        return ShowText(_usage_of_file(found[0]))
    if (of_server := session.server_prompts.get(_name(line))) is not None:
        return ShowText(visible(f"/{_name(line)} {of_server.hint}\n  {of_server.description}"))
    command = _known(line, file_command_names(session))
    return ShowText(f"/{command.name} {command.arguments}".rstrip() + f"\n  {command.help}")


def help_groups() -> Groups:
    """The commands as `/help` lists them."""
    return tuple((title, tuple((f"/{one.name}", one.help) for one in group)) for title, group in _GROUPS)


_move = tool_commands.breaker_command
_GROUPS: Sequence[tuple[str, Sequence[SlashCommand]]] = (
    (
        "Conversation",
        (
            SlashCommand("help", "[COMMAND]", "list the commands, or describe one", _help),
            SlashCommand("clear", "", "forget the conversation and start over", session_commands.clear, waits=True),
            SlashCommand(
                "compact", "[focus]", "shorten the history; focus: what to keep", session_commands.compact, waits=True
            ),
            SlashCommand(
                "rewind",
                "[TURN [files]|undo]",
                "go back to before a turn, or undo that",
                session_commands.rewind,
                waits=True,
            ),
            SlashCommand(
                "undo", "", "go back to before the last prompt, with the files", session_commands.undo, waits=True
            ),
            SlashCommand("retry", "", "continue where the last turn stopped", session_commands.retry, waits=True),
            SlashCommand("queue", "[clear]", "list the queued prompts, or remove them", session_commands.queue),
            SlashCommand(
                "copy", "[code|N]", "send the last answer or a code block to the clipboard", session_commands.copy
            ),
            SlashCommand("context", "", "show how the context window is used", context),
            SlashCommand("checklist", "", "show the model's checklist and its progress; also /todos", checklist),
            SlashCommand("prompt", "[PART]", "show the system prompt", prompt),
            SlashCommand("cost", "", "tokens and money, and the cost of retries; also /usage", session_commands.cost),
        ),
    ),
    (
        "Code",
        (
            SlashCommand("diff", "[PAGE|PATH]", "what is staged, unstaged and untracked", repository_commands.diff),
            SlashCommand(
                "review",
                "[BASE]",
                "let the model review the changes since a branch",
                repository_commands.review,
                waits=True,
            ),
            SlashCommand("add-dir", "[DIR]", "let tools use a further folder", repository_commands.add_dir, waits=True),
            SlashCommand(
                "worktree",
                "[list|diff NAME|merge [NAME …]|keep NAME|remove NAME]",
                "worktrees of this repository: list, compare, merge, keep, remove",
                worktree_commands.worktree,
                waits=True,
            ),
            SlashCommand("init", "", "let the model write AGENTS.md; asks first", repository_commands.init, waits=True),
        ),
    ),
    (
        "Sessions",
        (
            SlashCommand("status", "", "session, model, folder, what runs, what wakes it", session_commands.status),
            SlashCommand("config", "", "settings that differ from their defaults", session_commands.config),
            SlashCommand("doctor", "[--online]", "check settings, key, address and tools", session_commands.doctor),
            SlashCommand("sessions", "[TEXT]", "list the sessions, or find a text in them", session_commands.sessions),
            SlashCommand("resume", "[ID]", "resume a session, by id or name", session_commands.resume, waits=True),
            SlashCommand("rename", "[NAME]", "give this session a name", session_commands.rename),
            SlashCommand("fork", "", "continue in a copy of this session", session_commands.fork, waits=True),
            SlashCommand("export", "[FILE] [markdown|json]", "write the session to a file", session_commands.export),
            SlashCommand("exit", "", "quit; /quit also works", session_commands.exit),
        ),
    ),
    (
        "Model and permissions",
        (
            SlashCommand("model", "[NAME]", "show or change the model", session_commands.model),
            SlashCommand(
                "effort", f"[{'|'.join(Effort)}|{OWN_EFFORT}]", "how much the model thinks", session_commands.effort
            ),
            SlashCommand("mode", "[ask|edits|read|plan|yolo]", "what runs without asking", session_commands.mode),
            SlashCommand("plan", "[off]", "plan mode: only look, until you approve a plan", session_commands.plan),
            SlashCommand(
                "permissions", "[allow|ask|deny|remove RULE]", "show or change rules", session_commands.permissions
            ),
            SlashCommand("sandbox", "[remove HOST]", "what holds commands; hosts", tool_commands.sandbox),
        ),
    ),
    (
        "What the model knows",
        (
            SlashCommand("skills", "[reload]", "list the skills and their folders", skills),
            SlashCommand("skill", "NAME", "send a skill with the next prompt", skill),
            SlashCommand("memory", "[NAME|edit NAME|forget NAME|undo NAME]", "show or change memories", memory),
            SlashCommand("hooks", "", "list your hooks", hooks),
        ),
    ),
    (
        "Tools and failures",
        (
            SlashCommand("tools", "", "list the tools", tool_commands.tools),
            SlashCommand(
                "breakers", "[name=value]", "show the circuit breakers, or set limits", tool_commands.breakers
            ),
            SlashCommand(
                "mcp", "[NAME|restart NAME|off NAME]", "list MCP servers, show one, restart it", tool_commands.mcp
            ),
            SlashCommand("budget", "[NUMBER]", "failures allowed in a turn, and used", tool_commands.budget),
            SlashCommand("report", "", "what is done, what is not, and why", tool_commands.report),
            SlashCommand("alternatives", "TOOL", "what can replace a tool", tool_commands.alternatives),
            SlashCommand("loops", "[on|off|name=value]", "show loops and interventions", tool_commands.loops),
            SlashCommand("trip", "TOOL", "pause a tool; it is tried again as usual", _move(BreakerCommand.TRIP)),
            SlashCommand("isolate", "TOOL", "disable a tool", _move(BreakerCommand.ISOLATE)),
            SlashCommand("release", "TOOL", "enable it again", _move(BreakerCommand.RELEASE)),
            SlashCommand("reset", "TOOL|all", "let a paused tool work again", _move(BreakerCommand.RESET)),
            SlashCommand("confirm", "", "retry tools that failed together", tool_commands.confirm),
        ),
    ),
    (
        "In the background",
        (
            SlashCommand(
                "tasks", "[ID | fold ID | unfold]", "show the task board, or one task; fold what is below a task", tasks
            ),
            SlashCommand(
                "cron",
                "[add|keep WHEN PROMPT|pause|resume|delete|run ID|off|on]",
                "scheduled prompts: list, add, change",
                cron,
            ),
            SlashCommand("fleet", "", "machines, workers and tasks of the fleet", fleet),
            SlashCommand(
                "team", "[NAME|say NAME TEXT|stop NAME]", "list members, show one, write to it, or end it", team
            ),
            SlashCommand("agents", "[ID|stop ID]", "list subagents, show one, or stop it", agents),
            SlashCommand(
                "background",
                "[list|ID|follow ID|keep ID]",
                "move the running command to the background; list, show or keep such commands",
                background,
            ),
            SlashCommand("kill", "ID", "stop a subagent or a background command", kill),
        ),
    ),
    (
        "For practice",
        (
            SlashCommand("fault", "[KIND [n] [after s]|off]", "make the practice model fail", tool_commands.fault),
            SlashCommand("toolfault", "[TOOL KIND [n]|off]", "make a tool fail", tool_commands.tool_fault),
        ),
    ),
)
COMMANDS: Mapping[str, SlashCommand] = MappingProxyType({one.name: one for _, group in _GROUPS for one in group})
ALIASES: Mapping[str, str] = MappingProxyType({"quit": "exit", "usage": "cost", "todos": "checklist"})
"""Other spellings that are accepted and not listed: of other programs."""
OF_THE_SCREEN = frozenset({"theme", "panel", "keys"})
"""The commands of the app."""
TAKEN = frozenset({*COMMANDS, *ALIASES, *OF_THE_SCREEN})
"""Names that a file cannot define."""
