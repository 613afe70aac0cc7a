"""Slash commands about subagents and background commands."""

import shlex
import time
from collections.abc import Iterable, Iterator, Sequence

from harness.base.errors import HarnessError
from harness.base.external_text import counted, visible
from harness.events import AdmissionPool
from harness.session import AdmissionStatus, CommandRow, Session, SubagentRow
from harness.ui.commands.results import CommandError, CommandResult, ShowText, StartTask
from harness.ui.folds.work import SubagentActivity, SubagentView, end_word, subagent_view
from harness.ui.lines.line import priced, seconds
from harness.ui.lines.reports import one_line

MOST_ROWS = 30
"""Rows of a list; the rest are counted."""


def agents(session: Session, argument: str) -> CommandResult:
    """List the subagents, show one, or stop one."""
    match argument.split():
        case []:
            return ShowText("\n".join(_agent_list(session, time.time())))
        case ["stop", id]:
            return StartTask(session.background.stop(_agent(session, id).id))
        case [id] if id != "stop":
            return ShowText("\n".join(_about(session, _agent(session, id), time.time())))
        case _:
            raise CommandError("Type /agents for the list, /agents a1 to show one, /agents stop a1 to stop one.")


def background(session: Session, argument: str) -> CommandResult:
    """Move what a call waits for to the background; list the background commands, show the output of one, follow one,
    or keep one."""
    match argument.split():
        case [] if session.background.movable:
            return ShowText(session.background.move())
        case [] | ["list"]:
            return ShowText("\n".join(_command_list(session, time.time())))
        case ["keep", id]:
            row = session.background.commands.hand_over(id)
            what = f"{row.id} ({one_line(row.line)}) outlives the program, as process {row.pid}"
            return ShowText(f"{what}; you have to stop it yourself. Its output: {row.output}")
        case ["follow", id]:
            followed = session.background.commands.follow(id)
            until = "until it ends or the next turn begins; the same line ends it"
            return ShowText(f"{id} is followed {until}." if followed else f"{id} is no longer followed.")
        case [id] if id not in ("keep", "follow"):
            text = session.background.output_of(id)
            row = next(row for row in session.background.commands.rows if row.id == id)
            shown = visible(text.rstrip("\n")) or "No output yet."
            return ShowText(f"{_command_line(row, time.time())}\n{shown}\nfull output: {row.output}")
        case _:
            raise CommandError(
                "Type /background to move the running command, or /background list, /background b1 for its output, "
                "/background follow b1 to see it live, /background keep b1 to keep it."
            )


def kill(session: Session, argument: str) -> CommandResult:
    """Stop a subagent or a background command."""
    if not argument:
        raise CommandError("Which one? Type /kill and an id; /agents and /background list them.")
    if " " in argument:
        raise CommandError("/kill takes one id at a time; /agents and /background list them.")
    return StartTask(session.background.stop(argument))


def _listed(lines: Sequence[str], admission: Iterable[str], *, none: str, hint: str) -> Iterator[str]:
    if not lines:
        yield none
        return
    yield from lines[:MOST_ROWS]
    if len(lines) > MOST_ROWS:
        yield f"  and {len(lines) - MOST_ROWS:,} more"
    yield from admission
    yield hint


def _line(id: str, state: str, what: str, facts: Iterable[str]) -> str:
    known = ", ".join(facts)
    return f"  {id:<5} {state:<12} {one_line(what)}" + (f" ({known})" if known else "")


# ── tasks ───────────────────────────────────────────────────────────────────────────────────────

NO_BOARD = (
    "This session has no task board; start with `--board session`, or with `--board NAME` for one that all sessions of "
    "the repository share."
)
MOST_TASKS = 40
"""Lines of the tree in a conversation."""


def tasks(session: Session, argument: str) -> CommandResult:
    """Show the task board, or one task; fold the tasks below one."""
    board = session.tasks
    if board is None:
        return ShowText(NO_BOARD)
    match argument.split():
        case []:
            return StartTask(board.listed(MOST_TASKS))
        case ["fold" | "unfold" as what, *ids]:
            return StartTask(board.fold(ids, MOST_TASKS, folded=what == "fold"))
        case _:
            return StartTask(board.described(argument))


def fleet(session: Session, argument: str) -> CommandResult:
    """Show the machines, workers and tasks of the fleet."""
    return StartTask(session.fleet_status())


# ── schedule ────────────────────────────────────────────────────────────────────────────────────


def cron(session: Session, argument: str) -> CommandResult:
    """List the scheduled prompts, add one, or change one."""
    if not session.settings.schedule:
        return ShowText("The schedule is off (setting schedule).")
    schedule = session.background.schedule
    try:
        words = shlex.split(argument)
    except ValueError:
        words = argument.split()
    match words:
        case []:
            return StartTask(schedule.listed())
        case ["off" | "on" as switch]:
            return StartTask(_switched(session, on=switch == "on"))
        case ["add" | "keep" as kind, when, *prompt] if prompt:
            return StartTask(_scheduled(session, when, " ".join(prompt), lasting=kind == "keep"))
        case ["pause" | "resume" | "delete" | "run" as action, id]:
            return StartTask(_changed(session, action, id))
        case _:
            raise CommandError(
                'Type /cron, /cron add "in 3 minutes" PROMPT, /cron keep "30 9 * * 1-5" PROMPT (for later sessions, '
                "too), /cron pause, resume, delete or run with an id, or /cron off so that nothing fires here."
            )


