"""Judges a run of the exam: observations in, verdict and missing mechanisms out. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from chapters.course.exam.mechanisms import Mechanism
from chapters.course.exam.rows import FaultRow, RowKind
from harness.events import Block, Json
from harness.practice.requests import blocks, result_text, without_reminders

NEEDED = 22
"""Recoverable faults that a program has to survive to pass."""
MOST_LOST = 1
"""Messages that may be missing after a kill."""
OPENING = 16
"""Characters without blanks that identify the beginning and the end of an answer."""


@dataclass(frozen=True, slots=True)
class Observed:
    """One run of the program, seen from outside."""

    requests: int
    """Requests to the Messages API."""
    exit_code: int | None
    """None: it was ended, by its time limit or because it sent too many requests."""
    stdout: str
    stderr: str
    seconds: float
    """From its start to its end."""
    violations: tuple[str, ...] = ()
    """What the API would say of invalid histories; one for each request."""
    rounds: int | None = None
    """How often the command of the good round ran; None: the program has no shell."""
    offers_tools: bool = True
    """Some request offered a tool."""
    offers_needed: bool = True
    """Some request offered a tool that the row needs: of the MCP server, or to start a member."""
    kept: bool = True
    """The command of the row that looks at the folder afterwards succeeded."""
    endless: bool = False
    """It was ended because it sent too many requests."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Passed, or the missing mechanisms."""

    missing: tuple[Mechanism, ...] = ()

    @property
    def passed(self) -> bool:
        """Nothing is missing."""
        return not self.missing


class Shown(Enum):
    """What standard output shows of an answer."""

    NOTHING = "nothing"
    OTHER = "other"
    """Text, but not the whole answer."""
    END = "end"
    """The end of the answer without its beginning."""
    ONCE = "once"
    TWICE = "twice"
    """The answer or its beginning more than once."""


def shown(stdout: str, answer: str) -> Shown:
    """What `stdout` shows of the answer. Blanks and line breaks do not count: a program may wrap its lines."""
    text, wanted = _packed(stdout), _packed(answer)
    if not text:
        return Shown.NOTHING
    if wanted not in text:
        return Shown.END if text.endswith(wanted[-OPENING:]) else Shown.OTHER
    return Shown.ONCE if text.count(wanted[:OPENING]) == 1 else Shown.TWICE


def judge(row: FaultRow, seen: Observed) -> Verdict:
    """The verdict on a row."""
    if seen.violations:
        return Verdict((Mechanism.VALID_HISTORY,))
    if row.kind is RowKind.START and seen.requests and not seen.offers_tools:
        return Verdict((Mechanism.OFFERED_TOOL,))
    if seen.rounds is not None and seen.rounds > row.rounds:
        return Verdict((row.mechanism if row.mechanism is Mechanism.CUT_CALL else Mechanism.CALLS_ONCE,))
    if not seen.offers_needed or not seen.kept:
        return Verdict((row.mechanism,))
    missing = _hopeless(row, seen) if row.kind is RowKind.HOPELESS else _answered(row, seen)
    return Verdict(() if missing is None else (missing,))


def _answered(row: FaultRow, seen: Observed) -> Mechanism | None:
    what = shown(seen.stdout, row.answer or "")
    if seen.exit_code == 0 and what is Shown.END and row.mechanism in (Mechanism.ESCALATION, Mechanism.CONTINUATION):
        return Mechanism.JOINED
    if seen.exit_code is None or what not in (Shown.ONCE, Shown.TWICE):
        return row.mechanism
    if what is Shown.TWICE:
        return Mechanism.ONE_ANSWER
    if seen.exit_code != 0:
        return Mechanism.EXIT_CODE
    return None if seen.rounds in (None, row.rounds) else row.mechanism


def _hopeless(row: FaultRow, seen: Observed) -> Mechanism | None:
    if seen.exit_code is None:
        return row.mechanism
    words = seen.stderr.strip() or seen.stdout.strip()
    says = words and "Traceback (most recent call last)" not in seen.stderr
    return None if seen.exit_code != 0 and says else Mechanism.REPORT


@dataclass(frozen=True, slots=True)
class Continued:
    """A run that was killed in the middle of a turn, and the run that continued it."""

    lost: int
    """Messages from before the kill that the history lacks afterwards."""
    of: int
    """Messages that there were."""
    reran: bool
    """A command of before the kill ran again."""
    after: Observed
    """The continuing run."""


def judge_continued(seen: Continued, answer: str) -> Verdict:
    """The verdict on continuing after a kill."""
    missing = []
    if seen.after.violations:
        missing.append(Mechanism.VALID_HISTORY)
    if seen.lost > MOST_LOST or not seen.after.requests:
        missing.append(Mechanism.SESSION)
    if seen.reran:
        missing.append(Mechanism.CALLS_ONCE)
    what = shown(seen.after.stdout, answer)
    if not missing and (seen.after.exit_code is None or what not in (Shown.ONCE, Shown.TWICE)):
        missing.append(Mechanism.SESSION)
    elif not missing and what is Shown.TWICE:
        missing.append(Mechanism.ONE_ANSWER)
    elif not missing and seen.after.exit_code != 0:
        missing.append(Mechanism.EXIT_CODE)
    return Verdict(tuple(missing))


def lost(before: Sequence[Json], after: Sequence[Json]) -> int:
    """How many of the messages `before` are missing in the history `after`.

    A message is there if its tool calls and results are, found by their ids, or without any if one of its texts is.
    Text that the program adds to a message, such as reminders, does not matter.
    """
    content = [block for message in after for block in blocks(message.get("content"))]
    ids = {_id(block) for block in content} - {None}
    texts = _packed("\n".join(str(block.get("text", "")) or result_text(block) for block in content))
    return sum(not _kept(blocks(message.get("content")), ids, texts) for message in before)


def _kept(content: Sequence[Block], ids: set[str | None], texts: str) -> bool:
    own = {_id(block) for block in content} - {None}
    said = [_packed(without_reminders(str(block.get("text", "")))) for block in content if block.get("type") == "text"]
    if own:
        return own <= ids
    said = [text for text in said if text]
    return not said or any(text in texts for text in said)


def _id(block: Block) -> str | None:
    match block:
        case {"type": "tool_use", "id": str(id)}:
            return f"call {id}"
        case {"type": "tool_result", "tool_use_id": str(id)}:
            return f"result {id}"
    return None


def _packed(text: str) -> str:
    return "".join(text.split())


@dataclass(frozen=True, slots=True)
class Ended:
    """A program that was ended by a signal while its command ran."""

    signal: str
    """"SIGTERM" or "SIGINT"."""
    ended: bool
    """It exited within its time."""
    left: tuple[str, ...]
    """Names of the processes that were left running."""
    had_command: bool = True
    """False: it has no shell, or the command did not start."""
    seconds: float = 0.0


def judge_ended(seen: Ended) -> Verdict:
    """The verdict on what a signal leaves behind."""
    if not seen.had_command:
        return Verdict((Mechanism.SHELL,))
    return Verdict(() if seen.ended and not seen.left else (Mechanism.PROCESS_END,))
