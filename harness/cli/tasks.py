"""`harness tasks`: a task board from outside of a session."""

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict

from harness.base.errors import HarnessError, SettingsError
from harness.base.external_text import visible
from harness.engine.store_places import Place, named_board, project_board_place, store_clock
from harness.events import Json
from harness.journal import find, read, replay, session_folder
from harness.policies.tasks.decisions import Changes, Refused, TaskDraft
from harness.policies.tasks.graph import standings
from harness.policies.tasks.task import ENDED, Actor, Role, Task, TaskAction, number_of
from harness.settings import Settings
from harness.slots.store import this_process
from harness.tasks import TaskBoard
from harness.tasks.lines import text_of, tree_lines
from harness.tasks.places import DEFAULT

USER = Actor("user", Role.USER)


class TaskError(HarnessError):
    """The board refused a change."""


def tasks(settings: Settings, options: Namespace) -> int:
    """Run the command; returns the exit code. Raises HarnessError."""
    path = _board(settings, options)
    if options.kind in ("list", "show", "release") and not path.exists():
        raise TaskError(f"There is no board yet ({path}); `harness tasks add` creates it.")
    board = TaskBoard(
        path, this_process("harness tasks"), clock=store_clock(), report=lambda text: print(text, file=sys.stderr)
    )
    try:
        match options.kind:
            case "list":
                _list(board, all=options.all, as_json=options.json)
            case "show":
                _print(_text(board, options.id))
            case "add":
                _add(board, options)
            case "release":
                changes = _done(board.act(options.id, TaskAction.RELEASE, USER, text=options.note))
                _print(f"{changes.tasks[0].id} is {changes.tasks[0].state.replace('_', ' ')}.")
            case "board":
                _print(str(path))
                _print(_counted(board) if path.exists() else "It does not exist yet; `harness tasks add` creates it.")
    finally:
        board.close()
    return 0


def _board(settings: Settings, options: Namespace) -> Place:
    if options.session is not None:
        journal = find(session_folder(settings.workspace, settings.state_dir), options.session)
        name = replay(read(journal).records).board
        if not name:
            raise TaskError(f"The session {journal.stem} uses no task board.")
        return named_board(settings, name)
    named = settings.board if settings.board not in ("off", "session") else DEFAULT
    try:
        return project_board_place(settings, options.board or named)
    except ValueError as error:
        raise SettingsError(f"{error}.") from error


def _list(board: TaskBoard, *, all: bool, as_json: bool) -> None:
    found = board.tasks()
    chosen = found if all else _with_needs([task for task in found.values() if task.state not in ENDED], found)
    if as_json:
        import json

        positions = standings(found)
        for task in chosen.values():
            position = positions.get(task.number)
            print(json.dumps({**_json(task), "standing": None if position is None else position.standing}))
        return
    if found and not chosen:
        _print(f"All {len(found)} tasks have ended; --all lists them.")
        return
    for line in tree_lines(chosen, most=sys.maxsize):
        _print(line)


def _with_needs(tasks: Sequence[Task], board: dict[int, Task]) -> dict[int, Task]:
    """These tasks and those that they need, so that lines can say what a task waits for."""
    wanted = {number for task in tasks for number in (task.number, *task.needs)}
    return {number: task for number, task in board.items() if number in wanted}


def _json(task: Task) -> Json:
    claim = None if task.claim is None else asdict(task.claim)
    return {"id": task.id, **task._asdict(), "needs": [f"t{need}" for need in task.needs], "claim": claim}


def _text(board: TaskBoard, id: str) -> str:
    found = board.tasks()
    task = found.get(number_of(id) or 0)
    if task is None:
        raise TaskError(f"There is no task {id!r}; `harness tasks list --all` has the ids.")
    return text_of(task, standings(found).get(task.number), found, board.history(task.id))


def _add(board: TaskBoard, options: Namespace) -> None:
    needs = tuple(need.strip() for need in options.needs.split(",") if need.strip())
    draft = TaskDraft(options.subject, options.description, options.priority, needs, assignee=options.assignee)
    _print(f"{_done(board.create([draft], USER)).tasks[0].id} is created.")


def _done(decided: Changes | Refused) -> Changes:
    if isinstance(decided, Refused):
        raise TaskError(decided.reason)
    return decided


def _counted(board: TaskBoard) -> str:
    from harness.tasks.work import counts

    counted = asdict(counts(board.tasks()))
    return ", ".join(f"{number} {state.replace('_', ' ')}" for state, number in counted.items() if number) or "no tasks"


def _print(text: str) -> None:
    print("\n".join(visible(line) for line in text.split("\n")))
