"""Programs that read and search text, or show the state of the system: which forms only look."""

import pytest

from harness.permissions.programs import WordRole, text
from tests.cases import cases, lines, parts
from tests.permissions.programs.reading import parsed_line


def looks(line: str) -> bool:
    parsed = parsed_line(line)
    return parsed is not None and parsed.looks


def test_an_ordinary_form_only_looks_and_ends() -> None:
    found = {line: parsed_line(line) for line in lines(__file__, "looks")}
    assert [line for line, one in found.items() if one is None or not one.looks or not one.ends] == []


def test_another_form_does_not_only_look() -> None:
    assert [line for line in lines(__file__, "does more") if line.split()[0] in text.PROGRAMS and looks(line)] == []


def test_an_endless_program_does_not_count_as_ending() -> None:
    found = {line: parsed_line(line) for line in lines(__file__, "endless")}
    assert [line for line, one in found.items() if one is not None and one.ends] == []


@cases(__file__, "roles", "line expected", str, parts)
def test_each_word_has_its_role(line: str, expected: list[str]) -> None:
    parsed = parsed_line(line)
    assert parsed is not None
    assert [f"{use.role.value} {use.word.text}" for use in parsed.uses] == expected


@pytest.mark.parametrize(
    ("line", "skips"),
    [
        *(("rg x", True), ("rg --no-ignore x", True), ("rg -. x", False), ("rg -uu x", False), ("rg -g '.*' x", False)),
        *(("rg -tsh x", False), ("fd x", True), ("fd -H x", False), ("fd -u", False), ("grep -r x", False)),
    ],
)
def test_only_rg_and_fd_pass_over_hidden_files(line: str, *, skips: bool) -> None:
    parsed = parsed_line(line)
    assert parsed is not None
    assert parsed.skips_hidden is skips


def test_every_role_of_a_looker_is_one_that_looks() -> None:
    for name, program in text.PROGRAMS.items():
        if program.looks and name not in ("uniq", "xxd"):
            assert not set(program.operands) & {WordRole.WRITE, WordRole.EXECUTE, WordRole.COMMAND}, name
