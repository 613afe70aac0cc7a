"""What becomes of a command line, line by line."""

from dataclasses import replace
from posixpath import normpath

from harness.permissions import (
    Allow,
    Ask,
    Decision,
    Mode,
    PermissionRequest,
    Permissions,
    RuleBook,
    RuleScope,
    Surroundings,
    Verdict,
)
from harness.permissions.disk import Disk, DiskQuestions, TreeContents
from harness.tools.tool import Effect
from tests.cases import cases, lines, parts

AROUND = Surroundings("/srv/project", "/home/ada")
ASKING = (Mode.ASK, Mode.EDITS)
DANGEROUS = lines(__file__, "dangerous")


def permissions(mode: Mode = Mode.ASK, **rules: str | list[str]) -> Permissions:
    """Permissions with rules: `allow`, `ask` and `deny`."""
    book = RuleBook(AROUND)
    for verdict, texts in rules.items():
        for text in [texts] if isinstance(texts, str) else texts:
            book.add(book.parse(Verdict(verdict), text, RuleScope.SETTINGS))
    return Permissions(mode, book=book)


def bash(command: str) -> PermissionRequest:
    return PermissionRequest("1", "bash", Effect.RUN, command, command, {"command": command})


def empty_disk(asked: DiskQuestions) -> Disk:
    """A disk without links, on which nothing fits a pattern, and no folder holds what matters."""
    places = {path: (normpath(path),) for path in (*asked.paths, *asked.patterns)}
    return Disk(places, dict.fromkeys(asked.patterns, ()), dict.fromkeys(asked.trees, TreeContents()))


def decided(command: str, mode: Mode = Mode.ASK, **rules: str | list[str]) -> Decision:
    gate = permissions(mode, **rules)
    request = bash(command)
    return gate.decide(replace(request, disk=empty_disk(gate.questions(request))))


@cases(__file__, "trap", "command expected why")
def test_a_line_is_judged_by_what_it_does_and_not_by_its_letters(command: str, expected: str, why: str) -> None:
    by_mode, with_every_rule = decided(command), decided(command, allow=["bash(*)", "write"])
    assert isinstance(by_mode, Allow if expected == "runs" else Ask), why
    assert isinstance(with_every_rule, Ask if expected == "dangerous" else Allow), why


def kinds(command: str, mode: Mode, **rules: str | list[str]) -> str:
    """The kind of the decision, and whether it has a reason; a shorter text in lists of failures than the decision."""
    decision = decided(command, mode, **rules)
    return type(decision).__name__ if decision.why else "without a reason"


def test_what_only_looks_runs_in_the_modes_that_ask() -> None:
    for mode, expected in [*((mode, "Allow") for mode in ASKING), (Mode.DENY, "Deny")]:
        assert [command for command in lines(__file__, "harmless") if kinds(command, mode) != expected] == []


def test_everything_else_is_asked_about() -> None:
    for mode, expected in [*((mode, "Ask") for mode in ASKING), (Mode.YOLO, "Allow")]:
        asked = [*lines(__file__, "not harmless"), *DANGEROUS]
        assert [command for command in asked if kinds(command, mode) != expected] == []


def test_what_is_dangerous_is_asked_about_whatever_a_pattern_allows() -> None:
    everything = ["bash(*)", "write(**)", "read(**)", "read", "write"]
    decisions = {command: decided(command, Mode.EDITS, allow=everything) for command in DANGEROUS}
    firm = {command for command, one in decisions.items() if isinstance(one, Ask) and one.firm and not one.offers}
    assert decisions.keys() - firm == set()


def test_the_mode_that_allows_everything_says_what_was_dangerous() -> None:
    decisions = {command: decided(command, Mode.YOLO) for command in DANGEROUS}
    assert [
        one for one, decision in decisions.items() if not (isinstance(decision, Allow) and decision.dangerous)
    ] == []


@cases(__file__, "dangers", "command dangers", str, parts)
def test_every_danger_of_a_line_is_named(command: str, dangers: list[str]) -> None:
    for decision in (decided(command), decided(command, ask="bash")):
        assert isinstance(decision, Ask)
        for danger in dangers:
            assert danger in decision.why
            assert any(danger in one for one in decision.dangers)
    allowed = decided(command, Mode.YOLO)
    assert isinstance(allowed, Allow)
    assert all(danger in allowed.dangerous for danger in dangers)


def test_what_is_merely_asked_about_has_no_dangers() -> None:
    decision = decided("touch a")
    assert isinstance(decision, Ask)
    assert not decision.dangers


def test_a_list_of_files_may_be_several_words() -> None:
    assert [command for command in lines(__file__, "lists of files") if not isinstance(decided(command), Ask)] == []
