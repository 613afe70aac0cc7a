"""What a command line would run, read without running it.

The reading is strict: what it does not know for certain it refuses, with `Unreadable`, and a person is asked.
A parser for bash from elsewhere was weighed and left: bashlex is under a licence that this program cannot carry and
knows neither `[[` nor arithmetic; tree-sitter-bash weighs 3.6 MB and mends what it cannot read instead of refusing.
"""

from harness.permissions.shell.parser import read_line
from harness.permissions.shell.words import Assignment, Redirect, Simple, Unreadable, Word, WordKind

__all__ = ["Assignment", "Redirect", "Simple", "Unreadable", "Word", "WordKind", "read_line"]
