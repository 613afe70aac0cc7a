"""Many real programs with one state folder: each lets two agents work, which write down what they do.

An agent runs a short command. It says in one log when it begins and when it ends, a line each, appended in one write.
So the log alone shows how many agents of all programs were at work at each moment.

No program lets its agents go before all are up: a pipe without a writer holds them. So the agents of
all ask for their slots at the same time. (They wait in two calls, because none may take longer than ten minutes.)
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from uuid import uuid4

from harness.slots.store import slots_file
from tests.processes.traces import NAME, Trace
from tests.ui.warm import Fork, begin

ROOT = Path(__file__).parents[2]
LIMIT = 5
"""What all of them may do at once, when nothing else is set."""
AGENTS = 2
"""Of each program."""
STARTING = 3
"""Programs that start at the same time: a start costs a second of a processor."""
STEERING = ("ANTHROPIC_", "HARNESS_", "MODEL_ID", "FALLBACK_MODEL_ID", "XDG_", "PYTHONDONTWRITEBYTECODE")
"""What the environment may hold that has no say here. Byte code is kept, so that only the first program compiles."""
SCRIPT = """
[[reply]]
tools = [ {{ name = "bash", input = {{ command = '''{say} up >> {log}; : < {gate}''', timeout = 600 }} }} ]
when = {{ offers = "agent" }}

[[reply]]
tools = [ {{ name = "bash", input = {{ command = ': < {gate}', timeout = 600 }} }} ]
when = {{ offers = "agent" }}

[[reply]]
tools = [ {{ name = "agent", times = {agents}, input = {{ description = "part {{n}}", prompt = "Do {{n}}." }} }} ]
when = {{ offers = "agent" }}

[[reply]]
text = "All parts are done."
when = {{ offers = "agent" }}

[[reply]]
tools = [ {{ name = "bash", input = {{ command = '''
{say} started >> {log}; while [ -e {held} ]; do sleep 0.1; done
sleep {hold_s}; {say} ended >> {log}''', timeout = 600 }} }} ]
when = {{ lacks = "agent" }}
times = {agents}

[[reply]]
text = "My part is done."
when = {{ lacks = "agent" }}
times = {agents}
"""
SAY = "echo ${EPOCHREALTIME:-$(date +%s)} $PPID $$"


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that a command of a program, or a test, has written down."""

    at: float
    """Unix time."""
    program: int
    work: int
    """Process id of the command."""
    what: str
    """"up" and waiting for the others; "started" and "ended": an agent; "killed": the program, by the test."""


class Log:
    """Events in their order."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.touch()

    def killed(self, program: int) -> None:
        """Note that a program was killed."""
        with self._path.open("ab", buffering=0) as file:
            file.write(f"{time.time()} {program} 0 killed\n".encode())

    def lines(self) -> list[Line]:
        """All that is whole."""
        read = (
            line.split() for line in self._path.read_text(encoding="ascii").splitlines(keepends=True) if "\n" in line
        )
        return [Line(float(at), int(program), int(work), what) for at, program, work, what in read]


@dataclass(frozen=True, slots=True)
class Moment:
    """The agents at work from a moment on."""

    at: float
    work: frozenset[tuple[int, int]]
    """Program and process of the commands."""

    @property
    def programs(self) -> frozenset[int]:
        """Those whose agents they are."""
        return frozenset(program for program, _ in self.work)


def moments_of(lines: Sequence[Line]) -> list[Moment]:
    """Replay a log. Lines of a program after its death are ignored."""
    found, work, dead = [Moment(0.0, frozenset())], set[tuple[int, int]](), set[int]()
    for line in lines:
        if line.program in dead:
            continue
        match line.what:
            case "started":
                work.add((line.program, line.work))
            case "ended":
                work.remove((line.program, line.work))
            case "killed":
                dead.add(line.program)
                work = {(program, one) for program, one in work if program != line.program}
        found.append(Moment(line.at, frozenset(work)))
    return found


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a program said of itself in the end."""

    exit_code: int
    answer: str
    ends: Counter[str]
    """How its agents ended."""
    results: int
    """Calls of task that its model was given a result for."""


ANSWERED = Outcome(0, "All parts are done.", Counter(answered=AGENTS), AGENTS)
"""Outcome of every program that was not killed."""


