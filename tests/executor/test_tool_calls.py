"""What the model is told about its calls."""

import asyncio
import logging
from pathlib import Path

import pytest

from harness.breakers.board import Board
from harness.clock import SystemClock
from harness.conversation import Conversation, ignore
from harness.events import CutCall, ToolCall
from harness.executor.asker import Nobody
from harness.executor.dispatching import Dispatching
from harness.executor.labels import Labels
from harness.executor.tool_calls import ToolCalls
from harness.permissions import Mode, Permissions
from harness.processes import Processes
from harness.tools.tool import Effect, tool
from harness.tools.toolbox import Toolbox
from tests.executor.hookless import without_hooks

pytestmark = pytest.mark.anyio


@tool(effect=Effect.READ)
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello, {name}."


async def test_a_call_that_ran_keeps_its_result_beside_a_cut_one_of_the_same_id(tmp_path: Path) -> None:
    conversation, clock = Conversation(ignore), SystemClock()
    calls = ToolCalls(
        Toolbox([greet]),
        Permissions(Mode.ASK),
        Nobody(),
        conversation,
        Dispatching(Board(["greet"]), conversation, clock),
        Labels(strict=False),
        without_hooks(conversation, tmp_path),
        clock,
        workspace=tmp_path,
        outputs=tmp_path / "outputs",
        processes=Processes(),
        timeout_s=120.0,
        count_errors=False,
        log=logging.getLogger("test"),
    )
    cut = CutCall("call_1", "greet", "its id was already used by another call of the same reply")
    results = await calls.answer([ToolCall("call_1", "greet", {"name": "Ada"})], [cut], asyncio.Event())
    ran, refused = results.blocks
    assert (ran["content"], ran.get("is_error")) == ("Hello, Ada.", None)
    assert refused["content"].startswith("Not run")
    assert refused["is_error"]
