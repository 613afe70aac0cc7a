"""What becomes of a command line, line by line."""

import pytest

from harness.permissions import (
    Allow,
    Ask,
    Decision,
    Deny,
    Mode,
    PermissionRequest,
    Permissions,
    RuleBook,
    Scope,
    Surroundings,
    Verdict,
)
from harness.tools.tool import Effect
from tests.permissions.verdicts import DANGEROUS_LINES, HARMLESS, NOT_HARMLESS, TRAP_D20, Expected

AROUND = Surroundings("/srv/project", "/home/ada")
ASKING = (Mode.ASK, Mode.EDITS)


def permissions(mode: Mode = Mode.ASK, **rules: str | list[str]) -> Permissions:
    """Permissions with rules: `allow`, `ask` and `deny`."""
    book = RuleBook(AROUND)
    for verdict, texts in rules.items():
        for text in [texts] if isinstance(texts, str) else texts:
            book.add(book.parse(Verdict(verdict), text, Scope.SETTINGS))
    return Permissions(mode, book=book)


def bash(command: str) -> PermissionRequest:
    return PermissionRequest("1", "bash", Effect.RUN, command, command, {"command": command})


def decided(command: str, mode: Mode = Mode.ASK, **rules: str | list[str]) -> Decision:
    return permissions(mode, **rules).decide(bash(command))


@pytest.mark.parametrize(("command", "expected", "why"), TRAP_D20)
def test_the_commands_of_trap_d20(command: str, expected: Expected, why: str) -> None:
    everything = decided(command, allow=["bash(*)", "write"])
    match expected:
        case Expected.RUNS:
            assert isinstance(decided(command), Allow)
        case Expected.ASKED:
            assert isinstance(decided(command), Ask)
            assert isinstance(everything, Allow)
        case Expected.DANGEROUS:
            assert isinstance(everything, Ask)


def test_trap_d20_has_27_commands() -> None:
    assert len({command for command, _, _ in TRAP_D20}) == 27


@pytest.mark.parametrize("command", HARMLESS)
def test_what_only_looks_runs_in_the_modes_that_ask(command: str) -> None:
    for mode in ASKING:
        decision = decided(command, mode)
        assert isinstance(decision, Allow), decision
        assert decision.why
    assert isinstance(decided(command, Mode.DENY), Deny)


@pytest.mark.parametrize("command", [*NOT_HARMLESS, *DANGEROUS_LINES])
def test_everything_else_is_asked_about(command: str) -> None:
    for mode in ASKING:
        decision = decided(command, mode)
        assert isinstance(decision, Ask), decision
        assert decision.why
    assert isinstance(decided(command, Mode.YOLO), Allow)


@pytest.mark.parametrize("command", DANGEROUS_LINES)
def test_what_is_dangerous_is_asked_about_whatever_a_pattern_allows(command: str) -> None:
    decision = decided(command, Mode.EDITS, allow=["bash(*)", "write(**)", "read(**)", "read", "write"])
    assert isinstance(decision, Ask), decision
    assert not decision.offers
    assert decision.firm


@pytest.mark.parametrize("command", DANGEROUS_LINES)
def test_the_mode_that_allows_everything_says_what_was_dangerous(command: str) -> None:
    decision = decided(command, Mode.YOLO)
    assert isinstance(decision, Allow)
    assert decision.dangerous


def test_the_tables_are_long_enough_to_mean_something() -> None:
    assert len({*HARMLESS, *NOT_HARMLESS, *DANGEROUS_LINES}) >= 300
