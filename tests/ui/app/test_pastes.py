"""Pastes: folded for the eye, whole for the model."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.media.mentions import mentions
from harness.ui.app.pastes import MOST_CHARACTERS, MOST_LINES, Pastes, cleaned, files_at
from tests.media.files import pdf, picture, png, saved

PLACEHOLDERS = st.sampled_from(["[pasted 1 line #1]", "[pasted 9 lines #1]", "[pasted 10 lines #2]", "[pasted", "#1]"])
PASTED = st.lists(st.text(max_size=20) | PLACEHOLDERS | st.just("\n" * 9) | st.just("x" * 2_000)).map("".join)


@given(PASTED)
def test_what_was_folded_comes_out_as_it_went_in(text: str) -> None:
    pastes = Pastes()
    assert pastes.unfold(pastes.fold(text)) == text


@given(st.lists(PASTED, max_size=6), st.lists(st.text(max_size=5), min_size=7, max_size=7))
def test_many_pastes_between_typed_text_come_out_in_their_places(pasted: list[str], typed: list[str]) -> None:
    pastes = Pastes()
    shown = whole = typed[0]
    for text, between in zip(pasted, typed[1:], strict=False):
        shown += f" {pastes.fold(text)} {between}"
        whole += f" {text} {between}"
        pastes.follow(shown)
    assert pastes.unfold(shown) == whole


@given(st.text())
def test_text_without_pastes_stays_as_it_is(text: str) -> None:
    assert Pastes().unfold(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\n".join("x" * MOST_LINES), None),
        ("\n".join("x" * (MOST_LINES + 1)), "[pasted 9 lines #1]"),
        ("x" * MOST_CHARACTERS, None),
        ("x" * (MOST_CHARACTERS + 1), "[pasted 1 line #1]"),
        ("\n" * 1_233, "[pasted 1,234 lines #1]"),
    ],
    ids=["most lines", "a line more", "most characters", "a character more", "very many lines"],
)
def test_what_is_long_is_folded(text: str, shown: str | None) -> None:
    assert Pastes().fold(text) == (shown or text)


def test_a_paste_is_deleted_with_its_placeholder_and_comes_back_by_undo() -> None:
    pastes = Pastes()
    shown = pastes.fold("\n" * 20)
    pastes.follow("")
    assert pastes.unfold(shown) == shown
    pastes.revive(shown)
    assert pastes.unfold(shown) == "\n" * 20


def test_a_placeholder_that_is_typed_a_second_time_is_only_text() -> None:
    pastes = Pastes()
    shown = pastes.fold("\n" * 20)
    assert pastes.unfold(f"{shown} {shown}") == "\n" * 20 + f" {shown}"


def test_a_new_prompt_knows_no_paste_of_the_one_before() -> None:
    pastes = Pastes()
    shown = pastes.fold("\n" * 20)
    pastes.forget()
    pastes.revive(shown)
    assert pastes.unfold(shown) == shown


@given(st.text(st.characters(codec="utf-8")))
def test_a_cleaned_text_has_one_kind_of_line_break_and_no_control_characters_but_tabs(text: str) -> None:
    clean = cleaned(text)
    assert [c for c in clean if c < " " or "\x7f" <= c <= "\x9f"] == [c for c in clean if c in "\n\t"]
    assert clean.count("\n") == text.count("\n") + text.count("\r") - text.count("\r\n")
    assert cleaned(clean) == clean


def test_files_are_shown_by_name_and_size_and_sent_as_mentions(tmp_path: Path) -> None:
    for name, data in {
        "chart.png": png(80, 60),
        "a [b] c.jpg": saved(picture(4000, 30), "JPEG"),
        "paper.pdf": pdf(3),
        "old.bmp": saved(picture(8, 8), "BMP"),
    }.items():
        (tmp_path / name).write_bytes(data)
    pastes = Pastes()
    paths = [str(tmp_path / name) for name in ("chart.png", "a [b] c.jpg", "paper.pdf", "old.bmp")]
    shown = pastes.fold_files(files_at(paths).items())
    assert (
        shown
        == "[image 1: chart.png 80×60] [image 2: a ?b? c.jpg 4000×30] [PDF 3: paper.pdf 3 pages] [image 4: old.bmp] "
    )
    assert pastes.unfold(f"see {shown}") == f'see @{paths[0]} @"{paths[1]}" @{paths[2]} @{paths[3]} '
    pastes.follow("[image 1: chart.png 80×60]")
    assert pastes.unfold("[PDF 3: paper.pdf 3 pages]") == "[PDF 3: paper.pdf 3 pages]"


def test_a_file_between_words_is_still_a_mention(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(8, 8))
    (tmp_path / "b c.png").write_bytes(png(8, 8))
    pastes = Pastes()
    paths = str(tmp_path / "a.png"), str(tmp_path / "b c.png")
    first, second = (pastes.fold_files(files_at([path]).items()).strip() for path in paths)
    sent = pastes.unfold(f"see{first}and\n{second}{first}")
    assert mentions(sent) == paths
    assert sent.startswith(f"see @{paths[0]} and\n@")


def test_a_paste_with_anything_but_images_and_pdf_files_is_text(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(8, 8))
    (tmp_path / "b.png").write_text("not an image")
    for names in (["b.png"], ["a.png", "b.png"], ["c.png"], [""]):
        assert files_at(f"{tmp_path}/{name}" for name in names) == {}


def test_a_placeholder_before_the_cursor_goes_as_a_whole() -> None:
    pastes = Pastes()
    shown = pastes.fold("\n" * 20)
    assert pastes.before(f"see {shown}") == len(shown)
    assert pastes.before(f"see {shown} ") == pastes.before("see") == 0
