"""What programs do with their words, as tables."""

from collections.abc import Mapping
from types import MappingProxyType

from harness.permissions.programs import (
    archives,
    awk,
    builtins,
    development,
    files,
    find,
    git,
    jq,
    network,
    sed,
    system,
    text,
)
from harness.permissions.programs.grammar import ParsedCommand, Program, WordRole, WordUse, parse
from harness.permissions.shell.syntax import SimpleCommand

PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        **archives.PROGRAMS,
        **awk.PROGRAMS,
        **builtins.PROGRAMS,
        **development.PROGRAMS,
        **files.PROGRAMS,
        **find.PROGRAMS,
        **git.PROGRAMS,
        **jq.PROGRAMS,
        **network.PROGRAMS,
        **sed.PROGRAMS,
        **system.PROGRAMS,
        **text.PROGRAMS,
    }
)
"""Every program whose words are known, by its bare name."""


def looks(simple: SimpleCommand, *, limited: bool = False) -> bool:
    """A command is read-only and terminates, or is terminated by a wrapper if `limited`.

    Which paths it may read is decided elsewhere.
    """
    program = PROGRAMS.get(simple.program or "")
    parsed = None if program is None else parse(program, simple.words[1:])
    return parsed is not None and parsed.looks and (limited or parsed.ends)


__all__ = ["PROGRAMS", "ParsedCommand", "Program", "WordRole", "WordUse", "looks", "parse"]
