"""`harness fleet`: the database that machines share, and the tasks that their workers take from it."""

import asyncio
import getpass
import json
import math
import os
import platform
import re
import signal
import sys
import time
from argparse import Namespace
from contextlib import closing
from typing import TYPE_CHECKING, get_args

from harness.base.clock import time_of_day
from harness.base.errors import HarnessError
from harness.base.external_text import visible
from harness.base.secrets import Masking, secrets_in, without_passwords
from harness.engine.build.from_settings import secrets_of
from harness.engine.fleet_status import fleet_database, fleet_status, status_json, status_lines, task_json
from harness.engine.store_places import FLEET
from harness.policies.fleet.task import ENDED, FleetDraft, FleetState, FleetTask
from harness.settings import Settings
from harness.settings.value_types import PermissionMode
from harness.ui.signals import handle_signals

if TYPE_CHECKING:
    from harness.fleet.tasks import FleetEffect, FleetRecord, FleetTasks
    from harness.worker import Worker

AGAIN_S = 1.0
"""Between two looks at a task that is waited for."""
MOST_PRIORITY = 1_000
TAG = re.compile(r"[\w.-]{1,64}")


class FleetCommandError(HarnessError):
    """The command cannot be carried out as it was given."""


def fleet(settings: Settings, options: Namespace) -> int:
    """Run the command; returns the exit code. Raises HarnessError."""
    database = fleet_database()
    if options.kind == "init":
        made = asyncio.run(database.initialize(options.role))
        print(f"{database.where} {'is ready' if made else 'was ready before'}.")
        return 0
    if options.kind == "status":
        status = fleet_status(settings)
        print(json.dumps(status_json(status)) if options.json else "\n".join(status_lines(status)))
        return 0
    from harness.fleet.tasks import FleetTasks

    with closing(FleetTasks(database)) as tasks:
        match options.kind:
            case "submit":
                return _submit(tasks, options)
            case "cancel":
                print(f"{tasks.cancel(options.id).id} is cancelled.")
            case "drain":
                _drain(tasks, options.machine)
            case "logs":
                _logs(tasks, options.id, as_json=options.json)
            case "work":
                return _work(tasks, settings, options)
    return 0


def _submit(tasks: "FleetTasks", options: Namespace) -> int:
    task = tasks.submit(_draft(options))
    if options.wait:
        task = _ended(tasks, task)
    if options.json:
        print(json.dumps(task_json(task)))
    elif not options.wait:
        print(f"{task.id} is {task.state}; `harness fleet logs {task.id}` shows what becomes of it.")
    else:
        print(visible(task.outcome.text if task.outcome else f"{task.id} is {task.state}: {task.reason}"))
    return 1 if task.state in (FleetState.FAILED, FleetState.CANCELLED) else 0


def _draft(options: Namespace) -> FleetDraft:
    """Raises FleetCommandError for what no worker could use."""
    prompt = sys.stdin.read() if options.prompt == "-" else options.prompt
    if not prompt.strip():
        raise FleetCommandError("The prompt is empty; say what to do.")
    for flag, value in (("--repo", options.repo), ("--ref", options.ref)):
        if value.startswith("-") or not value.isprintable():
            raise FleetCommandError(f"{flag} {value!r} is no {'address' if flag == '--repo' else 'branch'} of git.")
    if without_passwords(options.repo) != options.repo:
        raise FleetCommandError("--repo holds a password, which the database would keep; set up git on the workers.")
    if options.ref and not options.repo:
        raise FleetCommandError("--ref needs --repo, the address of its repository.")
    _check_tags(options.tag)
    modes = get_args(get_args(PermissionMode)[0])
    if options.permission_mode and options.permission_mode not in modes:
        raise FleetCommandError(f"--permission-mode takes one of {', '.join(modes)}.")
    if abs(options.priority) > MOST_PRIORITY:
        raise FleetCommandError(f"--priority takes a number from -{MOST_PRIORITY} to {MOST_PRIORITY}.")
    if options.budget_usd is not None and not (0 < options.budget_usd < math.inf):
        raise FleetCommandError("--budget-usd takes dollars above 0.")
    return FleetDraft(
        prompt,
        repo=options.repo,
        ref=options.ref,
        tags=tuple(sorted(set(options.tag))),
        model=options.model,
        permission_mode=options.permission_mode,
        budget_usd=options.budget_usd,
        priority=options.priority,
        needs=tuple(need.strip() for need in options.needs.split(",") if need.strip()),
        created_by=f"{getpass.getuser()}@{platform.node()}",
        reply_to=f"{FLEET}{options.reply_to}" if options.reply_to else "",
        key=options.key,
    )


