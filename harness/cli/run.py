"""`harness run plan.py`: a script leads a session in place of the model (docs/plans.md)."""

import asyncio
import contextlib
import io
import os
import shlex
import sys
import time
from argparse import Namespace
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import iscoroutinefunction
from pathlib import Path
from types import ModuleType

from harness.base.errors import SettingsError
from harness.base.external_text import counted
from harness.base.files import read_regular
from harness.cli.parser import flags
from harness.engine.subagents.fan_out import ASSUMED
from harness.engine.turn_lifecycle import LedEnd
from harness.events import Event, ScriptStarted, TransitionCode
from harness.journal import find, read, session_folder, sessions
from harness.journal.session_state import title_of
from harness.journal.writer import writer_of
from harness.model.catalogue import Catalogue
from harness.plan_script.plan import Main, Plan
from harness.plan_script.record import ScriptRecord, recorded
from harness.plan_script.runner import CountingRunner, SessionRunner, led_by, where
from harness.policies.admission.fan_out import FanOutConsent, FanOutDecision
from harness.session import Asker, Opening, Session
from harness.settings import LoadedSettings, Settings, current_folder, load
from harness.settings.logs import open_log
from harness.ui.folder_question import confirmed, with_answer
from harness.ui.plain.headless import Lead, OutputFormat, headless, print_note
from harness.ui.plain.keyboard import Keyboard
from harness.ui.plain.printer import LinePrinter
from harness.ui.plain.questions import PlainAsker

MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class _Script:
    """A script, and how it is run this time."""

    file: Path
    typed: str
    """The script with its arguments: the prompt of its turn."""
    source: bytes
    arguments: tuple[str, ...]
    seed: int
    began: float
    resume: Path | None
    """The journal of the session that goes on; None: a new one."""
    record: ScriptRecord

    def main(self) -> Main:
        """Run the file as a new module and return its `main`. Raises SettingsError for one that has none or fails."""
        module = ModuleType("plan_script")
        module.__file__ = str(self.file)
        try:
            exec(compile(self.source, str(self.file), "exec"), module.__dict__)
        except (Exception, SystemExit) as error:
            raise SettingsError(f"{where(error, self.file)}.") from error
        found = getattr(module, "main", None)
        if not iscoroutinefunction(found):
            raise SettingsError(f"{self.file.name} has no `async def main(plan)`; `harness run` calls it.")
        return found

    def plan(self, runner: SessionRunner | CountingRunner) -> Plan:
        """What `main` is given."""
        return Plan(runner, self.arguments, seed=self.seed, began=self.began)


def run_plan(options: Namespace, script: str, arguments: tuple[str, ...]) -> int:
    """Run the command; returns the exit code. Raises HarnessError.

    `options`: flags of harness, with `seed` and `yes`.
    """
    given, here = with_answer(flags(options), os.environ, sys.stdin, sys.stderr), current_folder()
    loaded = load(given, os.environ, here).require_answer()
    file = Path(script).expanduser().absolute()
    if loaded.settings.permission_mode == "plan":
        raise SettingsError("A plan script is the plan, and plan mode asks the model for one; use another mode.")
    _trusted(loaded, file)
    try:
        source = read_regular(file, MOST_BYTES)
    except OSError as error:
        raise SettingsError(f"{script} cannot be read: {error.strerror}; name a Python file.") from error
    made = _script(options, loaded.settings, file, source, arguments)
    sys.path.insert(0, str(file.parent))
    _started(made, loaded.settings, yes=options.yes)
    log, reread = open_log(loaded.settings, sys.stderr), partial(_settings, given, here)
    opening = Opening(made.resume.stem if made.resume else None, worktree=options.worktree, carry=options.carry_changes)
    form = OutputFormat(options.output_format or "text")
    lead = Lead(partial(_turn, made), ("harness", "run", script, "--resume"), asker=_asker())
    streams = sys.stdout, sys.stderr
    with contextlib.redirect_stdout(sys.stderr):  # what the script prints is no answer
        return asyncio.run(headless(loaded, made.typed, opening, form, *streams, lead=lead, reread=reread, log=log))


