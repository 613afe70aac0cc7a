"""What the page about permissions says is so."""

import re
import tomllib
from pathlib import Path

import pytest

from harness.permissions import Allow, Ask
from harness.session import NoAsker, open_session
from harness.settings import load
from harness.ui.commands.commands import run_command
from harness.ui.commands.results import ShowText
from tests.pages.blocks import block, text
from tests.permissions.test_verdicts import decided

PAGE = "docs/permissions.md"


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading, without its head."""
    part = text(PAGE).partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")][2:]
    return [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_every_line_of_the_table_is_decided_as_it_says() -> None:
    found = rows("Command lines")
    assert len(found) >= 16
    for line, verdict, _ in found:
        command = line.strip("`")
        assert isinstance(decided(command), Allow) == (verdict == "runs"), command
        everything = decided(command, allow=["bash", "write", "read"])
        assert isinstance(everything, Ask) == (verdict == "dangerous"), command


def test_every_rule_of_the_page_can_be_written(tmp_path: Path) -> None:
    given = tomllib.loads(block(PAGE, "settings"))
    (tmp_path / "settings.toml").write_text(block(PAGE, "settings"))
    settings = load({}, {}, tmp_path, user_file=tmp_path / "settings.toml").settings
    assert list(settings.permissions_deny) == given["permissions_deny"]
    for rule, _ in rows("Rules"):
        assert isinstance(decided("ls", allow=rule.strip("`")), Allow)


@pytest.mark.anyio
async def test_every_command_of_the_page_works(tmp_path: Path) -> None:
    loaded = load({"state_dir": tmp_path / "state"}, {}, tmp_path, user_file=tmp_path / "config" / "settings.toml")
    async with await open_session(loaded, NoAsker(), warm=False) as session:
        for line in block(PAGE, "commands").splitlines():
            assert isinstance(run_command(line, session), ShowText)
        assert [rule.text for rule in session.permissions.rules] == ["read(secrets/**)"]
