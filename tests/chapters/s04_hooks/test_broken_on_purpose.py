"""What the text of s04 says that hooks see of a tool that broke."""

from types import FunctionType

import pytest

from chapters.s04_hooks.demo import Unrun, no_force_push
from harness.events import HookOutcome, HookPoint, HookRan, ToolEnded, ToolOutcome
from harness.hooks import HookCall
from tests.chapters.live import live, typed

WRITTEN = HookCall(HookPoint.AFTER_TOOL, "/w", 1, tool="write_file", input={"path": "a.py"}, outcome="ok")
END = HookCall(HookPoint.STOP, "/w", 1)


def ran(command: str, outcome: str) -> HookCall:
    """A command that has ended."""
    return HookCall(HookPoint.AFTER_TOOL, "/w", 1, tool="bash", input={"command": command}, outcome=outcome)


@pytest.mark.parametrize(
    ("command", "outcome", "objects"),
    [
        ("python3 a.py", "ok", False),
        ("cd . && python3 ./a.py", "ok", False),
        ("python3 data.py", "ok", True),
        ("echo a.py", "ok", True),
        ("python3 a.py", "error", True),
        ("python3 a.py", "broken", True),
        ("ls", "ok", True),
    ],
)
def test_what_was_written_has_to_be_run_and_to_go_well(command: str, outcome: str, *, objects: bool) -> None:
    unrun = Unrun()
    unrun.note(WRITTEN)
    unrun.note(ran(command, outcome))
    assert (unrun.objection(END) is not None) is objects


@pytest.mark.parametrize(
    ("command", "blocks"),
    [
        ("git push --force", True),
        ("git push origin main -f", True),
        ("make && git  push --force-with-lease", True),
        ("sh -c 'git push --force'", True),
        ("git push", False),
        ("git commit -m 'about push --force'", False),
        ("grep -f words.txt push", False),
    ],
)
def test_the_guard_reads_the_command_line(command: str, *, blocks: bool) -> None:
    asked = HookCall(HookPoint.BEFORE_TOOL, "/w", 1, tool="bash", input={"command": command})
    assert isinstance(no_force_push.action, FunctionType)
    assert (no_force_push.action(asked) is not None) is blocks


@pytest.mark.stories
@pytest.mark.anyio
async def test_hooks_are_asked_about_a_tool_that_broke() -> None:
    async with live("s04") as take:
        take.break_tool("bash timeout")
        facts = await typed(take, "run python3 greet.py")
    [ended] = [fact for fact in facts if isinstance(fact, ToolEnded)]
    assert ended.outcome is ToolOutcome.BROKEN
    noted = [fact for fact in facts if isinstance(fact, HookRan) and fact.name == "note_unrun"]
    assert [fact.outcome for fact in noted] == [HookOutcome.PASSED]
