"""Package managers, compilers, containers, forges: the few forms that only look, and the roles of the rest."""

from collections.abc import Mapping
from types import MappingProxyType

from harness.permissions.programs.grammar import Program

PROGRAMS: Mapping[str, Program] = MappingProxyType({})
