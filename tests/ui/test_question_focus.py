"""Which key at which time, with which text in the prompt, goes where."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.ui.question_focus import GRACE_S, HOLD_S, KeyMeaning, KeyRoute, KeyTarget, QuestionFocus

PRINTABLE = (KeyMeaning.ANSWER, KeyMeaning.REASON, KeyMeaning.TEXT)
TICK_S = 0.05
TICKS_OF_GRACE = round(GRACE_S / TICK_S)
TICKS_OF_HOLD = round(HOLD_S / TICK_S)

Typed = list[tuple[int, KeyMeaning]]
"""Keys with the tick at which they are typed, in order, at most one in each tick."""


@dataclass
class Run:
    """Keys typed at a question, on a screen that draws at once, beside a prompt."""

    fates: dict[int, KeyTarget] = field(default_factory=dict)
    """The target of each tick's key."""

    def __post_init__(self) -> None:
        self.text = ""
        self.focus = QuestionFocus(0.0)
        self.held: int | None = None

    def play(self, typed: Typed) -> dict[int, KeyTarget]:
        last = typed[-1][0] if typed else 0
        keys = dict(typed)
        for tick in range(last + TICKS_OF_GRACE + 2):
            now = tick * TICK_S
            until = self.focus.held_until
            due = self.focus.opens_at(in_use=bool(self.text))
            if until is not None and now >= until - 1e-9:
                self.focus.release()
                self._end(KeyTarget.QUESTION)
            elif due is not None and now >= due - 1e-9:
                self.focus.opened(now)
            if tick in keys:
                self._type(tick, keys[tick])
        return self.fates

    def _type(self, tick: int, key: KeyMeaning) -> None:
        route = self.focus.key(key, tick * TICK_S, in_use=bool(self.text))
        if route.held is not None:
            self._end(route.held)
        if route.key is KeyTarget.HELD:
            self.held = tick
            return
        self.fates[tick] = route.key
        if route.key is KeyTarget.PROMPT:
            self._write(key)

    def _end(self, target: KeyTarget) -> None:
        assert self.held is not None
        self.fates[self.held] = target
        if target is KeyTarget.PROMPT:
            self._write(KeyMeaning.ANSWER)
        self.held = None

    def _write(self, key: KeyMeaning) -> None:
        if key in PRINTABLE:
            self.text += "x"
        elif key is KeyMeaning.ENTER:
            self.text = ""


def expected(typed: Typed) -> dict[int, KeyTarget]:
    """The same, computed from the whole list: each key depends on its neighbours and the keys before it."""
    fates: dict[int, KeyTarget] = {}
    for number, (tick, key) in enumerate(typed):
        before = [(at, one, fates[at]) for at, one in typed[:number]]
        follows = typed[number + 1] if number + 1 < len(typed) else (10**9, KeyMeaning.CONTROL)
        is_open = _open_at(tick, before)
        if (
            is_open
            and key in PRINTABLE
            and any(at > tick - TICKS_OF_HOLD and _held(at, typed) for at, _, _ in before[-1:])
        ):
            fates[tick] = KeyTarget.PROMPT  # part of a word
        elif is_open and key is KeyMeaning.ANSWER:
            soon = follows[0] < tick + TICKS_OF_HOLD
            if soon and follows[1] in PRINTABLE:
                fates[tick] = KeyTarget.PROMPT
            elif soon and follows[1] in (KeyMeaning.TAB, KeyMeaning.CANCEL):
                fates[tick] = KeyTarget.NONE
            else:
                fates[tick] = KeyTarget.QUESTION
        elif key is KeyMeaning.TAB:
            fates[tick] = KeyTarget.NONE
        elif is_open and key is not KeyMeaning.TEXT:
            fates[tick] = KeyTarget.QUESTION
        else:
            fates[tick] = KeyTarget.PROMPT
    return fates


def _held(at: int, typed: Typed) -> bool:
    return dict(typed)[at] is KeyMeaning.ANSWER


