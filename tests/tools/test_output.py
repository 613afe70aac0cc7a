"""Bounded output: the visible part, and the full text on disk."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.tools.output import SMALLEST_CUT, CommandOutput, as_text, fitted, readable, shorten
from tests.whole import examples


def collect(chunks: list[bytes], limit: int, whole: Path, disk_bytes: int = 1_000_000) -> tuple[str, Path | None]:
    output = CommandOutput(limit, whole, disk_bytes=disk_bytes)
    for chunk in chunks:
        output.feed(chunk)
    text = output.text()
    return text, output.finish()


chunks_of_bytes = st.lists(
    st.one_of(st.binary(max_size=300), st.text(max_size=100).map(lambda text: text.encode()), st.just(b"\x1b[31m")),
    max_size=30,
)


@settings(max_examples=examples(200))
@given(chunks=chunks_of_bytes, limit=st.integers(1, 2_000))
def test_the_text_never_passes_the_limit_and_the_file_holds_every_byte(chunks: list[bytes], limit: int) -> None:
    with TemporaryDirectory() as folder:
        text, whole = collect(chunks, limit, Path(folder) / "deep" / "call.txt")
        assert len(text) <= limit
        text.encode()
        if whole is None:
            assert text == readable(b"".join(chunks))
        else:
            assert whole.read_bytes() == b"".join(chunks)


@settings(max_examples=examples(100))
@given(data=st.text(max_size=3_000), cut=st.integers(1, 50), limit=st.integers(300, 600))
def test_head_and_tail_of_plain_text_are_what_the_input_begins_and_ends_with(data: str, cut: int, limit: int) -> None:
    plain = readable(data.encode())
    data_bytes = plain.encode()
    with TemporaryDirectory() as folder:
        chunks = [data_bytes[start : start + cut] for start in range(0, len(data_bytes), cut)]
        text, whole = collect(chunks, limit, Path(folder) / "o")
        if whole is not None:
            head, rest = text.split("\n\n[… the middle", 1)
            tail = rest.split("…]\n\n", 1)[1]
            assert plain.startswith(head)
            assert plain.endswith(tail)
            assert len(head) + len(tail) > limit - 300


def test_memory_stays_bounded_while_the_whole_goes_to_disk(tmp_path: Path) -> None:
    output = CommandOutput(1_000, tmp_path / "o")
    for _ in range(1_000):
        output.feed(b"x" * 10_000)
    assert len(output._head) + len(output._tail) <= 3 * 4 * 1_000
    text = output.text()
    assert "10,000,000 bytes" in text
    assert str(tmp_path / "o") in text
    output.finish()
    assert (tmp_path / "o").stat().st_size == 10_000_000


def test_the_file_is_bounded_and_the_text_says_so(tmp_path: Path) -> None:
    text, whole = collect([b"y" * 5_000] * 10, 500, tmp_path / "o", disk_bytes=12_000)
    assert whole is not None
    assert whole.stat().st_size == 12_000
    assert "the first 12,000 bytes are in" in text


def test_a_disk_that_takes_nothing_is_said_and_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    text, whole = collect([b"z" * 10_000], 500, tmp_path / "file" / "o")
    assert whole is None
    assert "could not be kept" in text
    assert text.endswith("z")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"\x1b[1;31mred\x1b[0m", "red"),
        (b"\x1b]0;title\x07text", "text"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"10%\r20%\r30%\n", "30%\n"),
        (b"a\r\nb\r\n", "a\nb\n"),
        (b"\xff\xfe", "\\xff\\xfe"),
        (b"\xed\xa0\x80", "\\xed\\xa0\\x80"),
        ("日本語 ✓".encode(), "日本語 ✓"),
        (b"bell\x07 null\x00 tab\t", "bell null tab\t"),
        (b"\x1b", ""),
        (b"\r\x1b[K 10%\r\x1b[K 20%\r\x1b[Kdone\n", "done\n"),
        (b"50%\r\x1b[K\nnext", "\nnext"),
        (b"solving / \b\b- \b\b\\ \b\bdone", "solving done"),
        (b"\x1b[32mgreen\x1b[0m\r\x1b[31mred", "red"),
        (b"\x1b]0;cut\nnext\x07", "0;cut\nnext"),
    ],
)
def test_terminal_output_becomes_plain_text(raw: bytes, shown: str) -> None:
    assert readable(raw) == shown


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", [b"x", b"\x1b]", b"a\r", b"\r", b"\r\n", b"x\b", b"\x1b[K"])
def test_cleaning_takes_linear_time(piece: bytes) -> None:
    readable(piece * 300_000)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), ("x", "x"), (3, "3"), ({"a": "ü"}, '{\n "a": "ü"\n}'), ({1}, "{1}"), ("\ud800", "\\ud800")],
)
def test_anything_returned_becomes_text(value: object, text: str) -> None:
    assert as_text(value) == text


def test_shorten_leaves_a_short_text_alone(tmp_path: Path) -> None:
    assert shorten("short", 100, tmp_path / "o") == ("short", None)
    assert not (tmp_path / "o").exists()


@given(st.lists(st.text(alphabet="ab\n", min_size=0, max_size=60).map(lambda text: text * 400), max_size=8), st.data())
def test_texts_of_one_message_are_cut_from_the_largest_on_until_they_fit(texts: list[str], data: st.DataObject) -> None:
    most = data.draw(st.integers(1_000, 60_000))
    with TemporaryDirectory() as folder:
        shown = fitted(texts, lambda at: Path(folder) / f"{at}.txt", most)
        cut = [at for at, (before, after) in enumerate(zip(texts, shown, strict=True)) if before != after]
        assert sum(map(len, shown)) <= max(most, sum(min(len(text), SMALLEST_CUT) for text in texts))
        assert cut == [] or sum(map(len, texts)) > most
        assert all(len(shown[at]) >= SMALLEST_CUT // 2 for at in cut)
        assert all(len(texts[at]) >= len(text) for at in cut for place, text in enumerate(shown) if place not in cut)
        assert all((Path(folder) / f"{at}.txt").read_text() == texts[at] for at in cut)


@given(st.lists(st.integers(0, 30_000), max_size=8), st.sets(st.integers(0, 7)), st.integers(1_000, 60_000))
def test_errors_are_cut_only_where_cutting_everything_else_is_not_enough(
    lengths: list[int], spared: set[int], most: int
) -> None:
    texts = ["x" * length for length in lengths]
    with TemporaryDirectory() as folder:
        shown = fitted(texts, lambda at: Path(folder) / f"{at}.txt", most, spared=spared)
    least = sum(length if at in spared else min(length, SMALLEST_CUT) for at, length in enumerate(lengths))
    if least <= most:
        assert all(shown[at] == text for at, text in enumerate(texts) if at in spared)


@settings(max_examples=examples(200))
@given(
    lines=st.lists(st.text("ab\u2026", max_size=12), max_size=60),
    ended=st.booleans(),
    cut=st.integers(1, 40),
    limit=st.integers(1, 60),
    most=st.integers(1, 80),
)
def test_the_beginning_is_whole_lines_and_the_count_that_of_all(
    lines: list[str], ended: bool, cut: int, limit: int, most: int
) -> None:
    text = "\n".join(lines) + ("\n" if ended and lines else "")
    data = text.encode()
    with TemporaryDirectory() as folder:
        output = CommandOutput(limit, Path(folder) / "o")
        for start in range(0, len(data), cut):
            output.feed(data[start : start + cut])
        shown, count = output.beginning(most)
        output.finish()
    assert count == len(text.splitlines())
    if shown != text:
        assert len(shown) <= most + 1
        assert shown.endswith("\n") or shown.count("\n") == 0
        assert text.startswith(shown.removesuffix("…"))
