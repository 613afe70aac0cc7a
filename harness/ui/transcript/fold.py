"""Events become the entries on the left of the screen.

What streams in is provisional and stands last. When its message joins the history the message takes its place, and
when the attempt failed it goes away. So a screen that saw every piece and one that follows a journal, in which there
are no pieces, show the same thing as soon as a reply is over.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.events import (
    BreakerChanged,
    CheckpointMade,
    Delivered,
    Event,
    HistoryReplaced,
    LoopLeft,
    Message,
    MessageAdded,
    Origin,
    PartialDiscarded,
    PauseReported,
    PermissionAnswered,
    ReplyReceived,
    RequestSent,
    RetryScheduled,
    SessionResumed,
    SilenceHint,
    StuckReported,
    TextDelta,
    ThinkingDelta,
    ThinkingEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from harness.events.messages import paragraphs
from harness.ui.lines.events import line_of, source_lines
from harness.ui.lines.line import Line, Tone
from harness.ui.lines.loops import LeftOut
from harness.ui.lines.work import WorkLines
from harness.ui.transcript.calls import CallFold, is_of_the_person
from harness.ui.transcript.entries import Answer, Ended, Entry, Note, Paused, Said, Stuck, Thinking
from harness.ui.transcript.stream import StreamingReply

THINKING = ("thinking", "redacted_thinking")
RETRY = "retry"
GOES_ON = "goes on"
"""A turn without a prompt. Where it begins with what has arrived, that is why."""
LEFT = "left"
"""Several projections see one loop, and all see its end."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs from the last look."""

    first: int
    """Index of the first entry that is new, or other than before, or gone; all that follow are to be drawn again."""


