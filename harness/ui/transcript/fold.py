"""The transcript, folded from events.

Streamed text is provisional and last. The message replaces it when it joins the history; a failed attempt removes it.
So a live screen and one that follows a journal, which has no streamed pieces, agree as soon as a reply is over.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.base.external_text import counted
from harness.events import (
    BreakerChanged,
    BreakerState,
    CommandEnded,
    CompactionEnded,
    CompactionStarted,
    Delivered,
    Event,
    HistoryReplaced,
    JobFired,
    LoopLeft,
    Message,
    MessageAdded,
    Origin,
    PartialDiscarded,
    PauseReported,
    PlanChanged,
    PlanItem,
    ProposedPlan,
    QuestionAnswered,
    QuestionAsked,
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
from harness.ui.lines.events import source_lines
from harness.ui.lines.line import Line, Tone
from harness.ui.lines.work import EventLines
from harness.ui.transcript.calls import CallFold, is_user_command
from harness.ui.transcript.entries import (
    AnswerEntry,
    ChecklistEntry,
    Entry,
    LoopReportEntry,
    NoteEntry,
    PauseEntry,
    PlanEntry,
    PromptEntry,
    ThinkingEntry,
    TurnEndEntry,
)
from harness.ui.transcript.ticks import TickFold

THINKING = ("thinking", "redacted_thinking")
CONTINUES = "continues"
"""A turn without a prompt; the delivery of results, if that is its reason, replaces the note."""
COMPACTS = "compaction"
"""A compaction that runs; its end replaces the note, wherever it is by then."""
REPLACEABLE: dict[type[Event], str] = {
    RetryScheduled: "retry",
    LoopLeft: "left",
    Delivered: CONTINUES,
    CompactionStarted: COMPACTS,
}
"""Notes that replace their predecessor. Several projections report the end of one loop."""


@dataclass(frozen=True, slots=True)
class TranscriptChanges:
    """The difference since the last call of `changes`."""

    first: int
    """Index of the first entry that was added, changed or removed; draw again from there."""


class StreamingReply:
    """Thinking and text of one attempt. Adding a piece costs its own length, not that of the text."""

    def __init__(self) -> None:
        self._thinking: list[str] = []
        self._answer: list[str] = []
        self._thought_s = 0.0
        """0 while it thinks."""

    def __bool__(self) -> bool:
        return bool(self._thinking or self._answer)

    def add_thinking(self, text: str) -> None:
        self._thinking.append(text)
        self._thought_s = 0.0

    def end_thinking(self, duration_s: float) -> None:
        self._thought_s = duration_s

    def add_answer(self, text: str) -> None:
        self._answer.append(text)

    def discard(self, characters: int) -> None:
        """Remove the last `characters` of the text."""
        while characters > 0 and self._answer:
            piece = self._answer.pop()
            if len(piece) > characters:
                self._answer.append(piece[:-characters])
            characters -= len(piece)

    def clear(self) -> None:
        self._thinking.clear()
        self._answer.clear()
        self._thought_s = 0.0

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The parts that are not blank."""
        thinking, answer = _joined(self._thinking), _joined(self._answer)
        shown: list[Entry] = []
        if thinking.strip():
            shown.append(ThinkingEntry(thinking, bool(answer or self._thought_s), self._thought_s))
        if answer.strip():
            shown.append(AnswerEntry(answer))
        return tuple(shown)


def _joined(pieces: list[str]) -> str:
    """The text of the pieces, which are replaced by it."""
    text = "".join(pieces)
    if len(pieces) > 1:
        pieces[:] = [text]
    return text


