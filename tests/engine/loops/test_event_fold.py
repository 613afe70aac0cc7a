"""What of a conversation's events is behaviour of the agent."""

from typing import Any

import pytest

from harness.engine.loops.event_fold import AGAIN, DENIED, BehaviourFold, Observed, ObservedStep
from harness.events import (
    OWN_COMMAND,
    Block,
    ErrorClass,
    Event,
    FaultKind,
    FreshnessLabel,
    ItemStatus,
    Message,
    MessageAdded,
    Origin,
    PlanChanged,
    PlanItem,
    ResultLabelled,
    RetryEnded,
    RetryScheduled,
    Revision,
    StepStarted,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
)
from harness.policies.loops.digests import action_of
from harness.policies.loops.observations import CallKind, ObservedCall, Poll, Visit
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


# ── rounds, waits and visits ────────────────────────────────────────────────────────────────────────


def use(id: str, tool: str = "read_file", **input: str) -> Block:
    return {"type": "tool_use", "id": id, "name": tool, "input": input}


def asks(*uses: Block) -> Event:
    return MessageAdded(Message("assistant", ({"type": "text", "text": "I look."}, *uses)), Origin.REPLY)


def results(*pairs: tuple[str, str | list[Block]]) -> Event:
    blocks = tuple({"type": "tool_result", "tool_use_id": id, "content": content} for id, content in pairs)
    return MessageAdded(Message("user", blocks), Origin.TOOL_RESULTS)


def ended(id: str, tool: str = "read_file", outcome: ToolOutcome = ToolOutcome.OK, **more: Any) -> ToolEnded:
    return ToolEnded(id, tool, outcome, "", 0.1, **more)


def seen(*events: tuple[float, Event] | Event, fold: BehaviourFold | None = None) -> list[Observed]:
    """Observe events, some with their moments."""
    fold = fold or BehaviourFold(TOOLS.get, Poll())
    timed = [one if isinstance(one, tuple) else (0.0, one) for one in events]
    return [observed for at, event in timed for observed in fold.see(event, at)]


def test_a_round_has_the_calls_that_ran_in_order_and_names_those_that_were_skipped() -> None:
    fold = BehaviourFold(TOOLS.get, Poll())
    (step,) = seen(
        StepStarted(3),
        asks(use("c1", path="a"), use("c2", path="b"), use("c3", path="c"), use("c4", path="d")),
        *(ended("c2"), ended("c1"), ended("c3", outcome=ToolOutcome.SKIPPED)),
        results(("c1", "one"), ("c2", "two"), ("c3", "not run"), ("c4", "no end"), ("c9", "unknown")),
        fold=fold,
    )
    assert isinstance(step, ObservedStep)
    assert step.step == 3
    assert [(call.call_id, call.number, call.step) for call in step.calls] == [("c1", 1, 3), ("c2", 2, 3)]
    assert [call.summary for call in step.calls] == ["read_file a", "read_file b"]
    assert step.skipped == (action_of("read_file", {"path": "c"}),)
    assert fold.inputs == {call.action: {"path": name} for call, name in zip(step.calls, "ab", strict=True)}
    assert fold.came_back == "two"


def test_a_result_of_several_blocks_is_one_text_and_a_label_is_no_part_of_it() -> None:
    def result(content: str | list[Block], *, labelled: bool = False) -> str:
        label = [ResultLabelled("c1", "read_file", FreshnessLabel.CACHED, "the same")] if labelled else []
        (step,) = seen(asks(use("c1", path="a")), *label, ended("c1"), results(("c1", content)))
        assert isinstance(step, ObservedStep)
        return step.calls[0].result

    assert result([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]) == result("one\ntwo")
    assert result("[PERHAPS CACHED]\none", labelled=True) == result("one")
    assert result("[PERHAPS CACHED]\none") != result("one")