class Sessions:
    """The programs, while they run."""

    def __init__(self, folder: Path, hold_s: float, *, warm: bool) -> None:
        """`warm` as for `sessions`."""
        self._warm = warm
        self.folder = folder
        self.log = Log(folder / "log")
        self._mark = uuid4().hex
        self._gate, self._held = folder / "gate", folder / "held"
        self._opened: int | None = None
        self._programs: dict[int, subprocess.Popen[bytes] | Fork] = {}
        os.mkfifo(self._gate)
        (folder / "work").mkdir()
        self._held.touch()
        places = {"log": folder / "log", "gate": self._gate, "held": self._held}
        (folder / "script.toml").write_text(SCRIPT.format(say=SAY, agents=AGENTS, hold_s=hold_s, **places))

    # ── what a test does ────────────────────────────────────────────────────────────────────────

    def start(self, programs: int, within_s: float) -> None:
        """Start them, a few at a time, and wait until all are up."""
        for number in range(programs):
            self._start()
            self.wait(partial(self._waits, number + 1 - STARTING), within_s)
        self.wait(partial(self._waits, programs), within_s)

    def let_go(self) -> float:
        """Let all agents be asked for; returns the Unix time."""
        self._opened = os.open(self._gate, os.O_WRONLY)
        return time.time()

    def let_agents_end(self) -> None:
        """Agents no longer hold their slots for longer than they work."""
        self._held.unlink()

    def kill(self, program: int) -> float:
        """End a program without a word, at a moment at which it does nothing; returns the Unix time."""
        os.kill(program, signal.SIGSTOP)
        self.log.killed(program)
        os.kill(program, signal.SIGKILL)
        return time.time()

    def wait(self, reached: Callable[[], object], within_s: float) -> None:
        """Wait for an action of the programs. Raises TimeoutError."""
        until, pause = time.monotonic() + within_s, Event()
        while not reached():
            if time.monotonic() > until:
                raise TimeoutError(f"it did not come to that; the log ends with {self.log.lines()[-5:]}")
            pause.wait(0.02)

    def ended(self, within_s: float) -> dict[int, Outcome]:
        """Wait for all; what each said in the end, but for those that were killed."""
        self.wait(lambda: all(program.poll() is not None for program in self._programs.values()), within_s)
        codes = {pid: program.wait() for pid, program in self._programs.items()}
        return {pid: self._outcome(pid, code) for pid, code in codes.items() if code != -signal.SIGKILL}

    def close(self) -> None:
        """End the processes still running."""
        for program in self._programs.values():
            program.kill()
            program.wait()
        if self._opened is not None:
            os.close(self._opened)

    # ── what there is to see ────────────────────────────────────────────────────────────────────

    @property
    def pids(self) -> tuple[int, ...]:
        """The programs."""
        return tuple(self._programs)

    @property
    def now(self) -> Moment:
        """The programs and agents at work."""
        return moments_of(self.log.lines())[-1]

    def traces(self, programs: Sequence[int]) -> Iterator[Trace]:
        """Traces that identify their processes."""
        numbers = {pid: number for number, pid in enumerate(self._programs)}
        return (self._trace(numbers[pid]) for pid in programs)

    @property
    def steps(self) -> int:
        """Transactions so far that have changed the file which they share: SQLite counts them in its header."""
        with slots_file(self.folder / "state").open("rb") as file:
            return int.from_bytes(file.read(28)[24:], "big")

    # ── one program ─────────────────────────────────────────────────────────────────────────────

    def _start(self) -> None:
        number = len(self._programs)
        script, work = str(self.folder / "script.toml"), self.folder / "work"
        arguments = ("-p", "Let two agents work.", "--practice", script, "--yolo", "--output-format", "stream-json")
        environment = self._environment | {NAME: self._trace(number).value}
        program: subprocess.Popen[bytes] | Fork
        with (self.folder / f"{number}.out").open("wb") as out, (self.folder / f"{number}.err").open("wb") as err:
            if self._warm:
                with Path(os.devnull).open("rb") as nothing:
                    program = begin(work, arguments, environment, [one.fileno() for one in (nothing, out, err)])
            else:
                command = (sys.executable, "-m", "harness", *arguments)
                program = subprocess.Popen(
                    command, cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err
                )
        self._programs[program.pid] = program

    @property
    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(STEERING)}
        own = {"HARNESS_STATE_DIR": str(self.folder / "state"), "XDG_CONFIG_HOME": str(self.folder / "config")}
        return kept | own | {"PYTHONPATH": str(ROOT), "LC_ALL": "C"}

    def _trace(self, number: int) -> Trace:
        return Trace(f"{self._mark}.{number}")

    def _waits(self, wanted: int) -> bool:
        return sum(line.what == "up" for line in self.log.lines()) >= wanted

    def _outcome(self, pid: int, code: int) -> Outcome:
        number = list(self._programs).index(pid)
        text = (self.folder / f"{number}.out").read_text()
        events = [json.loads(line) for line in text.splitlines()]
        answer = events[-1]["result"] if events else (self.folder / f"{number}.err").read_text()
        ends = Counter(event["end"] for event in events if event["type"] == "agent_ended")
        results = sum(event["type"] == "tool_ended" and event["tool"] == "agent" for event in events)
        return Outcome(code, answer, ends, results)