class Transcript:
    """The entries of a session. An event costs the same however many entries there are."""

    def __init__(self) -> None:
        self._settled: list[Entry] = []
        """All entries except the streaming reply and `_below`."""
        self._streaming = StreamingReply()
        self._below: list[Entry] = []
        """Entries added while a reply streams; they follow it."""
        self._calls = CallFold(self._settled)
        self._lines = EventLines(of_calls=False)
        self._ticks = TickFold()
        self._thought_s: float = 0
        """Seconds of thinking in the current reply."""
        self._thought_tokens = 0
        self._messages = 0
        """Messages in the history."""
        self._prompts: list[tuple[int, int]] = []
        """For each prompt that a rewind can return to: its index, and the number of messages before it."""
        self._changed: int | None = None
        self._entries: tuple[Entry, ...] | None = ()

    @property
    def entries(self) -> Sequence[Entry]:
        """All entries, from the top."""
        if self._entries is None:
            self._entries = (*self._settled, *self._streaming.entries, *self._below)
        return self._entries

    @property
    def live_calls(self) -> int:
        """Running calls whose output is shown."""
        return self._calls.live

    def changes(self) -> TranscriptChanges | None:
        """The changes since the last call; None if there are none."""
        first, self._changed = self._changed, None
        return None if first is None else TranscriptChanges(first)

    def show(self, entry: Entry) -> None:
        """Add the output of a command at the end."""
        self._touch(len(self.entries))
        (self._below if self._streaming else self._settled).append(entry)

    def on_event(self, event: Event, at: float) -> None:
        """Process the next event, of Unix time `at`."""
        line = self._lines.line(event)
        self._ticks.on_event(event, len(self._settled))
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
            case PartialDiscarded():
                self._discard(event)
            case RequestSent():
                self._thought_s = self._thought_tokens = 0
                self._stop_streaming()
            case MessageAdded():
                self._message(event, at)
            case HistoryReplaced():
                self._replace(event, line)
            case TurnStarted():
                self._begin_turn(event, at)
            case TurnEnded():
                self._stop_streaming()
                self._abandon_calls()
                self._end_compaction()
                self._end_turn(event)
            case CompactionEnded() if line is not None:
                self._end_compaction(line)
            case JobFired(fire=fire) if line is not None:
                self._note(line, f"fire {fire}")
            case PauseReported(report=report):
                self._add(PauseEntry(report))
            case StuckReported():
                self._add(LoopReportEntry(event))
            case QuestionAsked(plan=ProposedPlan() as plan):
                self._add(PlanEntry(plan))
            case QuestionAnswered(plan=ProposedPlan() as plan):
                self._add(PlanEntry(plan, edited=True))
            case PlanChanged(items=items):
                self._check(items)
            case SessionResumed():
                self._resume(event)
            case SilenceHint():
                pass  # shown on the panel, while it lasts
            case _:
                self._line_or_call(event, at, line)

    # ── the reply that streams in ───────────────────────────────────────────────────────────────

    def _stream(self, *, thinking: str = "", answer: str = "") -> None:
        self._touch(len(self._settled))
        if thinking:
            self._streaming.add_thinking(thinking)
        if answer:
            self._streaming.add_answer(answer)

    def _end_thinking(self) -> None:
        if self._streaming:
            self._touch(len(self._settled))
            self._streaming.end_thinking(self._thought_s)

    def _discard(self, event: PartialDiscarded) -> None:
        if event.characters <= 0:
            return
        self._streaming.discard(event.characters)
        count = counted(event.characters, "character")
        self._note(Line("↻", f"{count} of the answer discarded", Tone.TROUBLE))  # the line of the retry says why

    def _stop_streaming(self, *entries: Entry) -> None:
        """End the reply; `entries` replace the streamed text."""
        if self._streaming or entries or self._below:
            self._touch(len(self._settled))
            self._streaming.clear()
            self._settled += (*entries, *self._below)
            self._below.clear()

    # ── the history ─────────────────────────────────────────────────────────────────────────────

    def _message(self, event: MessageAdded, at: float) -> None:
        self._messages += 1
        if event.origin is Origin.STEERING:
            self._steer(PromptEntry(0, event.message.typed, at))
        if event.origin is Origin.REPLY:
            self._stop_streaming(*_reply(event.message, self._thought_s, self._thought_tokens))
            self._calls.announce(event.message)
        elif event.origin is Origin.TOOL_RESULTS and (changed := self._calls.add_results(event.message)) is not None:
            self._touch(changed)

    def _steer(self, entry: PromptEntry) -> None:
        last = len(self._settled) - 1
        if self._prompts[-1:] == [(last, self._messages - 1)]:  # left by an earlier turn: it precedes the prompt
            self._insert_before_last(entry)
            self._prompts[-1] = last + 1, self._messages
        else:
            self._add(entry)

    def _replace(self, event: HistoryReplaced, line: Line | None) -> None:
        before, self._messages = self._messages, len(event.messages)
        match event.reason:
            case "clear":
                self._stop_streaming()
                self._cut(0)
                self._note(Line("·", "conversation cleared; the journal keeps it"))
            case "rewind":
                self._stop_streaming()
                cut = self._index_of(event.turn) if event.turn else None
                if cut is None:
                    cut = next((index for index, count in self._prompts if count >= self._messages), None)
                if cut is None:
                    self._note(Line("·", "the conversation continues from an earlier point"))
                else:
                    self._cut(cut)
            case "rollback":
                self._prompts = [pair for pair in self._prompts if pair[1] < self._messages]
            case _:
                if event.reason in ("compaction", "truncation") or self._messages != before:
                    self._prompts.clear()
                if line is not None:
                    self._note(line)

    def _index_of(self, turn: int) -> int | None:
        """The entry of the prompt that began a turn."""
        return next(
            (index for index, one in enumerate(self._settled) if isinstance(one, PromptEntry) and one.turn == turn),
            None,
        )

    def _cut(self, length: int) -> None:
        self._touch(length)
        del self._settled[length:]
        self._calls.cut(length)
        self._prompts = [pair for pair in self._prompts if pair[0] < length]

    # ── turns and sessions ──────────────────────────────────────────────────────────────────────

    def _begin_turn(self, event: TurnStarted, at: float) -> None:
        self._stop_streaming()
        self._abandon_calls()
        if (changed := self._calls.forget()) is not None:
            self._touch(changed)
        if event.prompt:
            self._prompts.append((len(self._settled), self._messages))
            self._add(PromptEntry(event.turn, event.prompt, at))
        else:
            self._note(Line("↻", "continuing the last turn"), CONTINUES)

    def _end_turn(self, event: TurnEnded) -> None:
        if (quiet := self._ticks.quiet(event)) is not None:
            first, fire = quiet
            self._cut(first - self._ends_with(f"fire {fire.fire}", first))
            kind = f"quiet {fire.job}"
            self._note(self._ticks.line(fire.job, again=self._ends_with(kind, len(self._settled))), kind)
            return
        for source in source_lines(event.sources):
            self._note(source)
        self._add(TurnEndEntry(event))

    def _resume(self, event: SessionResumed) -> None:
        self._stop_streaming()
        self._abandon_calls()
        self._end_compaction()
        if self._settled:
            stopped = "; the last turn had not ended" if event.interrupted else ""
            self._note(Line("·", f"resumed with {event.model}{stopped}"))

    def _check(self, items: tuple[PlanItem, ...]) -> None:
        """Show the checklist: in the place that it has in this turn, else at the end."""
        place = len(self._settled) - 1
        while place >= 0 and not isinstance(self._settled[place], PromptEntry | ChecklistEntry):
            place -= 1
        if place >= 0 and isinstance(self._settled[place], ChecklistEntry):
            self._touch(place)
            self._settled[place] = ChecklistEntry(items)
        elif items:
            self._add(ChecklistEntry(items))

    # ── calls and lines ─────────────────────────────────────────────────────────────────────────

    def _line_or_call(self, event: Event, at: float, line: Line | None) -> None:
        if isinstance(event, ToolStarted) and is_user_command(event.call_id):
            command = event.input.get("command")
            self._add(PromptEntry(0, command if isinstance(command, str) else event.summary, at, shell=True))
        changed = self._calls.on_event(event, at, self._lines.task)
        if changed is not None:
            self._touch(changed)
        if line is not None and (changed is None or isinstance(event, BreakerChanged | CommandEnded)):
            if _pauses_model(event) and self._ends_with(REPLACEABLE[RetryScheduled], len(self._settled)):
                self._insert_before_last(NoteEntry(line))  # so that the next retry replaces this one
            else:
                self._note(line, REPLACEABLE.get(type(event), ""))

    def _abandon_calls(self) -> None:
        if (changed := self._calls.abandon()) is not None:
            self._touch(changed)

    def _note(self, line: Line, replaces: str = "") -> None:
        """Add a line; it replaces the last entry if that is a note of the same kind."""
        last = self._settled[-1] if self._settled else None
        if replaces and isinstance(last, NoteEntry) and last.replaces == replaces:
            self._touch(len(self._settled) - 1)
            self._settled[-1] = NoteEntry(line, replaces)
        else:
            self._add(NoteEntry(line, replaces))

    def _end_compaction(self, line: Line | None = None) -> None:
        """Replace the note of a compaction that runs with `line`; None: it was stopped, if one runs."""
        place = len(self._settled)
        while place and not (self._ends_with(COMPACTS, place) or isinstance(self._settled[place - 1], TurnEndEntry)):
            place -= 1
        if self._ends_with(COMPACTS, place):
            self._touch(place - 1)
            self._settled[place - 1] = NoteEntry(line or Line("✗", "compaction stopped", Tone.TROUBLE))
        elif line is not None:
            self._add(NoteEntry(line))

    def _ends_with(self, kind: str, length: int) -> bool:
        """Whether the first so many entries end with a note of a kind."""
        last = self._settled[length - 1] if 0 < length <= len(self._settled) else None
        return isinstance(last, NoteEntry) and last.replaces == kind

    def _add(self, entry: Entry) -> None:
        self._touch(len(self._settled))
        self._settled.append(entry)

    def _insert_before_last(self, entry: Entry) -> None:
        self._touch(len(self._settled) - 1)
        self._settled.insert(len(self._settled) - 1, entry)

    def _touch(self, index: int) -> None:
        self._entries = None
        self._changed = index if self._changed is None else min(index, self._changed)


def _pauses_model(event: Event) -> bool:
    return isinstance(event, BreakerChanged) and event.key.startswith("model:") and event.after is BreakerState.OPEN


def _reply(message: Message, duration_s: float, tokens: int) -> list[Entry]:
    """The entries of a reply: its thinking, then its text."""
    thoughts = [block.get("thinking") for block in message.content if block.get("type") == "thinking"]
    thinking = "\n\n".join(thought for thought in thoughts if isinstance(thought, str) and thought.strip())
    thought = thinking or tokens or any(block.get("type") in THINKING for block in message.content)
    entries: list[Entry] = [ThinkingEntry(thinking, done=True, duration_s=duration_s, tokens=tokens)] if thought else []
    return [*entries, AnswerEntry(paragraphs(message.content), done=True)] if message.text.strip() else entries
