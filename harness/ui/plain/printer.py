"""Events as lines of text, for screen readers, dumb terminals and pipes.

There is no cursor movement, and colour never carries information of its own. Control sequences in text of the model and
of tools are made visible.
"""

import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TextIO

from harness.base.external_text import visible
from harness.events import (
    OWN_COMMAND,
    AgentMoved,
    Event,
    MessageAdded,
    Origin,
    OutputDelta,
    PartialDiscarded,
    PauseReported,
    PermissionAsked,
    PlanChanged,
    PlanItem,
    ProposedPlan,
    QuestionAnswered,
    QuestionAsked,
    RequestSent,
    SessionStarted,
    StuckReported,
    TextDelta,
    ThinkingDelta,
    ThinkingEnded,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from harness.session import report_lines
from harness.ui.lines.events import OUTCOMES, ending_line, recorded_line, source_lines
from harness.ui.lines.line import Line, Tone, output_excerpt, seconds, thought, whole_text
from harness.ui.lines.reports import stuck_lines
from harness.ui.lines.work import DELEGATES, EventLines
from harness.ui.transcript.calls import COMMANDS

MOST_LINES = 200
"""Lines shown of the output of a user's own command."""
FEW_LINES = 3
"""Lines shown of the output of another command: the first ones, or the last ones of one that failed."""
LINE_EVERY_S = 1.0
"""Seconds between two lines of output of running commands."""
LINE_CHARACTERS = 500
"""Of a line of output."""
THINKS = "thinking"
"""Stands in for a call id when the open line is that of thinking."""
COLOURS = {Tone.QUIET: "2", Tone.TROUBLE: "33", Tone.BAD: "31"}


def has_colours(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether to write colours to a stream."""
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM", "dumb") != "dumb"


@dataclass(frozen=True, slots=True)
class RetractedText:
    """The last `characters` of the text above are withdrawn."""

    characters: int


class StreamedText:
    """Selects the streamed text to print on an output that cannot be erased.

    A reply may break off after some of its text was shown, and the next attempt writes it again. What the next
    attempt repeats word for word is not printed twice. If it differs, a mark says which characters above are withdrawn,
    and the new text follows whole.
    """

    def __init__(self) -> None:
        self._counted: list[str] = []
        """Shown and valid. Pieces of the current reply only."""
        self._stale = ""
        """Shown after that; withdrawn unless the next attempt repeats it."""
        self._repeated = 0
        """Characters of `_stale` repeated so far."""

    def add(self, text: str) -> tuple[str | RetractedText, ...]:
        """What to print for the next piece."""
        if not self._stale:
            self._counted.append(text)
            return (text,) if text else ()
        expected = self._stale[self._repeated :]
        if len(text) < len(expected) and expected.startswith(text):
            self._repeated += len(text)
            return ()
        if text.startswith(expected):
            rest = text[len(expected) :]
            self._counted += [self._stale, rest]
            self._stale, self._repeated = "", 0
            return (rest,) if rest else ()
        return self._instead(self._stale[: self._repeated] + text)

    def discard(self, characters: int) -> None:
        """Withdraw the last `characters` that arrived."""
        shown = "".join(self._counted)
        counting = max(0, len(shown) + self._repeated - characters)
        shown += self._stale
        self._counted, self._stale, self._repeated = [shown[:counting]], shown[counting:], 0

    def continue_answer(self) -> None:
        """The reply is over; another one continues the answer, perhaps with the stale text."""
        self._counted, self._repeated = [], 0

    def settle(self) -> tuple[str | RetractedText, ...]:
        """What to print at the end of the reply, which withdraws stale text."""
        pieces = self._instead(self._stale[: self._repeated]) if self._stale else ()
        self._counted = []
        return pieces

    def _instead(self, text: str) -> tuple[str | RetractedText, ...]:
        mark = RetractedText(len(self._stale))
        self._counted.append(text)
        self._stale, self._repeated = "", 0
        return (mark, text) if text else (mark,)


class LinePrinter:
    """Writes events to a text stream as they come."""

    def __init__(self, out: TextIO, *, colours: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: monotonic, for the pace of the output of running commands."""
        self._out = out
        self._colours = colours
        self._clock = clock
        self._next_output = 0.0
        self._output_shown: dict[str, str] = {}
        """The last line of output that was printed, by call."""
        self._text = StreamedText()
        self._lines = EventLines()
        self._at_line_start = True
        self._started: dict[str, ToolStarted] = {}
        self._asked: dict[str, PermissionAsked] = {}
        self._open_question = False
        """Whether a question or a prompt was printed last."""
        self._asking: set[str] = set()
        """Subagents that wait for the user's answer."""
        self._open_call = ""
        """Id of the call whose line still waits for its outcome."""
        self._thinking = False
        self._streamed = False
        """Whether text of the current reply was streamed."""
        self.gone = False
        """Whether the terminal has gone; nothing is written then."""

    @property
    def running(self) -> tuple[ToolStarted, ...]:
        """The tool calls that run."""
        return tuple(self._started.values())

    def show(self, event: Event) -> None:
        """Print an event."""
        self.note(event)
        line = self._lines.line(event)
        match event:
            case TurnStarted():
                for earlier in (self._output_shown, self._started, self._asked):
                    earlier.clear()
            case RequestSent():
                self._thinking = False
                if self._open_call == THINKS:
                    self.end_line()
            case ThinkingDelta() if not self._thinking:
                self._thinking = True
                self.end_line()
                self._write("· thinking … ")
                self._open_call = THINKS
            case ThinkingEnded(duration_s=duration_s):
                self._thinking = False
                self._thought(duration_s)
            case TextDelta(text=text):
                self._streamed = True
                self._pieces(self._text.add(text))
            case PartialDiscarded():
                self._text.discard(event.characters)
            case MessageAdded(origin=Origin.REPLY, message=message):
                # A journal holds the message, but not the streamed pieces.
                if not self._streamed:
                    self._pieces((message.text,))
                elif any(block.get("type") == "tool_use" for block in message.content):
                    self._pieces(self._text.settle())
                else:
                    self._text.continue_answer()
                self._streamed = False
            case MessageAdded(origin=Origin.STEERING, message=message):
                self.line(Line("▸", f"read now: {message.typed}"))
            case PermissionAsked():
                self._asked[event.call_id] = event
            case ToolStarted():
                self._tool_started(event)
            case OutputDelta() if self._is_due(event):
                self._wrote(event)
            case ToolEnded():
                self._tool_ended(event)
            case TurnEnded():
                self._pieces(self._text.settle())
                for source in source_lines(event.sources):
                    self.line(source)
                self.line(ending_line(event))
            case PlanChanged():
                for text in self._lines.checked:
                    self.say(f"  {text}")
            case QuestionAsked(plan=ProposedPlan() as plan) | QuestionAnswered(plan=ProposedPlan() as plan):
                self.say("\n".join(("", plan.text, "", *(f"  {PlanItem(step).line}" for step in plan.steps))))
            case PauseReported():
                self.say("\n".join(report_lines(event.report)))
            case StuckReported():
                self.say("\n".join(stuck_lines(event)))
            case _ if line is not None:
                self.line(line)

    def line(self, line: Line) -> None:
        """Print a line, after ending the current one."""
        self.end_line()
        self._write(self._painted(visible(str(line)).replace("\n", " "), line.tone) + "\n")

    def say(self, text: str) -> None:
        """Print text of the program itself as a paragraph."""
        self.end_line()
        self._write(visible(text) + "\n")

    def ask(self, question: str) -> None:
        """Print a question and stay on its line."""
        self.end_line()
        self._write(visible(question))
        self._at_line_start = True  # the answer's Enter ends the line
        self._open_question = True

    def rewind(self) -> None:
        """Go to the beginning of the line, so that the next text covers it."""
        self._write("\r")

    def interject(self, event: Event, question: str) -> None:
        """Print an event while a question waits for its answer, and repeat the question below it."""
        asked = set(self._asking)
        line = self._lines.line(event)
        self.note(event)
        match event:
            case AgentMoved() if self._asking - asked:
                self.leave_question()  # its question is printed on lines of its own
            case AgentMoved() if asked - self._asking:
                self.ask(question)
            case OutputDelta() if self._is_due(event):
                self._write("\n")
                self._wrote(event)
                self.ask(question)
            case _ if line is not None:
                self._write("\n")
                self.line(line)
                self.ask(question)

    def note(self, event: Event) -> None:
        """Remember which subagents wait for an answer; an interrupted prompt is repeated after it.

        For an event that is not printed; `show` and `interject` do it themselves.
        """
        match event:
            case AgentMoved(agent=agent, waits_for_user=True):
                self._asking.add(agent)
            case AgentMoved(agent=agent):
                self._asking.discard(agent)

    def leave_question(self) -> None:
        """Begin a new line below an unanswered question or prompt."""
        if self._open_question:
            self._write("\n")

    def entered(self) -> None:
        """Enter was pressed, so the cursor is at the start of a line."""
        self._open_call = ""
        self._at_line_start = True
        self._open_question = False

    def in_a_line(self) -> None:
        """The user has begun to type, so the cursor is within a line."""
        self._at_line_start = False

    def end_line(self) -> None:
        """Begin a new line unless the current one is empty."""
        self._open_call = ""
        if not self._at_line_start:
            self._write("\n")

    def _pieces(self, pieces: tuple[str | RetractedText, ...]) -> None:
        for piece in pieces:
            if isinstance(piece, RetractedText):
                what = f"the last {piece.characters:,} characters of text above are withdrawn"
                self.line(Line("↻", f"{what}; the answer continues here", Tone.TROUBLE))
            else:
                if self._open_call:
                    self.end_line()
                self._write(visible(piece))

    def _thought(self, duration_s: float) -> None:
        if self._open_call == THINKS:
            self._open_call = ""
            self._write(f"{seconds(duration_s)}\n")
        else:
            self.line(Line("·", thought(duration_s)))

    def _tool_started(self, event: ToolStarted) -> None:
        self._started[event.call_id] = event
        if self._open_call or event.tool in DELEGATES:
            return
        self.end_line()
        self._write(f"○ {_call(event.tool, event.summary)} … ")
        self._open_call = event.call_id

    def _tool_ended(self, event: ToolEnded) -> None:
        mark, word, tone = OUTCOMES[event.outcome]
        started = self._started.pop(event.call_id, None)
        asked = self._asked.pop(event.call_id, None)
        if self._lines.shows(event.call_id):
            return
        time = seconds(event.duration_s) if started else ""
        said = event.summary if event.outcome is ToolOutcome.OK else whole_text(event.summary, event.detail)
        words = said if said.startswith(word) else f"{word}, {said}"
        outcome = ", ".join(part for part in (words.removesuffix(", "), time) if part)
        if event.call_id == self._open_call:
            self._open_call = ""
            self._write(self._painted(visible(f"{mark} {outcome}").replace("\n", " "), tone) + "\n")
        else:
            call = _call(event.tool, started.summary if started else asked.summary if asked else "")
            self.line(Line(mark, f"{call}: {outcome}", tone))
        shown = self._output_shown.pop(event.call_id, None)
        if event.call_id.startswith(OWN_COMMAND):
            self._output(event, MOST_LINES)
        elif event.tool in COMMANDS and event.detail.strip("\n") not in ("", shown, said):
            if event.outcome not in (ToolOutcome.OK, ToolOutcome.CANCELLED):
                self._output(event, 0, FEW_LINES)
            elif shown is None or "\n" not in event.detail.strip("\n"):  # not after lines that showed how it went
                self._output(event, FEW_LINES)

    def _is_due(self, event: OutputDelta) -> bool:
        """Whether it is time for a line of output, and there is a new one."""
        line = newest_line(event)
        return bool(line) and line != self._output_shown.get(event.call_id) and self._clock() >= self._next_output

    def _wrote(self, event: OutputDelta) -> None:
        """Print the newest line of a running command."""
        self._next_output = self._clock() + LINE_EVERY_S
        self._output_shown[event.call_id] = line = newest_line(event)
        self.end_line()
        self._write(f"  {visible(line)}\n")

    def _output(self, event: ToolEnded, most: int, last: int = 0) -> None:
        """The first and the last lines of the output of a command."""
        shown = output_excerpt(event.detail, most, last, detail_of=event.detail_of, full_output=event.full_output)
        notes = shown.notes if most == MOST_LINES else shown.notes[:1]
        texts = (*shown.lines, *(f"… {note}" for note in notes), *shown.last)
        for text in texts:
            self._write(f"  {visible(text[:LINE_CHARACTERS])}{'…' * (len(text) > LINE_CHARACTERS)}\n")

    def _painted(self, text: str, tone: Tone) -> str:
        return f"\x1b[{COLOURS[tone]}m{text}\x1b[0m" if self._colours else text

    def to_clipboard(self, text: str) -> bool:
        """Let the terminal put a text into the clipboard; False: the output is no terminal."""
        if not self._out.isatty():
            return False
        self._write(f"\x1b]52;c;{b64encode(text.encode('utf-8', 'replace')).decode()}\a")
        return True

    def _write(self, text: str) -> None:
        if self.gone or not text:
            return
        self._open_question = False
        try:
            self._out.write(text)
            self._out.flush()
        except OSError:  # hung up, or the reader has gone
            self.gone = True
        self._at_line_start = text.endswith("\n")


def newest_line(event: OutputDelta) -> str:
    """The last line that has ended and is not blank, else the one that has not ended."""
    return next(filter(str.strip, (*reversed(event.lines), event.open_line)), "")


def _call(tool: str, summary: str) -> str:
    return visible(f"{tool} {summary}".rstrip()).replace("\n", " ")


class RecordedPrinter(LinePrinter):
    """Writes recorded events: also prompts and questions, which a live terminal shows already."""

    def show(self, event: Event) -> None:
        """Print an event."""
        match event:
            case SessionStarted():
                self.line(Line("·", f"session {event.session_id} with {event.model} in {event.workspace}"))
            case TurnStarted(prompt=prompt) if prompt:
                self.say(f"> {prompt}")
            case MessageAdded(origin=Origin.STEERING, message=message):
                self.say(f"> {message.typed}")
                return
            case _ if (line := recorded_line(event)) is not None:
                self.line(line)
        super().show(event)
        if isinstance(event, TurnEnded):
            self.say("")
