"""A strict parser for command lines: it raises `Unreadable` for everything it does not know for certain.

Existing bash parsers do not fit: bashlex has an incompatible licence and supports neither `[[` nor arithmetic;
tree-sitter-bash is 3.6 MB and repairs unreadable input instead of refusing it.
"""

from harness.permissions.shell.parser import read_line
from harness.permissions.shell.syntax import Assignment, Redirect, SimpleCommand, Unreadable, Word, WordKind

__all__ = ["Assignment", "Redirect", "SimpleCommand", "Unreadable", "Word", "WordKind", "read_line"]
