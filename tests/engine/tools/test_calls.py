"""What the model is told about its calls."""

import asyncio
from pathlib import Path

import pytest

from harness.engine.conversation import Conversation, ignore
from harness.events import CutCall, ToolCall
from harness.permissions import Allow, Mode, PermissionRequest, Permissions
from harness.processes import Processes
from harness.processes.sandbox import landlock_version
from harness.tools.bash import bash_tool
from harness.tools.tool import Effect, tool
from harness.tools.toolbox import Toolbox
from tests.engine.hookless import tool_calls

pytestmark = pytest.mark.anyio


@tool(effect=Effect.READ)
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello, {name}."


class Unasked(Permissions):
    """Every call runs without a question."""

    def __init__(self, *, only_looks: bool) -> None:
        super().__init__(Mode.ASK)
        self.only_looks = only_looks

    def decide(self, request: PermissionRequest) -> Allow:
        return Allow("as the test wants it", only_looks=self.only_looks)


async def test_a_call_that_ran_keeps_its_result_beside_a_cut_one_of_the_same_id(tmp_path: Path) -> None:
    calls, _ = tool_calls(Toolbox([greet]), Permissions(Mode.ASK), Conversation(ignore), tmp_path, Processes())
    cut = CutCall("call_1", "greet", "its id was already used by another call of the same reply")
    results = await calls.answer([ToolCall("call_1", "greet", {"name": "Ada"})], [cut], asyncio.Event())
    ran, refused = results.blocks
    assert (ran["content"], ran.get("is_error")) == ("Hello, Ada.", None)
    assert refused["content"].startswith("Not run")
    assert refused["is_error"]


@pytest.mark.skipif(not landlock_version(), reason="the kernel does not offer Landlock")
@pytest.mark.parametrize("only_looks", [True, False])
async def test_a_call_is_held_to_looking_only_where_that_is_why_nobody_was_asked(
    only_looks: bool, tmp_path: Path
) -> None:
    processes = Processes()
    permissions = Unasked(only_looks=only_looks)
    calls, _ = tool_calls(Toolbox([bash_tool()]), permissions, Conversation(ignore), tmp_path, processes)
    try:
        await calls.answer([ToolCall("call_1", "bash", {"command": "touch new"})], [], asyncio.Event())
    finally:
        await processes.aclose()
    assert (tmp_path / "new").exists() is not only_looks
