"""The prices of s10 show what its text says about breakpoints."""

import re

from chapters.s10_system_prompt.drawings import costs


def test_a_breakpoint_behind_a_clock_costs_more_than_none() -> None:
    none, same, clock = (float(dollars) for dollars in re.findall(r"\$(\d+\.\d+)", costs()))
    assert same < none < clock
