"""Programs that change files, pack them or send them elsewhere: roles of their words, for rules."""

from collections.abc import Mapping
from types import MappingProxyType

from harness.permissions.programs.grammar import Program

PROGRAMS: Mapping[str, Program] = MappingProxyType({})