def test_waits_for_a_retry_are_no_time_of_the_agent() -> None:
    retry = RetryScheduled("model", FaultKind.OVERLOADED, 1, 10, 60.0, 0.0, 529, None, "overloaded")
    fold = BehaviourFold(TOOLS.get, Poll())
    (step,) = seen(
        *((100.0, RetryEnded("due")), (100.0, retry), (160.0, RetryEnded("due")), (165.0, RetryEnded("due"))),
        *((170.0, asks(use("c1", path="a"))), (171.0, ended("c1")), (150.0, results(("c1", "one")))),
        fold=fold,
    )
    assert isinstance(step, ObservedStep)
    assert (step.calls[0].wall, step.calls[0].at) == (171.0, 111.0)  # a clock that is set back does not advance


def test_another_current_item_of_the_plan_is_another_place_and_so_is_none() -> None:
    def plan(*statuses: ItemStatus) -> Event:
        return PlanChanged(tuple(PlanItem(f"part {number}", status) for number, status in enumerate(statuses)))

    done, now, later = ItemStatus.DONE, ItemStatus.IN_PROGRESS, ItemStatus.PENDING
    visits = seen(plan(later, later), plan(now, later), plan(now, now), plan(done, now), plan(done, done), plan())
    assert [visit.node for visit in visits if isinstance(visit, Visit)] == ["part 0", "part 1", "(nothing)"]
    fold = BehaviourFold(TOOLS.get, Poll())
    *_, step = seen(plan(now), asks(use("c1", path="a")), ended("c1"), results(("c1", "x")), fold=fold)
    assert isinstance(step, ObservedStep)
    assert step.calls[0].node == "part 0"


def test_a_written_file_changes_the_state_of_the_workspace_and_the_same_contents_bring_it_back() -> None:
    def writes(id: str, digest: str, tool: str = "write_file", outcome: ToolOutcome = ToolOutcome.OK) -> list[Event]:
        return [asks(use(id, tool, path="f")), ended(id, tool, outcome, revision=Revision("f", digest))]

    fold = BehaviourFold(TOOLS.get, Poll())
    events = [*writes("c1", "one"), *writes("c2", "two"), *writes("c3", "one")]
    states = [visit.state for visit in seen(*events, fold=fold) if isinstance(visit, Visit)]
    assert len(states) == 3
    assert states[0] == states[2] != states[1]
    assert seen(*writes("c4", "x", "read_file"), *writes("c5", "x", outcome=ToolOutcome.ERROR), fold=fold) == []
    assert seen(asks(use("c6", "write_file", path="f")), ended("c6", "write_file"), fold=fold) == []


def test_a_command_of_the_user_is_no_behaviour_of_the_agent() -> None:
    id = f"{OWN_COMMAND}1"
    revision = Revision("f", "one")
    assert seen(asks(use(id, "write_file", path="f")), ended(id, "write_file", revision=revision)) == []


def test_a_call_that_the_program_repeats_is_a_step_of_its_own() -> None:
    again = f"{AGAIN}1"
    nudge = MessageAdded(Message("user", ({"type": "text", "text": "once more: two"},)), Origin.NUDGE)
    fold = BehaviourFold(TOOLS.get, Poll())
    events = (StepStarted(4), ToolStarted(again, "read_file", "a", {"path": "a"}), nudge, ended(again), nudge, nudge)
    (step,) = seen(*events, fold=fold)
    assert isinstance(step, ObservedStep)
    (call,) = step.calls
    assert (step.step, call.call_id, call.action) == (4, again, action_of("read_file", {"path": "a"}))
    assert fold.inputs == {call.action: {"path": "a"}}
    assert fold.came_back == "once more: two"
    assert seen(ToolStarted("c1", "read_file", "a", {"path": "a"}), ended("c1"), nudge) == []


@pytest.mark.parametrize(
    ("outcome", "content", "of"),
    [
        (ToolOutcome.DENIED, "no", ErrorClass.PERSISTENT),
        (ToolOutcome.INVALID, "a path is missing", ErrorClass.PERSISTENT),
        (ToolOutcome.ERROR, "connection timed out", ErrorClass.TRANSIENT),
        (ToolOutcome.OK, "connection timed out", None),
    ],
)
def test_the_kind_of_an_error_is_read_from_outcome_and_text(
    outcome: ToolOutcome, content: str, of: ErrorClass | None
) -> None:
    (call,) = observed("read_file", outcome, content=content)
    assert call.error_class is of
    assert (call.error == "") is (outcome is ToolOutcome.OK)
