"""Merge several hook answers into one; checked against an oracle with one loop per field."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import HookOutcome, HookPoint, Json
from harness.hooks import HookAnswer, HookNote, MergedAnswer, Verdict, in_one_line
from harness.hooks.merge import as_a_no, misplaced, outcome_of

INPUTS = st.sampled_from([None, {"command": "ls"}, {"command": "ls -l"}, {}])
WORDS = st.sampled_from(["", "one", "two"])
ANSWERS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c"]),
        st.builds(
            HookAnswer,
            block=WORDS,
            input=INPUTS,
            context=WORDS,
            stop=WORDS,
            permission=st.sampled_from([None, *Verdict]),
            reason=WORDS,
        ),
    ),
    max_size=6,
)
GIVEN: Json = {"command": "ls"}


def combined(answers: list[tuple[str, HookAnswer]]) -> MergedAnswer:
    together = MergedAnswer(GIVEN)
    for hook, answer in answers:
        together = together.joined(hook, answer)
    return together


@dataclass
class Oracle:
    """Answers each question about a list of answers with a loop of its own."""

    answers: list[tuple[str, HookAnswer]]

    def input(self) -> Json:
        return [GIVEN, *(answer.input for _, answer in self.answers if answer.input is not None)][-1]

    def texts(self, field: str) -> list[tuple[str, str]]:
        return [(name, getattr(answer, field)) for name, answer in self.answers if getattr(answer, field)]

    def inputs_after(self, at: int) -> Json:
        return [GIVEN, *(answer.input for _, answer in self.answers[: at + 1] if answer.input is not None)][-1]

    def verdict(self) -> Verdict | None:
        said = [answer.permission for _, answer in self.answers]
        if Verdict.DENY in said:
            return Verdict.DENY
        if Verdict.ASK in said:
            return Verdict.ASK
        for at, one in enumerate(said):
            unchanged = all(self.inputs_after(later) == self.inputs_after(at) for later in range(at, len(said)))
            if one is Verdict.ALLOW and unchanged:
                return Verdict.ALLOW
        return None


@given(ANSWERS)
def test_the_combination_is_what_the_oracle_says(answers: list[tuple[str, HookAnswer]]) -> None:
    together, oracle = combined(answers), Oracle(answers)
    assert together.input == oracle.input()
    assert [(said.hook, said.text) for said in together.blocks] == oracle.texts("block")
    assert [(said.hook, said.text) for said in together.contexts] == oracle.texts("context")
    assert [(said.hook, said.text) for said in together.stops] == oracle.texts("stop")
    assert together.verdict is oracle.verdict()


@given(ANSWERS, ANSWERS)
def test_no_later_answer_makes_a_combination_milder(
    first: list[tuple[str, HookAnswer]], more: list[tuple[str, HookAnswer]]
) -> None:
    before, after = combined(first), combined([*first, *more])
    assert after.blocks[: len(before.blocks)] == before.blocks
    assert after.stops[: len(before.stops)] == before.stops
    if before.verdict in (Verdict.ASK, Verdict.DENY):
        assert after.verdict in (before.verdict, Verdict.DENY)


@given(ANSWERS)
def test_the_reasons_are_those_of_the_verdict_alone(answers: list[tuple[str, HookAnswer]]) -> None:
    together = combined(answers)
    own = [HookNote(name, answer.reason) for name, answer in answers if answer.permission is together.verdict]
    if together.verdict is None:
        assert together.reasons == ()
    else:
        assert together.reasons
        assert own[len(own) - len(together.reasons) :] == list(together.reasons)


def test_a_reason_names_its_hook_and_stays_in_one_line() -> None:
    assert in_one_line([HookNote("guard", "not\n here"), HookNote("other", "")]) == "guard: not here; other"


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (HookAnswer(), HookOutcome.PASSED),
        (HookAnswer(context="x"), HookOutcome.ADDED),
        (HookAnswer(context="x", input={}), HookOutcome.CHANGED),
        (HookAnswer(input={}, permission=Verdict.ALLOW), HookOutcome.ALLOWED),
        (HookAnswer(permission=Verdict.ASK), HookOutcome.ASKED),
        (HookAnswer(permission=Verdict.DENY), HookOutcome.DENIED),
        (HookAnswer(permission=Verdict.DENY, block="x"), HookOutcome.BLOCKED),
        (HookAnswer(block="x", stop="y"), HookOutcome.STOPPED),
    ],
)
def test_the_weightiest_part_of_an_answer_is_reported(answer: HookAnswer, outcome: HookOutcome) -> None:
    assert outcome_of(answer)[0] is outcome


FULL = {
    "block": HookAnswer(block="x"),
    "input": HookAnswer(input={}),
    "context": HookAnswer(context="x"),
    "stop": HookAnswer(stop="x"),
    "permission": HookAnswer(permission=Verdict.ALLOW),
}
MEANT = {
    HookPoint.SESSION_START: "block context stop",
    HookPoint.SESSION_END: "",
    HookPoint.PROMPT_SUBMIT: "block input context stop",
    HookPoint.BEFORE_TOOL: "block input context stop permission",
    HookPoint.AFTER_TOOL: "block context stop",
    HookPoint.BEFORE_COMPACTION: "block context",
    HookPoint.AFTER_COMPACTION: "context",
    HookPoint.TASK_CREATED: "block",
    HookPoint.TASK_COMPLETED: "block",
    HookPoint.STOP: "block stop",
    HookPoint.NOTIFICATION: "",
}


@pytest.mark.parametrize("point", HookPoint)
def test_what_means_nothing_at_a_point_is_named(point: HookPoint) -> None:
    assert {name for name, answer in FULL.items() if not misplaced(point, answer)} == set(MEANT[point].split())
    assert all(misplaced(point, answer) in ("", name) for name, answer in FULL.items())


def test_a_required_hook_that_failed_says_no_and_at_the_end_of_a_turn_it_ends_it() -> None:
    assert as_a_no(HookAnswer(), HookPoint.BEFORE_TOOL, "why") == HookAnswer(block="why")
    assert as_a_no(HookAnswer(), HookPoint.STOP, "why") == HookAnswer(stop="why")
