"""Plays the parts of the exam to a program, several at a time."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace

from chapters.course.exam.judgement import (
    Continued,
    Ended,
    Observed,
    Verdict,
    judge,
    judge_continued,
    judge_ended,
    lost,
)
from chapters.course.exam.playback import ExamPlayback
from chapters.course.exam.program import Program
from chapters.course.exam.rows import (
    ANSWER,
    FINAL,
    GOOD_ROUND,
    ROWS,
    SERVER_ROWS,
    TEAM_ROWS,
    WORKTREE_ROWS,
    FaultRow,
    RowKind,
)
from chapters.course.exam.scratch import ExamLimits, Scratch
from harness.events import Json
from harness.practice.script import Script
from harness.processes import Processes, ProcessLimits

PROMPT, CONTINUE_PROMPT = "What does the note hold?", "Please continue."
KILLED = "kill -9 in a turn, then continue"
SIGNALS = {f"{number.name} while a command runs": number for number in (signal.SIGTERM, signal.SIGINT)}
_ROWS: Mapping[str, FaultRow] = {row.name: row for row in (*ROWS, *SERVER_ROWS, *TEAM_ROWS, *WORKTREE_ROWS)}
_START = next(row.name for row in ROWS if row.kind is RowKind.START)
PARTS: tuple[str, ...] = (
    *sorted(_ROWS, key=lambda name: (name != _START, not _ROWS[name].slow)),
    KILLED,
    *SIGNALS,
)
"""Names of all parts of the exam, in their starting order."""


def row_of(name: str) -> FaultRow:
    """The row of a part; for a check of its own the one that says how a program answers without a fault."""
    return _ROWS.get(name, _ROWS[_START])


@dataclass(frozen=True, slots=True)
class Played:
    """A part of the exam that has been played."""

    name: str
    kind: RowKind | None
    """None: a check of its own."""
    seen: Observed | Continued | Ended
    verdict: Verdict


async def play_exam(
    program: Program, names: Sequence[str] = PARTS, limits: ExamLimits | None = None
) -> AsyncGenerator[Played, None]:
    """Play parts of the exam, several at a time, and yield each as it ends.

    The row without a fault comes first, and alone: when it fails, nothing else is played. When the iteration is ended
    early, everything that runs is ended; close the generator for that. Raises OSError if the program cannot be started.
    """
    limits = limits or ExamLimits()
    processes = Processes(ProcessLimits(term_grace_s=0.5))
    try:
        rest = list(names)
        if _START in rest:
            rest.remove(_START)
            first = await _play(_Stage(program, processes, limits), _START)
            yield first
            if not first.verdict.passed:
                return
        places, waiting = asyncio.Semaphore(limits.at_once), asyncio.Semaphore(len(rest) + 1)

        async def one(name: str) -> Played:
            async with waiting if name in _ROWS and _ROWS[name].slow else places:
                return await _play(_Stage(program, processes, limits), name)

        tasks = [asyncio.create_task(one(name)) for name in rest]
        try:
            for ended in asyncio.as_completed(tasks):
                yield await ended
        finally:
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks)
    finally:
        await processes.aclose()


@dataclass(frozen=True, slots=True)
class _Stage:
    """What every part is played with."""

    program: Program
    processes: Processes
    limits: ExamLimits

    def scratch(self, script: str, row: FaultRow | None = None) -> Scratch:
        answer = (row and row.answer) or ANSWER
        return Scratch(
            self.program, self.processes, self.limits, ExamPlayback(Script.parse(script, "exam"), answer), row
        )


async def _play(stage: _Stage, name: str) -> Played:
    if (row := _ROWS.get(name)) is not None:
        seen = await _play_row(stage, row)
        return Played(name, row.kind, seen, judge(row, seen))
    if name == KILLED:
        continued = await _play_killed(stage)
        return Played(name, None, continued, judge_continued(continued, ANSWER))
    ended = await _play_ended(stage, SIGNALS[name])
    return Played(name, None, ended, judge_ended(ended))


async def _play_row(stage: _Stage, row: FaultRow) -> Observed:
    seconds = stage.limits.silent_row_s if row.is_silent else stage.limits.row_s
    async with stage.scratch(row.script, row) as scratch:
        if not row.kept:
            return await scratch.run(PROMPT, seconds=seconds)
        await scratch.make_repository()
        seen = await scratch.run(PROMPT, "--worktree=exam", seconds=seconds)
        return replace(seen, kept=await scratch.succeeds(row.kept))


_SLOW_CALL = """
[[reply]]
text = "Now the slow part."
tools = [{{ name = "bash", id = "toolu_slow", input = {{ command = "{command}" }} }}]
"""
_SLOW_KILLED = _SLOW_CALL.format(command="echo ran >> slow.txt; sleep 60")
_SLOW_ENDED = _SLOW_CALL.format(command="sleep 300 & echo ran >> slow.txt; sleep 300")
_SLOW_REPLY: Json = {
    "role": "assistant",
    "content": [{"type": "text", "text": "Now the slow part."}, {"type": "tool_use", "id": "toolu_slow"}],
}


async def _play_killed(stage: _Stage) -> Continued:
    """Two good rounds, and a kill while the command of the third runs; then the program is started to continue."""
    async with stage.scratch(GOOD_ROUND + GOOD_ROUND + _SLOW_KILLED + FINAL) as scratch:
        await scratch.start(PROMPT)
        await scratch.until_slow(stage.limits.row_s)
        await scratch.kill()
        before, lines = scratch.histories, scratch.lines
        known = [*before[-1], _SLOW_REPLY] if before else []
        after = await scratch.run(stage.program.continue_flag, CONTINUE_PROMPT, seconds=stage.limits.row_s)
        longest = max(scratch.histories[len(before) :], key=len, default=[])
        return Continued(lost(known, longest), len(known), scratch.lines > lines, after)


async def _play_ended(stage: _Stage, number: signal.Signals) -> Ended:
    """A signal to the program while a command, with a process in its background, runs."""
    async with stage.scratch(GOOD_ROUND + _SLOW_ENDED + FINAL) as scratch:
        await scratch.start(PROMPT)
        if not await scratch.until_slow(stage.limits.row_s):
            return Ended(number.name, ended=False, left=(), had_command=False)
        return await scratch.end_by(number)