@contextmanager
def sessions(folder: Path, programs: int, hold_s: float, *, warm: bool = False) -> Iterator[Sessions]:
    """So many programs that are up, with agents that will each work for `hold_s` seconds, once they may end. In the
    end all have ended.

    With `warm` they are forked from one that has loaded everything, which saves seconds of a processor for each.
    """
    here = Sessions(folder, hold_s, warm=warm)
    try:
        here.start(programs, within_s=60 + 6 * programs)
        yield here
    finally:
        here.close()


@dataclass(frozen=True, slots=True)
class Killed:
    """Measurements after killing programs with working agents; one entry per kill."""

    programs: frozenset[int]
    until_one: tuple[float, ...]
    """Seconds until another agent had begun its command."""
    until_all: tuple[float, ...]
    """Seconds until as many had as were at work in the killed programs."""
    until_gone: tuple[float, ...]
    """Seconds until nothing of the killed programs was left in the process table."""


def kill_holders(here: Sessions, wanted: int) -> Killed:
    """Kill so many programs, each while it holds a slot: all that do so at a moment, then those that do so next.

    Until then no agent ends, so that as many are at work at once as may be, however busy the machine is.
    """
    killed = Killed(frozenset(), (), (), ())
    while left := wanted - len(killed.programs):
        here.wait(lambda: len(here.now.work) == LIMIT, 60)
        now = here.now
        doomed = sorted(now.programs)[:left]
        freed = sum(program in doomed for program, _ in now.work)
        died = [here.kill(pid) for pid in doomed][-1]
        gone = _gone(here, doomed, died)
        here.wait(partial(_have_begun, here.log, died, freed), 60)
        begun = _begun(here.log, died)
        killed = Killed(
            killed.programs | set(doomed),
            (*killed.until_one, begun[0] - died),
            (*killed.until_all, begun[freed - 1] - died),
            (*killed.until_gone, gone),
        )
    here.let_agents_end()
    return killed


def _gone(here: Sessions, programs: Sequence[int], died: float) -> float:
    """Seconds until nothing of them was left. Raises RuntimeError when that takes too long."""
    for trace in here.traces(programs):
        for process in trace.left(within_s=60):
            raise RuntimeError(f"{process} of a program that was killed lives on")
    return time.time() - died


def _begun(log: Log, since: float) -> list[float]:
    """When agents of programs that live have begun since then."""
    lines = log.lines()
    dead = {line.program for line in lines if line.what == "killed"}
    return [line.at for line in lines if line.what == "started" and line.at > since and line.program not in dead]


def _have_begun(log: Log, since: float, wanted: int) -> bool:
    return len(_begun(log, since)) >= wanted


def check(here: Sessions, outcomes: dict[int, Outcome], killed: frozenset[int]) -> list[Moment]:
    """Check the invariants; return the work at each moment. Raises AssertionError."""
    lines = here.log.lines()
    moments = moments_of(lines)
    assert max(len(moment.work) for moment in moments) == LIMIT
    assert set(outcomes) == set(here.pids) - killed
    assert {pid: outcome for pid, outcome in outcomes.items() if outcome != ANSWERED} == {}
    ends = Counter(line.program for line in lines if line.what == "ended" and line.program not in killed)
    assert ends == dict.fromkeys(outcomes, AGENTS)
    assert [process for trace in here.traces(here.pids) for process in trace.living()] == []
    return moments
