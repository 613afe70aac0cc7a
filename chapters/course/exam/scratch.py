"""One run of the program: an empty folder, a practice server of its own, and nothing left at the end."""

import asyncio
import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory

from chapters.course.exam.judgement import Ended, Observed
from chapters.course.exam.playback import ExamPlayback, member_tool_of, server_tool_of, shell_of
from chapters.course.exam.program import Program
from chapters.course.exam.rows import FaultRow, RowKind
from harness.events import Json
from harness.practice import mcp_server
from harness.practice.checks.request import check_messages
from harness.practice.checks.rules import ServedModel, ServerRules
from harness.practice.server import PracticeServer
from harness.practice.wire.recorded import RecordedExchange
from harness.processes import Processes, ProcessLimits
from harness.processes.outcome import MARK

OUTPUT_BYTES = 200_000
"""Bytes of each output stream to keep, from the beginning."""
POLL_S = 0.05
SERVER_MS = 3_000
"""Milliseconds of a call of the MCP server without a sign of life, as `.mcp.json` says."""


@dataclass(frozen=True, slots=True)
class ExamLimits:
    """Time limits in seconds, and how much may run at once."""

    row_s: float = 40.0
    silent_row_s: float = 80.0
    """For the rows with a silent server."""
    signal_s: float = 10.0
    """Until a program must have ended after a signal."""
    left_s: float = 3.0
    """Until what it started must have ended after that."""
    requests: int = 100
    """A program that sends more in one row is ended."""
    at_once: int = field(default_factory=lambda: max(2, os.cpu_count() or 2))
    """Rows that run at the same time; those that mostly wait are not counted."""


