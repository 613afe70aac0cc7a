"""Which tools a pattern means."""

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.hooks.definition import matches


@pytest.mark.parametrize(
    ("pattern", "tool", "meant"),
    [
        ("", "bash", True),
        ("  ", "bash", True),
        ("bash", "bash", True),
        ("bash", "Bash", False),
        ("bash", "bash2", False),
        ("write_file|edit_file", "edit_file", True),
        ("write_file | edit_file", "edit_file", True),
        ("mcp__*", "mcp__docs__search", True),
        ("*_file", "read_file", True),
        ("read.file", "read_file", False),
        ("b[a]sh", "bash", False),
        ("bash|", "grep", False),
    ],
)
def test_a_pattern_means_these_tools(pattern: str, tool: str, meant: bool) -> None:
    assert matches(pattern, tool) is meant


@given(st.text("ab*|", min_size=1), st.text("ab", min_size=1))
def test_it_agrees_with_the_patterns_of_a_shell(pattern: str, tool: str) -> None:
    assert matches(pattern, tool) is any(fnmatchcase(tool, part) for part in pattern.split("|"))
