"""What of the built-ins of bash only looks. bash itself is asked which of them evaluate their words."""

import shutil
import subprocess
from pathlib import Path

import pytest

from harness.permissions.programs import ParsedCommand, WordRole, parse
from harness.permissions.programs.builtins import PROGRAMS
from harness.permissions.shell import read_line

BASH = shutil.which("bash")


def parsed(line: str) -> ParsedCommand | None:
    [simple] = [one for one in read_line(line) if one.words and one.words[0].text in PROGRAMS]
    return parse(PROGRAMS[simple.words[0].text], simple.words[1:])


def roles(line: str) -> dict[str, WordRole]:
    found = parsed(line)
    assert found is not None
    return {use.word.text: use.role for use in found.uses}


def test_what_only_looks() -> None:
    table = [
        *("echo", "echo -n $x 'a b'", "echo $(ls)", "printf '%s\\n' \"$x\" a", "printf -- -x", "true", ": $x"),
        *("false a", "exit", "exit 3", "exit $?", "return 1", "break 2", "continue", "pwd -P", "type -a ls git"),
        *("which -a ls", "command -v git", "command -V ls", "hash", "jobs -l", "times", "alias", "umask", "umask -S"),
        *("ulimit -a", "dirs", "set -euo pipefail", "set -ex", "set +x", "set -o pipefail", "shopt -p"),
        *("shopt extglob", "sleep 2", "sleep 0.5s", "wait", "wait 123 %1", "wait $!", "kill -l", "kill -l 9"),
        *("trap -p", "trap", "[ -f x ]", "test -d x", "[ ! -e x ]", "[ -n x ]", "[ x ]", "[ a = b ]", "[ ! a != b ]"),
        *("[ a -nt b ]", "[ 1 -lt 2 ]", "[ $? -eq 0 ]", '[ "$x" -gt 3 ]', '[ -z "$x" ]', '[ "$x" = y ]'),
        *('[ ! -n "$x" ]', "test -t 1", "[[ -f x ]]", "[[ a == *.py ]]", "[[ $x =~ ^a ]]", "[[ a < b ]]"),
        *("[[ -n $x ]]", "[[ 1 -eq 2 ]]", "[[ $? -ne 0 ]]", "[[ -f *.py ]]", "[[ ! -d ~/x ]]", "[[ $x ]]"),
        *("[[ a -ef b ]]", "[[ -t 0 ]]"),
    ]
    found = {line: parsed(line) for line in table}
    assert [line for line, one in found.items() if one is None or not one.looks or not one.ends] == []


def test_what_does_more_or_is_not_certain() -> None:
    table = [
        *("printf -v x y", "printf -v 'a[$(touch P)]' x", "printf $x", "printf 'a%n' x", "printf '%-5ln' x", "printf"),
        *("printf *", "exit $x", "break a", "exit 1 2", "pwd x", "type -x ls", "command ls", "command -p ls"),
        *("hash -r", "hash -p a b", "jobs -x ls", "times x", "alias a=b", "umask 022", "ulimit -c 0", "dirs -c", "set"),
        *("set -- a", "set -o", "set x", "set -k", "set -o posix", "set $x", "shopt -s extglob", "shopt -u a"),
        *("wait -n", "wait -p x", "wait -n -p 'a[$(touch P)]'", "wait $x", "wait x", "kill 1", "kill -9 1"),
        *("kill -9 -1", "trap - EXIT", "trap x EXIT", "which --tty-only x", "[ -v x ]"),
        *("[ -- = -- -o -v 'a[$(touch P)]' ]", "[ -f x -a -f y ]", "[ $x ]", "[ -f $x ]", "[ -R x ]", "[ x -a y ]"),
        *("[ -f x", "[ -f x ] y", "test -v 'a[$(touch P)]'", "[ * ]", "[ a = * ]", "[ -o errexit ]", "test"),
        *("[ a -eq b ]", "[ -t x ]", '[ -f "$x" ]', "[ ! = x y ]", "[[ -f $x ]]", "[ $x = y ]", "[ a =~ b ]"),
    ]
    found = {line: parsed(line) for line in table}
    assert [line for line, one in found.items() if one is not None and one.looks] == []


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
@pytest.mark.parametrize(
    "line",
    [
        *("echo {}", "printf %d {}", "printf {}", "true {}", ": {}", "[ {} = x ]", "[ {} ]", "[ -n {} ]", "[ -f {} ]"),
        *("[ {} -nt x ]", "test ! -e {}", "[[ -f {} ]]", "[[ {} == x ]]", "[[ x == {} ]]", "[[ x =~ {} ]]", "[[ {} ]]"),
        *("type {}", "command -v {}", "shopt {}", "kill -l {}", "trap -p {}", "[[ {} < x ]]", "[[ {} -nt x ]]"),
        *("which {}", "wait -p {}", "wait -n -p {}", "test -v {}", "[ -v {} ]", "printf -v {} x", "[ x -eq {} ]"),
        *("wait {}", "sleep {}", "exit {}", "ulimit -n {}", "printf '%*d' {} 1", "printf %n {}", "umask {}", "hash {}"),
        *("jobs {}", "[ -t {} ]", "[ -R {} ]", "test x -o -v {}", "[ -v {} -a x ]"),
    ],
)
def test_nothing_that_only_looks_evaluates_a_word(line: str, tmp_path: Path) -> None:
    assert BASH is not None
    whole = line.format(f"'{EVALUATED}'")
    subprocess.run([BASH, "-c", f"sleep 0 & {whole}"], cwd=tmp_path, capture_output=True, check=False, timeout=20)
    found = parsed(whole)
    if (tmp_path / "P").exists():
        assert found is None or not found.looks


@pytest.mark.skipif(BASH is None, reason="needs bash")
def test_bash_does_evaluate_some() -> None:
    assert BASH is not None
    ran = subprocess.run(
        [BASH, "-c", "test -v 'a[$(echo evaluated >&2)]'"], capture_output=True, text=True, check=False
    )
    assert "evaluated" in ran.stderr
