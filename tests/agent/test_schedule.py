"""The tools with which a model schedules prompts, in whole sessions."""

from pathlib import Path

import pytest

from harness.events import JobChanged
from tests.agent.stage import calls, played, says, sessions

pytestmark = pytest.mark.anyio

SOON = '{ name = "schedule_create", input = { when = "in 3 minutes", prompt = "Look at the log." } }'
NEVER = '{ name = "schedule_create", input = { when = "0 0 31 2 *", prompt = "Look at the log." } }'
LIST, DELETE = '{ name = "schedule_list", input = {} }', '{ name = "schedule_delete", input = { id = "c1" } }'


async def test_the_model_schedules_lists_and_deletes(tmp_path: Path) -> None:
    script = calls(SOON) + calls(LIST, NEVER) + calls(DELETE) + says("Done.")
    async with sessions(tmp_path, script, schedule_tools=True) as here, await here.open() as session:
        turn = await played(session.run("Remind yourself."))
        made, listed, refused, deleted = [str(result["content"]) for result in turn.results]
        assert made.startswith("c1 fires ")
        assert "It ends with this session." in made
        assert "It is " in made  # the time now
        assert "Look at the log." in listed
        assert "never fires" in refused
        assert deleted == "c1 is deleted."
        assert [event.what for event in turn.of(JobChanged)] == ["created", "deleted"]


async def test_where_the_schedule_is_off_the_model_has_no_tools_for_it(tmp_path: Path) -> None:
    async with (
        sessions(tmp_path, says("Hello."), schedule=False, schedule_tools=True) as here,
        await here.open() as session,
    ):
        assert [tool.name for tool in session.tools if tool.name.startswith("schedule_")] == []
