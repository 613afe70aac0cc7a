"""The read-only built-ins of bash. bash itself shows which of them evaluate their arguments."""

import shutil
import subprocess
from pathlib import Path

import pytest

from harness.permissions.programs import ParsedCommand, WordRole, parse
from harness.permissions.programs.builtins import PROGRAMS
from harness.permissions.shell import read_line
from tests.cases import cases, lines

BASH = shutil.which("bash")


def parsed(line: str) -> ParsedCommand | None:
    *_, simple = [one for one in read_line(line) if one.words]
    program = PROGRAMS.get(simple.words[0].text)
    return None if program is None else parse(program, simple.words[1:])


def roles(line: str) -> dict[str, WordRole]:
    found = parsed(line)
    assert found is not None
    return {use.word.text: use.role for use in found.uses}


def test_what_only_looks() -> None:
    found = {line: parsed(line) for line in lines(__file__, "looks")}
    assert [line for line, one in found.items() if one is None or not one.ends] == []


def test_what_does_more_or_is_not_certain() -> None:
    found = {line: parsed(line) for line in lines(__file__, "does more")}
    assert [line for line, one in found.items() if one is not None] == []


def test_a_test_in_a_loop_over_files_looks_at_each() -> None:
    assert roles('for f in *.md; do [ -f "$f" ]; done') == {"-f": WordRole.TEXT, "*.md": WordRole.LIST}
    assert roles("for f in *.md; do [[ -f $f ]]; done") == {"-f": WordRole.TEXT, "*.md": WordRole.LIST}
    assert parsed("for f in *.md; do [ -f $f ]; done") is None


def test_a_sleep_that_does_not_end_is_known_as_such() -> None:
    for line in ("sleep inf", "sleep infinity", "sleep 1e9", "sleep nan"):
        found = parsed(line)
        assert found is None or not found.ends


def test_files_are_looked_at_and_texts_are_not() -> None:
    assert roles("[ -f x ]") == {"-f": WordRole.TEXT, "x": WordRole.LIST}
    assert roles("[[ a -nt b ]]") == {"a": WordRole.LIST, "-nt": WordRole.TEXT, "b": WordRole.LIST}
    assert roles("[[ x == ../* ]]") == {"x": WordRole.TEXT, "==": WordRole.TEXT, "../*": WordRole.TEXT}
    assert roles("echo ../* x") == {"../*": WordRole.LIST, "x": WordRole.TEXT}


EVALUATED = "a[$(touch P)]"


@pytest.mark.skipif(BASH is None, reason="needs bash")
@cases(__file__, "evaluates", "line")
def test_nothing_that_only_looks_evaluates_a_word(line: str, tmp_path: Path) -> None:
    assert BASH is not None
    whole = line.format(f"'{EVALUATED}'")
    subprocess.run([BASH, "-c", f"sleep 0 & {whole}"], cwd=tmp_path, capture_output=True, check=False, timeout=60)
    found = parsed(whole)
    if (tmp_path / "P").exists():
        assert found is None


@pytest.mark.skipif(BASH is None, reason="needs bash")
def test_bash_does_evaluate_some() -> None:
    assert BASH is not None
    ran = subprocess.run(
        [BASH, "-c", "test -v 'a[$(echo evaluated >&2)]'"], capture_output=True, text=True, check=False
    )
    assert "evaluated" in ran.stderr
