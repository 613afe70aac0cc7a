"""Time limits of the tests themselves: they guard against hanging, on a machine that does much else beside them."""

import ast
from pathlib import Path

LEAST_S = 30.0
"""A shorter one fails now and then although nothing hangs; up to a second the time itself is the subject."""
WAITS = {"timeout", "fail_after", "wait_for", "run", "communicate"}
"""Functions that give up after a time: `asyncio.timeout`, `pytest.mark.timeout`, `subprocess.run`, …"""


def limits(file: Path) -> list[str]:
    """The places where a function is called with a short limit."""
    return [
        f"{file}:{call.lineno}: {ast.unparse(call)}"
        for call in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in WAITS
        for limit in (*call.args, *(one.value for one in call.keywords if one.arg in (None, "timeout")))
        if isinstance(limit, ast.Constant) and isinstance(limit.value, int | float) and 1 < limit.value < LEAST_S
    ]


def test_a_guard_against_hanging_leaves_time_to_a_busy_machine() -> None:
    assert [place for file in sorted(Path(__file__).parent.rglob("*.py")) for place in limits(file)] == []
