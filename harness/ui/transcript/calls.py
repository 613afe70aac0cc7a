"""Tool calls in the transcript: one entry per call, updated in place."""

from collections import defaultdict, deque
from dataclasses import replace
from typing import TypeGuard

from harness.events import (
    OWN_COMMAND,
    AdmissionPool,
    AgentCreated,
    AgentEnd,
    AgentEnded,
    AgentMoved,
    BreakerChanged,
    ChangeReason,
    CommandCreated,
    CommandEnded,
    Dispatched,
    Event,
    Message,
    OutputDelta,
    PermissionAsked,
    ResultLabelled,
    StepStarted,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    WorkAdmitted,
    key_of,
)
from harness.ui.folds.work import end_word
from harness.ui.lines.work import DELEGATES
from harness.ui.transcript.entries import LIVE_LINES, CallEntry, Entry, LiveLines

LONGEST_SUMMARY = 500
"""Characters of an input kept as the summary of its call."""
LONGEST_DETAIL, LONGEST_END = 6_000, 2_000
"""Characters of a result that are kept, of its beginning and of its end."""
COMMANDS = frozenset({"bash"})
"""Tools whose output is shown without expanding."""
WITH_OUTPUT = frozenset({ToolOutcome.OK, ToolOutcome.ERROR, ToolOutcome.BROKEN})
FAILED = frozenset({ChangeReason.FAILED, ChangeReason.THRESHOLD, ChangeReason.PROBE_FAILED})
"""Breaker changes caused by a single failure."""


def is_user_command(call_id: str) -> bool:
    """Whether the user ran this call, after `!`."""
    return call_id.startswith(OWN_COMMAND)


