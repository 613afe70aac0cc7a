"""Slash commands about the session: its history, model, permissions, cost and files."""

import asyncio
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from harness.base.external_text import counted, visible
from harness.events import OWN_EFFORT, Effort
from harness.journal import find, search
from harness.session import Opening, PermissionRule, Session
from harness.ui.commands.results import (
    CommandError,
    CommandResult,
    CopyText,
    EditQueue,
    PlayEvents,
    Quit,
    ShowText,
    StartTask,
    SwitchSession,
)
from harness.ui.folds.model import limit_in_words
from harness.ui.lines.line import dollars, priced
from harness.ui.lines.reports import cache_miss_line, exits_in_words, work_facts
from harness.ui.lines.sessions import hit_lines, session_lines

OWN = "the model's default"
MODES: Mapping[str, str] = MappingProxyType(
    {
        "ask": "asks before writing or running",
        "edits": "writes files without asking, asks before running",
        "yolo": "everything allowed",
        "deny": "read only",
        "plan": "plan mode: only looks, until you approve a plan; /plan off or Shift+Tab leaves it",
    }
)
"""Descriptions of the permission modes."""
MOST_LEFT = 20
"""Effects of tools that /undo names."""
_CODE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n`]*\n(?P<code>.*?)^ {0,3}(?P=fence)[`~]*[ \t]*$", re.DOTALL | re.MULTILINE
)
DOCTOR_S = 60.0
"""Seconds that the checks of /doctor may take."""
VERDICTS = ("deny", "ask", "allow")
SCOPES = {"settings": "from the settings", "session": "for this session", "always": "permanent"}
_UNPRICED = '\n{} without a known price; set one as [prices."NAME"], with input and output, in your settings.toml'


def clear(session: Session, argument: str) -> CommandResult:
    """Forget the conversation."""
    session.user_commands.clear()
    return ShowText("Conversation cleared; the journal keeps it.")


def compact(session: Session, argument: str) -> CommandResult:
    """Shorten the history."""
    return PlayEvents(session.user_commands.compact(argument))


def queue(session: Session, argument: str) -> CommandResult:
    """List the queued prompts, or remove them."""
    if argument not in ("", "clear"):
        raise CommandError(f"{argument!r} is not known; type /queue or /queue clear.")
    return EditQueue(clear=bool(argument))


def retry(session: Session, argument: str) -> CommandResult:
    """Continue the last turn."""
    return PlayEvents(session.retry())


def rewind(session: Session, argument: str) -> CommandResult:
    """List the turns, go back to before one, or undo that."""
    points = session.conversation.rewind_points
    if not argument:
        lines = (f"  {point.turn:>3}  {_one_line(point.prompt)}" for point in points)
        usage = "/rewind TURN goes back to before that turn; /rewind TURN files also restores the files."
        return ShowText("\n".join((*lines, usage if points else "There is no earlier turn.")))
    if argument == "undo":
        return PlayEvents(session.rewind.undo())
    turn, _, what = argument.partition(" ")
    if not turn.isdigit():
        raise CommandError(f"{turn!r} is not the number of a turn; /rewind lists them.")
    if what.strip() not in ("", "files"):
        raise CommandError(f"{what.strip()!r} cannot be restored; type /rewind {turn} or /rewind {turn} files.")
    if what:
        return PlayEvents(session.rewind.with_files(int(turn)))
    left = session.rewind.left_since(int(turn))
    prompt = session.rewind.to_turn(int(turn))
    stays = "no files were kept, so what tools did stays" if left else "the files are unchanged"
    text = f"Forgot turn {turn} and later; {stays}.\nThe prompt was: {visible(prompt)}"
    return ShowText("\n".join((text, *(f"  not undone  {visible(one)}" for one in left[:MOST_LEFT]))))


def undo(session: Session, argument: str) -> CommandResult:
    """Go back to before the last prompt, with the files if any were written since."""
    points = session.conversation.rewind_points
    if not points:
        raise CommandError("There is no earlier turn.")
    turn = points[-1].turn
    return (
        PlayEvents(session.rewind.with_files(turn)) if session.rewind.keeps_files(turn) else rewind(session, str(turn))
    )


