"""The outcomes that s23 lists are those that the gate has."""

from typing import get_args, get_origin, get_type_hints

from chapters.s23_admission.drawings import answers
from harness.policies.admission.slot_queue import SlotQueue


def test_every_answer_of_the_gate_is_an_outcome() -> None:
    known = {get_origin(answer) or answer for answer in get_args(get_type_hints(SlotQueue.ask)["return"])}
    assert {type(answer) for answer in answers()} == known