class Transcript:
    """Folds the events of a session. An event costs the same however much stands there already."""

    def __init__(self) -> None:
        self._settled: list[Entry] = []
        """Everything but the reply that streams in and what was shown below it."""
        self._streaming = StreamingReply()
        self._below: list[Entry] = []
        """Shown while a reply streams in; settles after it."""
        self._calls = CallFold(self._settled)
        self._left_out = LeftOut()
        self._work = WorkLines(of_calls=False)
        self._thought_s: float = 0
        """Seconds of thinking in the reply that comes in."""
        self._thought_tokens = 0
        self._messages = 0
        """Messages in the history."""
        self._said: list[tuple[int, int]] = []
        """For each prompt that a rewind can cut before: its index, and the messages that stood before it."""
        self._changed: int | None = None
        self._looked: tuple[Entry, ...] | None = ()

    @property
    def entries(self) -> Sequence[Entry]:
        """Everything there is to show, from the top."""
        if self._looked is None:
            self._looked = (*self._settled, *self._streaming.entries, *self._below)
        return self._looked

    def take(self) -> Changes | None:
        """What changed since the last time; None: nothing."""
        first, self._changed = self._changed, None
        return None if first is None else Changes(first)

    def show(self, entry: Entry) -> None:
        """Add what a command printed, below all that is there."""
        self._touch(len(self.entries))
        (self._below if self._streaming else self._settled).append(entry)

    def see(self, event: Event, at: float) -> None:
        """Take in the next event; `at` is its Unix time."""
        match event:
            case TextDelta(text=text):
                self._stream(answer=text)
            case ThinkingDelta(text=text):
                self._stream(thinking=text)
            case ThinkingEnded(duration_s=duration_s):
                self._thought_s += duration_s
                self._end_thinking()
            case ReplyReceived(usage=usage):
                self._thought_tokens = usage.thinking
                self._line(event)
            case PartialDiscarded():
                self._discard(event)
            case RequestSent():
                self._thought_s = self._thought_tokens = 0
                self._stop_streaming()
            case MessageAdded():
                self._message(event)
            case HistoryReplaced():
                self._replace(event)
            case TurnStarted():
                self._begin_turn(event, at)
            case TurnEnded():
                self._stop_streaming()
                self._abandon_calls()
                for source in source_lines(event.sources):
                    self._note(source)
                self._add(Ended(event))
            case PauseReported(report=report):
                self._add(Paused(report))
            case StuckReported():
                self._add(Stuck(event))
            case CheckpointMade():
                if (line := self._left_out.line(event)) is not None:
                    self._note(line)
            case SessionResumed():
                self._resume(event)
            case SilenceHint():
                pass  # it passes; what passes is shown beside the entries
            case _:
                self._line_or_call(event, at)

    # ── the reply that streams in ───────────────────────────────────────────────────────────────

    def _stream(self, *, thinking: str = "", answer: str = "") -> None:
        self._touch(len(self._settled))
        if thinking:
            self._streaming.think(thinking)
        if answer:
            self._streaming.say(answer)

    def _end_thinking(self) -> None:
        if self._streaming:
            self._touch(len(self._settled))
            self._streaming.end_thinking(self._thought_s)

    def _discard(self, event: PartialDiscarded) -> None:
        if event.characters <= 0:
            return
        self._streaming.take_back(event.characters)
        count = f"{event.characters:,} character" + ("" if event.characters == 1 else "s")
        self._note(Line("↻", f"{count} of the answer taken back: {event.reason}", Tone.TROUBLE))

    def _stop_streaming(self, *entries: Entry) -> None:
        """The reply is over; `entries` take the place of what streamed in."""
        if self._streaming or entries or self._below:
            self._touch(len(self._settled))
            self._streaming.clear()
            self._settled += (*entries, *self._below)
            self._below.clear()

    # ── the history ─────────────────────────────────────────────────────────────────────────────

    def _message(self, event: MessageAdded) -> None:
        self._messages += 1
        if event.origin is Origin.REPLY:
            self._stop_streaming(*_reply(event.message, self._thought_s, self._thought_tokens))
            self._calls.announce(event.message)

    def _replace(self, event: HistoryReplaced) -> None:
        before, self._messages = self._messages, len(event.messages)
        match event.reason:
            case "clear":
                self._stop_streaming()
                self._cut(0)
                self._note(Line("·", "the conversation is forgotten; the journal keeps it"))
            case "rewind":
                self._stop_streaming()
                cut = next((index for index, count in self._said if count >= self._messages), None)
                if cut is None:
                    self._note(Line("·", "the conversation goes on from an earlier point"))
                else:
                    self._cut(cut)
            case "rollback":
                self._said = [pair for pair in self._said if pair[1] < self._messages]
            case _:
                if event.reason in ("compaction", "truncation") or self._messages != before:
                    self._said.clear()
                self._line(event)

    def _cut(self, length: int) -> None:
        self._touch(length)
        del self._settled[length:]
        self._calls.cut(length)
        self._said = [pair for pair in self._said if pair[0] < length]

    # ── turns and sessions ──────────────────────────────────────────────────────────────────────

    def _begin_turn(self, event: TurnStarted, at: float) -> None:
        self._stop_streaming()
        self._abandon_calls()
        self._calls.forget()
        if event.prompt:
            self._said.append((len(self._settled), self._messages))
            self._add(Said(event.turn, event.prompt, at))
        else:
            self._note(Line("↻", "going on from where the last turn stopped"), GOES_ON)

    def _resume(self, event: SessionResumed) -> None:
        self._stop_streaming()
        self._abandon_calls()
        if self._settled:
            stopped = "; the last turn had not come to its end" if event.interrupted else ""
            self._note(Line("·", f"resumed with {event.model}{stopped}"))

    # ── calls and lines ─────────────────────────────────────────────────────────────────────────

    def _line_or_call(self, event: Event, at: float) -> None:
        if isinstance(event, ToolStarted) and is_of_the_person(event.call_id):
            command = event.input.get("command")
            self._add(Said(0, command if isinstance(command, str) else event.summary, at, shell=True))
        changed = self._calls.see(event, at)
        if changed is not None:
            self._touch(changed)
        if isinstance(event, PermissionAnswered) and event.answer == "always":
            self._note(Line("·", f"{event.tool} will not ask for this again in this session"))
        elif changed is None or isinstance(event, BreakerChanged):
            self._line(event)
        if (line := self._work.line(event)) is not None:
            self._note(line, GOES_ON if isinstance(event, Delivered) else "")

    def _abandon_calls(self) -> None:
        if (changed := self._calls.abandon()) is not None:
            self._touch(changed)

    def _line(self, event: Event) -> None:
        if (line := line_of(event)) is not None:
            match event:
                case RetryScheduled():
                    self._note(line, RETRY)
                case LoopLeft():
                    self._note(line, LEFT)
                case _:
                    self._note(line)

    def _note(self, line: Line, of: str = "") -> None:
        """Add a line; one about the same that stands last makes room for it."""
        if of and self._settled and isinstance(last := self._settled[-1], Note) and last.of == of:
            self._touch(len(self._settled) - 1)
            self._settled[-1] = Note(line, of)
        else:
            self._add(Note(line, of))

    def _add(self, entry: Entry) -> None:
        self._touch(len(self._settled))
        self._settled.append(entry)

    def _touch(self, index: int) -> None:
        self._looked = None
        self._changed = index if self._changed is None else min(index, self._changed)


def _reply(message: Message, duration_s: float, tokens: int) -> list[Entry]:
    """What a message of the model shows: its thinking, then its text."""
    thoughts = [block.get("thinking") for block in message.content if block.get("type") == "thinking"]
    thinking = "\n\n".join(thought for thought in thoughts if isinstance(thought, str) and thought.strip())
    thought = thinking or tokens or any(block.get("type") in THINKING for block in message.content)
    entries: list[Entry] = [Thinking(thinking, done=True, duration_s=duration_s, tokens=tokens)] if thought else []
    return [*entries, Answer(paragraphs(message.content), done=True)] if message.text.strip() else entries