def _open_at(tick: int, before: list[tuple[int, KeyMeaning, KeyTarget]]) -> bool:
    """Whether the question takes keys, from where the keys before have gone."""
    text, quiet_since, is_open, left, wanted = 0, 0, False, False, False
    for at, key, fate in [*before, (tick, None, None)]:
        by_itself = not text and not left and at >= quiet_since + TICKS_OF_GRACE
        if not is_open and (by_itself or (wanted and at >= TICKS_OF_GRACE)):
            is_open, left, wanted = True, False, False
        if fate is KeyTarget.PROMPT:
            left = left and not text
            is_open, quiet_since, wanted = False, at, False
            text = 0 if key is KeyMeaning.ENTER else text + (key in PRINTABLE)
        elif fate is KeyTarget.NONE and key is KeyMeaning.TAB:
            quiet_since = at if is_open else quiet_since
            is_open, left, wanted = False, is_open or left, not is_open
    return is_open


typing = st.lists(
    st.tuples(st.integers(1, 2 * TICKS_OF_GRACE), st.sampled_from(KeyMeaning)), min_size=1, max_size=12
).map(lambda gaps: [(sum(gap for gap, _ in gaps[: n + 1]), key) for n, (_, key) in enumerate(gaps)])


@given(typing)
def test_every_key_goes_where_a_naive_reading_of_the_rule_says(typed: Typed) -> None:
    assert Run().play(typed) == expected(typed)


@given(typing)
def test_nothing_is_lost_and_no_answer_is_near_other_typing(typed: Typed) -> None:
    fates = Run().play(typed)
    assert set(fates) == {tick for tick, _ in typed}
    for tick, key in typed:
        if key is KeyMeaning.TEXT:
            assert fates[tick] is KeyTarget.PROMPT
        if fates[tick] is KeyTarget.QUESTION and key is not KeyMeaning.CONTROL:
            assert tick >= TICKS_OF_GRACE
            soon = [one for at, one in typed if tick < at < tick + TICKS_OF_HOLD]
            assert key is not KeyMeaning.ANSWER or soon[:1] in ([], [KeyMeaning.ENTER], [KeyMeaning.CONTROL])


@given(typing, st.integers(0, 40))
def test_nothing_typed_before_it_opened_answers(typed: Typed, shown: int) -> None:
    """Keys that waited in a queue while the question was drawn, however they arrive."""
    focus = QuestionFocus(0.0)
    focus.opened(shown * TICK_S)
    for tick, key in typed:
        if tick < shown:
            assert focus.key(key, tick * TICK_S, in_use=False).key in (KeyTarget.PROMPT, KeyTarget.NONE)


def test_with_text_in_the_prompt_only_tab_opens_it() -> None:
    focus = QuestionFocus(0.0)
    assert focus.opens_at(in_use=True) is None
    assert focus.key(KeyMeaning.TAB, GRACE_S / 2, in_use=True).key is KeyTarget.NONE
    assert focus.opens_at(in_use=True) == GRACE_S
    assert focus.key(KeyMeaning.TEXT, GRACE_S / 2, in_use=True).key is KeyTarget.PROMPT
    assert focus.opens_at(in_use=True) is None


def test_what_hid_the_question_begins_its_grace_anew() -> None:
    focus = QuestionFocus(0.0)
    focus.opened(1.0)
    focus.covered(5.0)
    assert not focus.open
    assert focus.opens_at(in_use=False) == 5.0 + GRACE_S
    assert focus.key(KeyMeaning.ENTER, 5.1, in_use=False).key is KeyTarget.PROMPT


@pytest.mark.parametrize("key", [KeyMeaning.ANSWER, KeyMeaning.REASON, KeyMeaning.TEXT])
def test_an_answer_that_was_held_long_enough_counts_even_without_a_look_in_time(key: KeyMeaning) -> None:
    focus = QuestionFocus(0.0)
    focus.opened(1.0)
    assert focus.key(KeyMeaning.ANSWER, 2.0, in_use=False).key is KeyTarget.HELD
    assert focus.key(key, 2.0 + HOLD_S, in_use=False) == KeyRoute(KeyTarget.PROMPT, KeyTarget.QUESTION)


def test_a_click_counts_once_the_question_was_in_sight_for_as_long_as_before_a_key_counts() -> None:
    focus = QuestionFocus(10.0)
    assert [focus.may_click(at) for at in (10.0, 10.0 + GRACE_S - 0.01, 10.0 + GRACE_S)] == [False, False, True]
    focus.covered(20.0)
    assert [focus.may_click(at) for at in (20.0, 20.0 + GRACE_S)] == [False, True]
