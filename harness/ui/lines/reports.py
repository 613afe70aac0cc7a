"""Reports of several lines: the greeting, the plan, a turn that ended in a loop, ended processes, the prompt cache."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from textwrap import wrap

from harness.base.external_text import counted, visible
from harness.base.files import home_folder
from harness.base.version import __version__
from harness.events import BoardCounted, CacheMissed, PlanItem, Rung, StuckReported
from harness.session import RUNGS, ExitCounts, Session, described
from harness.settings import LoadedSettings
from harness.ui.folds.work import SubagentActivity, how_far, subagent_view
from harness.ui.lines.line import Line, Tone, seconds

WIDTH = 100
NARROWEST = 12
"""Columns of text below which nothing is wrapped."""


# ── the greeting ────────────────────────────────────────────────────────────────────────────────


def greeting(session: Session, loaded: LoadedSettings) -> Iterator[Line]:
    """Version, model and folder; then everything unusual about this run."""
    settings = session.settings
    address = "" if settings.practice else f" at {session.connection.address}"
    yield Line("", f"harness {__version__} · {session.models.current}{address} · {short(settings.workspace)}")
    if settings.practice and loaded.origins["practice"].startswith("default"):
        rules = "the built-in rule-based practice model answers"
        yield Line("", f"No key was found, so {rules}; set ANTHROPIC_API_KEY for a real one.")
    elif settings.practice:
        script = f" and plays {settings.practice_script}" if settings.practice_script else ""
        yield Line("", f"The built-in rule-based practice model answers{script}.")
    if settings.tool_faults is not None:
        yield Line("", f"Tools fail as {settings.tool_faults} says (--tool-faults).")
    if settings.permission_mode == "yolo":
        yield Line("", "Every tool call is allowed without asking (--yolo).")
    if notice := session.take_sandbox_notice():
        yield Line("", f"sandbox: {notice} (/sandbox)")
    for note in (*loaded.notes, *session.retirements):
        yield Line("!", note, Tone.TROUBLE)
    yield from resumed(session)


PRACTISED = ("list the files", "find TODO", "/fault 529 2")
"""Example prompts that the practice model answers in any folder; the last one shows a recovery."""
REAL = (
    "What is in this folder, and where should I begin to read?",
    "Find the TODOs here. Which one matters most?",
    "Run the tests and explain what fails.",
)


def example_prompts(session: Session) -> tuple[str, ...]:
    """Three prompts worth trying; none in a conversation that has begun, or where a script answers."""
    settings = session.settings
    if session.conversation.turn or session.resumed_from.session_id or settings.practice_script:
        return ()
    if not settings.practice:
        return REAL
    readme = "read README.md and tell me its headings"
    listing, finding, fault = PRACTISED
    return (listing, readme if (settings.workspace / "README.md").is_file() else finding, fault)


def resumed(session: Session) -> Iterator[Line]:
    """The session before it was resumed; nothing for a new one."""
    before = session.resumed_from
    if not before.session_id:
        return
    yield Line(
        "",
        f"Resumed {session.id}: {session.name or before.title or 'no prompt so far'} ({counted(before.turn, 'turn')})",
    )
    if session.skipped_lines:
        yield Line("!", f"{counted(session.skipped_lines, 'line')} of its journal could not be read", Tone.TROUBLE)
    if before.interrupted:
        yield Line("!", "its last turn was cut off; /retry continues it", Tone.TROUBLE)


# ── what a session does ─────────────────────────────────────────────────────────────────────────


async def work_facts(session: Session) -> dict[str, str]:
    """What runs, what waits to be read, and what will begin a turn; what there is none of is left out.

    Raises HarnessError where the task board or the schedule cannot be read.
    """
    background, tasks = session.background, session.tasks
    commands = [f"{row.id} {one_line(row.line)}" for row in background.commands.rows if row.end is None]
    rows = (row for row in session.subagents.rows if subagent_view(row).state is not SubagentActivity.ENDED)
    agents = [f"{row.id} {one_line(row.task)}" for row in rows]
    counts = await tasks.counts() if tasks is not None else None
    jobs = await background.schedule.upcoming() if background.scheduling else ()
    facts = {
        "runs": ", ".join((*agents, *commands)),
        "team": background.team.counted if background.has_team else "",
        "tasks": "" if counts is None else ", ".join(_counts(counts)),
        "servers": ", ".join(one.line.strip() for one in session.mcp.servers) if session.mcp is not None else "",
        "to read": ", ".join(f"{number} {kind}" for kind, number in _to_read(session).items()),
        "wakes it": ", ".join((*_wakes(session), *jobs)) or "only you",
    }
    return {name: visible(text) for name, text in facts.items() if text}


def one_line(text: str, widest: int = 60) -> str:
    """The beginning of a text, in at most `widest` characters."""
    line = " ".join(visible(text).split())
    return line if len(line) <= widest else line[: widest - 1] + "…"


def _counts(tasks: BoardCounted) -> Iterator[str]:
    counts = ((field.name.replace("_", " "), getattr(tasks, field.name)) for field in fields(tasks))
    return (f"{number} {state}" for state, number in counts if number)


def _to_read(session: Session) -> Counter[str]:
    """What the model reads next, by kind, in its order."""
    arrived = session.inbox.next(scheduled=True)
    return Counter(["from you"] * len(session.steering.waiting) + [one.kind.replace("_", " ") for one in arrived])


def _wakes(session: Session) -> Iterator[str]:
    """What can begin a turn without the user and the clock, besides what waits already."""
    background = session.background
    if background.agents_work:
        yield "the end of an agent, or its mail"
    if any(row.end is None for row in background.commands.rows):
        yield "the end of a command"


def short(path: Path) -> str:
    """A path, with "~" for the home folder."""
    home = home_folder()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) and path != home else str(path)


# ── the plan ────────────────────────────────────────────────────────────────────────────────────


def whole_plan(plan: Sequence[PlanItem]) -> Iterator[str]:
    """A line for each item with the tools it needs, and the progress."""
    yield from (f"  {visible(item.line)}" for item in plan)
    yield f"{how_far(plan)} done"


# ── a turn that ended in a loop ─────────────────────────────────────────────────────────────────


def stuck_lines(report: StuckReported, width: int = WIDTH) -> tuple[str, ...]:
    """The loop, the interventions step by step, and next steps, in lines of at most `width` characters."""
    return tuple(_stuck_lines(report, width))


def _stuck_lines(report: StuckReported, width: int) -> Iterator[str]:
    yield from _wrapped("IN A LOOP: ", described(report.loop), width)
    steps = counted(report.steps_in_loop, "step")
    yield from _wrapped("", f"The turn ended in step {report.step}, after {steps} in it.", width)
    yield ""
    tried = [attempt for attempt in report.tried if attempt.rung is not Rung.STOP]
    if tried:
        yield "Interventions"
        last = max(len(str(attempt.step)) for attempt in tried)
        longest = max(len(RUNGS[attempt.rung]) for attempt in tried)
        for attempt in tried:
            start = f"  step {attempt.step:>{last}}  {RUNGS[attempt.rung]:<{longest}}  "
            yield from _wrapped(start, attempt.detail, width)
    else:
        yield "Nothing was tried."
    if report.next_steps:
        yield from ("", "What you can do")
        for number, text in enumerate(report.next_steps, 1):
            yield from _wrapped(f"  {number}. ", text, width)


def _wrapped(start: str, text: str, width: int) -> Iterator[str]:
    """The text after `start`, with a hanging indent."""
    lines = wrap(" ".join(text.split()), max(NARROWEST, width - len(start)), break_on_hyphens=False) or [""]
    yield (start + lines[0]).rstrip()
    yield from (" " * len(start) + line for line in lines[1:])


# ── processes and the prompt cache ──────────────────────────────────────────────────────────────


def exits_in_words(exits: ExitCounts) -> str:
    """How many processes were started, and how they ended; kinds that did not occur are left out.

    If any had to be ended, the longest time this took is added.
    """
    ends = (
        (exits.exited, "exited", "exited"),
        (exits.terminated, "was stopped", "were stopped"),
        (exits.killed, "was killed", "were killed"),
        (exits.survived, "could not be ended", "could not be ended"),
        (exits.handed_over, "continues without the program", "continue without the program"),
    )
    running = exits.started - sum(number for number, _, _ in ends)
    kinds = (*ends, (running, "still runs", "still run"))
    parts = ", ".join(f"{number:,} {one if number == 1 else many}" for number, one, many in kinds if number)
    ended = exits.terminated or exits.killed
    slowest = f"; ending one took at most {seconds(exits.slowest_end_s)}" if ended else ""
    return f"{exits.started:,} started: {parts}{slowest}"


_MISSES = {
    "model_changed": "the model changed",
    "system_changed": "the system prompt changed",
    "tools_changed": "the tools changed",
    "messages_changed": "earlier messages changed",
}
_NOT_COMPARED = frozenset({"previous_message_not_found", "unavailable"})
"""Reasons that say nothing about the request."""


def cache_miss_line(misses: Sequence[CacheMissed]) -> str:
    """Why the prompt cache missed, with the number of requests and tokens; empty if it never did."""
    known = [miss for miss in misses if miss.reason not in _NOT_COMPARED]
    parts = []
    if known:
        reasons = Counter(_MISSES.get(miss.reason, miss.reason) for miss in known)
        named = ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common())
        tokens = sum(miss.tokens or 0 for miss in known)
        parts.append(f"prompt cache missed in {counted(len(known), 'request')}, about {tokens:,} tokens: {named}")
    if unknown := len(misses) - len(known):
        parts.append(f"the server could not compare {counted(unknown, 'request')} with the previous one")
    return "; ".join(parts)
