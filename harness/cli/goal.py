"""`harness run --goal TEXT`: a lead plans tasks on a board, and members do them (docs/goals.md)."""

import asyncio
import os
import sys
from argparse import Namespace
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass
from functools import partial
from itertools import count
from pathlib import Path

from harness.base.errors import SettingsError
from harness.base.external_text import counted
from harness.cli.parser import flags
from harness.cli.run import estimated, require_consent
from harness.engine.team.member import MemberDraft
from harness.events import Event, GoalEnded, GoalStarted, TaskState
from harness.journal import find, read, session_folder, sessions
from harness.journal.writer import writer_of
from harness.model.notices import goal_to_plan, goal_to_resume
from harness.policies.team.claims import goal_ended, goal_text
from harness.policies.team.members import spent
from harness.session import Opening, Session
from harness.settings import LoadedSettings, Settings, current_folder, load
from harness.settings.logs import open_log
from harness.tools.tool import shorten_line
from harness.ui.folder_question import with_answer
from harness.ui.plain.headless import Lead, LeadReport, OutputFormat, headless, print_note
from harness.worktrees import WorktreeError

MEMBERS = 3
TITLE = "Goal: "
"""How the titles of sessions with a goal begin, because their first prompts do."""
UNATTENDED_S = 30 * 86_400.0
"""Seconds that a goal may take; its limit is the budget."""
NO_TASK = "The lead planned no task, so no member began; `harness -p` answers a prompt without a team."


@dataclass(frozen=True, slots=True)
class _Goal:
    """A goal, and how it is pursued this time."""

    started: GoalStarted
    resume: Path | None
    """The journal of the session that goes on; None: a new one."""


def run_goal(options: Namespace) -> int:
    """Run the command; returns the exit code. Raises HarnessError.

    `options`: flags of harness, with `goal`, `members`, `seed` and `yes`.
    """
    if options.board is not None or options.worktree is not None:
        raise SettingsError("A goal has a board of its own, and its members have worktrees; leave out --board and -w.")
    given, here = with_answer(flags(options), os.environ, sys.stdin, sys.stderr), current_folder()
    given = {**given, "team": True, "board": "session"}
    if options.seed is not None:
        given["max_concurrent"] = 1
    loaded = load(given, os.environ, here).require_answer()
    if loaded.origins["team_wait_s"].startswith("default"):
        given["team_wait_s"] = UNATTENDED_S
        loaded = load(given, os.environ, here).require_answer()
    settings = loaded.settings
    if settings.permission_mode == "plan":
        raise SettingsError("In plan mode nobody may work on a goal; use another mode.")
    if not settings.team_claims:
        raise SettingsError("The setting team_claims is off, so no member would claim a task; switch it on.")
    goal = _goal(options, settings)
    _agreed(goal, loaded, yes=options.yes)
    lead = Lead(partial(_turn, goal), ("harness", "run", "--goal", "--resume"), partial(_follow, goal), _report)
    opening = Opening(goal.resume.stem if goal.resume else None)
    form, log = OutputFormat(options.output_format or "text"), open_log(settings, sys.stderr)
    streams, reread = (sys.stdout, sys.stderr), partial(_settings, given, here)
    prompt = goal.started.goal
    return asyncio.run(headless(loaded, prompt, opening, form, *streams, lead=lead, reread=reread, log=log))


def _settings(given: Mapping[str, object], here: Path) -> Settings:
    return load(given, os.environ, here).settings


def _goal(options: Namespace, settings: Settings) -> _Goal:
    """The goal of the command line, or the one that is resumed."""
    text, members = options.goal.strip(), options.members
    if options.resume is None:
        if not text:
            raise SettingsError("--goal needs a text; `--goal --resume` goes on with the last goal of this folder.")
        return _Goal(GoalStarted(text, members or MEMBERS), None)
    folder = session_folder(settings.workspace, settings.state_dir)
    path = find(folder, options.resume) if options.resume else _last(folder)
    if path is None:
        raise SettingsError("No session of this folder has a goal to go on with; leave --resume out to begin one.")
    begun = next((one.event for one in read(path).records if isinstance(one.event, GoalStarted)), None)
    if begun is None:
        raise SettingsError(f"The session {path.stem} has no goal; `harness --resume {path.stem}` continues it.")
    if text not in ("", begun.goal):
        raise SettingsError(f"The session {path.stem} has another goal; give --goal without a text to go on with it.")
    return _Goal(GoalStarted(begun.goal, members or begun.members), path)