def _one_line(prompt: str, width: int = 100) -> str:
    line = " ".join(visible(prompt).split())
    return line if len(line) <= width else line[: width - 1] + "…"


def cost(session: Session, argument: str) -> CommandResult:
    """Requests, tokens and money."""
    spend = session.conversation.spend
    retries = f", including {dollars(spend.retry_cost_usd)} on retries" if spend.cost_usd else ""
    tokens = f"{spend.usage.prompt:,} tokens in ({spend.usage.cache_read:,} from the cache), {spend.usage.output:,} out"
    if spend.usage.web_searches:
        tokens += f", {counted(spend.usage.web_searches, 'web search', 'web searches')}"
    unknown = _UNPRICED.format(counted(spend.unpriced, "request")) if spend.unpriced else ""
    missed = f"\n{line}" if (line := cache_miss_line(session.conversation.state.cache_misses)) else ""
    requests = f"{counted(spend.requests, 'request')}, {tokens}"
    return ShowText(f"{requests}\n{priced(spend.cost_usd, spend.unpriced)}{retries}{unknown}{missed}")


# ── sessions ────────────────────────────────────────────────────────────────────────────────────


def sessions(session: Session, argument: str) -> CommandResult:
    """List the sessions of the folder, or those that contain a text."""
    if argument:
        found = list(hit_lines(search(session.sessions(), argument)))
        return ShowText("\n".join(found) or f"No session of this folder mentions {argument!r}.")
    return ShowText("\n".join(session_lines(session.sessions())))


def rename(session: Session, argument: str) -> CommandResult:
    """Show the name of the session, or give it one."""
    if not argument:
        return ShowText(f"name: {visible(session.name)}" if session.name else "This session has no name yet.")
    name = session.rename(argument)
    return ShowText(f"name: {visible(name)}; resume it with harness --resume {shlex.quote(name)}")


def resume(session: Session, argument: str) -> CommandResult:
    """Switch to a session, by number or id."""
    found = session.sessions()
    if not argument:
        return ShowText("\n".join((*session_lines(found), "Type /resume and a number or an id.")))
    if argument.isdigit() and len(argument) < 4:
        if not 1 <= int(argument) <= len(found):
            raise CommandError(f"There is no session number {argument}; /sessions lists {len(found)}.")
        id = found[int(argument) - 1].id
    else:
        id = find(session.path.parent, argument).stem
    if id == session.id:
        raise CommandError(f"{id} is the current session.")
    return SwitchSession(Opening(id), f"Previous session: harness --resume {session.id}")


def fork(session: Session, argument: str) -> CommandResult:
    """Switch to a copy of the session."""
    return SwitchSession(Opening(session.fork()), f"This is a copy. Original: harness --resume {session.id}")


def export(session: Session, argument: str) -> CommandResult:
    """Write the session to a file."""
    *names, last = argument.split() or [""]
    form: Literal["markdown", "json"] = "json" if last == "json" or last.endswith(".json") else "markdown"
    if last not in ("markdown", "json", ""):
        names.append(last)
    name = " ".join(names) or f"{session.id}.{'md' if form == 'markdown' else 'json'}"
    file = session.settings.workspace / Path(name).expanduser()
    if file.exists():
        raise CommandError(f"{file} already exists; choose another name.")
    from harness.ui.markdown_page import export

    export(session, file, form)
    return ShowText(f"Written to {file}")


def status(session: Session, argument: str) -> CommandResult:
    """The facts of the session, what runs in it, and what will begin its next turn."""
    return StartTask(_facts(session))


async def _facts(session: Session) -> str:
    settings, (tokens, window) = session.settings, session.context.size
    facts: dict[str, object] = {
        "session": f"{session.id}, {counted(session.conversation.turn, 'turn')}",
        "model": f"{session.models.current} at {session.connection.address}",
        "effort": session.models.effort or OWN,
        "folder": settings.workspace,
        "permissions": MODES[session.permissions.mode],
        "sandbox": session.sandbox.in_words,
        "context": f"about {tokens:,} of {window:,} tokens",
        "spent": _spent(session),
        "journal": session.path,
        "shared": session.stores,
    }
    if limits := [f"{model}: {limit_in_words(one)}" for model, one in session.endpoints.limits.items()]:
        facts["limits"] = "; ".join(limits)
    facts |= await work_facts(session)
    if session.processes.counts.started:
        facts["processes"] = exits_in_words(session.processes.counts)
    return "\n".join(f"  {name:<12} {value}" for name, value in facts.items())


