"""The input of loop detection, folded from the events of a conversation, live and from a journal alike.

Calls with their results, the current item of the plan, and the files of the workspace are behaviour of the agent.
Nudges, skipped calls and vetoes of the program are not.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from harness.engine.loops.command_kinds import kind_of
from harness.events import (
    OWN_COMMAND,
    Attempt,
    Block,
    ErrorClass,
    Event,
    FailureCategory,
    FaultKind,
    FaultOccurred,
    Intervened,
    ItemStatus,
    Json,
    Loop,
    LoopAnswered,
    LoopPolicySet,
    MessageAdded,
    Origin,
    PlanChanged,
    PlanItem,
    Projection,
    ReplyReceived,
    ResultLabelled,
    RetryEnded,
    RetryScheduled,
    RolledBack,
    Rung,
    StepStarted,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    Transition,
    TransitionCode,
    TurnStarted,
)
from harness.policies.breakers.failure_signature import signature_of
from harness.policies.loops.detector_set import DetectorsSnapshot
from harness.policies.loops.digests import action_of, digest, result_of
from harness.policies.loops.error_classes import classify
from harness.policies.loops.monitor import LoopMonitor
from harness.policies.loops.observations import CallKind, ObservedCall, Poll, Visit
from harness.policies.loops.polls import Waits
from harness.tools.tool import Effect, Tool

AGAIN = "again-"
"""Prefix of the ids of calls that the program repeats; a number follows."""
CAME_BACK = 1_200
"""Characters that are kept of a result, to be quoted."""
_NO_BEHAVIOUR = frozenset({ToolOutcome.SKIPPED, ToolOutcome.CANCELLED})
DENIED = "denied"
"""The signature of every call that was not allowed."""


@dataclass(frozen=True, slots=True)
class ObservedStep:
    """The calls of one reply that ran, and those that were not let through."""

    step: int
    calls: tuple[ObservedCall, ...]
    skipped: tuple[str, ...] = ()
    """Digests of the calls that were answered without being run."""


Observed = ObservedStep | Visit


@dataclass(slots=True)
class _Asked:
    """A call that waits for its result."""

    tool: str
    input: Json
    ended: ToolEnded | None = None
    labelled: bool = False


@dataclass(slots=True)
class BehaviourFold:
    """Sees every event of a conversation, and says what in them is behaviour."""

    tool: Callable[[str], Tool | None]
    """Looks a tool up by its name."""
    poll: Poll
    """The limits of tools that are declared as polls."""
    inputs: dict[str, Json] = field(default_factory=dict, init=False)
    """The arguments of the calls of the last round by their digest, for one that is made once more."""
    came_back: str = field(default="", init=False)
    """How the last result began."""
    _asked: dict[str, _Asked] = field(default_factory=dict, init=False)
    _files: dict[str, str] = field(default_factory=dict, init=False)
    _node: str = field(default="", init=False)
    _step: int = field(default=0, init=False)
    _number: int = field(default=0, init=False)
    _now: float = field(default=0.0, init=False)
    _waited: float = field(default=0.0, init=False)
    _waiting_since: float | None = field(default=None, init=False)

    def see(self, event: Event, at: float) -> Iterator[Observed]:
        """What an event at this Unix time says about the behaviour."""
        self._now = max(self._now, at)
        match event:
            case StepStarted(step=step):
                self._step = step
            case RetryScheduled():
                self._waiting_since = self._now
            case RetryEnded() if self._waiting_since is not None:
                self._waited += self._now - self._waiting_since
                self._waiting_since = None
            case MessageAdded(message=message, origin=Origin.REPLY):
                self._asked = {call_id: asked for call_id, asked in map(_asked_in, message.content) if call_id}
            case ToolStarted(call_id=call_id, tool=tool, input=input) if _is_again(call_id):
                self._asked[call_id] = _Asked(tool, input)
            case ResultLabelled(call_id=call_id) if call_id in self._asked:
                self._asked[call_id].labelled = True
            case ToolEnded(call_id=call_id) if call_id in self._asked and not call_id.startswith(OWN_COMMAND):
                self._asked[call_id].ended = event
                yield from self._changed(event)
            case PlanChanged(items=items):
                current = next((item.text for item in items if item.status is ItemStatus.IN_PROGRESS), "")
                if current != self._node:
                    self._node = current
                    yield self._visit(node=current) if current else self._visit(node="(nothing)")
            case MessageAdded(message=message, origin=Origin.TOOL_RESULTS):
                yield self._round(message.content)
            case MessageAdded(message=message, origin=Origin.NUDGE):
                yield from self._once_more(message.content)

    def _once_more(self, blocks: Sequence[Block]) -> Iterator[ObservedStep]:
        """The result of a call that the program repeated; it follows the announcement."""
        for call_id in [call_id for call_id, asked in self._asked.items() if asked.ended and _is_again(call_id)]:
            asked = self._asked.pop(call_id)
            call = self._call(call_id, asked, str(blocks[-1].get("text", "")))
            self.inputs[call.action] = asked.input
            yield ObservedStep(self._step, (call,))

    def _round(self, blocks: Iterable[Block]) -> ObservedStep:
        calls: list[ObservedCall] = []
        skipped: list[str] = []
        inputs: dict[str, Json] = {}
        for block in blocks:
            asked = self._asked.get(str(block.get("tool_use_id")))
            if asked is None or asked.ended is None:
                continue
            if asked.ended.outcome in _NO_BEHAVIOUR:
                if asked.ended.outcome is ToolOutcome.SKIPPED:
                    skipped.append(action_of(asked.tool, asked.input))
                continue
            calls.append(call := self._call(asked.ended.call_id, asked, _text_of(block)))
            inputs[call.action] = asked.input
        self.inputs = inputs
        return ObservedStep(self._step, tuple(calls), tuple(skipped))

    def _call(self, call_id: str, asked: _Asked, content: str) -> ObservedCall:
        ended = asked.ended
        assert ended is not None
        tool = self.tool(asked.tool)
        if asked.labelled:
            content = content.partition("\n")[2]
        ok = ended.outcome is ToolOutcome.OK
        self._number += 1
        self.came_back = content[:CAME_BACK]
        return ObservedCall(
            number=self._number,
            step=self._step,
            at=self._now - self._waited,
            wall=self._now,
            call_id=call_id,
            tool=asked.tool,
            action=action_of(asked.tool, asked.input),
            result=result_of(content),
            ok=ok,
            error="" if ok else _signature(ended, content),
            error_class=None if ok else _class(ended, content),
            node=self._node,
            mutates=ok and tool is not None and tool.effect is not Effect.READ,
            idempotent=tool is not None and tool.repeatable,
            poll=self.poll if tool is not None and tool.polls else None,
            kind=_kind(tool, asked.input, ended.outcome),
            summary=f"{asked.tool} {tool.summarise(asked.input)}".rstrip() if tool else asked.tool,
        )

    def _changed(self, ended: ToolEnded) -> Iterator[Visit]:
        """What the workspace holds, as far as the tools have said, after one of them changed a file."""
        tool = self.tool(ended.tool)
        if ended.revision and tool and tool.effect is Effect.WRITE and ended.outcome is ToolOutcome.OK:
            self._files[ended.revision.resource] = ended.revision.digest
            yield self._visit(state=digest(*(part for file in sorted(self._files.items()) for part in file)))

    def _visit(self, *, node: str = "", state: str = "") -> Visit:
        self._number += 1
        return Visit(self._number, self._step, self._now - self._waited, self._now, node, state)


def _is_again(call_id: str) -> bool:
    return call_id.startswith(AGAIN)


def _asked_in(block: Block) -> tuple[str, _Asked]:
    if block.get("type") != "tool_use":
        return "", _Asked("", {})
    return str(block.get("id")), _Asked(str(block.get("name")), dict(block.get("input") or {}))


def _text_of(block: Block) -> str:
    content = block.get("content", "")
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))


def _kind(tool: Tool | None, input: Json, outcome: ToolOutcome) -> CallKind:
    """What repeating a call means; one that the tool could not do is work that failed."""
    if tool is None or outcome not in (ToolOutcome.OK, ToolOutcome.ERROR):
        return CallKind.WORKS
    if tool.command_line is not None:
        return kind_of(tool.command_line(input) or "")
    return CallKind.LOOKS if tool.effect is Effect.READ and outcome is ToolOutcome.OK else CallKind.WORKS


def _signature(ended: ToolEnded, content: str) -> str:
    if ended.outcome is ToolOutcome.DENIED:
        return DENIED
    if ended.failure is not None:
        return ended.failure.signature
    for line in (ended.summary, *reversed(content.splitlines()[-20:])):
        if signature := signature_of(FailureCategory.REFUSED, line, ended.tool):
            return signature
    return ""


def _class(ended: ToolEnded, content: str) -> ErrorClass:
    match ended:
        case ToolEnded(outcome=ToolOutcome.DENIED | ToolOutcome.INVALID):
            return ErrorClass.PERSISTENT
        case ToolEnded(failure=failure) if failure is not None:
            return classify(kind=failure.category.value, text=f"{ended.summary}\n{content}")
        case _:
            return classify(text=f"{ended.summary}\n{content}")


SNAPSHOTS = 64
"""Steps that the detectors can be rolled back."""


class LoopFold:
    """Shows the policy what the events say, and passes on what it finds."""

    def __init__(self, monitor: LoopMonitor, behaviour: BehaviourFold) -> None:
        self.monitor = monitor
        self.behaviour = behaviour
        self.waits = Waits()
        self._round = ObservedStep(0, ())
        self._snapshots: dict[int, DetectorsSnapshot] = {}
        """The detectors after the last rounds, by step."""
        self._tried: dict[str, list[Attempt]] = {}
        self._switched_off: dict[str, str] = {}
        """Calls whose tool was switched off because of a loop, by digest, with its signature."""
        self._plan: tuple[PlanItem, ...] = ()
        self._step = 0

    @property
    def failed(self) -> ObservedCall | None:
        """The last call, if it failed."""
        last = self._round.calls[-1] if self._round.calls else None
        return None if last is None or last.ok else last

    @property
    def pending(self) -> list[PlanItem]:
        """The parts of the plan that have not been begun."""
        return [item for item in self._plan if item.status is ItemStatus.PENDING]

    def last_call(self, tool: str) -> ObservedCall | None:
        """The last call of a tool in the last round."""
        return next((call for call in reversed(self._round.calls) if call.tool == tool), None)

    def tried(self, signature: str) -> tuple[Attempt, ...]:
        """Interventions against a loop in this turn."""
        return tuple(self._tried.get(signature, ()))

    def see(self, event: Event, at: float) -> Iterator[Event]:
        """Take in an event with its Unix time; what the policy finds is yielded."""
        match event:
            case TurnStarted(prompt=prompt):  # empty in a turn that begins by itself, or by /retry
                self._begin(by_user=bool(prompt))
            case MessageAdded(origin=Origin.STEERING):  # the user has seen what the agent does
                self._begin(by_user=True)
            case StepStarted(step=step):
                self._step = step
            case PlanChanged(items=items):
                self._plan = items
            case Intervened(signature=signature):
                self._tried.setdefault(signature, []).append(Attempt(event.rung, event.step, event.detail))
                if event.rung is Rung.BREAKER and (call := self.last_call(event.tool)) is not None:
                    self._switched_off[call.action] = signature
                self.monitor.on_event(event)
            case LoopPolicySet() | LoopAnswered():
                self.monitor.on_event(event)
            case RolledBack(step=step) if step in self._snapshots:
                self.monitor.rolled_back(self._snapshots[step])
            case FaultOccurred(fault=fault) if fault.kind is FaultKind.REPETITION:
                text = Loop(Projection.TEXT, fault.error_code or "", 1, 1, fault.message)
                yield from self.monitor.reply(text, self._step)
            case ReplyReceived():
                yield from self.monitor.reply(None, self._step)
            case Transition(step=step, code=TransitionCode.COMPLETED):
                yield from self.monitor.answered(step)
        for observed in self.behaviour.see(event, at):
            yield from self._observe(observed)

    def _begin(self, *, by_user: bool) -> None:
        self.monitor.new_prompt(by_user=by_user)
        self.waits.forget()
        self._snapshots.clear()
        self._tried.clear()
        self._switched_off.clear()

    def _observe(self, observed: Observed) -> Iterable[Event]:
        if isinstance(observed, Visit):
            return self.monitor.visit(observed)
        self._round = observed
        follows: list[Event] = []
        for action in observed.skipped:
            if signature := self.monitor.kept_from(action) or self._switched_off.get(action, ""):
                follows += self.monitor.ignored(signature, observed.step)
        calls = self.waits.sorted(observed.calls, self.monitor.policy.wait_spaced_s)
        follows += self.monitor.step(calls)
        self._snapshots[observed.step] = self.monitor.snapshot()
        while len(self._snapshots) > SNAPSHOTS:
            del self._snapshots[next(iter(self._snapshots))]
        return follows
