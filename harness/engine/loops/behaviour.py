"""What the agent did, read from the events of its conversation in the terms of the escape policy (docs/escape.md).

Calls and their results, the item of the plan that is worked on, and what the workspace holds: all of it stands in the
events that the journal keeps, so a resumed session sees the same. What the program itself says or decides is no
behaviour of the agent: nudges, skipped calls and vetoes are left out.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from harness.engine.loops.command_kinds import kind_of
from harness.events import (
    OWN_COMMAND,
    Block,
    ErrorClass,
    Event,
    FailureCategory,
    ItemStatus,
    Json,
    MessageAdded,
    Origin,
    PlanChanged,
    ResultLabelled,
    RetryEnded,
    RetryScheduled,
    StepStarted,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
)
from harness.policies.breakers.failure_signature import signature_of
from harness.policies.loops.digests import action_of, digest, result_of
from harness.policies.loops.error_classes import classify
from harness.policies.loops.observations import Call, Kind, Poll, Visit
from harness.tools.tool import Effect, Tool

AGAIN = "again-"
"""Begins the call ids of calls that the program makes once more by itself; a number follows."""
CAME_BACK = 1_200
"""Characters that are kept of a result, to be quoted."""
_NO_BEHAVIOUR = frozenset({ToolOutcome.SKIPPED, ToolOutcome.CANCELLED})
DENIED = "denied"
"""The signature of every call that was not allowed."""


@dataclass(frozen=True, slots=True)
class Round:
    """The calls of one reply that ran, and those that were not let through."""

    step: int
    calls: tuple[Call, ...]
    skipped: tuple[str, ...] = ()
    """Digests of the calls that were answered without being run."""


Observed = Round | Visit


@dataclass(slots=True)
class _Asked:
    """A call that waits for its result."""

    tool: str
    input: Json
    ended: ToolEnded | None = None
    labelled: bool = False


@dataclass(slots=True)
class Behaviour:
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

    def _once_more(self, blocks: Sequence[Block]) -> Iterator[Round]:
        """What came of a call that the program made once more: it stands behind the words that tell of it."""
        for call_id in [call_id for call_id, asked in self._asked.items() if asked.ended and _is_again(call_id)]:
            asked = self._asked.pop(call_id)
            call = self._call(call_id, asked, str(blocks[-1].get("text", "")))
            self.inputs[call.action] = asked.input
            yield Round(self._step, (call,))

    def _round(self, blocks: Iterable[Block]) -> Round:
        calls: list[Call] = []
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
        return Round(self._step, tuple(calls), tuple(skipped))

    def _call(self, call_id: str, asked: _Asked, content: str) -> Call:
        ended = asked.ended
        assert ended is not None
        tool = self.tool(asked.tool)
        if asked.labelled:
            content = content.partition("\n")[2]
        ok = ended.outcome is ToolOutcome.OK
        self._number += 1
        self.came_back = content[:CAME_BACK]
        return Call(
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


def _kind(tool: Tool | None, input: Json, outcome: ToolOutcome) -> Kind:
    """What repeating a call means; one that the tool could not do is work that failed."""
    if tool is None or outcome not in (ToolOutcome.OK, ToolOutcome.ERROR):
        return Kind.WORKS
    if tool.command_line is not None:
        return kind_of(tool.command_line(input) or "")
    return Kind.LOOKS if tool.effect is Effect.READ and outcome is ToolOutcome.OK else Kind.WORKS


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
