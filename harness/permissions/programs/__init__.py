"""What programs do with their words, as tables."""

from collections.abc import Mapping
from types import MappingProxyType

from harness.permissions.programs import builtins, development, expressions, files, git, text
from harness.permissions.programs.grammar import Parsed, Program, Role, Use, parse

PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        **builtins.PROGRAMS,
        **development.PROGRAMS,
        **expressions.PROGRAMS,
        **files.PROGRAMS,
        **git.PROGRAMS,
        **text.PROGRAMS,
    }
)
"""Every program whose words are known, by its bare name."""

__all__ = ["PROGRAMS", "Parsed", "Program", "Role", "Use", "parse"]
