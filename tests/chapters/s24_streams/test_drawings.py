"""The drawings of s24 say what the accumulator keeps, what the policy decides, and how long the watchdog waits."""

from dataclasses import fields

from chapters.course import lesson
from chapters.s24_streams.drawings import BREAKS, ROWS, after, limits
from harness.model.watchdog import WatchLimits
from harness.policies.recovery import Continue, Decision, Resend, RunTools, Stop

NAMES: dict[str, type[Decision]] = {"resend": Resend, "continue": Continue, "run": RunTools, "stop": Stop}


def test_every_answer_of_the_questions_is_the_decision_about_some_break() -> None:
    asked = {option.value for step in lesson("s24").steps if step.question for option in step.question.options}
    assert asked == NAMES.keys()
    assert {type(after(parts)[1]) for parts in BREAKS.values()} == set(NAMES.values())


def test_what_is_kept_is_what_was_complete() -> None:
    for where, parts in BREAKS.items():
        complete = [part for part in parts if part in ("text", "call")]
        assert after(parts)[0] == (", ".join(complete) or "nothing"), where


def test_every_limit_of_silence_is_in_the_table() -> None:
    elsewhere = {"headers_s_per_10k_tokens", "hint_s"}
    named = {name for _, *names in ROWS for name in names if name}
    assert named == {field.name for field in fields(WatchLimits)} - elsewhere
    assert len(limits().splitlines()) == 2 + len(ROWS)
