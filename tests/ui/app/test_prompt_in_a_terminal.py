"""The prompt in a real terminal, for what only a terminal shows."""

import sys
from pathlib import Path

import pytest

from tests.ui.program import Place
from tests.ui.terminals import Terminal

pytestmark = pytest.mark.anyio


def busy_host(place: Place, *arguments: str) -> Terminal:
    return Terminal(place, *arguments, command=(sys.executable, "-m", "tests.ui.app.busy_host"))


@pytest.mark.stories
async def test_an_editor_has_the_terminal_for_itself_while_the_app_works_on(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor, drawn = tmp_path / "editor", tmp_path / "drawn"
    editor.write_text(
        "#!/bin/sh\necho EDITOR BEGINS\n"
        f"while [ ! -e {drawn} ]; do sleep 0.05; done\n"
        'echo EDITOR ENDS\nprintf " and edited" >> "$1"\n'
    )
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))
    async with busy_host(place, str(drawn)) as terminal:
        await terminal.sees("drawn")
        terminal.type("typed\x07")
        await terminal.sees("EDITOR BEGINS\n")
        assert await terminal.sees("EDITOR ENDS\n") == "EDITOR ENDS\n"
        await terminal.sees("edited")
        terminal.type("\r")
        assert await terminal.ends() == 0
        await terminal.sees("'typed and edited'")


@pytest.mark.parametrize(
    ("keys", "submitted"),
    [
        ("a\nb\r", "'a\\nb'"),
        ("a\x1b[13;2ub\r", "'a\\nb'"),
        ("a\x1b[13;3ub\r", "'a\\nb'"),
        ("a\x1b[27;2;13~b\r", "'a\\nb'"),
        ("\x1b[200~one\r\ntwo\r\x1b[201~three\r", "'one\\ntwo\\nthree'"),
        ("天気x\x7f予報\x01「\x05」\r", "'「天気予報」'"),
    ],
    ids=["ctrl-j", "shift-enter", "alt-enter", "shift-enter as xterm", "paste", "wide"],
)
async def test_bytes_of_a_terminal_become_text(place: Place, tmp_path: Path, keys: str, submitted: str) -> None:
    async with busy_host(place, str(tmp_path / "drawn")) as terminal:
        await terminal.sees("drawn")
        terminal.type(keys)
        assert await terminal.ends() == 0
        await terminal.sees(submitted)
