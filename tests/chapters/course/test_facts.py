"""Values by their dotted names."""

import pytest

from chapters.course.facts import FieldError, filled, names_in, value_of
from harness.events import (
    Fault,
    FaultKind,
    FaultOccurred,
    HistoryRepaired,
    Message,
    MessageAdded,
    Origin,
    Transition,
    TransitionCode,
)

FAULT = FaultOccurred(Fault(FaultKind.OVERLOADED, "Overloaded", status=529), "practice-1", 2)


def test_names_lead_into_nested_values() -> None:
    assert value_of(FAULT, "fault.status") == 529
    assert value_of(FAULT, "attempt") == 2


def test_what_follows_from_fields_has_a_name_as_well() -> None:
    added = MessageAdded(Message("user", ({"type": "text", "text": "Hello"},)), Origin.PROMPT)
    assert value_of(added, "message.text") == "Hello"


def test_enums_give_their_value_and_lists_their_words() -> None:
    assert value_of(Transition(1, TransitionCode.COMPLETED, "whole"), "code") == "completed"
    assert value_of(HistoryRepaired(("one", "two")), "repairs") == "one, two"


def test_what_a_run_does_not_have_is_none() -> None:
    repaired = HistoryRepaired(("one", "two"))
    assert filled("{repairs.1} {repairs.2} {repairs.2.more}", repaired) == "two none none"


def test_templates_are_filled_with_formats() -> None:
    assert filled("status {fault.status:>5} of {model}", FAULT) == "status   529 of practice-1"


@pytest.mark.parametrize(
    "name", ["nothing", "fault.nothing", "__class__", "fault.__class__", "model.upper", "attempt.real"]
)
def test_other_names_lead_nowhere(name: str) -> None:
    with pytest.raises(FieldError):
        value_of(FAULT, name)
    with pytest.raises(FieldError):
        filled(f"{{{name}}}", FAULT)


def test_names_of_a_template() -> None:
    assert names_in("{fault.status} and {model:>3} {{no name}}") == ("fault.status", "model")
    with pytest.raises(FieldError, match="not a template"):
        names_in("{open")
