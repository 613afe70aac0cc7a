"""What the page about slash commands of files says is so."""

import re
from pathlib import Path

from harness.definitions import discover_commands
from harness.definitions.commands import KEYS
from tests.definitions.folders import Folders
from tests.pages.blocks import text

TEXT = text("docs/commands.md")


def test_the_command_on_the_page_is_one_and_its_keys_are_those_that_are_read(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    [file] = re.findall(r"<!-- command file -->\n```markdown\n(.*?)```", TEXT, re.DOTALL)
    folders.write("workspace/.claude/commands/fix.md", file)
    found = discover_commands(folders.places("commands"), trusted=True)
    [command] = found.commands
    assert (command.name, command.description, command.hint) == ("fix", "Fix an issue", "[issue]")
    assert (command.tools, command.model) == ("Read, Grep, Edit, Bash", "sonnet")
    assert command.text("12 soon") == "Look at issue 12 and fix it. 12 soon"
    assert found.problems == ()
    assert {"description", *KEYS} <= set(re.findall(r"`([\w-]+)`", TEXT))


def test_the_folders_of_the_page_are_those_that_are_read(tmp_path: Path) -> None:
    read = {str(place.folder.relative_to(tmp_path)) for place in Folders(tmp_path).places("commands")}
    named = set(re.findall(r"`(\.\w+/commands)`", TEXT))
    assert {path.partition("/")[2] for path in read if "/." in path} == named
