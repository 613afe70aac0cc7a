"""The scenarios: ten true loops and nine pieces of legitimate work, with what a prototype measured."""

from tests.policies.loops.streams import Made, Scenario, Step, again, each, fail, one_by_one, read


def _cycle(period: int, steps: int) -> tuple[Step, ...]:
    return one_by_one(read(f"f_{step % period}", f"c_{step % period}") for step in range(steps))


def _edit(number: int) -> Made:
    return Made("edit", f"e_{number}", "done", mutates=True)


_SAME = read("f", "c")
LOOPS = (
    Scenario("T1", "the same call with the same result", again(60, _SAME), 4),
    Scenario("T2", "two calls in turn", _cycle(2, 60), 6),
    Scenario("T3", "a cycle of three", _cycle(3, 60), 9),
    Scenario("T4", "a cycle of seven", _cycle(7, 90), 21),
    Scenario("T5", "a cycle of twelve", _cycle(12, 120), 36),
    Scenario("T6", "any search is refused", each(60, lambda i: [fail("search", f"q_{i}", "401")]), 4),
    Scenario("T7", "as T1; the thought that changes is no part of a call", again(60, _SAME), 4),
    Scenario(
        *("T8", "the result has an id and a time in it"),
        each(60, lambda i: [Made("show", "x", f"request {i:04x}a9 at 12:{i % 60:02}:07: done")]),
        latest=4,
    ),
    Scenario(
        *("T9", "one search between reads that are new"),
        each(30, lambda i: [Made("grep", "x", "none"), read(f"f_{i}", f"c_{i}")]),
        latest=24,
        weak=True,
    ),
    Scenario("T10", "the same call fails in the same way", again(60, fail("read", "gone", "ENOENT")), 3),
)
"""With the step by which the prototype found each."""

WORK = (
    Scenario("L1", "pages of a list", each(20, lambda i: [Made("list", f"cursor_{i}", f"page_{i}")])),
    Scenario("L2", "a status that rises", each(30, lambda i: [Made("status", "job", f"{i} %")])),
    Scenario(
        *("L3", "a declared poll"),
        again(10, Made("status", "job", "running", poll=True)) + one_by_one([Made("status", "job", "done", poll=True)]),
    ),
    Scenario(
        *("L4", "edits that help"),
        each(10, lambda i: [_edit(i), fail("pytest", "", f"{10 - i} failed")]),
    ),
    Scenario("L5", "edits that do not help yet", each(8, lambda i: [_edit(i), fail("pytest", "", "1 failed")])),
    Scenario("L6", "output in pieces", each(50, lambda i: [Made("read_output", "s", f"chunk_{i}")])),
    Scenario(
        *("L7", "the same three things for many files"),
        each(10, lambda i: [Made("grep", f"f_{i}", f"m_{i}"), Made("mv", f"f_{i}", "", mutates=True), _edit(i)]),
    ),
    Scenario(
        *("L8", "two checks after each edit"),
        each(8, lambda i: [_edit(i), Made("git status", "", f"M f_{i}"), Made("lint", "", "clean")]),
    ),
    Scenario("L9", "three reads before an edit", (*again(3, _SAME), (_edit(1),))),
)
