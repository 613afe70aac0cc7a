"""Which key at which time, with which text in the prompt, goes where."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.ui.question_focus import GRACE_S, HOLD_S, Key, QuestionFocus, Route, Target

PRINTABLE = (Key.ANSWER, Key.REASON, Key.TEXT)
TICK_S = 0.05
TICKS_OF_GRACE = round(GRACE_S / TICK_S)
TICKS_OF_HOLD = round(HOLD_S / TICK_S)

Typed = list[tuple[int, Key]]
"""Keys with the tick at which they are typed, in order, at most one in each tick."""


@dataclass
class Run:
    """Keys typed at a question, with a screen that shows at once what is due, and a prompt."""

    fates: dict[int, Target] = field(default_factory=dict)
    """Where the key of each tick ended."""

    def __post_init__(self) -> None:
        self.text = ""
        self.focus = QuestionFocus(0.0)
        self.held: int | None = None

    def play(self, typed: Typed) -> dict[int, Target]:
        last = typed[-1][0] if typed else 0
        keys = dict(typed)
        for tick in range(last + TICKS_OF_GRACE + 2):
            now = tick * TICK_S
            until = self.focus.held_until
            due = self.focus.opens_at(in_use=bool(self.text))
            if until is not None and now >= until - 1e-9:
                self.focus.release()
                self._end(Target.QUESTION)
            elif due is not None and now >= due - 1e-9:
                self.focus.opened(now)
            if tick in keys:
                self._type(tick, keys[tick])
        return self.fates

    def _type(self, tick: int, key: Key) -> None:
        route = self.focus.key(key, tick * TICK_S, in_use=bool(self.text))
        if route.held is not None:
            self._end(route.held)
        if route.key is Target.HELD:
            self.held = tick
            return
        self.fates[tick] = route.key
        if route.key is Target.PROMPT:
            self._write(key)

    def _end(self, target: Target) -> None:
        assert self.held is not None
        self.fates[self.held] = target
        if target is Target.PROMPT:
            self._write(Key.ANSWER)
        self.held = None

    def _write(self, key: Key) -> None:
        if key in PRINTABLE:
            self.text += "x"
        elif key is Key.ENTER:
            self.text = ""


def expected(typed: Typed) -> dict[int, Target]:
    """The same, said of the whole list of keys: what is near a key decides about it, and what was there before."""
    fates: dict[int, Target] = {}
    for number, (tick, key) in enumerate(typed):
        before = [(at, one, fates[at]) for at, one in typed[:number]]
        follows = typed[number + 1] if number + 1 < len(typed) else (10**9, Key.CONTROL)
        is_open = _open_at(tick, before)
        if (
            is_open
            and key in PRINTABLE
            and any(at > tick - TICKS_OF_HOLD and _held(at, typed) for at, _, _ in before[-1:])
        ):
            fates[tick] = Target.PROMPT  # part of a word
        elif is_open and key is Key.ANSWER:
            soon = follows[0] < tick + TICKS_OF_HOLD
            if soon and follows[1] in PRINTABLE:
                fates[tick] = Target.PROMPT
            elif soon and follows[1] in (Key.TAB, Key.CANCEL):
                fates[tick] = Target.NOBODY
            else:
                fates[tick] = Target.QUESTION
        elif key is Key.TAB:
            fates[tick] = Target.NOBODY
        elif is_open and key is not Key.TEXT:
            fates[tick] = Target.QUESTION
        else:
            fates[tick] = Target.PROMPT
    return fates


def _held(at: int, typed: Typed) -> bool:
    return dict(typed)[at] is Key.ANSWER


def _open_at(tick: int, before: list[tuple[int, Key, Target]]) -> bool:
    """Whether the question takes keys, from where the keys before have gone."""
    text, quiet_since, is_open, left, wanted = 0, 0, False, False, False
    for at, key, fate in [*before, (tick, None, None)]:
        by_itself = not text and not left and at >= quiet_since + TICKS_OF_GRACE
        if not is_open and (by_itself or (wanted and at >= TICKS_OF_GRACE)):
            is_open, left, wanted = True, False, False
        if fate is Target.PROMPT:
            left = left and not text
            is_open, quiet_since, wanted = False, at, False
            text = 0 if key is Key.ENTER else text + (key in PRINTABLE)
        elif fate is Target.NOBODY and key is Key.TAB:
            quiet_since = at if is_open else quiet_since
            is_open, left, wanted = False, is_open or left, not is_open
    return is_open


typing = st.lists(st.tuples(st.integers(1, 2 * TICKS_OF_GRACE), st.sampled_from(Key)), min_size=1, max_size=12).map(
    lambda gaps: [(sum(gap for gap, _ in gaps[: n + 1]), key) for n, (_, key) in enumerate(gaps)]
)


@given(typing)
def test_every_key_goes_where_a_naive_reading_of_the_rule_says(typed: Typed) -> None:
    assert Run().play(typed) == expected(typed)


@given(typing)
def test_nothing_is_lost_and_no_answer_is_near_other_typing(typed: Typed) -> None:
    fates = Run().play(typed)
    assert set(fates) == {tick for tick, _ in typed}
    for tick, key in typed:
        if key is Key.TEXT:
            assert fates[tick] is Target.PROMPT
        if fates[tick] is Target.QUESTION and key is not Key.CONTROL:
            assert tick >= TICKS_OF_GRACE
            soon = [one for at, one in typed if tick < at < tick + TICKS_OF_HOLD]
            assert key is not Key.ANSWER or soon[:1] in ([], [Key.ENTER], [Key.CONTROL])


@given(typing, st.integers(0, 40))
def test_nothing_typed_before_it_opened_answers(typed: Typed, shown: int) -> None:
    """Keys that waited in a queue while the question was drawn, however they arrive."""
    focus = QuestionFocus(0.0)
    focus.opened(shown * TICK_S)
    for tick, key in typed:
        if tick < shown:
            assert focus.key(key, tick * TICK_S, in_use=False).key in (Target.PROMPT, Target.NOBODY)


def test_with_text_in_the_prompt_only_tab_opens_it() -> None:
    focus = QuestionFocus(0.0)
    assert focus.opens_at(in_use=True) is None
    assert focus.key(Key.TAB, GRACE_S / 2, in_use=True).key is Target.NOBODY
    assert focus.opens_at(in_use=True) == GRACE_S
    assert focus.key(Key.TEXT, GRACE_S / 2, in_use=True).key is Target.PROMPT
    assert focus.opens_at(in_use=True) is None


def test_what_hid_the_question_begins_its_grace_anew() -> None:
    focus = QuestionFocus(0.0)
    focus.opened(1.0)
    focus.covered(5.0)
    assert not focus.open
    assert focus.opens_at(in_use=False) == 5.0 + GRACE_S
    assert focus.key(Key.ENTER, 5.1, in_use=False).key is Target.PROMPT


@pytest.mark.parametrize("key", [Key.ANSWER, Key.REASON, Key.TEXT])
def test_an_answer_that_was_held_long_enough_counts_even_if_nobody_looked_in_time(key: Key) -> None:
    focus = QuestionFocus(0.0)
    focus.opened(1.0)
    assert focus.key(Key.ANSWER, 2.0, in_use=False).key is Target.HELD
    assert focus.key(key, 2.0 + HOLD_S, in_use=False) == Route(Target.PROMPT, Target.QUESTION)


def test_a_click_counts_once_the_question_was_in_sight_for_as_long_as_before_a_key_counts() -> None:
    focus = QuestionFocus(10.0)
    assert [focus.may_click(at) for at in (10.0, 10.0 + GRACE_S - 0.01, 10.0 + GRACE_S)] == [False, False, True]
    focus.covered(20.0)
    assert [focus.may_click(at) for at in (20.0, 20.0 + GRACE_S)] == [False, True]
