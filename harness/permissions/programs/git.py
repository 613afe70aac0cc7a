"""git: the subcommands that only look, and the roles of the words of the others."""

from collections.abc import Mapping
from types import MappingProxyType

from harness.permissions.programs.grammar import Program

PROGRAMS: Mapping[str, Program] = MappingProxyType({})
