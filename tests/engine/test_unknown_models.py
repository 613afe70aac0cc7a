"""The server is asked about a model that the table does not know, and about no other."""

import asyncio
from pathlib import Path

import pytest

from tests.agent.stage import Stage, run, says, stage

pytestmark = pytest.mark.anyio

NEWCOMER = '[server]\nmodels = ["newcomer"]\nwindow = 50000\n'


def looked_up(here: Stage) -> int:
    return sum(request.path == "/v1/models" for request in here.server.requests)


async def test_the_limits_of_an_unknown_model_come_from_the_server_once(tmp_path: Path) -> None:
    script = NEWCOMER + f"\n[[reply]]\ntools = [{run('one')}]\n" + says("One.") + says("Two.")
    async with stage(tmp_path, script, model="newcomer") as here:
        assert here.agent.parts.context.size[1] == 200_000
        await here.turn()
        async with asyncio.timeout(5):
            while here.agent.parts.context.size[1] != 50_000:  # noqa: ASYNC110  no event tells: nothing was decided
                await asyncio.sleep(0.01)
        await here.turn()
        assert looked_up(here) == 1


async def test_a_known_model_is_not_looked_up(tmp_path: Path) -> None:
    async with stage(tmp_path, says("One.") + says("Two.")) as here:
        await here.turn()
        await here.turn()
        assert looked_up(here) == 0
