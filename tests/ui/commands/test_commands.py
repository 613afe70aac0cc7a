"""What is a command, and what is a prompt that begins like one."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.ui.app.menu import SCREEN_COMMANDS
from harness.ui.commands.commands import (
    ALIASES,
    COMMANDS,
    TAKEN,
    help_groups,
    is_command,
    prompt_of,
    quits,
    works_any_time,
)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("/help", True),
        ("/HELP", True),
        ("/ help", True),
        ("/halp", True),
        ("/", True),
        ("/quit", True),
        ("/export a/b.md", True),
        ("//etc/hosts", False),
        ("/etc/hosts what is this?", False),
        ("/home/me/x.py explain", False),
        ("/no/such/file", False),
        ("/tmp what is in there?", False),
        ("/tmp\nwhat is in there?", False),
        ("help", False),
        ("\0/", False),
        ("/\0", True),
        ("/" + "x" * 10_000, True),
    ],
)
def test_a_path_typed_first_is_a_prompt(line: str, command: bool) -> None:
    assert is_command(line) is command
    assert command or prompt_of(line) == line.removeprefix("/") or not line.startswith("//")


def test_a_file_does_not_hide_a_command_of_its_name(tmp_path: Path) -> None:
    name = next(one.name for one in Path("/").iterdir() if one.name.isalpha() and one.name not in COMMANDS)
    assert not is_command(f"/{name}")
    assert is_command(f"/{name}", [name])


@given(st.sampled_from(sorted(COMMANDS)), st.text(" a/", max_size=8))
def test_the_name_of_a_command_is_one_whatever_follows(name: str, rest: str) -> None:
    assert is_command(f"/{name} {rest}")


def test_quitting_is_known_by_both_names() -> None:
    assert [quits(line) for line in ("/exit", "/quit", "/QUIT ", "/exits")] == [True, True, True, False]
    assert works_any_time("/quit")


@pytest.mark.parametrize("old", ALIASES)
def test_an_alias_is_accepted_and_not_listed(old: str) -> None:
    listed = {name for _, rows in help_groups() for name, _ in rows}
    assert is_command(f"/{old} x")
    assert works_any_time(f"/{old}") is works_any_time(f"/{ALIASES[old]}")
    assert f"/{old}" not in listed
    assert f"/{ALIASES[old]}" in listed


def test_the_commands_of_the_screen_are_taken() -> None:
    assert set(SCREEN_COMMANDS) <= TAKEN


def test_only_commands_that_change_the_conversation_wait_for_the_turn() -> None:
    waiting = [name for name in COMMANDS if not works_any_time(f"/{name}")]
    assert waiting == ["clear", "compact", "rewind", "retry", "resume", "fork", "model"]