def _check_tags(tags: list[str]) -> None:
    for tag in tags:
        if not TAG.fullmatch(tag):
            raise FleetCommandError(f"The tag {tag!r} cannot be used; use letters, digits, - _ and . in it.")


def _work(tasks: "FleetTasks", settings: Settings, options: Namespace) -> int:
    """Take tasks; returns 0 once drained or after a signal, as who sent it expects."""
    from harness.fleet.tasks import FleetWorker
    from harness.settings.logs import open_log
    from harness.worker import SessionWork, Worker, WorkerEvent

    _check_tags(options.tag)
    machine = platform.node()
    if options.name and not TAG.fullmatch(options.name):
        raise FleetCommandError(f"The name {options.name!r} cannot be used; use letters, digits, - _ and . in it.")
    if not options.wait:
        asyncio.run(tasks.database.examine())
    name = options.name or f"{machine}-{os.getpid()}"
    worker = FleetWorker(name, machine, tuple(sorted(set(options.tag))), options.concurrency)
    masking = Masking((*secrets_of(settings, os.environ), *secrets_in(os.environ)))

    def report(event: WorkerEvent) -> None:
        print(event.json if options.json else event.line, flush=True)

    log = open_log(settings, sys.stderr)
    work = SessionWork(tasks, settings, {}, trusted=options.trust_repo, log=log)
    made = Worker(tasks, worker, work, report, lease_s=settings.fleet_lease_s, masking=masking)
    return asyncio.run(_until_drained(made))


async def _until_drained(worker: "Worker") -> int:
    """Let it work; the first signal gives its tasks back, a second one ends it at once."""
    with handle_signals() as signalled:
        signalled.interrupts(lambda: worker.leave(f"the worker got {signal.Signals(signalled.number).name}"))
        try:
            await worker.run()
        except asyncio.CancelledError:
            if not signalled.number:
                raise
            return signalled.exit_code
    return 0


def _ended(tasks: "FleetTasks", task: FleetTask) -> FleetTask:
    """The task at its end; a database that is away is waited for."""
    from harness.fleet.schema import FleetError

    away = False
    try:
        while task.state not in ENDED:
            time.sleep(AGAIN_S)
            try:
                task, away = tasks.get(task.id), False
            except FleetError as error:
                if not away:
                    print(f"harness: {error} Waiting for it.", file=sys.stderr)
                away = True
    except KeyboardInterrupt:
        print(f"\nThe task goes on; `harness fleet cancel {task.id}` ends it.", file=sys.stderr)
        raise
    return task


def _drain(tasks: "FleetTasks", machine: str) -> None:
    drained = tasks.drain(machine)
    if not drained:
        if not machine:
            raise FleetCommandError("There are no workers.")
        there = ", ".join(sorted({worker.machine for worker in tasks.workers()}))
        raise FleetCommandError(f"No worker is on {machine!r}; workers are on: {there or 'no machine'}.")
    print(visible(f"They end their tasks and take no more: {', '.join(worker.id for worker in drained)}."))


def _logs(tasks: "FleetTasks", id: str, *, as_json: bool) -> None:
    from dataclasses import asdict

    task, effects, records = tasks.get(id), tasks.effects(id), tasks.records(id)
    if as_json:
        kept = {"effects": [asdict(one) for one in effects], "records": [asdict(one) for one in records]}
        print(json.dumps({**task_json(task), **kept}))
        return
    where = f", {task.draft.repo} {task.draft.ref}".rstrip() if task.draft.repo else ""
    print(visible(f"{id} is {task.state}{where}, submitted by {task.draft.created_by or 'a program'}"))
    lines = [_record_line(one) for one in records] + [_effect_line(one, task) for one in effects]
    print("\n".join(visible(f"{time_of_day(at)}  {text}") for at, text in sorted(lines)))
    unknown = sum(_is_unknown(one, task) for one in effects)
    if unknown:
        what = "one of these has" if unknown == 1 else f"{unknown} of these have"
        print(f"Whether {what} happened is unknown: the work ended before a result was recorded.")


def _record_line(record: "FleetRecord") -> tuple[float, str]:
    start = f"start {record.fence}: " if record.fence else ""
    return record.at, f"{start}{record.what}{f': {_short(record.text)}' if record.text else ''}"


def _effect_line(effect: "FleetEffect", task: FleetTask) -> tuple[float, str]:
    outcome = "OUTCOME UNKNOWN" if _is_unknown(effect, task) else _short(effect.outcome or "under way")
    return effect.began, f"start {effect.fence}: {_short(effect.text)} → {outcome}"


def _is_unknown(effect: "FleetEffect", task: FleetTask) -> bool:
    under_way = task.state is FleetState.RUNNING and effect.fence == task.fence
    return effect.outcome is None and not under_way


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"{line[:100]}…" if len(line) > 100 else line
