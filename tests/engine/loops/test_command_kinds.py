"""The kinds of command lines: the cases of `command_kinds.toml`."""

import tomllib
from pathlib import Path

import pytest

from harness.engine.loops.command_kinds import changes_nothing, kind_of
from harness.policies.loops.observations import CallKind

KINDS = tomllib.loads(Path(__file__).with_name("command_kinds.toml").read_text("utf-8"))


def test_the_kind_of_a_line() -> None:
    found = {kind: [(line, kind_of(line)) for line in lines] for kind, lines in KINDS.items()}
    assert found == {kind: [(line, CallKind(kind)) for line in lines] for kind, lines in KINDS.items()}


@pytest.mark.parametrize(
    ("line", "nothing"),
    [
        *(("echo hi", True), ("git status", True), ("pytest -q tests", True), ("cd src && npm run test", True)),
        *(("PYTHONPATH=src python3 -m pytest 2>&1 | tail -5", True), ("make check lint", True), ("cargo test", True)),
        *(("make test install", False), ("make", False), ("pytest > log", False), ("ruff check --fix .", False)),
        *(("ruff format", False), ("npm install", False), ("ls; rm x", False), ("python3 x.py", False)),
        *(("git commit -m x", False), ("cat 'unfinished", False), ("", True), ("python3 -m", False)),
    ],
)
def test_a_line_that_only_looks_or_checks_changes_nothing(line: str, nothing: bool) -> None:
    assert changes_nothing(line) is nothing
