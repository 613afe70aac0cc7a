"""Slash commands that files define: names, substituted arguments, and forbidden effects."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.definitions import CommandFile, Commands, discover_commands
from harness.definitions.commands import SHELL_NOTE
from tests.definitions.folders import Folders


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Without any file."""
    return Folders(tmp_path)


def found(folders: Folders, *, trusted: bool = True) -> Commands:
    """What a session would have."""
    return discover_commands(folders.places("commands"), trusted=trusted)


def made(folders: Folders, text: str) -> CommandFile:
    """The one command that this file defines."""
    folders.write("workspace/.claude/commands/fix.md", text)
    (command,) = found(folders).commands
    return command


@pytest.mark.parametrize(
    ("prompt", "arguments", "text"),
    [
        ("Fix $ARGUMENTS.", "issue 12", "Fix issue 12."),
        ("Fix $1 in $2, not $3.", '12 "my file.py"', "Fix 12 in my file.py, not ."),
        ("Fix $1.", "it's", "Fix it's."),
        ("Fix $1 and $ARGUMENTS", "$2 $ARGUMENTS", "Fix $2 and $2 $ARGUMENTS"),
        ("Fix it.", "", "Fix it."),
        ("Fix it.", "soon", "Fix it.\n\nsoon"),
        ("It costs $100 and $ARGUMENTSX.", "", "It costs $100 and $ARGUMENTSX."),
    ],
)
def test_what_is_typed_takes_its_place_once_and_is_never_lost(
    folders: Folders, prompt: str, arguments: str, text: str
) -> None:
    assert made(folders, prompt).text(arguments) == text


def test_front_matter_is_read_as_it_is_usually_written(folders: Folders) -> None:
    command = made(
        folders,
        "---\nallowed-tools: Bash(git add:*), Read\nargument-hint: [issue] [--fast]\n"
        "description: Fix an issue\nmodel: claude-haiku-5-5\n---\n\n# Fix $1\n",
    )
    assert (command.name, command.description, command.hint) == ("fix", "Fix an issue", "[issue] [--fast]")
    assert (command.model, command.tools) == ("claude-haiku-5-5", "Bash(git add:*), Read")
    assert found(folders).problems == ()


def test_without_front_matter_the_first_line_describes_it(folders: Folders) -> None:
    assert made(folders, "# Fix an issue\n\nFix it.").description == "Fix an issue"


def test_a_folder_is_part_of_the_name(folders: Folders) -> None:
    folders.write("workspace/.claude/commands/Git/Commit.md", "Commit.")
    folders.write("workspace/.claude/commands/README.md", "About.")
    folders.write("workspace/.claude/commands/two words.md", "Text.")
    commands = found(folders)
    assert [one.name for one in commands.commands] == ["git:commit"]
    (problem,) = commands.problems
    assert problem.text == "is left out: 'two words' is no name for a command; rename the file"


def test_shell_commands_in_it_are_not_run_and_the_model_is_notified(folders: Folders, tmp_path: Path) -> None:
    command = made(folders, f"Status: !`touch {tmp_path}/ran`\n!touch {tmp_path}/too\nBe quick!\n![a](b.png)")
    assert command.shell == (f"touch {tmp_path}/ran", f"touch {tmp_path}/too")
    assert command.text("").endswith(SHELL_NOTE)
    assert not (tmp_path / "ran").exists()


def test_the_strongest_place_counts_and_models_of_the_project_wait_for_trust(folders: Folders) -> None:
    folders.write("home/.claude/commands/fix.md", "---\nmodel: opus\n---\nMine.")
    folders.write("workspace/.harness/commands/fix.md", "---\nmodel: opus\n---\nOurs.")
    commands = found(folders, trusted=False)
    assert [(one.prompt, one.model) for one in commands.commands] == [("Ours.", "")]
    told = "".join(problem.text for problem in commands.problems)
    assert "is hidden by" in told
    assert "waits for your trust in this folder; the model of the session is used" in told


@pytest.mark.parametrize("line", ["allowed-tools:", "allowed-tools: [Read", "allowed-tools: {a: b"])
def test_a_list_of_tools_that_cannot_be_read_leaves_the_command_out_or_narrows_it(folders: Folders, line: str) -> None:
    folders.write("workspace/.claude/commands/fix.md", f"---\n{line}\n---\nText.")
    assert all(one.tools is not None for one in found(folders).commands)


@given(st.text("$!`1 ARGUMENTS\n:-#", max_size=60), st.text("$1'\" a", max_size=20))
def test_whatever_a_file_holds_nothing_is_raised(text: str, arguments: str) -> None:
    with TemporaryDirectory() as root:
        folders = Folders(Path(root))
        folders.write("workspace/.claude/commands/a.md", text)
        for command in found(folders).commands:
            filled = command.text(arguments)
            assert arguments in filled or "$1" in command.prompt or not arguments
