"""Line breaks in Japanese text."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.content import Content

from harness.ui.transcript.kinsoku import NOT_AT_END, NOT_AT_START, breaks, wrapped


def lines(text: str, width: int) -> list[str]:
    return [line.plain for line in wrapped(Content(text), width)]


def test_marks_stay_with_their_text_and_latin_words_stay_whole() -> None:
    breaker = "ブレーカーが「開く」と、呼び出しを止めます。"
    assert lines(breaker, 12) == ["ブレーカーが", "「開く」と、", "呼び出しを止", "めます。"]
    assert lines("答えは read_file です。", 10) == ["答えは", "read_file", "です。"]
    english = "plain English is as before"
    assert lines(english, 12) == [line.plain for line in Content(english).wrap(12)]


def allowed(before: str, after: str) -> bool:
    """Whether a line may end between two characters, derived from the rules independently of the code."""
    if after == " ":
        return False
    japanese = not before.isascii() or not after.isascii()
    word = {before, after} <= set("カナー")
    return before == " " or (japanese and not word and after not in NOT_AT_START and before not in NOT_AT_END)


def naive(text: str, width: int) -> list[int]:
    """Of each line the longest beginning that fits and may end there, else the longest that fits."""
    starts, start = list[int](), 0
    while cell_len(text[start:].rstrip()) > width:
        ends = range(start + 1, len(text))
        fitting = [end for end in ends if cell_len(text[start:end].rstrip()) <= width]
        good = [end for end in fitting if allowed(text[end - 1], text[end])]
        hard = [end for end in fitting if text[end] != " "]
        start = max(good or hard or [start + 1])
        starts.append(start)
    return starts


@given(st.text("あ漢っカナー、。「」ab .(", max_size=30).map(str.strip), st.integers(2, 14))
def test_each_line_is_the_longest_that_may_end_there(text: str, width: int) -> None:
    assert breaks(text, width) == naive(text, width)
