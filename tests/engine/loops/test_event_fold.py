"""What of a conversation's events is behaviour of the agent."""

import pytest

from harness.engine.loops.event_fold import DENIED, BehaviourFold, ObservedStep
from harness.events import Event, Message, MessageAdded, Origin, ToolEnded, ToolOutcome
from harness.policies.loops.observations import CallKind, ObservedCall, Poll
from harness.tools.edit import write_file_tool
from harness.tools.read_file import read_file_tool
from harness.tools.tool import Tool

TOOLS: dict[str, Tool] = {tool.name: tool for tool in (read_file_tool(), write_file_tool())}


def observed(tool: str, outcome: ToolOutcome, summary: str = "", content: str = "a result") -> list[ObservedCall]:
    """The calls that are seen of a round with one call."""
    use = {"type": "tool_use", "id": "t1", "name": tool, "input": {"path": "f", "content": "x"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": content}
    events: list[Event] = [
        MessageAdded(Message("assistant", (use,)), Origin.REPLY),
        ToolEnded("t1", tool, outcome, summary, 0.1),
        MessageAdded(Message("user", (result,)), Origin.TOOL_RESULTS),
    ]
    fold = BehaviourFold(TOOLS.get, Poll())
    steps = [one for number, event in enumerate(events) for one in fold.see(event, float(number))]
    return [call for step in steps if isinstance(step, ObservedStep) for call in step.calls]


@pytest.mark.parametrize(
    ("tool", "outcome", "mutates", "kind"),
    [
        ("read_file", ToolOutcome.OK, False, CallKind.LOOKS),
        ("read_file", ToolOutcome.ERROR, False, CallKind.WORKS),
        ("write_file", ToolOutcome.OK, True, CallKind.WORKS),
        ("write_file", ToolOutcome.ERROR, False, CallKind.WORKS),
        ("unknown", ToolOutcome.OK, False, CallKind.WORKS),
    ],
)
def test_only_a_tool_that_wrote_has_changed_something(
    tool: str, outcome: ToolOutcome, mutates: bool, kind: CallKind
) -> None:
    (call,) = observed(tool, outcome)
    assert (call.mutates, call.kind, call.ok) == (mutates, kind, outcome is ToolOutcome.OK)


@pytest.mark.parametrize("outcome", [ToolOutcome.SKIPPED, ToolOutcome.CANCELLED])
def test_a_call_that_did_not_run_is_no_behaviour(outcome: ToolOutcome) -> None:
    assert observed("read_file", outcome) == []


def test_all_calls_that_were_not_allowed_have_one_signature_and_errors_their_own() -> None:
    denied = [observed("write_file", ToolOutcome.DENIED, content=text)[0].error for text in ("no: one", "no: two")]
    assert denied == [DENIED, DENIED]
    failed = [observed("read_file", ToolOutcome.ERROR, content=text)[0].error for text in ("no such file", "a folder")]
    assert len({DENIED, *failed}) == 3