def _asker() -> Asker | None:
    """Asks the user in lines; None: there is no terminal to ask in."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    keyboard = Keyboard(sys.stdin.fileno())
    return PlainAsker(LinePrinter(sys.stderr), keyboard, keyboard.away)


def _settings(given: Mapping[str, object], here: Path) -> Settings:
    return load(given, os.environ, here).settings


def _trusted(loaded: LoadedSettings, file: Path) -> None:
    """Ask before a script of a folder runs whose settings the user does not trust."""
    if loaded.trust is not False or not file.is_relative_to(loaded.settings.workspace):
        return
    question = f"You do not trust {loaded.settings.workspace}. Run its {file.name} as a program of yours?"
    if not confirmed(question, sys.stdin, sys.stderr):
        raise SettingsError(f"{file.name} is in a folder that you do not trust; --trust-folder runs it.")


def _script(options: Namespace, settings: Settings, file: Path, source: bytes, arguments: tuple[str, ...]) -> _Script:
    folder = session_folder(settings.workspace, settings.state_dir)
    name = str(file.relative_to(settings.workspace) if file.is_relative_to(settings.workspace) else file)
    typed, asked = shlex.join((name, *arguments)), ScriptStarted(str(file), arguments, 0, time.time())
    path = find(folder, options.resume) if options.resume else _unfinished(folder, typed, asked)
    if options.resume == "" and path is None:
        raise SettingsError(f"No run of {file.name} is unfinished in this folder; leave --resume out to begin one.")
    if options.resume is None and path is not None:
        hint = f"An unfinished run of {file.name} is there ({path.stem})"
        if options.yes or not confirmed(f"{hint}. Go on with it?", sys.stdin, sys.stderr):
            print_note(f"{hint}; --resume {path.stem} goes on with it.", sys.stderr)
            path = None
    record = recorded(one.event for one in read(path).records) if path else ScriptRecord()
    if path is not None and record.started is None:
        raise SettingsError(f"The session {path.stem} ran no plan script; `harness --resume {path.stem}` continues it.")
    begun = record.started or asked
    arguments = arguments or begun.arguments
    seed = begun.seed if options.seed is None else options.seed
    return _Script(file, shlex.join((name, *arguments)), source, arguments, seed, begun.began, path, record)


def _unfinished(folder: Path, typed: str, asked: ScriptStarted) -> Path | None:
    """The journal of the last run of this script, if that has not finished and nobody runs it."""
    for summary in sessions(folder):
        if summary.title == title_of(typed) and writer_of(summary.path) is None:
            record = recorded(one.event for one in read(summary.path).records)
            if (begun := record.started) and (begun.path, begun.arguments) == (asked.path, asked.arguments):
                return None if record.finished else summary.path
    return None


def _started(script: _Script, settings: Settings, *, yes: bool) -> None:
    """Print the estimate, and ask where so many agents need a yes. Raises SettingsError where there is none."""
    counting = CountingRunner(script.record)
    with contextlib.redirect_stdout(io.StringIO()):
        whole = asyncio.run(counting.count(script.main(), script.plan(counting)))
    new, known = len(counting.new), counting.known
    more = "" if whole else ", and what the script begins with their answers"
    kept = f"; {counted(known, 'answer')} of an earlier run" if known else ""
    estimate = f"{counted(new, 'agent')} to begin with{more}{kept}" if new else f"no agent{more}{kept}"
    print_note(f"{script.file.name}: {estimate}. Estimate: {estimated(settings, new)}.", sys.stderr)
    for order in filter(script.record.changed, counting.new):
        print_note(f'  runs again, because it asks for something else now: "{order.name}"', sys.stderr)
    require_consent(settings, new, script.file.name, yes=yes)


def estimated(settings: Settings, agents: int) -> str:
    """What so many agents are taken to use."""
    each = Catalogue(settings.prices).cost(settings.model, ASSUMED)
    cost = "cost unknown" if each is None else f"about ${each * agents:,.2f}"
    return f"{(ASSUMED.prompt + ASSUMED.output) * agents:,} tokens, {cost}"


def require_consent(settings: Settings, agents: int, what: str, *, yes: bool) -> None:
    """Ask where so many agents need a yes. Raises SettingsError where there is none."""
    decision = FanOutConsent(settings.fan_out_subagents).ruling(settings.fan_out, 0, max(1, agents))
    if yes or decision is FanOutDecision.START:
        return
    if decision is FanOutDecision.REFUSED or not confirmed("Start?", sys.stdin, sys.stderr):
        raise SettingsError(f"{what} was not started; --yes starts so many agents without a question.")


async def _turn(script: _Script, session: Session) -> AsyncGenerator[Event, None]:
    """The turn that the script leads."""
    runner = SessionRunner(session, script.record)
    print_note(f"session {session.id}", sys.stderr)

    async def work() -> LedEnd:
        started = ScriptStarted(str(script.file), script.arguments, script.seed, script.began)
        session.conversation.emit(started)
        end = await led_by(script.main, script.plan(runner), script.file)
        if end[0] is TransitionCode.COMPLETED:
            runner.name_unawaited()
        return end

    async with contextlib.aclosing(session.run_script(script.typed, work)) as events:
        async for event in events:
            yield event