class CallFold:
    """Maintains the calls among the entries of a transcript."""

    def __init__(self, entries: list[Entry]) -> None:
        """`entries` is the list of the transcript itself, changed in place."""
        self._entries = entries
        self._places: dict[str, int] = {}
        """Index of the newest call of this turn with an id."""
        self._inputs: dict[str, str] = {}
        """Summaries of the calls of the newest reply, derived from their input."""
        self._running: set[int] = set()
        self._failed: defaultdict[str, deque[int]] = defaultdict(deque)
        """For each breaker the failed calls of this step whose failure count is not known yet."""
        self._commands: dict[str, str] = {}
        """The command lines of background commands."""
        self._keys: dict[str, str] = {}
        """The breaker key of each call that probes a part of its tool."""

    def on_event(self, event: Event, at: float, task: AgentCreated | None) -> int | None:
        """Process an event, with the subagent task that it is about.

        Returns the index of the entry that was changed or added; None if the event is not about a call.
        """
        match event:
            case StepStarted():
                self._failed.clear()
                return None
            case Dispatched():
                return self._dispatched(event, at)
            case AgentCreated():
                return self._worked(task, agent=event.agent, doing="queued")
            case AgentMoved(doing=doing, waits_for_user=asks):
                return self._worked(task, doing=doing, asks=asks)
            case AgentEnded(end=end):
                doing = "answered" if end is AgentEnd.ANSWERED else "did not finish"
                return self._worked(task, doing=doing, asks=False)
            case WorkAdmitted(pool=AdmissionPool.AGENTS):
                return self._worked(task, doing="started")
            case PermissionAsked(agent=agent, call_id=id) if (
                not agent and id in self._places
            ):  # else of a user's command
                return self._update(event.call_id, event.tool, at, summary=event.summary)
            case ToolStarted():
                index = self._update(event.call_id, event.tool, at, summary=event.summary, at=at, running=True)
                self._running.add(index)
                return index
            case OutputDelta(call_id=id):
                if id in self._commands and self._places.get(id) not in self._running:  # the user follows it
                    self._running.add(self._update(id, "bash", at, summary=f"{id} {self._commands[id]}", running=True))
                return self._wrote(self._places[id], event) if self._places.get(id) in self._running else None
            case CommandCreated(command=id, line=line):
                self._commands[id] = line
                return None
            case CommandEnded(command=id) if self._places.get(id) in self._running:
                return self._followed_to_its_end(event)
            case ToolEnded():
                return self._ended(event, at)
            case ResultLabelled() if event.call_id in self._places:
                label = f"{event.label}: {event.evidence}"
                return self._put(self._places[event.call_id], label=label)
            case BreakerChanged() if event.why in FAILED and (waiting := self._failed.get(event.key)):
                return self._put(waiting.popleft(), failures=event.failures)
            case _:
                return None

    def announce(self, reply: Message) -> None:
        """Remember the calls of a reply, which are about to be dispatched."""
        blocks = [block for block in reply.content if block.get("type") == "tool_use"]
        self._inputs = {str(block.get("id")): _about(block.get("input")) for block in blocks}

    def add_results(self, message: Message) -> int | None:
        """Take what the model was given as the detail of each call that has none, and the end of a longer output.

        Returns the index of the first changed entry, or None.
        """
        changed: list[int] = []
        for block in message.content:
            index = self._places.get(str(block.get("tool_use_id", "")))
            entry = None if index is None else self._entries[index]
            if index is None or not isinstance(entry, CallEntry):
                continue
            text = _text_of(block.get("content"))
            if not entry.detail and entry.tool not in COMMANDS and entry.outcome in WITH_OUTPUT:
                beginning = text if len(text) <= LONGEST_DETAIL else text[: text.rfind("\n", 0, LONGEST_DETAIL) + 1]
                lines = text.removesuffix("\n").count("\n") + 1
                self._put(index, detail=beginning or text[:LONGEST_DETAIL], detail_of=lines)
                changed.append(index)
            elif entry.tool in COMMANDS and entry.detail_of > entry.detail.removesuffix("\n").count("\n") + 1:
                self._put(index, detail_end=_without_footer(text)[-LONGEST_END:].partition("\n")[2])
                changed.append(index)
        return min(changed, default=None)

    def abandon(self) -> int | None:
        """Mark all running calls as stopped; returns the index of the first."""
        followed = {index for id in self._commands if (index := self._places.get(id)) in self._running}
        stopped, self._running = self._running - followed, followed
        for index in stopped:
            self._put(index, running=False, live=None)
        return min(stopped, default=None)

    def forget(self) -> int | None:
        """Treat all ids from now on as those of new calls; returns the index of the first that was followed."""
        first = min(self._running, default=None)
        for index in self._running:
            entry = self._entries[index]
            last = entry.live.last(LIVE_LINES) if isinstance(entry, CallEntry) and entry.live is not None else ()
            self._put(index, running=False, live=None, detail="\n".join(last))
        self._running.clear()
        self._places.clear()
        self._failed.clear()
        self._keys.clear()
        return first

    def cut(self, length: int) -> None:
        """Forget entries from `length` on."""
        self._places = {id: index for id, index in self._places.items() if index < length}
        self._running = {index for index in self._running if index < length}
        self._failed.clear()

    @property
    def live(self) -> int:
        """Running calls with output."""
        running = (self._entries[index] for index in self._running)
        return sum(isinstance(entry, CallEntry) and entry.live is not None for entry in running)

    def _wrote(self, index: int, delta: OutputDelta) -> int | None:
        entry = self._entries[index]
        before = entry.live if isinstance(entry, CallEntry) and entry.live is not None else LiveLines()
        live = before.after(delta)
        return None if live == before else self._put(index, live=live)  # an endless line may end as before

    def _followed_to_its_end(self, event: CommandEnded) -> int:
        index = self._places[event.command]
        self._running.discard(index)
        outcome = ToolOutcome.OK if event.exit_code == 0 else ToolOutcome.ERROR
        end: dict[str, object] = {"outcome": outcome, "result": end_word(event.end, event.exit_code)}
        return self._put(index, running=False, live=None, duration_s=event.duration_s, detail=event.tail, **end)

    def _dispatched(self, event: Dispatched, at: float) -> int:
        if event.key:
            self._keys[event.call_id] = event.key
        call = CallEntry(
            event.call_id,
            event.tool,
            self._inputs.get(event.call_id, ""),
            at,
            dispatch=event.dispatch,
            why=event.detail,
            route=event.alternatives[0] if event.alternatives else None,
            in_place_of=event.in_place_of,
        )
        return self._append(call)

    def _ended(self, event: ToolEnded, at: float) -> int:
        index = self._update(
            event.call_id,
            event.tool,
            at,
            running=False,
            live=None,
            outcome=event.outcome,
            result=event.summary,
            duration_s=event.duration_s,
            detail=event.detail,
            detail_of=event.detail_of,
            full_output=event.full_output,
            failures=1 if event.failure else 0,
        )
        self._running.discard(index)
        if event.failure:
            self._failed[key_of(self._keys.pop(event.call_id, event.tool), event.failure)].append(index)
        if self._alike(index, index + 1):
            self._join(index + 1)
        if self._alike(index - 1, index):
            self._join(index)
            return index - 1
        return index

    def _alike(self, first: int, second: int) -> bool:
        """Whether these two calls started no subagent for the same reason."""
        above, below = (self._entries[i] if 0 <= i < len(self._entries) else None for i in (first, second))
        return started_nothing(above) and started_nothing(below) and above.result == below.result

    def _join(self, index: int) -> None:
        """Merge a call into the one above it."""
        above, call = self._entries[index - 1], self._entries.pop(index)
        if isinstance(above, CallEntry) and isinstance(call, CallEntry):
            self._put(index - 1, joined=(*above.joined, call.summary, *call.joined))
        self._places = {id: place - (place >= index) for id, place in self._places.items()}
        self._running = {place - (place >= index) for place in self._running}
        for key, waiting in self._failed.items():
            self._failed[key] = deque(place - (place >= index) for place in waiting)

    def _worked(self, task: AgentCreated | None, /, **changes: object) -> int | None:
        """Change the call that waits for a task; None if there is none."""
        if task is None or task.background or task.call_id not in self._places:
            return None
        return self._put(self._places[task.call_id], **changes)

    def _update(self, call_id: str, tool: str, known_at: float, /, **changes: object) -> int:
        """Change a call that has not ended, or add one."""
        index = self._places.get(call_id)
        entry = None if index is None else self._entries[index]
        if index is None or not isinstance(entry, CallEntry) or entry.outcome is not None:
            summary = self._inputs.get(call_id, "")
            new = CallEntry(call_id, tool, summary, known_at, by_user=is_user_command(call_id))
            index = self._append(new)
        return self._put(index, **changes)

    def _append(self, call: CallEntry) -> int:
        self._places[call.call_id] = len(self._entries)
        self._entries.append(call)
        return len(self._entries) - 1

    def _put(self, index: int, **changes: object) -> int:
        entry = self._entries[index]
        if isinstance(entry, CallEntry):
            self._entries[index] = replace(entry, **changes)  # type: ignore[arg-type]
        return index


def started_nothing(entry: Entry | None) -> TypeGuard[CallEntry]:
    """Whether this is a call that was to start a subagent and has ended without one."""
    if not isinstance(entry, CallEntry) or entry.tool not in DELEGATES or entry.agent:
        return False
    return entry.outcome not in (None, ToolOutcome.OK)


def _about(input: object) -> str:
    """The first text among the values of an input, such as a command, a path or a pattern."""
    values = input.values() if isinstance(input, dict) else ()
    return next((value for value in values if isinstance(value, str) and value.strip()), "")[:LONGEST_SUMMARY]


def _text_of(content: object) -> str:
    """The text of a result."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(block["text"]) for block in blocks if isinstance(block, dict) and "text" in block)


def _without_footer(text: str) -> str:
    """The output of a command without the line on how it ended."""
    output, found, footer = text.rpartition("\n\n[")
    return output if found and "\n" not in footer else text
