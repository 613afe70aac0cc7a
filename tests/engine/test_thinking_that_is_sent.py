"""Thinking of another model is left out of requests; that of the present one stays in."""

import json
from pathlib import Path

import pytest

from harness.events import Message
from tests.agent.stage import run, says, stage

pytestmark = pytest.mark.anyio


def person(words: str) -> Message:
    return Message("user", ({"type": "text", "text": words},))


async def test_neighbours_that_are_joined_for_sending_do_not_move_the_border(tmp_path: Path) -> None:
    before = [person(f"interrupted {number}") for number in range(4)]
    script = f'\n[[reply]]\nthinking = "of the present"\ntools = [{run("one")}]\n' + says("Done.")
    async with stage(tmp_path, "[server]\nbind_thinking = true\n" + script, messages=before) as here:
        await here.turn()
        assert ["of the present" in json.dumps(body) for body in here.bodies] == [False, True]
