"""One mark per step: one cell wide, distinct without colour, with the newest or selected one visible."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from harness.events import TransitionCode
from harness.ui.panel import timeline as module
from harness.ui.panel.state import StepMark
from harness.ui.panel.timeline import StepSign, next_incident, sign_of, timeline

MARKS = st.builds(
    StepMark,
    st.just(0),
    st.none() | st.sampled_from(TransitionCode),
    *[st.integers(0, 1)] * 7,
    st.booleans(),
    st.booleans(),
)
SIGNS = [sign for sign in vars(module).values() if isinstance(sign, StepSign)]


def steps(*codes: TransitionCode | None) -> list[StepMark]:
    """A step for each code."""
    return [StepMark(number, code) for number, code in enumerate(codes, 1)]


def test_every_sign_is_one_cell_wide_and_has_a_glyph_of_its_own() -> None:
    assert all(cell_len(sign.glyph) == 1 for sign in SIGNS)
    assert len({sign.glyph for sign in SIGNS}) == len(SIGNS)


def test_every_code_has_a_sign_and_ends_that_are_no_answer_do_not_look_like_one() -> None:
    signs = {code: sign_of(StepMark(1, code)) for code in TransitionCode}
    assert [code for code, sign in signs.items() if sign is module.DONE] == [TransitionCode.COMPLETED]
    assert [code for code, sign in signs.items() if sign is module.CALM] == [TransitionCode.NEXT_TURN]


def test_what_happened_in_a_step_shows_before_how_it_ended_well() -> None:
    assert sign_of(StepMark(1, TransitionCode.NEXT_TURN, retries=2)) is module.RETRIED
    assert sign_of(StepMark(1, TransitionCode.COMPLETED, retries=2, opened=1, tool_failures=1)) is module.OPENED
    assert sign_of(StepMark(1, TransitionCode.FAILURE_BUDGET_PAUSED, opened=1)) is module.PAUSED
    assert sign_of(StepMark(1, TransitionCode.NEXT_TURN, tool_failures=1, loops=1)) is module.LOOPED
    assert sign_of(StepMark(1, TransitionCode.LOOP_STOPPED, loops=1)) is module.LOOP_STOPPED


def test_marks_are_separate_where_they_fit_and_what_is_left_out_is_reported() -> None:
    marks = steps(*[TransitionCode.NEXT_TURN] * 9, TransitionCode.COMPLETED)
    assert timeline(marks, 19).plain == "· · · · · · · · · ●"
    assert timeline(marks, 18).plain == "·········●"
    assert timeline(marks, 8).plain == "‹·····●"
    assert timeline(marks, 8, shown_step=1).plain == " ······›"
    assert timeline(marks, 8, shown_step=5).plain == "‹······›"
    assert [timeline(marks, width).plain for width in (0, 1, 2)] == ["", "●", "●"]
    assert timeline(steps(TransitionCode.COMPLETED), 1).plain == "●"
    assert timeline([], 20).plain == ""


@given(st.lists(MARKS, max_size=60), st.integers(0, 70), st.integers(0, 70))
def test_a_timeline_is_never_too_wide_and_shows_the_step_that_is_shown(
    marks: list[StepMark], width: int, shown: int
) -> None:
    numbered = [StepMark(number, mark.code, mark.retries) for number, mark in enumerate(marks)]
    content = timeline(numbered, width, shown)
    assert content.cell_length <= width
    if shown < len(marks) and width:
        assert sum("reverse" in str(span.style) for span in content.spans) == 1


@given(st.lists(MARKS, max_size=20), st.integers(0, 22))
def test_the_next_incident_is_the_nearest_step_that_was_not_calm(marks: list[StepMark], step: int) -> None:
    numbered = [
        StepMark(number, mark.code, mark.retries, mark.faults, mark.tool_failures, mark.skipped, mark.opened)
        for number, mark in enumerate(marks, 1)
    ]
    quiet = (None, TransitionCode.NEXT_TURN, TransitionCode.COMPLETED)
    incidents = [mark.step for mark in numbered if mark.incident or mark.code not in quiet]
    assert next_incident(numbered, step) == next(iter(one for one in incidents if one > step), None)
    before = [one for one in incidents if one < step]
    assert next_incident(numbered, step, backwards=True) == (before[-1] if before else None)
