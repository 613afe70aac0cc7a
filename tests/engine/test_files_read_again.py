"""Behind a summary stand the files in use, read again by our own tool and by no other."""

from pathlib import Path

import pytest

from harness.events import Message
from harness.tools.tool import Effect, tool
from tests.agent.stage import says, stage, summarises, too_long

pytestmark = pytest.mark.anyio


async def test_a_tool_of_ones_own_that_is_called_read_file_is_not_run_behind_the_models_back(tmp_path: Path) -> None:
    ran = []

    @tool(effect=Effect.READ)
    def read_file(path: str, sheet: str) -> str:
        """Read a sheet of a file."""
        ran.append((path, sheet))
        return "1, 2, 3"

    call = {"type": "tool_use", "id": "call_1", "name": "read_file", "input": {"path": "a.ods", "sheet": "first"}}
    result = {"type": "tool_result", "tool_use_id": "call_1", "content": "1, 2, 3"}
    before = [
        Message("user", ({"type": "text", "text": "Read the first sheet."},)),
        Message("assistant", (call,)),
        Message("user", (result,)),
        Message("assistant", ({"type": "text", "text": "It holds three numbers. " * 200},)),
    ]
    script = too_long() + says("Done.") + summarises()
    async with stage(tmp_path, script, tools=[read_file], messages=before) as here:
        assert (await here.turn()).end.answer == "Done."
        assert ran == []
