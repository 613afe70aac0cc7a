"""One text out of an answer that came in pieces."""

from itertools import pairwise
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.policies.recovery.joined_answers import MIN_OVERLAP, MIN_VARIETY, Continuation, overlap, repeated

SENTENCE = "The configuration is read in one place, "
narrow = st.text(st.sampled_from("ab\n"), max_size=60)
wide = st.text(max_size=60)
distinct = st.text(st.characters(min_codepoint=0x3040, max_codepoint=0x30FF), min_size=1, max_size=40)


def joined(kept: str, more: str) -> str:
    return kept + more[repeated(kept, more) :]


def longest_agreement(kept: str, more: str) -> int:
    """The oracle: every length is tried, the longest first."""
    for length in range(min(len(kept), len(more)), 0, -1):
        if kept.endswith(more[:length]):
            return length
    return 0


def beyond_chance(kept: str, more: str) -> int:
    length = longest_agreement(kept, more)
    return length if length >= MIN_OVERLAP and len(set(more[:length])) >= MIN_VARIETY else 0


@st.composite
def overlapping(draw: st.DrawFn) -> tuple[str, str]:
    shared = draw(st.text(st.sampled_from("abcdefg é漢"), max_size=80))
    return draw(narrow | wide) + shared, shared + draw(narrow | wide)


@given(pieces=overlapping() | st.tuples(narrow, narrow) | st.tuples(wide, wide))
def test_the_overlap_is_the_longest_agreement_that_is_more_than_chance(pieces: tuple[str, str]) -> None:
    kept, more = pieces
    assert overlap(kept, more) == beyond_chance(kept, more)


@given(pieces=overlapping())
def test_nothing_of_either_piece_is_lost(pieces: tuple[str, str]) -> None:
    kept, more = pieces
    whole = joined(kept, more)
    assert whole.startswith(kept)
    assert "".join(whole.split()).endswith("".join(more.split()))


@given(words=st.lists(distinct, min_size=2, max_size=6, unique=True), back=st.integers(0, 60))
def test_a_text_cut_anywhere_and_continued_a_little_earlier_is_whole_again(words: list[str], back: int) -> None:
    whole = " ".join(f"{number}:{word}" for number, word in enumerate(words))
    for cut in range(1, len(whole)):
        begins = max(0, cut - back)
        again = whole[begins:]
        if begins == cut or beyond_chance(whole[:cut], again) == cut - begins:
            assert joined(whole[:cut], again) == whole


@given(words=st.lists(st.integers(0, 10**9).map(lambda n: f"{n:040d}"), min_size=3, max_size=5, unique=True))
def test_pieces_join_to_the_same_text_from_the_left_and_from_the_right(words: list[str]) -> None:
    a, b, c = SENTENCE + words[0], words[1] + SENTENCE, words[2]
    assert joined(joined(a, b), c) == joined(a, joined(b, c)) == a + b + c


@st.composite
def continued(draw: st.DrawFn) -> tuple[str, str]:
    """A kept text, and the next piece: anything, its last part again, or all of it."""
    kept = draw(narrow | wide | st.just(SENTENCE))
    begins = draw(st.integers(0, len(kept)))
    return kept, draw(st.sampled_from(["", "\n", kept[:begins], kept[begins:], kept, "\n " + kept])) + draw(
        narrow | wide
    )


@example(pieces=("aa", "aa\na"), cuts={3}, broke_off=False)
@given(pieces=continued(), cuts=st.sets(st.integers(0, 100)), broke_off=st.booleans())
def test_what_is_handed_out_piece_by_piece_is_what_is_new(
    pieces: tuple[str, str], cuts: set[int], broke_off: bool
) -> None:
    kept, more = pieces
    places = [0, *sorted(cut for cut in cuts if cut < len(more)), len(more)]
    continuation = Continuation(kept, broke_off=broke_off)
    shown = [continuation.add(more[begin:end]) for begin, end in pairwise(places)]
    shown.append(continuation.end(whole=True))
    known = repeated(kept, more, broke_off=broke_off)
    assert "".join(shown) == more[known:]
    assert continuation.repeated == known


@given(kept=wide.filter(str.strip), cut=st.integers(0, 60))
def test_a_piece_that_breaks_off_while_it_repeats_shows_nothing(kept: str, cut: int) -> None:
    continuation = Continuation(kept)
    piece = kept[:cut]
    assert continuation.add(piece) + continuation.end(whole=False) == ""
    assert continuation.repeated == len(piece)


@given(answer=wide.filter(str.strip), cut=st.integers(1, 60))
def test_after_a_break_any_whole_repetition_is_one_however_short(answer: str, cut: int) -> None:
    kept = answer[:cut]
    if kept.strip():
        assert (kept + answer[repeated(kept, answer, broke_off=True) :]).split() == answer.split()


def test_a_megabyte_that_begins_again_in_small_pieces_is_held_back_in_linear_time() -> None:
    kept = "".join(f"{number} of many lines\n" for number in range(50_000))
    continuation = Continuation(kept)
    began = process_time()
    shown = [continuation.add(kept[at : at + 5]) for at in range(0, len(kept), 5)]
    assert "".join(shown) == ""
    assert continuation.add("and more") == "and more"
    assert process_time() - began < 5


def test_an_answer_that_starts_again_behind_a_blank_line_replaces_it_too() -> None:
    assert joined(SENTENCE, "\n\n" + SENTENCE + "and used in two.") == SENTENCE + "and used in two."


@pytest.mark.parametrize("chance", ["the", " the end of a ", "-" * 80, " " * 80, "=-" * 40, "\n" * 30])
def test_a_short_or_monotonous_agreement_is_taken_for_chance(chance: str) -> None:
    assert joined("before" + chance, chance + "after") == "before" + chance + chance + "after"
    assert joined(chance, chance + "after") == chance + chance + "after"


def test_an_overlap_of_the_least_length_counts_and_one_shorter_does_not() -> None:
    said = "abcdefghijklmnopqrst"
    assert len(said) == MIN_OVERLAP
    assert joined("… " + said, said + "!") == "… " + said + "!"
    assert joined("… " + said[1:], said[1:] + "!") == "… " + said[1:] + said[1:] + "!"


@pytest.mark.parametrize("period", ["a", "ab", "a" * 999 + "b"], ids=["one letter", "two letters", "a long row"])
def test_a_megabyte_that_almost_agrees_everywhere_takes_linear_time(period: str) -> None:
    pattern = period * (1_000_000 // len(period))
    began = process_time()
    overlap(pattern + "x", pattern)
    assert process_time() - began < 5
