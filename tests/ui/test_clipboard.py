"""Where a copied text goes: a local program, tmux, the terminal, a file."""

from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.ui.clipboard import MOST_TERMINAL_BYTES, send_to_clipboard

pytestmark = pytest.mark.anyio


def program(folder: Path, name: str, body: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)


@pytest.mark.parametrize(
    ("variables", "failing", "terminal", "told", "by"),
    [
        ({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0", "TMUX": "x"}, "", True, "sent 4 characters to wl-copy", "wl-copy"),
        ({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, "wl-copy", True, "sent 4 characters to xclip", "xclip"),
        ({"TMUX": "x"}, "", True, "sent 4 characters to tmux", "tmux"),
        ({"TMUX": "x"}, "tmux", True, "sent 4 characters to the terminal (OSC 52)", "terminal"),
        ({}, "", True, "sent 4 characters to the terminal (OSC 52)", "terminal"),
        ({}, "", False, "no clipboard takes it here; 4 characters written to", "file"),
    ],
)
async def test_the_first_that_works_takes_the_text(
    tmp_path: Path, variables: dict[str, str], failing: str, terminal: bool, told: str, by: str
) -> None:
    for name in ("wl-copy", "xclip", "tmux"):
        program(tmp_path, name, "exit 1" if name == failing else f'/bin/cat > "{tmp_path}/by-{name}"')
    file, written = tmp_path / "by-file", tmp_path / "by-terminal"

    def to_terminal(text: str) -> bool:
        return terminal and bool(written.write_text(text))

    said = await send_to_clipboard("día\n", {**variables, "PATH": str(tmp_path)}, to_terminal, file)
    assert said.startswith(told)
    assert {path.name: path.read_text() for path in tmp_path.glob("by-*")} == {f"by-{by}": "día\n"}


async def test_what_a_terminal_would_cut_goes_into_a_file_and_a_lost_text_is_an_error(tmp_path: Path) -> None:
    text, file = "x" * (MOST_TERMINAL_BYTES + 1), tmp_path / "copied.txt"
    assert "written to" in await send_to_clipboard(text, {"PATH": ""}, lambda _: True, file)
    assert file.read_text() == text
    with pytest.raises(HarnessError, match="no clipboard"):
        await send_to_clipboard("x", {"PATH": ""}, lambda _: False, file / "below")