class Scratch:
    """A program in an empty folder with a server of its own. Leaving ends whatever it started."""

    def __init__(
        self,
        program: Program,
        processes: Processes,
        limits: ExamLimits,
        playback: ExamPlayback,
        row: FaultRow | None = None,
    ) -> None:
        """`playback` is what the model says; `row` is what is played, None for a check of its own."""
        self._program = program
        self._processes = processes
        self._limits = limits
        self._server = PracticeServer(script=playback, on_exchange=self._exchanged)
        self._mcp = row and row.server
        self._kind = None if row is None else row.kind
        self._place = TemporaryDirectory(prefix="harness-exam-", ignore_cleanup_errors=True)
        self._mark = f"exam-{token_hex(8)}"
        self._too_many = asyncio.Event()
        self._count = 0

    async def __aenter__(self) -> "Scratch":
        await self._server.__aenter__()
        self._folder = Path(self._place.name).resolve()
        for name in ("work", "home"):
            (self._folder / name).mkdir()
        if self._mcp is not None:
            args = [mcp_server.__file__, *(["--fault", self._mcp] if self._mcp else [])]
            entry = {"command": sys.executable, "args": args, "timeout": SERVER_MS}
            (self._work / ".mcp.json").write_text(json.dumps({"mcpServers": {"practice": entry}}), "utf-8")
        return self

    async def __aexit__(self, *error: object) -> None:
        try:
            await self._kill_all()
        finally:
            await self._server.__aexit__(None, None, None)
            self._place.cleanup()

    @property
    def histories(self) -> list[list[Json]]:
        """The messages of the requests that offered tools, oldest first."""
        return [body.get("messages") or [] for body in self._bodies() if body.get("tools")]

    @property
    def lines(self) -> int:
        """How often commands ran."""
        return _lines(self._work / "rounds.txt") + _lines(self._work / "slow.txt")

    @property
    def _work(self) -> Path:
        return self._folder / "work"

    def _bodies(self) -> list[Json]:
        return [one.body for one in self._server.requests if one.path.rstrip("/") == "/v1/messages"]

    def _exchanged(self, exchange: RecordedExchange) -> None:
        self._count += exchange.request.path.rstrip("/") == "/v1/messages"
        if self._count >= self._limits.requests:
            self._too_many.set()

    def _environment(self) -> dict[str, str]:
        given = self._program.environment(self._folder / "home", self._server.base_url)
        return {**given, MARK: " ".join((*given.get(MARK, "").split(), self._mark))}

    async def run(self, *arguments: str, seconds: float) -> Observed:
        """Run the program to its end, its time limit or one request too many."""
        stdout, stderr = bytearray(), bytearray()
        began, already = time.monotonic(), len(self._bodies())
        running = asyncio.create_task(
            self._processes.run(
                (*self._program.words, *arguments),
                cwd=self._work,
                environment=self._environment(),
                sink=_bounded(stdout),
                errors=_bounded(stderr),
                limits=ProcessLimits(time_s=seconds, term_grace_s=0.5),
            )
        )
        too_many = asyncio.create_task(self._too_many.wait())
        try:
            await asyncio.wait({running, too_many}, return_when=asyncio.FIRST_COMPLETED)
            exit_code = None
            if running.done():
                result = running.result()
                exit_code = None if result.timed_out else result.exit_code
        finally:
            for task in (running, too_many):
                task.cancel()
            await asyncio.wait({running, too_many})
        bodies = self._bodies()[already:]
        offered = [body for body in bodies if body.get("tools")]
        has_shell = any(shell_of(body) for body in offered)
        return Observed(
            len(bodies),
            exit_code,
            stdout.decode("utf-8", "replace"),
            stderr.decode("utf-8", "replace"),
            time.monotonic() - began,
            tuple(problem for body in bodies if (problem := violation(body)) is not None),
            _lines(self._work / "rounds.txt") if has_shell else None,
            bool(offered),
            offers_needed=any(offers_needed(self._kind, body) for body in bodies),
            endless=self._too_many.is_set(),
        )

    async def make_repository(self) -> None:
        """Make the folder a repository of git with one commit."""
        commands = (
            "git init -q && git config user.name exam && git config user.email exam@example.org "
            "&& echo 'forty-two' > note.txt && git add note.txt && git commit -qm start"
        )
        if not await self.succeeds(commands):
            raise OSError("git cannot make a repository")

    async def succeeds(self, command: str) -> bool:
        """Whether a command of the shell succeeds in the folder."""
        command_line = ("sh", "-c", command)
        ran = await self._processes.run(
            command_line, cwd=self._work, environment=self._environment(), sink=_bounded(bytearray())
        )
        return ran.exit_code == 0

    async def start(self, *arguments: str) -> None:
        """Start the program and return."""
        self._child = await self._processes.start(
            (*self._program.words, *arguments),
            cwd=self._work,
            environment=self._environment(),
            output=self._folder / "output",
        )

    async def until_slow(self, seconds: float) -> bool:
        """Wait until the slow command runs. False: the program ended, or the time is up."""
        slow = self._work / "slow.txt"
        await _until(lambda: _lines(slow) > 0 or self._child.ended, seconds)
        return _lines(slow) > 0

    async def kill(self) -> None:
        """Kill the program and what it started, as when the machine loses power."""
        await self._kill_all()
        await self._child.end()

    async def _kill_all(self) -> None:
        from harness.processes.tree import ProcessTree, look_at

        tree = ProcessTree(self._mark)

        def killed() -> bool:
            members = look_at((tree,))[tree]
            tree.signal(signal.SIGKILL, members)
            return not members

        await _until(killed, self._limits.left_s)

    async def end_by(self, number: signal.Signals) -> Ended:
        """Send the program a signal, wait for its end, and list the processes left."""
        from harness.processes.tree import ProcessTree, look_at

        tree = ProcessTree(self._mark)
        look_at((tree,))  # who is known now is found again without its parent
        began = time.monotonic()
        if not self._child.ended:
            os.kill(self._child.pid, number)
        ended = await _until(lambda: self._child.ended, self._limits.signal_s)
        seconds = time.monotonic() - began
        await _until(lambda: not look_at((tree,))[tree], self._limits.left_s)
        return Ended(number.name, ended, tuple(sorted(one.name for one in tree.left_over())), seconds=seconds)


def offers_needed(kind: RowKind | None, body: Json) -> bool:
    """A request offers the tool that rows of this kind need."""
    match kind:
        case RowKind.SERVER:
            return server_tool_of("work", body) is not None
        case RowKind.TEAM:
            return member_tool_of(body) is not None
        case _:
            return True


def violation(body: Json) -> str | None:
    """What the API says of an invalid history; None: it is valid."""
    if not isinstance(body.get("messages"), list):
        return "messages: Field required"
    model = ServerRules().model(str(body.get("model"))) or ServedModel("", 200_000, 64_000)
    return check_messages(body, model)


def _bounded(kept: bytearray) -> Callable[[bytes], None]:
    def feed(data: bytes) -> None:
        kept.extend(data[: OUTPUT_BYTES - len(kept)])

    return feed


def _lines(file: Path) -> int:
    return len(re.findall(r"\bran\b", file.read_text())) if file.exists() else 0


async def _until(holds: Callable[[], bool], seconds: float) -> bool:
    """Look again and again whether something holds; other processes send no event for it."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() >= deadline:
            return False
        await asyncio.sleep(POLL_S)
    return True
