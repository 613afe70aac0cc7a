"""Events as lines of text: no cursor movement, nothing that is said by colour alone.

Fit for a screen reader, a dumb terminal and a pipe. Text of the model and of tools is never taken for
control sequences.
"""

from collections.abc import Mapping
from typing import TextIO

from harness.base.terminal_text import visible
from harness.events import (
    OWN_COMMAND,
    AgentMoved,
    CheckpointMade,
    Event,
    MessageAdded,
    Origin,
    PartialDiscarded,
    PauseReported,
    PermissionAnswered,
    PermissionAsked,
    PlanChanged,
    RequestSent,
    StuckReported,
    TextDelta,
    ThinkingDelta,
    ThinkingEnded,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from harness.session import report_lines
from harness.ui.lines.events import line_of, seconds, source_lines, thought
from harness.ui.lines.line import Line, Tone
from harness.ui.lines.loop_report import stuck_lines
from harness.ui.lines.loops import LeftOut
from harness.ui.lines.outcomes import OUTCOMES, ending_line
from harness.ui.lines.output_excerpt import shown_output
from harness.ui.lines.plan import plan_line
from harness.ui.lines.work import DELEGATES, WorkLines
from harness.ui.plain.streamed_text import Mark, ShownText

MOST_LINES = 200
"""Lines of the output of a command of the user's own that are shown."""
THINKS = "thinking"
"""In the place of the id of a call: the line is that of thinking."""
COLOURS = {Tone.QUIET: "2", Tone.TROUBLE: "33", Tone.BAD: "31"}


def has_colours(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether colours may be written to a stream."""
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM", "dumb") != "dumb"


class Plain:
    """Writes events to a text stream, each as soon as it comes."""

    def __init__(self, out: TextIO, *, colours: bool = False) -> None:
        self._out = out
        self._colours = colours
        self._text = ShownText()
        self._left_out = LeftOut()
        self._work = WorkLines()
        self._at_line_start = True
        self._started: dict[str, ToolStarted] = {}
        self._asked: dict[str, PermissionAsked] = {}
        self._open_question = False
        """A question or a prompt is the last that was printed."""
        self._asking: set[str] = set()
        """Agents that have a question for the person."""
        self._open_call = ""
        """Id of the call whose line is still waiting for its outcome."""
        self._thinking = False
        self._streamed = False
        """Some text of the present reply was shown as it came."""
        self.gone = False
        """The terminal has gone away; nothing is written any more."""

    def show(self, event: Event) -> None:
        """Print what the event has to say."""
        self._note_asking(event)
        match event:
            case TurnStarted():
                self._started.clear()
                self._asked.clear()
                self._work.line(event)
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
                # In a journal the message is all there is of a text that was streamed.
                if not self._streamed:
                    self._pieces((message.text,))
                elif any(block.get("type") == "tool_use" for block in message.content):
                    self._pieces(self._text.settle())
                else:
                    self._text.go_on()
                self._streamed = False
            case PermissionAsked():
                self._asked[event.call_id] = event
            case ToolStarted():
                self._tool_started(event)
            case ToolEnded():
                self._tool_ended(event)
            case TurnEnded():
                self._pieces(self._text.settle())
                for source in source_lines(event.sources):
                    self.line(source)
                self.line(ending_line(event))
            case PauseReported():
                self.say("\n".join(report_lines(event.report)))
            case StuckReported():
                self.say("\n".join(stuck_lines(event)))
            case CheckpointMade():
                if (line := self._left_out.line(event)) is not None:
                    self.line(line)
            case PlanChanged():
                self.line(plan_line(event))
            case PermissionAnswered(answer="always", tool=tool):
                self.line(Line("·", f"{tool} will not ask for this again in this session"))
            case _:
                if (line := line_of(event) or self._work.line(event)) is not None:
                    self.line(line)

    def line(self, line: Line) -> None:
        """Print a line of its own, after ending the one that is being written."""
        self.end_line()
        self._write(self._painted(visible(str(line)).replace("\n", " "), line.tone) + "\n")

    def say(self, text: str) -> None:
        """Print text that we wrote ourselves, as a paragraph of its own."""
        self.end_line()
        self._write(visible(text) + "\n")

    def ask(self, question: str) -> None:
        """Print a question and stay on its line."""
        self.end_line()
        self._write(visible(question))
        self._at_line_start = True  # the answer's Enter ends the line
        self._open_question = True

    def interject(self, event: Event, question: str) -> None:
        """Print what an event has to say while a question waits for its answer, and ask again below it."""
        asked = set(self._asking)
        self._note_asking(event)
        match event:
            case AgentMoved() if self._asking - asked:
                self.leave_question()  # its question stands on lines of its own
            case AgentMoved() if asked - self._asking:
                self.ask(question)
            case _ if (line := line_of(event) or self._work.line(event)) is not None:
                self._write("\n")
                self.line(line)
                self.ask(question)

    def _note_asking(self, event: Event) -> None:
        """Remember which agents wait for an answer: a prompt that stood before is shown again after it."""
        match event:
            case AgentMoved(agent=agent, waits_for_person=True):
                self._asking.add(agent)
            case AgentMoved(agent=agent):
                self._asking.discard(agent)

    def leave_question(self) -> None:
        """Begin a new line below a question, or a prompt, that has not been answered."""
        if self._open_question:
            self._write("\n")

    def entered(self) -> None:
        """The person pressed Enter, so the terminal stands at the start of a line."""
        self._open_call = ""
        self._at_line_start = True
        self._open_question = False

    def in_a_line(self) -> None:
        """The user has begun to type, so the terminal stands in the middle of a line."""
        self._at_line_start = False

    def end_line(self) -> None:
        """Begin a new line unless this one is empty."""
        self._open_call = ""
        if not self._at_line_start:
            self._write("\n")

    def _pieces(self, pieces: tuple[str | Mark, ...]) -> None:
        for piece in pieces:
            if isinstance(piece, Mark):
                what = f"the last {piece.characters:,} characters of text above do not count"
                self.line(Line("↻", f"{what}; the answer goes on here", Tone.TROUBLE))
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
        if self._open_call or event.tool == DELEGATES:
            return
        self.end_line()
        self._write(f"○ {_call(event.tool, event.summary)} … ")
        self._open_call = event.call_id

    def _tool_ended(self, event: ToolEnded) -> None:
        mark, word, tone = OUTCOMES[event.outcome]
        started = self._started.pop(event.call_id, None)
        asked = self._asked.pop(event.call_id, None)
        if self._work.tells_of(event.call_id):
            return
        time = seconds(event.duration_s) if started else ""
        words = event.summary if event.summary.startswith(word) else f"{word}, {event.summary}"
        outcome = ", ".join(part for part in (words.removesuffix(", "), time) if part)
        if event.call_id == self._open_call:
            self._open_call = ""
            self._write(self._painted(visible(f"{mark} {outcome}").replace("\n", " "), tone) + "\n")
        else:
            call = _call(event.tool, started.summary if started else asked.summary if asked else "")
            self.line(Line(mark, f"{call}: {outcome}", tone))
        if event.call_id.startswith(OWN_COMMAND):
            self._output(event)

    def _output(self, event: ToolEnded) -> None:
        """What a command of the user's own has written."""
        shown = shown_output(event.detail, MOST_LINES, detail_of=event.detail_of, full_output=event.full_output)
        for text in (*shown.lines, *(f"… {note}" for note in shown.notes)):
            self._write(f"  {visible(text)}\n")

    def _painted(self, text: str, tone: Tone) -> str:
        return f"\x1b[{COLOURS[tone]}m{text}\x1b[0m" if self._colours else text

    def _write(self, text: str) -> None:
        if self.gone or not text:
            return
        self._open_question = False
        try:
            self._out.write(text)
            self._out.flush()
        except OSError:  # hung up, or nobody reads: there is no one left to tell
            self.gone = True
        self._at_line_start = text.endswith("\n")


def _call(tool: str, summary: str) -> str:
    return visible(f"{tool} {summary}".rstrip()).replace("\n", " ")
