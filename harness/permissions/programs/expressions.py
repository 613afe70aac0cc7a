"""Programs whose words are a language of their own: sed, awk, jq, find, test, expr."""

from collections.abc import Mapping
from types import MappingProxyType

from harness.permissions.programs.grammar import Program

PROGRAMS: Mapping[str, Program] = MappingProxyType({})
