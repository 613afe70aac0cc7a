"""The tables of docs/team.md say what the rules and the settings say."""

import re

from harness.events import MailKind
from harness.policies.team.mail import OWES, MailLimits, begins_work
from harness.settings import Settings
from tests.pages.blocks import ROOT

PAGE = (ROOT / "docs" / "team.md").read_text("utf-8")


def rows(after: str) -> list[list[str]]:
    """The rows of the first table behind a text."""
    table = PAGE.partition(after)[2].partition("\n\n| ")[2] if after.startswith("#") else PAGE.partition(after)[2]
    lines = [line for line in table.partition("\n\n")[0].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_table_of_kinds_is_that_of_the_policy() -> None:
    table = {kind.strip("`"): cells for kind, *cells in rows("<!-- mail kinds -->")[2:]}
    assert set(table) == set(MailKind)
    for kind, (_, begins, owed) in table.items():
        assert begins.startswith("yes") is begins_work(MailKind(kind), "Look.")
        assert (owed != "no") is (MailKind(kind) in OWES)


def test_the_table_of_limits_has_the_numbers_of_the_program() -> None:
    numbers = {int(found.replace(",", "")) for found in re.findall(r"\| ([0-9,]+)(?: characters)? \|", PAGE)}
    defaults, limits = Settings.model_fields, MailLimits()
    named = ("team_members", "max_subagents", "max_concurrent", "team_wait_s")
    expected = {int(defaults[name].default) for name in named} | {5, 50}
    assert numbers == expected | {limits.characters, limits.waiting, limits.recipients}
