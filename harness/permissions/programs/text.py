"""Programs that read and search text: cat, grep, sort and their like."""

from collections.abc import Mapping
from types import MappingProxyType

from harness.permissions.programs.grammar import Program

PROGRAMS: Mapping[str, Program] = MappingProxyType({})
