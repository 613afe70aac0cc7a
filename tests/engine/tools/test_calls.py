"""What the model is told about its calls."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest

from harness.engine.permissions.session_rules import SessionRules
from harness.events import CutCall, ToolCall
from harness.permissions import Allow, Deny, Mode, PermissionAnswer, PermissionRequest, Permissions
from harness.processes.sandbox import landlock_version
from harness.tools.bash import bash_tool
from harness.tools.tool import Effect, tool
from harness.tools.toolbox import Toolbox
from tests.engine.cores import core_in
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


@dataclass(frozen=True)
class Rules:
    """Rules that no user sees."""

    permissions: Permissions

    def remember(self, request: PermissionRequest, answer: PermissionAnswer) -> Allow | Deny:
        """Nothing is asked."""
        return self.permissions.remember(request, answer)


async def test_a_call_that_ran_keeps_its_result_beside_a_cut_one_of_the_same_id(tmp_path: Path) -> None:
    calls, _ = tool_calls(core_in(tmp_path, permission_mode="ask"), Toolbox([greet]))
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
    core = core_in(tmp_path)
    rules = cast("SessionRules", Rules(Unasked(only_looks=only_looks)))
    calls, _ = tool_calls(replace(core, shared=replace(core.shared, rules=rules)), Toolbox([bash_tool()]))
    try:
        await calls.answer([ToolCall("call_1", "bash", {"command": "touch new"})], [], asyncio.Event())
    finally:
        await core.shared.processes.aclose()
    assert (core.settings.workspace / "new").exists() is not only_looks
