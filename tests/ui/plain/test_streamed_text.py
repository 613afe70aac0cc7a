"""What a reader of the screen takes for the text is the text that counts."""

from hypothesis import given
from hypothesis import strategies as st

from harness.ui.plain.printer import RetractedText, StreamedText

TEXT = st.text("ab", max_size=6)


class Reader:
    """Reads the screen: text follows text, and a mark takes characters back."""

    def __init__(self) -> None:
        self.printed = ""
        self.taken = ""
        self.marks = 0

    def reads(self, pieces: tuple[str | RetractedText, ...]) -> None:
        for piece in pieces:
            if isinstance(piece, RetractedText):
                self.marks += 1
                assert 0 < piece.characters <= len(self.taken)
                self.taken = self.taken[: -piece.characters]
            else:
                self.printed += piece
                self.taken += piece


@given(st.lists(st.tuples(st.lists(TEXT, max_size=4), st.integers(0, 30)), max_size=6))
def test_the_reader_ends_up_with_what_counts(attempts: list[tuple[list[str], int]]) -> None:
    shown, reader, counts = StreamedText(), Reader(), ""
    for deltas, discarded in attempts:
        arrived = sum(map(len, deltas))
        for delta in deltas:
            counts += delta
            reader.reads(shown.add(delta))
        lost = min(discarded, arrived)
        if lost:
            counts = counts[:-lost]
            shown.discard(lost)
    reader.reads(shown.settle())
    assert reader.taken == counts


@given(st.lists(TEXT, min_size=1), TEXT, st.data())
def test_what_is_said_again_is_not_shown_again(deltas: list[str], more: str, data: st.DataObject) -> None:
    text = "".join(deltas)
    shown, reader = StreamedText(), Reader()
    for delta in deltas:
        reader.reads(shown.add(delta))
    shown.discard(len(text))
    whole = text + more
    cut = data.draw(st.integers(0, len(whole)))
    reader.reads(shown.add(whole[:cut]))
    reader.reads(shown.add(whole[cut:]))
    reader.reads(shown.settle())
    assert (reader.printed, reader.marks) == (whole, 0)


def test_two_megabytes_in_small_pieces_take_no_time() -> None:
    shown = StreamedText()
    for _ in range(50_000):
        assert shown.add("x" * 40)
    shown.discard(1_000_000)
    assert shown.settle() == (RetractedText(1_000_000),)
