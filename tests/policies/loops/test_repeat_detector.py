"""The tail says at every symbol what one says who looks at the whole stream."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.policies.loops.repeat_detector import RepeatTail, least_rotation, wanted_runs
from tests.policies.loops import oracle
from tests.policies.loops.sequences import with_loops

Symbols = list[str | None]


def seen(symbols: Symbols, longest: int = 64) -> RepeatTail:
    tail = RepeatTail(longest)
    for symbol in symbols:
        tail.push(symbol)
    return tail


@pytest.mark.parametrize("seed", range(10))
def test_every_prefix_of_a_hundred_streams_is_judged_as_by_the_oracle(seed: int) -> None:
    for number in range(100):
        generator = random.Random(f"{seed} {number}")
        longest = generator.choice([1, 2, 3, 7, 12])
        once, cycle, least = generator.randint(2, 5), generator.randint(2, 4), generator.choice([1, 1, 8])
        wanted = wanted_runs(longest, copies=once, copies_cycle=cycle, least=least)
        tail, symbols = RepeatTail(longest), list[str | None]()
        for symbol in with_loops(generator, 40):
            tail.push(symbol)
            symbols.append(symbol)
            assert tail.shortest(wanted) == oracle.shortest(symbols, wanted)


@given(st.lists(st.sampled_from(["a", "b", "c", None]), max_size=60), st.integers(1, 20))
def test_runs_and_words_are_those_of_the_whole_stream(symbols: Symbols, longest: int) -> None:
    tail = seen(symbols, longest)
    runs = {period: oracle.run(symbols, period) for period in range(1, longest + 1)}
    assert {period: tail.run(period) for period in runs} == runs
    assert tail.periods() == tuple(period for period, run in runs.items() if run)
    assert [tail.copies(period) for period in runs] == [run // period + 1 for period, run in runs.items()]
    last = symbols[-longest:]
    assert tail.word(len(last)) == tuple(symbol for symbol in last if symbol is not None)
    assert all(tail.last(symbol) == ([*reversed(last), symbol].index(symbol) + 1) % (len(last) + 1) for symbol in "abc")
    assert tail.seen == len(symbols)


@given(st.lists(st.sampled_from("abc"), max_size=60), st.permutations("xyz"))
def test_other_names_for_the_symbols_change_nothing(symbols: list[str], names: list[str]) -> None:
    renamed = dict(zip("abc", names, strict=True))
    tail, other = RepeatTail(8), RepeatTail(8)
    wanted = wanted_runs(8, copies=4, copies_cycle=3)
    for symbol in symbols:
        tail.push(symbol)
        other.push(renamed[symbol])
        assert tail.periods() == other.periods()
        assert tail.shortest(wanted) == other.shortest(wanted)


@given(st.lists(st.sampled_from("abc"), max_size=40), st.integers(0, 40))
def test_what_came_before_and_was_different_changes_nothing(symbols: list[str], before: int) -> None:
    alone, later = seen([*symbols], 8), seen([*map(str, range(before)), *symbols], 8)
    assert [alone.run(period) for period in range(1, 9)] == [later.run(period) for period in range(1, 9)]


@pytest.mark.parametrize("period", [1, 2, 3, 5, 8, 13, 63, 64])
def test_a_loop_is_found_at_the_symbol_that_completes_it_and_left_at_the_first_new_one(period: int) -> None:
    tail, wanted = RepeatTail(), wanted_runs(64, copies=3, copies_cycle=3)
    found = []
    for number in range(5 * period):
        tail.push(f"s{number % period}")
        found.append(tail.shortest(wanted))
    assert found == [0] * (3 * period - 1) + [period] * (2 * period + 1)
    assert tail.copies(period) == 5
    tail.push("something new")
    assert tail.shortest(wanted) == 0
    assert tail.periods() == ()


@given(st.data(), st.lists(st.sampled_from(["a", "b", None]), max_size=30))
def test_a_restored_tail_continues_as_the_kept_one(data: st.DataObject, symbols: Symbols) -> None:
    kept = seen(symbols, 8)
    snapshot = kept.snapshot()
    restored = seen(data.draw(st.lists(st.sampled_from("abx"), max_size=10)), 5)
    restored.restore(snapshot)
    for symbol in data.draw(st.lists(st.sampled_from("ab"), max_size=20)):
        kept.push(symbol)
        restored.push(symbol)
        assert kept.snapshot() == restored.snapshot()


@given(st.lists(st.sampled_from("ab"), max_size=40), st.integers(1, 12), st.lists(st.sampled_from("ab"), max_size=40))
def test_a_tail_that_is_made_shorter_or_longer_keeps_the_runs_it_can(
    before: list[str], to: int, after: list[str]
) -> None:
    tail = seen([*before], 6)
    tail.resize(to)
    for symbol in after:
        tail.push(symbol)
    everything, kept = [*before, *after], [*before[-6:], *after]
    for period in range(1, to + 1):
        assert tail.run(period) <= oracle.run(everything, period)
        assert tail.run(period) >= oracle.run(everything if period <= 6 else kept, period)


@given(st.lists(st.sampled_from("abc"), max_size=9))
def test_the_least_rotation_is_the_first_of_all_rotations(word: list[str]) -> None:
    assert least_rotation(word) == min([(*word[at:], *word[:at]) for at in range(len(word))], default=())
