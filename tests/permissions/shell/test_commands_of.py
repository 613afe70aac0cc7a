"""The commands of a line, for hooks."""

import pytest

from harness.permissions import commands_of
from harness.permissions.shell.syntax import Unreadable


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("git push --force", [("git", "push", "--force")]),
        ("make && git  push -f", [("make",), ("git", "push", "-f")]),
        ("sh -c 'git push --force'", [("git", "push", "--force")]),
        ("git commit -m 'no push --force'", [("git", "commit", "-m", "no push --force")]),
        ("A=1", []),
    ],
)
def test_commands_are_read_as_a_shell_reads_them(line: str, commands: list[tuple[str, ...]]) -> None:
    found = commands_of(line)
    assert [command for command in found if command[0] != "sh"] == commands


def test_a_line_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(Unreadable):
        commands_of("f() { git push; }")
