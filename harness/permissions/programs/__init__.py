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
from harness.permissions.programs.grammar import Parsed, Program, Role, Use, parse
from harness.permissions.shell.words import Simple

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


def looks(simple: Simple, *, limited: bool = False) -> bool:
    """A command does nothing but look, and ends by itself or, where it is `limited`, by something else.

    Which paths it may read is decided elsewhere.
    """
    program = PROGRAMS.get(simple.program or "")
    parsed = None if program is None else parse(program, simple.words[1:])
    return parsed is not None and parsed.looks and (limited or parsed.ends)


__all__ = ["PROGRAMS", "Parsed", "Program", "Role", "Use", "looks", "parse"]