def _spent(session: Session) -> str:
    spend, budget = session.conversation.spend, session.settings.max_budget_usd
    return priced(spend.cost_usd, spend.unpriced) + (f" of ${budget:,.2f}" if budget is not None else "")


def config(session: Session, argument: str) -> CommandResult:
    """The settings that differ from their defaults; keys are masked."""
    settings = session.settings
    given = {
        name: getattr(settings, name)
        for name, field in type(settings).model_fields.items()
        if getattr(settings, name) != field.get_default(call_default_factory=True)
    }
    lines = [f"  {name:<20} {visible(str(value))}" for name, value in given.items()]
    rest = (
        "All others have their defaults; `harness doctor` shows each with its source, `harness settings` what it means."
    )
    return ShowText("\n".join((*lines, rest)))


def copy(session: Session, argument: str) -> CommandResult:
    """Send the last answer to the clipboard, or one of its code blocks."""
    answers = (message.text for message in reversed(session.conversation.messages) if message.role == "assistant")
    answer = next((text for text in answers if text.strip()), "")
    if not answer:
        raise CommandError("There is no answer to copy yet.")
    if not argument:
        return CopyText(answer)
    blocks = [match["code"] for match in _CODE.finditer(answer)]
    if argument != "code" and not argument.isdigit():
        raise CommandError(f"{argument!r} is not known; type /copy, /copy code, or /copy 2 for the second code block.")
    number = len(blocks) if argument == "code" else int(argument)
    if not 1 <= number <= len(blocks):
        raise CommandError(f"The last answer has {counted(len(blocks), 'code block')}; /copy copies all of it.")
    return CopyText(blocks[number - 1])


def doctor(session: Session, argument: str) -> CommandResult:
    """The facts of the session, and the report of `harness doctor` for its folder."""
    if argument not in ("", "--online"):
        raise CommandError(f"{argument!r} is not known; type /doctor, or /doctor --online to ask the server, too.")
    return StartTask(_doctor(session, argument.split()))


async def _doctor(session: Session, flags: list[str]) -> str:
    command = (sys.executable, "-m", "harness", "doctor", "--cwd", str(session.settings.workspace), *flags)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe, process_group=0
    )
    try:
        async with asyncio.timeout(DOCTOR_S):
            printed, complaint = await process.communicate()
    except TimeoutError as error:
        raise CommandError(f"The checks took longer than {DOCTOR_S:g} s; run `harness doctor` in a shell.") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    sections = (printed or complaint).decode(errors="replace").rstrip().split("\n\n")
    report = "\n\n".join(section for section in sections if not section.startswith("Terminal\n"))  # it had pipes
    return (
        f"This session\n{await _facts(session)}\n\n{report}\n\nFlags given to this program do not count in the report."
    )


def exit(session: Session, argument: str) -> CommandResult:  # noqa: A001 (the name of the command)
    """End the program."""
    return Quit()


# ── model and permissions ───────────────────────────────────────────────────────────────────────


def model(session: Session, argument: str) -> CommandResult:
    """Show or change the model."""
    if not argument:
        fallbacks = ", ".join(session.settings.fallback_models)
        return ShowText(f"model: {session.models.current}" + (f"; fallback: {fallbacks}" if fallbacks else ""))
    if " " in argument:
        raise CommandError(f"{argument!r} is not a model name; it contains a space.")
    session.models.select(argument)
    return ShowText(f"model: {argument}, from the next prompt on")


def model_rows(session: Session) -> list[tuple[str, str]]:
    """The models that `/model` can choose, each with a line: window and price."""
    found = list(session.models.choices(session.settings.fallback_models))
    width = max(len(name) for name, _, _ in found)
    return [
        (name, f"{name:<{width}}  {window:>9,} tokens  {_per_million(*price) if price else ''}".rstrip())
        for name, window, price in found
    ]