async def _scheduled(session: Session, when: str, prompt: str, *, lasting: bool) -> str:
    schedule = session.background.schedule
    return schedule.described(await schedule.create(when, prompt, lasting=lasting))


async def _switched(session: Session, *, on: bool) -> str:
    schedule = session.background.schedule
    if on:
        schedule.start()
        return await schedule.listed()
    await schedule.stop()
    return (
        "Nothing fires in this session until /cron on, or until you add a prompt. Other sessions of this project may."
    )


async def _changed(session: Session, action: str, id: str) -> str:
    schedule = session.background.schedule
    changes = {"pause": schedule.pause, "resume": schedule.resume, "delete": schedule.delete, "run": schedule.fire}
    await changes[action](id)
    done = {"pause": "is paused", "resume": "fires again", "delete": "is deleted", "run": "fires now"}
    return f"{id} {done[action]}."


# ── agents ──────────────────────────────────────────────────────────────────────────────────────


def _agent(session: Session, id: str) -> SubagentRow:
    found = next((row for row in session.subagents.rows if row.id == id), None)
    if found is None:
        raise HarnessError(f"There is no subagent {id}; /agents lists them.")
    return found


def _agent_list(session: Session, now: float) -> Iterator[str]:
    rows = sorted(map(subagent_view, session.subagents.rows), key=lambda one: one.state is SubagentActivity.ENDED)
    yield from _listed(
        [_agent_line(one, now) for one in rows],
        _admission(session.background.admission, AdmissionPool.AGENTS),
        none="No subagent has run in this session yet.",
        hint="/agents ID shows one, /kill ID stops it.",
    )


def _agent_line(one: SubagentView, now: float) -> str:
    return _line(one.agent, one.word, one.task, _facts(one, now))


def _facts(one: SubagentView, now: float) -> Iterator[str]:
    if one.ended is not None:
        yield counted(one.ended.steps, "step")
    elif one.moved is not None:
        yield from (one_line(one.moved.doing), f"step {one.moved.step}")
    if one.ended or one.moved:
        yield f"{one.tokens:,} tokens"
    if one.cost:
        yield priced(*one.cost)
    if one.ended or one.since:
        yield seconds(one.ended.duration_s if one.ended else max(0.0, now - one.since))


def _about(session: Session, row: SubagentRow, now: float) -> Iterator[str]:
    yield _agent_line(subagent_view(row), now)
    if row.ended is not None and row.ended.reason:
        yield f"  {visible(row.ended.reason)}"
    if row.background:
        yield "  runs in the background; its answer is delivered when it ends"
    if row.journal:
        yield f"  replay: harness replay {shlex.quote(str(session.agents_folder / row.journal))}"


# ── background commands ──────────────────────────────────────────────────────────────────


def _command_list(session: Session, now: float) -> Iterator[str]:
    rows = sorted(session.background.commands.rows, key=lambda row: row.end is not None)
    yield from _listed(
        [_command_line(row, now) for row in rows],
        _admission(session.background.admission, AdmissionPool.COMMANDS),
        none="No background command has run in this session yet.",
        hint="/background ID shows its output, /background follow ID shows it live; /kill ID stops it; "
        "/background keep ID lets it outlive the program.",
    )


def _command_line(row: CommandRow, now: float) -> str:
    return _line(row.id, _command_state(row), row.line, _command_facts(row, now))


def _command_state(row: CommandRow) -> str:
    if row.end is not None:
        return end_word(row.end, row.exit_code)
    states = {"waits": "queued", "runs": "running"}
    return "waits for input" if row.quiet else states.get(row.state, row.state.value.replace("_", " "))


def _command_facts(row: CommandRow, now: float) -> Iterator[str]:
    if row.end is None and row.since:
        yield seconds(max(0.0, now - row.since))
    if row.state.value == "waits":
        yield f"{row.before:,} ahead in the queue"
    if row.bytes:
        yield f"{row.bytes:,} byte" + ("" if row.bytes == 1 else "s")
    if row.end is None and row.pid is not None:
        yield f"process {row.pid}"
    if row.reason:
        yield visible(row.reason)


# ── admission ────────────────────────────────────────────────────────────────────────────────────


def _admission(pools: Sequence[AdmissionStatus], name: AdmissionPool) -> Iterator[str]:
    for status in pools:
        if status.name is name:
            counts = (
                (len(status.queued), "queued"),
                (len(status.deferred), "deferred because the queue was full"),
                (len(status.paused), "deferred after repeated failures"),
            )
            counted = [f"{number:,} {words}" for number, words in counts if number]
            yield "; ".join((f"{len(status.running)} of {status.limits.max_concurrent} running", *counted))
