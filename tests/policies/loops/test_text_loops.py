"""Replies that repeat themselves: found at the character that completes the verdict, however the stream is cut."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.policies.loops.text_loops import RepeatedText, Repetition, TextLimits
from tests.policies.loops import texts_first, texts_second
from tests.policies.loops.texts import Sound, Stuck, lines, prose

STUCK = (*texts_first.STUCK, *texts_second.STUCK)
SOUND = (*texts_first.SOUND, *texts_second.SOUND)
DOCUMENTS = sorted(Path(__file__).parents[3].glob("*.md"))
SHIPPED = TextLimits()
SMALL = TextLimits(length=24, copies=3, length_of_signs=24, length_of_numbered=60, longest_period=12, sign=4)


def fed(pieces: Sequence[str], limits: TextLimits = SHIPPED) -> Repetition | None:
    watch = RepeatedText(limits)
    verdicts = [verdict for piece in pieces if (verdict := watch.feed(piece))]
    assert len(verdicts) < 2
    return verdicts[0] if verdicts else None


@pytest.mark.parametrize("stuck", STUCK, ids=lambda stuck: str(stuck.name))
def test_a_reply_that_is_stuck_is_cut_after_its_first_copy(stuck: Stuck) -> None:
    text = stuck.text()
    found = fed([text])
    assert found is not None
    assert text[: found.seen].endswith(found.unit)
    assert len(found.unit) == found.period
    assert found.seen <= 20_000
    if not stuck.numbered:
        assert len(stuck.unit) % found.period == 0
        assert (
            found.seen <= len(stuck.start) + max(SHIPPED.length_of_signs, SHIPPED.copies * found.period) + found.period
        )
        assert len(stuck.start) <= found.keep <= len(stuck.start) + 2 * found.period


@pytest.mark.parametrize("sound", SOUND, ids=lambda sound: str(sound.name))
def test_a_reply_that_is_meant_passes(sound: Sound) -> None:
    assert fed([sound.text]) is None


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.name))
def test_our_own_documents_pass_as_replies(document: Path) -> None:
    assert fed([document.read_text(encoding="utf-8")]) is None


UNITS = st.text(alphabet="абв.", min_size=1, max_size=12)
REPLIES = st.builds(
    lambda start, unit, copies, end: start + unit * copies + end,
    *(st.text(alphabet="абвг.", max_size=30), UNITS, st.integers(1, 40), st.text(alphabet="абвг.", max_size=30)),
)


@given(REPLIES | st.text(alphabet="аб", max_size=200), st.data())
def test_how_the_stream_is_cut_makes_no_difference(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=10)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole = fed([text], SMALL)
    assert fed(pieces, SMALL) == fed(list(text), SMALL) == whole
    if whole is not None:
        assert fed([text[: whole.seen]], SMALL) == whole
        assert fed([text[: whole.seen - 1]], SMALL) is None


def oracle(text: str) -> Iterator[tuple[int, int]]:
    """Yield (length, period) for each prefix and each period with which its tail repeats long enough."""
    for end in range(1, len(text) + 1):
        for period in range(1, SMALL.longest_period + 1):
            wanted = max(SMALL.length, (SMALL.copies - 1) * period)
            tail, before = text[end - wanted : end], text[end - wanted - period : end - period]
            if end >= wanted + period and tail == before:
                yield end, period


@given(REPLIES | st.text(alphabet="аб", max_size=200))
def test_no_verdict_before_that_of_an_oracle_and_none_much_later(text: str) -> None:
    first = next(oracle(text), None)
    found = fed([text], SMALL)
    if found is not None:
        assert (found.seen, found.period) in set(oracle(text))
        assert text[: found.seen].endswith(found.unit * (found.copies))
    if first is not None:
        end, period = first
        goes_on = text[: end - period] + text[end - period : end] * 4
        late = fed([goes_on], SMALL)
        assert late is not None
        assert late.seen <= end + period + SMALL.sign


def test_units_without_words_must_last_longer() -> None:
    for unit, wanted in (("so it is ", SHIPPED.length), ("=", SHIPPED.length_of_signs)):
        found = fed([unit * 20_000])
        assert found is not None
        assert found.seen == wanted + len(unit)


def test_a_wide_character_counts_twice() -> None:
    found = fed(["確認します。" * 1_000])
    assert found is not None
    assert found.seen == SHIPPED.length // 2 + 6


def test_copies_that_differ_in_a_number_must_last_longer_and_rows_of_numbers_may_endlessly() -> None:
    steps = lines(900, lambda number: f"Step {number + 99}: do the same for the next file.")
    found = fed([steps])
    assert found is not None
    assert found.seen == SHIPPED.length_of_numbered + found.period
    assert fed([lines(5_000, lambda number: f"{number} {number * number}")]) is None


def test_a_cycle_that_the_text_leaves_again_is_forgotten() -> None:
    assert fed(["Let me check it. " * 150, "Now I know.\n", "Let me check it. " * 150]) is None


@given(st.lists(st.booleans(), min_size=2, max_size=9))
def test_a_cycle_of_two_lines_in_any_order_is_found(order: list[bool]) -> None:
    unit = "".join(f"The test of the {'cart has passed' if passed else 'shop has failed'}.\n" for passed in order)
    found = fed([unit * 500])
    assert found is not None
    assert found.period == (unit + unit).index(unit, 1)
    assert found.seen <= SHIPPED.length + 4 * found.period


def test_what_is_kept_ends_where_a_sentence_does() -> None:
    text = "First we go home. " + "We go home. " * 400
    found = fed([text])
    assert found is not None
    assert text[: found.keep] in {"First we go home. ", "First we go home. We go home. "}


def test_what_is_kept_of_a_cycle_longer_than_what_is_remembered_is_right_too() -> None:
    chapter = prose(41, 100) + "\n\n"
    assert 3 * SHIPPED.longest_period > 4 * len(chapter) > 2 * SHIPPED.longest_period
    found = fed(["# Report\n\n" + chapter * 5])
    assert found is not None
    assert found.keep == len("# Report\n\n" + chapter)


def test_after_the_verdict_nothing_is_looked_at() -> None:
    watch = RepeatedText(SMALL)
    assert watch.feed("да нет " * 20)
    assert watch.feed("да нет " * 20) is None
