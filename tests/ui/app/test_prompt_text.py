"""What a text is meant as."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.ui.app.prompt_text import PromptMode, by_kind, mode_of, submitted
from harness.ui.commands.commands import is_command
from tests.ui.app.host import Host, type_text

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("text", "mode", "taken"),
    [
        ("", "prompt", ""),
        ("hello \n\n", "prompt", "hello"),
        ("  hello", "prompt", "  hello"),
        ("！ls　-l", "shell", "!ls　-l"),
        ("／model　opus", "command", "/model opus"),
        ("／/etc", "prompt", "//etc"),
        ("/／etc", "prompt", "//etc"),
        ("/", "command", "/"),
        ("/* a comment", "prompt", "/* a comment"),
        ("/etc/hosts what is this?", "prompt", "/etc/hosts what is this?"),
        ("/re a/b", "command", "/re a/b"),
        (" /help", "prompt", " /help"),
    ],
)
def test_the_beginning_decides(text: str, mode: PromptMode, taken: str) -> None:
    assert (mode_of(text), submitted(text)) == (mode, taken)


@given(st.text("/／!！?*1: a\u3000\n"))
def test_what_is_submitted_begins_with_the_narrow_sign_of_its_mode(text: str) -> None:
    taken, mode = submitted(text), mode_of(text)
    assert mode_of(taken) == mode
    assert submitted(taken) == taken
    assert is_command(taken) == (mode == "command")
    assert taken.startswith("!") == (mode == "shell")


@pytest.mark.parametrize(
    ("text", "given_back", "taken"),
    [
        ("a\nb\nmore", ("a", "b"), ["a\nb\nmore"]),
        ("!make\nthen fix it\nsoon", ("!make",), ["!make", "then fix it\nsoon"]),
        ("!make\nthen fix it\nsoon", ("!make", "then fix it"), ["!make", "then fix it\nsoon"]),
        ("a\nb\n/cost\n!ls", ("a", "b", "/cost", "!ls"), ["a\nb", "/cost", "!ls"]),
        ("!make all\nfix it", ("!make", "fix it"), ["!make all\nfix it"]),
        ("!ls\npwd", (), ["!ls\npwd"]),
    ],
)
def test_lines_that_a_stop_gave_back_keep_their_kind(text: str, given_back: tuple[str, ...], taken: list[str]) -> None:
    assert by_kind(text, given_back) == taken


async def test_in_the_normal_mode_of_vim_u_undoes_and_every_other_key_does_its_own() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        app.prompt.use_vim_keys()
        await type_text(pilot, "abc")
        await pilot.press("escape", "x")
        assert app.prompt.text == "ab"
        await pilot.press("u")
        assert app.prompt.text == "abc"
        await type_text(pilot, "0fcx")
        assert app.prompt.text == "ab"
