"""Pastes: folded for the eye, whole for the model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.ui.app.pasting import MOST_CHARACTERS, MOST_LINES, Pastes, cleaned

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
