"""Read a file while it is being written, and distinguish a question from progress output."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.engine.background.output import cut_to, last_lines, read_lines, read_on, size_of, waits_for_input


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "b1.out"


def test_a_character_that_is_half_written_is_read_the_next_time(file: Path) -> None:
    file.write_bytes("é".encode() + "ü".encode()[:1])
    first = read_on(file, 0, 100)
    assert (first.text, first.end) == ("é", 2)
    file.write_bytes("éü".encode())
    assert read_on(file, first.end, 100).text == "ü"


def test_half_a_character_alone_is_shown_so_that_reading_continues(file: Path) -> None:
    file.write_bytes(b"\xc3")
    assert read_on(file, 0, 100).end == 1


def test_colours_and_overwritten_lines_are_not_shown(file: Path) -> None:
    file.write_bytes(b"10%\r100%\n\x1b[32mdone\x1b[0m\n")
    assert last_lines(file, 5, 100).text == "100%\ndone\n"


def test_what_is_too_much_is_given_back(file: Path) -> None:
    file.write_bytes(b"x" * 100)
    cut_to(file, 60)
    cut_to(file, 80)
    assert size_of(file) == 60


@given(data=st.binary(max_size=400), most=st.integers(8, 60))
def test_reading_on_reaches_the_end_and_never_shows_too_much(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, most: int
) -> None:
    file = tmp_path_factory.mktemp("output") / "b1.out"
    file.write_bytes(data)
    at = 0
    while at < len(data):
        piece = read_on(file, at, most)
        assert len(piece.text) <= most
        assert at < piece.end <= len(data)
        at = piece.end


@given(
    text=st.text(st.characters(min_codepoint=0x20, exclude_characters="\x7f\x1b"), max_size=200),
    most=st.integers(8, 60),
)
def test_what_is_read_piece_by_piece_is_the_whole_text(
    tmp_path_factory: pytest.TempPathFactory, text: str, most: int
) -> None:
    file = tmp_path_factory.mktemp("output") / "b1.out"
    data = text.encode("utf-8", "replace")
    file.write_bytes(data)
    shown, at = "", 0
    while at < len(data):
        piece = read_on(file, at, most)
        shown, at = shown + piece.text, piece.end
    assert shown == data.decode()


@given(lines=st.lists(st.text("ab", max_size=4), max_size=12), asked=st.integers(1, 14), ended=st.booleans())
def test_the_last_lines_are_those_that_splitting_the_text_gives(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], asked: int, ended: bool
) -> None:
    file = tmp_path_factory.mktemp("output") / "b1.out"
    text = "\n".join(lines) + "\n" * ended
    file.write_text(text)
    whole = text[:-1].split("\n") if text.endswith("\n") else text.split("\n")
    assert last_lines(file, asked, 1_000).text == "\n".join(whole[-asked:]) + "\n" * text.endswith("\n")


@pytest.mark.parametrize(
    "tail",
    [
        "Do you want to continue? [y/N] ",
        "Overwrite? (yes/no)\n",
        "Password: ",
        "Enter passphrase for key:\n",
        "Really delete everything?\n",
        "Press any key to continue . . .\n",
        "done so far\n>>> ",
        "name of the project: ",
    ],
)
def test_a_question_or_an_unfinished_line_seems_to_wait(tail: str) -> None:
    assert waits_for_input(tail)


@pytest.mark.parametrize(
    "tail",
    [
        "",
        "\n\n",
        "listening on port 8000\n",
        "Results:\n",
        "tests/test_one.py ........",
        "Downloading 45%",
        "[=====>    ]",
        "Compiling...",
    ],
)
def test_progress_and_finished_lines_do_not(tail: str) -> None:
    assert not waits_for_input(tail)


@pytest.mark.parametrize(
    ("written", "whole", "lines", "end"),
    [
        (b"one\ntw", False, ("one",), 4),
        (b"one\ntw", True, ("one", "tw"), 6),
        (b"begun", False, (), 0),
        (b"0123456789", False, ("0123456789",), 10),
        (b"more than ten\n", False, (" than ten",), 14),
    ],
    ids=[
        "an unfinished line waits",
        "or counts",
        "nothing is whole",
        "a line that is too long is cut",
        "only the last",
    ],
)
def test_lines_are_read_when_they_are_whole_or_too_long(
    file: Path, written: bytes, whole: bool, lines: tuple[str, ...], end: int
) -> None:
    file.write_bytes(written)
    assert read_lines(file, 0, 10, whole=whole) == (lines, end)
