"""The kinds of command lines: the cases of `command_kinds.toml`."""

import tomllib
from pathlib import Path

from harness.engine.loops.command_kinds import kind_of
from harness.policies.loops.observations import CallKind

KINDS = tomllib.loads(Path(__file__).with_name("command_kinds.toml").read_text("utf-8"))


def test_the_kind_of_a_line() -> None:
    found = {kind: [(line, kind_of(line)) for line in lines] for kind, lines in KINDS.items()}
    assert found == {kind: [(line, CallKind(kind)) for line in lines] for kind, lines in KINDS.items()}
