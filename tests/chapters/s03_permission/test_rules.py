"""The effects of other rules, as described in the text of s03."""

import pytest

from chapters.s03_permission.demo import RULES
from harness.permissions import Mode, PermissionRequest, Permissions, RuleBook, RuleScope, Surroundings, Verdict
from harness.tools.tool import Effect

CHAINED = "git log && rm -rf drafts"


def decided(line: str, *allowed: str, mode: Mode = Mode.ASK) -> str:
    """The name of the decision about a command line under the chapter's rules and these additional ones."""
    book = RuleBook(Surroundings(workspace="/srv/project", home="/home/ada"))
    rules = [(Verdict(name.removeprefix("permissions_")), text) for name, texts in RULES.items() for text in texts]
    for verdict, text in [*rules, *((Verdict.ALLOW, text) for text in allowed)]:
        book.add(book.parse(verdict, text, RuleScope.SESSION))
    request = PermissionRequest("1", "bash", Effect.RUN, line, line, {"command": line})
    return type(Permissions(mode, book=book).decide(request)).__name__


@pytest.mark.parametrize(
    ("line", "allowed", "decision"),
    [
        (CHAINED, (), "Ask"),
        (CHAINED, ("bash(git log *)",), "Ask"),
        (CHAINED, ("bash(rm *)",), "Ask"),
        (CHAINED, ("bash(rm -rf drafts)",), "Allow"),
        ("python3 check.py --strict", (), "Allow"),
        ("python3 check.py; make", (), "Ask"),
        ("python3 words.py notes.md", ("bash(python3 words.py *)",), "Allow"),
        ('python3 words.py "$(cat secrets/token.txt)"', ("bash(python3 words.py *)",), "Deny"),
    ],
)
def test_a_rule_covers_its_command_and_nothing_that_is_dangerous(
    line: str, allowed: tuple[str, ...], decision: str
) -> None:
    assert decided(line, *allowed) == decision


def test_what_is_denied_is_denied_in_every_mode() -> None:
    assert decided(CHAINED, mode=Mode.YOLO) == "Allow"
    assert {decided("cat secrets/token.txt", mode=mode) for mode in Mode} == {"Deny"}
