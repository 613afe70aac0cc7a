"""Vim keys: the machine beside Vim's own answers, and the prompt that uses it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.ui.app.vim_keys import Edited, VimKeys
from tests.agent.stage import says
from tests.ui.app.test_conversation import opened

ANSWERS = json.loads(Path(__file__).with_name("vim_answers.json").read_text())
"""Random text, index of the cursor, command; what Vim 9.0 (`-u NONE`, `set nocp`) made of it, and its cursor."""
AGREES = 0.97
"""Known differences: text objects on blanks and at line ends, `e` at the end of the text, and J before blanks."""


def after(keys: str, text: str, cursor: int = 0) -> Edited:
    """The text after these keys in normal mode; Esc at the end."""
    vim = VimKeys()
    vim.normal = True
    now = Edited(text, cursor)
    for number, key in enumerate(keys):
        if not vim.normal:
            typed = keys[number:]
            now = Edited(now.text[: now.cursor] + typed + now.text[now.cursor :], now.cursor + len(typed))
            break
        now = vim.press(key, now.text, now.cursor)
    return now if vim.normal else vim.escape(now.text, now.cursor)


def test_it_answers_as_vim_does() -> None:
    wrong = [case for case in ANSWERS if after(case[2], case[0], case[1]) != Edited(case[3], case[4])]
    assert len(wrong) <= (1 - AGREES) * len(ANSWERS), wrong


@pytest.mark.parametrize(
    ("keys", "text", "cursor", "expected"),
    [
        ("dw", "one two three", 4, "one |three"),
        ("cwten", "one two three", 4, "one te|n three"),
        ("2dw", "one two three", 0, "|three"),
        ("d2w", "one two three", 0, "|three"),
        ("dd", "one\n two\nthree", 1, " |two\nthree"),
        ("ddp", "one\ntwo", 0, "two\n|one"),
        ("yyP", "one\ntwo", 5, "one\n|two\ntwo"),
        ("xp", "ab", 0, "b|a"),
        ("3x", "abcdef", 1, "a|ef"),
        ("D", "one two", 3, "on|e"),
        ("ccnew", "one\ntwo", 1, "ne|w\ntwo"),
        ("ciwnew", "one two three", 5, "one ne|w three"),
        ("daw", "one two three", 5, "one |three"),
        ("dt.", "one. two.", 0, "|. two."),
        ("df.", "one. two.", 0, "| two."),
        ("f.;", "a.b.c", 0, "a.b|.c"),
        ("f.;,", "a.b.c", 0, "a|.b.c"),
        ("A!", "one\ntwo", 0, "one|!\ntwo"),
        ("a!", "one", 0, "o|!ne"),
        ("I>", "  one", 4, "  |>one"),
        ("otwo", "one", 0, "one\ntw|o"),
        ("Otwo", "one", 0, "tw|o\none"),
        ("gg", "one\ntwo", 5, "|one\ntwo"),
        ("G", "one\ntwo", 0, "one\n|two"),
        ("dgg", "one\ntwo\nthree", 5, "|three"),
        ("rx", "abc", 1, "a|xc"),
        ("~", "aBc", 1, "ab|c"),
        ("J", "one\n  two", 0, "one| two"),
        ("Yp", "one", 0, "one\n|one"),
        ("dq", "one", 0, "|one"),
        ("zzx", "one", 0, "|ne"),
        ("dfx", "one", 0, "|one"),
        ("10x", "one", 0, "|"),
    ],
)
def test_what_people_type_every_day(keys: str, text: str, cursor: int, expected: str) -> None:
    now = after(keys, text, cursor)
    assert f"{now.text[: now.cursor]}|{now.text[now.cursor :]}" == expected


@given(st.text("ab .\n", max_size=20), st.text("wbeWBEdcyxXDCYpPiIaAoOGg$0^fFtT;,rJ~23 ", max_size=12), st.data())
def test_the_cursor_stays_in_the_text_whatever_is_typed(text: str, keys: str, data: st.DataObject) -> None:
    vim, now = VimKeys(), Edited(text, data.draw(st.integers(0, len(text))))
    now = vim.escape(now.text, now.cursor)
    for key in keys:
        now = vim.press(key, now.text, now.cursor) if vim.normal else vim.escape(now.text, now.cursor)
        assert 0 <= now.cursor <= len(now.text)


@pytest.mark.stories
@pytest.mark.anyio
async def test_the_prompt_is_edited_with_vim_keys_when_they_are_wanted(tmp_path: Path) -> None:
    async with opened(tmp_path, says("An answer.", times='"forever"'), vim_keys=True) as here:
        await here.pilot.press(*"one two", "escape")
        await here.sees("N one two")
        await here.pilot.press(*"bcw", *"ten", "escape", *"0x")
        assert here.app.prompt.text == "ne ten"
        await here.pilot.press("u")
        assert here.app.prompt.text == "one ten"
        await here.pilot.press("d", "escape", "d", "d")
        assert here.app.prompt.empty
        await here.pilot.press("i", *"hello", "escape", "enter")
        await here.sees("An answer.")
        await here.rests()
        await here.pilot.press(*"again", "enter")  # a new prompt begins in insert mode
        await here.sees("▌ again")
        await here.rests()
        await here.pilot.press("escape", "k")
        assert here.app.prompt.text == "again"
        await here.pilot.press("j")
        assert here.app.prompt.empty
        await here.pilot.press("escape", "escape")  # in normal mode Esc is the app's
        await here.sees("Go back to before which prompt?")