def _per_million(input: float, output: float) -> str:
    return f"${input:g} in, ${output:g} out per million"


def effort_levels(session: Session) -> tuple[str, ...]:
    """The levels that `/effort` can choose; empty: the model supports none."""
    efforts = session.models.efforts
    return (*(tuple(Effort) if efforts is None else efforts), OWN_EFFORT) if efforts != () else ()


def effort(session: Session, argument: str) -> CommandResult:
    """Show or change the effort."""
    names = tuple(Effort)
    if not argument:
        levels = ", ".join(names if session.models.efforts is None else session.models.efforts)
        supported = (
            f"{session.models.current} supports {levels}"
            if levels
            else f"{session.models.current} supports no effort levels"
        )
        return ShowText(f"effort: {session.models.effort or OWN}; {supported}")
    if argument not in (*names, OWN_EFFORT):
        raise CommandError(f"{argument!r} is not an effort level; type /effort {', '.join(names)} or {OWN_EFFORT}.")
    effort = None if argument == OWN_EFFORT else Effort(argument)
    if effort is session.models.effort:
        return ShowText(f"effort: {effort or OWN}, unchanged")
    session.models.set_effort(effort)
    cache = "; this restarts the prompt cache" if session.conversation.spend.requests else ""
    return ShowText(f"effort: {effort or OWN}, from the next prompt on{cache}")


def mode(session: Session, argument: str) -> CommandResult:
    """Show or change the permission mode."""
    mode = "deny" if argument == "read" else argument
    if argument and mode not in MODES:
        raise CommandError(f"{argument!r} is not a permission mode; type /mode ask, edits, read, plan or yolo.")
    if mode:
        session.permissions.set_mode(mode)
    return ShowText(f"permissions: {MODES[session.permissions.mode]}")


def plan(session: Session, argument: str) -> CommandResult:
    """Enter plan mode, or leave it."""
    if argument not in ("", "off"):
        raise CommandError(f"{argument!r} is not known; type /plan, then your request, or /plan off.")
    rules = session.permissions
    if argument and rules.mode != "plan":
        return ShowText("Plan mode is off.")
    if argument or rules.mode != "plan":
        rules.set_mode(rules.before_plan if argument else "plan")
    return ShowText(f"permissions: {MODES[rules.mode]}")


def permissions(session: Session, argument: str) -> CommandResult:
    """List the permission rules, add one, or remove one."""
    what, _, rest = argument.partition(" ")
    rule = rest.strip()
    if not what:
        return ShowText("\n".join(_rule_list(session)))
    if what not in (*VERDICTS, "remove"):
        raise CommandError(f"Unknown action {what!r}; type /permissions allow, ask, deny or remove, and a rule.")
    if not rule:
        raise CommandError(f"Which rule? Type for example /permissions {what} bash(npm run *).")
    if what == "remove":
        removed = session.permissions.remove(rule)
        return ShowText("\n".join(f"Removed: {_described(one)}" for one in removed))
    keep = rule.endswith(" always")
    return ShowText(_described(session.permissions.add(what, rule.removesuffix(" always").strip(), keep=keep)))


def _rule_list(session: Session) -> Iterator[str]:
    rules = sorted(session.permissions.rules, key=lambda rule: VERDICTS.index(rule.verdict))
    width = max((len(visible(rule.text)) for rule in rules), default=0)
    for rule in rules:
        yield f"  {rule.verdict:<5}  {visible(rule.text):<{width}}  {SCOPES[rule.scope]}"
    for path in session.permissions.permissions.more.paths:
        yield f"  The sandbox lets commands write {visible(path)}, for this session."
    if session.permissions.mode in ("ask", "edits") and session.sandbox.level == "full":
        yield "Commands that the sandbox holds run without a question, see /sandbox."
    yield "deny beats ask, ask beats allow" if rules else "There are no rules; the mode decides, see /mode."
    yield "/permissions allow bash(npm run *) adds a rule for this session; append `always` to keep it."


def _described(rule: PermissionRule) -> str:
    return f"{rule.verdict} {visible(rule.text)}, {SCOPES[rule.scope]}"
