"""Members: started, idle, woken by mail, paused, ended; what they say is delivered once, and by whom it was said."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from harness.engine.team.team import Team
from harness.events import (
    Address,
    AgentCreated,
    Json,
    MailDelivered,
    MemberState,
)
from tests.agent.stage import PassingClock, Stage, calls, says, stage

pytestmark = pytest.mark.anyio

MEMBERS = '{ lacks = "agent" }'


def start(name: str, task: str = "Look.", **more: str) -> str:
    """A call of team_start, for a script."""
    extra = "".join(f', {key} = "{value}"' for key, value in more.items())
    return f'{{ name = "team_start", input = {{ name = "{name}", description = "look", task = "{task}"{extra} }} }}'


def message(to: str, text: str, *, note: bool = False) -> str:
    """A call of message."""
    return f'{{ name = "message", input = {{ to = ["{to}"], text = "{text}", note = {str(note).lower()} }} }}'


def of_member(entry: str, text: str = "") -> str:
    """An entry of a script for members alone, whose last message has this text."""
    wanted = f'text = "{text}", ' if text else ""
    return entry.rstrip() + f'\nwhen = {{ {wanted}lacks = "agent" }}\n'


def on_stage(folder: Path, script: str, **more: Any) -> AbstractAsyncContextManager[Stage]:
    """A stage with a team on which time passes."""
    return stage(folder, script, clock=PassingClock(), team=True, **more)


def team_of(here: Stage) -> Team:
    background = here.agent.parts.background
    assert background is not None
    return background.team


async def until(here: Stage, holds: Callable[[], bool]) -> None:
    """Wait for what members do."""
    background, changed = here.agent.parts.background, asyncio.Event()
    assert background is not None
    background.inbox.notify(changed.set)
    here.agent.conversation.subscribe(lambda event: changed.set())
    async with asyncio.timeout(60):
        while not holds():
            changed.clear()
            await changed.wait()


async def at_rest(here: Stage) -> None:
    """Wait until no member works."""
    background = here.agent.parts.background
    assert background is not None
    await until(here, lambda: not background.subagents.running)


def texts(body: Json) -> list[str]:
    """The texts of the last message of a request."""
    return [block.get("text", "") for block in body["messages"][-1]["content"]]


def told(here: Stage, kind: type[Any]) -> list[Any]:
    return [event for event in here.recorded if isinstance(event, kind)]


async def test_a_member_answers_by_mail_and_goes_on_where_it_was(tmp_path: Path) -> None:
    script = calls(start("ann", "Count the files.", role="counter")) + says("Started.")
    script += of_member(says("There are three."), "Count the files.")
    async with on_stage(
        tmp_path,
        script
        + says("Three, then.")
        + calls(message("ann", "And the folders?"))
        + says("Asked.")
        + of_member(says("Two folders."), "And the folders?")
        + says("Two."),
    ) as here:
        turn = await here.turn("How many files?")
        assert "ann (a1) has its task" in turn.results[0]["content"]
        await at_rest(here)
        (row,) = team_of(here).rows
        assert (row.name, row.state, row.role) == ("ann", MemberState.IDLE, "counter")
        assert row.why == "done; no report, so its last words went to lead"
        again = await here._taken(here.agent.deliver())
        mail = texts(here.bodies[-1])[0]
        assert '<mail id="1" kind="last_words" from="ann">\nThere are three.\n</mail>' in mail
        assert again.end.answer == "Three, then."
        turn = await here.turn("ask ann")
        await at_rest(here)
        asked = next(
            body
            for body in here.bodies
            if "And the folders?" in str(body["messages"][-1])
            and "agent" not in {tool["name"] for tool in body["tools"]}
        )
        assert [one["role"] for one in asked["messages"]] == ["user", "assistant", "user"]
        assert "You are ann, a member of a team: counter." in str(asked["system"])
        (delivered,) = told(here, MailDelivered)
        assert delivered.member == Address("ann", 1)
        assert [one.again for one in told(here, AgentCreated)] == [False, True]