def _last(folder: Path) -> Path | None:
    """The journal of the last session with a goal that nobody runs."""
    return next(
        (one.path for one in sessions(folder) if one.title.startswith(TITLE) and writer_of(one.path) is None), None
    )


def _agreed(goal: _Goal, loaded: LoadedSettings, *, yes: bool) -> None:
    """Print the estimate, and ask where so many members need a yes. Raises SettingsError where there is none."""
    settings, members = loaded.settings, goal.started.members
    if members > settings.team_members:
        raise SettingsError(f"--members {members} is more than team_members allows ({settings.team_members}).")
    budget = settings.max_budget_usd
    limit = "no limit; --budget-usd sets one" if budget is None else f"it stops at ${budget:,.2f}"
    note = f"goal: {counted(members, 'member')}. Estimate for each task: {estimated(settings, 1)}; {limit}."
    print_note(note, sys.stderr)
    require_consent(settings, members, "The goal", yes=yes)


async def _shared(session: Session) -> str:
    """Why members have no worktrees and share the folder; empty: they have."""
    try:
        await session.worktrees.repository()
    except WorktreeError as error:
        return str(error)
    return ""


def _behind(session: Session) -> str:
    """What finished branches have to pass, for the user."""
    check = session.settings.check_command
    return "untested: check_command is not set" if check is None else f"behind `{shorten_line(check)}`"


async def _turn(goal: _Goal, session: Session) -> AsyncGenerator[Event, None]:
    """The turn in which the lead plans."""
    print_note(f"session {session.id}", sys.stderr)
    started = goal.started
    own_trees = not (shared := await _shared(session))
    if own_trees:
        try:
            into = await session.worktrees.merges_into()
        except WorktreeError as error:
            raise SettingsError(str(error)) from error
        note = f"members have worktrees; their finished branches are merged into {into}, {_behind(session)}"
    else:
        note = f"! members share the folder: {shared}"
    print_note(note, sys.stderr)
    plan = goal_to_plan(started.goal, started.members, own_trees=own_trees)
    prompt = goal_to_resume(started.goal) if goal.resume else plan
    if problem := session.context.too_long(prompt):
        raise SettingsError(problem)
    if own_trees and (changed := await session.worktrees.uncommitted()):
        files = counted(changed, "changed file")
        print_note(f"! {files} not committed: members work from the last commit and do not see that", sys.stderr)
    session.conversation.emit(started)
    yield started
    async with aclosing(session.run(prompt)) as events:
        async for event in events:
            yield event


async def _follow(goal: _Goal, session: Session) -> None:
    """Let the members join that are not there yet, so that they claim what the lead has planned."""
    assert session.tasks is not None
    if not (tasks := await session.tasks.tasks()):
        return
    open_tasks = sum(task.state in (TaskState.PENDING, TaskState.IN_PROGRESS) for task in tasks.values())
    estimate = estimated(session.settings, open_tasks)
    print_note(f"{counted(open_tasks, 'task')} to do. Estimate: {estimate}.", sys.stderr)
    background = session.background
    live = {one.name for one in background.team.live}
    names = (name for at in count(1) if (name := f"member-{at}") not in live)
    tools, own_trees = background.subagents.tools_for("", None), not await _shared(session)
    for _ in range(goal.started.members - len(live)):
        await background.team.join(MemberDraft(next(names), tools, worktree=own_trees))


async def _report(session: Session) -> LeadReport:
    """How the tasks stand at the end."""
    assert session.tasks is not None
    tasks, rows = await session.tasks.tasks(), session.background.team.rows
    if not tasks:
        return LeadReport("", {}, NO_TASK)
    names, money = {row.name for row in rows}, spent(rows)
    lists = goal_ended(tasks, {task.id for task in tasks.values()}, names, {})
    ended = GoalEnded(*lists, money.tokens, money.cost_usd, money.unpriced)
    missing = len(tasks) - len(ended.done)
    problem = f"{missing} of {counted(len(tasks), 'task')} not done" if missing else ""
    fields = {name: value for name, value in asdict(ended).items() if name != "denied"}  # `permission_denials` has them
    return LeadReport(goal_text(ended), {"goal": fields}, problem)
