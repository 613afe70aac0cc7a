"""Programs that read and search text: which forms only look."""

import pytest

from harness.permissions.programs import text
from tests.cases import cases, lines, parts
from tests.permissions.programs.reading import looks, parsed


def test_an_ordinary_form_only_looks_and_ends() -> None:
    assert [line for line in lines(__file__, "looks") if not looks(line)] == []


def test_another_form_does_not_only_look() -> None:
    assert [line for line in lines(__file__, "does more") if line.split()[0] in text.PROGRAMS and looks(line)] == []


def test_an_endless_program_does_not_count_as_ending() -> None:
    assert [line for line in lines(__file__, "endless") if looks(line)] == []


@cases(__file__, "roles", "line expected", str, parts)
def test_each_word_has_its_role(line: str, expected: list[str]) -> None:
    command = parsed(line)
    assert command is not None
    assert [f"{use.role.value} {use.word.text}" for use in command.uses] == expected


@pytest.mark.parametrize(
    ("line", "skips"),
    [
        *(("rg x", True), ("rg --no-ignore x", True), ("rg -. x", False), ("rg -uu x", False), ("rg -g '.*' x", False)),
        *(("rg -tsh x", False), ("fd x", True), ("fd -H x", False), ("fd -u", False), ("grep -r x", False)),
    ],
)
def test_only_rg_and_fd_pass_over_hidden_files(line: str, *, skips: bool) -> None:
    command = parsed(line)
    assert command is not None
    assert command.skips_hidden is skips
