"""Events to JSON and back, in current and former spellings."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.events import (
    AdmissionClosed,
    AdmissionPool,
    AgentMoved,
    Alternative,
    Dispatch,
    Dispatched,
    DispatchReason,
    DropReason,
    Event,
    LoopPolicySet,
    PermissionAnswered,
    PlanReminded,
    Rank,
    RejectionReason,
    WorkDropped,
    WorkQueued,
    WorkRejected,
    decode,
    encode,
    name_of,
)
from harness.events.codec import FORMER

ROOT = Path(__file__).parents[2]
RECORDINGS = sorted(path for folder in ("docs", "tests") for path in ROOT.glob(f"{folder}/**/sessions/*.jsonl"))
DISPATCHED = Dispatched("c1", "grep", Dispatch.SKIP, DispatchReason.OPEN, 1, 2)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_every_line_of_a_recorded_session_is_read(path: Path) -> None:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    events = [decode(line) for line in lines]
    assert [decode(encode(event)) for event in events] == events


@pytest.mark.parametrize(
    ("line", "event"),
    [
        ({"type": "gate_closed", "running": 1, "dropped": 2, "gate": "commands"},
         AdmissionClosed(1, 2, AdmissionPool.COMMANDS)),
        ({"type": "work_refused", "key": "a1", "reason": "shutting_down"},
         WorkRejected("a1", RejectionReason.SHUTTING_DOWN)),
        ({"type": "work_replaced", "key": "a1", "number": 4, "replaced": 2, "gate": "agents"},
         WorkQueued("a1", 4, replaced=2)),
        ({"type": "work_dropped", "key": "a1", "number": 4, "reason": "queue_full", "dirty": True},
         WorkDropped("a1", 4, DropReason.QUEUE_FULL, deferred=True)),
        ({"type": "escape_set", "enabled": True, "version": 1, "changed": ["history=5"]},
         LoopPolicySet(enabled=True, version=1, changed=("history=5",))),
        ({"type": "plan_reminded", "rounds": 3, "left": ["a"]}, PlanReminded(3, ("a",))),
        ({"type": "agent_moved", "agent": "a1", "step": 1, "doing": "asks", "requests": 1, "tokens": 5, "cost_usd": 0.0,
          "waits_for_person": True}, AgentMoved("a1", 1, "asks", 1, 5, 0.0, waits_for_user=True)),
        ({"type": "permission_answered", "call_id": "c1", "tool": "bash", "answer": "no", "by": "person"},
         PermissionAnswered("c1", "bash", "no", "user")),
        ({"type": "dispatched", "call_id": "c1", "tool": "grep", "dispatch": "skip", "reason": "open", "generation": 1,
          "place": 2, "routes": [{"rank": "low", "method": "use rg", "degradation": "formatting", "tool": "bash"}]},
         replace(DISPATCHED, alternatives=(Alternative(Rank.LOW, "use rg", "formatting", "bash"),))),
    ],
)  # fmt: skip
def test_former_spellings_are_read_and_current_ones_are_written(line: dict[str, object], event: Event) -> None:
    assert decode(line) == event
    assert decode(encode(event)) == event
    assert encode(event)["type"] == name_of(type(event))


def test_the_table_of_former_spellings_names_events_and_fields_that_exist() -> None:
    classes = {name_of(cls): cls for cls in Event.__subclasses__()}
    for name, former in FORMER.items():
        fields = classes[name].__dataclass_fields__
        assert former.type not in classes
        assert set(former.fields.values()) | {field for field, _ in former.values} <= set(fields)
        assert not set(former.fields) & set(fields)


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown event type 'no_such_event'"):
        decode({"type": "no_such_event"})
