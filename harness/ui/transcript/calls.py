"""What happens to a tool call becomes one entry, changed where it stands."""

from collections import defaultdict, deque
from dataclasses import replace

from harness.events import (
    OWN_COMMAND,
    AgentCreated,
    AgentEnd,
    AgentEnded,
    AgentMoved,
    BreakerChanged,
    ChangeReason,
    Dispatched,
    Event,
    GateName,
    Message,
    PermissionAsked,
    ResultLabelled,
    StepStarted,
    ToolEnded,
    ToolStarted,
    WorkAdmitted,
    key_of,
)
from harness.ui.lines.agent_tasks import AgentTasks
from harness.ui.transcript.entries import Call, Entry

LONGEST_SUMMARY = 500
"""Characters of an input that are kept to tell what a call is about."""
FAILED = frozenset({ChangeReason.FAILED, ChangeReason.THRESHOLD, ChangeReason.PROBE_FAILED})
"""Changes of a breaker that one failure of its tool has made."""


def is_of_the_person(call_id: str) -> bool:
    """Whether the person ran this call, after `!`."""
    return call_id.startswith(OWN_COMMAND)


class CallFold:
    """Keeps the calls among the entries of a transcript."""

    def __init__(self, entries: list[Entry]) -> None:
        """`entries` is the transcript's own list; calls are appended to it and replaced in it."""
        self._entries = entries
        self._places: dict[str, int] = {}
        """Index of the newest call with an id, of those of the present turn."""
        self._inputs: dict[str, str] = {}
        """What the calls of the newest reply are about, as far as that can be told from their input."""
        self._tasks = AgentTasks()
        """What the calls of agents wait for."""
        self._running: set[int] = set()
        self._failed: defaultdict[str, deque[int]] = defaultdict(deque)
        """For each breaker the calls of this step that failed, and whose count has not been told yet."""
        self._keys: dict[str, str] = {}
        """By call that is the probe of a part of its tool, the key of that breaker."""

    def see(self, event: Event, at: float) -> int | None:
        """Take in an event; the index of the entry that it changed or added, None if it is about no call."""
        match event:
            case StepStarted():
                self._failed.clear()
                return None
            case Dispatched():
                return self._dispatched(event, at)
            case AgentCreated():
                self._tasks.created(event)
                return self._worked(event, agent=event.agent, doing="waits for its turn")
            case AgentMoved(agent=agent, doing=doing, waits_for_person=asks):
                return self._worked(self._tasks.of(agent), doing=doing, asks=asks)
            case AgentEnded(end=end):
                doing = "answered" if end is AgentEnd.ANSWERED else "did not finish"
                return self._worked(self._tasks.ended(event), doing=doing, asks=False)
            case WorkAdmitted(key=agent, gate=GateName.AGENTS):
                self._tasks.begun(agent)
                return self._worked(self._tasks.of(agent), doing="begins")
            case PermissionAsked(agent=agent) if not agent:
                return self._update(event.call_id, event.tool, at, summary=event.summary)
            case ToolStarted():
                index = self._update(event.call_id, event.tool, at, summary=event.summary, at=at, running=True)
                self._running.add(index)
                return index
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
        """A reply came, and with it the calls that will be decided about now."""
        blocks = [block for block in reply.content if block.get("type") == "tool_use"]
        self._inputs = {str(block.get("id")): _about(block.get("input")) for block in blocks}

    def abandon(self) -> int | None:
        """Nothing runs any more; the index of the first call of which that was not known."""
        first = min(self._running, default=None)
        for index in self._running:
            self._put(index, running=False)
        self._running.clear()
        return first

    def forget(self) -> None:
        """What comes now is about new calls, whatever their ids."""
        self._places.clear()
        self._tasks.clear()
        self._failed.clear()
        self._keys.clear()

    def cut(self, length: int) -> None:
        """Only so many entries are left."""
        self._places = {id: index for id, index in self._places.items() if index < length}
        self._running = {index for index in self._running if index < length}
        self._failed.clear()

    def _dispatched(self, event: Dispatched, at: float) -> int:
        if event.key:
            self._keys[event.call_id] = event.key
        call = Call(
            event.call_id,
            event.tool,
            self._inputs.get(event.call_id, ""),
            at,
            dispatch=event.dispatch,
            why=event.detail,
            route=event.routes[0] if event.routes else None,
            in_place_of=event.in_place_of,
        )
        return self._append(call)

    def _ended(self, event: ToolEnded, at: float) -> int:
        index = self._update(
            event.call_id,
            event.tool,
            at,
            running=False,
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
        return index

    def _worked(self, task: AgentCreated | None, /, **changes: object) -> int | None:
        """Change the call that waits for a task; None: none does."""
        if task is None or task.background or task.call_id not in self._places:
            return None
        return self._put(self._places[task.call_id], **changes)

    def _update(self, call_id: str, tool: str, known_at: float, /, **changes: object) -> int:
        """Change a call that has not ended, or begin one."""
        index = self._places.get(call_id)
        entry = None if index is None else self._entries[index]
        if index is None or not isinstance(entry, Call) or entry.outcome is not None:
            summary = self._inputs.get(call_id, "")
            new = Call(call_id, tool, summary, known_at, by_person=is_of_the_person(call_id))
            index = self._append(new)
        return self._put(index, **changes)

    def _append(self, call: Call) -> int:
        self._places[call.call_id] = len(self._entries)
        self._entries.append(call)
        return len(self._entries) - 1

    def _put(self, index: int, **changes: object) -> int:
        entry = self._entries[index]
        if isinstance(entry, Call):
            self._entries[index] = replace(entry, **changes)  # type: ignore[arg-type]
        return index


def _about(input: object) -> str:
    """The first words among the values of an input: its command, its path, what it looks for."""
    values = input.values() if isinstance(input, dict) else ()
    return next((value for value in values if isinstance(value, str) and value.strip()), "")[:LONGEST_SUMMARY]
