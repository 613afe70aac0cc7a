"""Slash commands that need a screen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App

from harness.ui.app.list_picker import Picker
from harness.ui.app.pickers import SCREEN_COMMANDS, Menu, known_theme, run_screen_command
from harness.ui.commands.commands import COMMANDS
from harness.ui.commands.results import CommandError
from tests.ui.app.screens import settled

pytestmark = pytest.mark.anyio


class RecordingMenu(Menu):
    """Records the calls."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def choose_theme(self, name: str) -> None:
        self.asked.append(f"theme {name}".strip())

    async def pick_model(self) -> None:
        self.asked.append("model")

    async def pick_effort(self) -> None:
        self.asked.append("effort")

    async def pick_session(self) -> None:
        self.asked.append("resume")

    async def pick_rewind(self) -> None:
        self.asked.append("rewind")

    def full_panel(self) -> None:
        self.asked.append("panel")

    def show_keys(self) -> None:
        self.asked.append("keys")


@pytest.mark.parametrize("name", SCREEN_COMMANDS)
async def test_each_command_alone_does_what_it_is_called(name: str) -> None:
    for line in (f"/{name}", f"/ {name.upper()} "):
        menu = RecordingMenu()
        work = run_screen_command(line, menu)
        assert work is not None
        await work
        assert menu.asked == [name]


async def test_a_theme_has_a_name() -> None:
    menu = RecordingMenu()
    work = run_screen_command("/theme  nord ", menu)
    assert work is not None
    await work
    assert menu.asked == ["theme nord"]


@pytest.mark.parametrize("line", ["/resume 2026", "/rewind 3", "/help", "/", "/nonsense keys"])
def test_what_needs_no_screen_is_left_to_the_others(line: str) -> None:
    menu = RecordingMenu()
    assert run_screen_command(line, menu) is None
    assert menu.asked == []


@pytest.mark.parametrize("name", ["panel", "keys"])
async def test_words_after_a_command_that_takes_none_are_refused(name: str) -> None:
    work = run_screen_command(f"/{name} all", RecordingMenu())
    assert work is not None
    with pytest.raises(CommandError, match=f"type /{name} alone"):
        await work


def test_only_commands_that_a_list_completes_share_a_name_with_the_plain_ones() -> None:
    shared = {name for name in SCREEN_COMMANDS if name in COMMANDS}
    assert shared == {name for name, command in SCREEN_COMMANDS.items() if command.only_alone}


@given(st.text(max_size=12))
def test_an_unknown_theme_is_refused_and_a_known_one_is_itself(name: str) -> None:
    themes = ("nord", "textual-dark")
    if name in themes:
        assert known_theme(name, themes) == name
    else:
        with pytest.raises(CommandError, match="Unknown theme"):
            known_theme(name, themes)


@pytest.mark.parametrize("rows", [15, 20, 24, 50])
async def test_in_a_long_list_the_chosen_line_and_the_keys_are_in_sight(rows: int) -> None:
    app = App[None]()
    async with app.run_test(size=(60, rows)) as pilot:
        app.push_screen(
            Picker("Which?", [f"number {number}, which takes more than one row on 60 columns" for number in range(40)])
        )
        await settled(pilot)
        await pilot.press("end")
        seen = await settled(pilot)
        assert any("number 39" in row for row in seen)
        assert any("Enter choose" in row for row in seen)
