"""The drawings of the chapters say what the tables and the policies of the program say."""

import re
from dataclasses import fields
from typing import get_args, get_origin, get_type_hints

from chapters.course import lesson
from chapters.s10_system_prompt.drawings import costs
from chapters.s11_error_recovery.drawings import WAYS, kinds
from chapters.s22_loops.drawings import NUMBERS, RUNGS, WORDS, ladder, rows
from chapters.s23_admission.drawings import answers
from chapters.s24_streams.drawings import BREAKS, ROWS, after, limits
from harness.events import FaultKind, Rung
from harness.model.watchdog import WatchLimits
from harness.policies.admission.slot_queue import SlotQueue
from harness.policies.loops.repeat_detector import RepeatTail
from harness.policies.recovery import Continue, Decision, Resend, RunTools, Stop
from harness.policies.recovery.transitions import REMEDIES

NAMES: dict[str, type[Decision]] = {"resend": Resend, "continue": Continue, "run": RunTools, "stop": Stop}


def test_a_breakpoint_behind_a_clock_costs_more_than_none() -> None:
    none, same, clock = (float(dollars) for dollars in re.findall(r"\$(\d+\.\d+)", costs()))
    assert same < none < clock


def test_every_fault_and_every_first_remedy_has_its_place() -> None:
    assert {remedy for _, remedies in WAYS for remedy in remedies} == set(REMEDIES.values())
    assert {kind for _, remedies in WAYS for kind in kinds(remedies)} == set(FaultKind)


def test_each_row_becomes_a_loop_at_its_last_step() -> None:
    for word, copies in WORDS:
        tail = RepeatTail(NUMBERS.longest_period)
        counted = []
        for *_, symbol in [step for _ in range(copies) for step in word]:
            tail.push(symbol)
            counted.append(tail.copies(len(word)))
        assert counted[-1] == copies
        assert max(counted[:-1]) < max(copies, 2)
    assert len(rows().splitlines()) == sum(len(word) * copies for word, copies in WORDS) + len(WORDS) - 1


def test_the_ladder_has_every_rung_in_its_order() -> None:
    assert list(RUNGS) == list(Rung)
    assert [line.split()[0] for line in ladder().splitlines()] == [rung.value for rung in Rung]


def test_every_answer_of_admission_is_an_outcome() -> None:
    known = {get_origin(answer) or answer for answer in get_args(get_type_hints(SlotQueue.ask)["return"])}
    assert {type(answer) for answer in answers()} == known


def test_every_answer_of_the_questions_about_streams_is_the_decision_about_some_break() -> None:
    asked = {option.value for step in lesson("s24").steps if step.question for option in step.question.options}
    assert asked == NAMES.keys()
    assert {type(after(parts)[1]) for parts in BREAKS.values()} == set(NAMES.values())


def test_complete_parts_are_kept_and_every_limit_of_silence_is_in_the_table() -> None:
    for where, parts in BREAKS.items():
        complete = [part for part in parts if part in ("text", "call")]
        assert after(parts)[0] == (", ".join(complete) or "nothing"), where
    named = {name for _, *names in ROWS for name in names if name}
    assert named == {field.name for field in fields(WatchLimits)} - {"headers_s_per_10k_tokens", "hint_s"}
    assert len(limits().splitlines()) == 2 + len(ROWS)
