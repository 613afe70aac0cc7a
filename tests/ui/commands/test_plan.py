"""/checklist, /plan, and the words about a checklist that a screen has room for, in front of real sessions."""

from pathlib import Path

import pytest

from harness.engine.permissions.asker import NoAsker
from harness.events import ItemStatus, PlanChanged, PlanItem, TurnStarted
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import open_session
from harness.ui.app.activity import status_of
from harness.ui.commands.commands import run_command, works_any_time
from harness.ui.commands.results import ShowText
from harness.ui.panel.fold import PanelFold
from harness.ui.panel.state import Panel
from tests.agent.stage import calls, played, says, settings_of
from tests.ui.panel.drawn import panel_content

pytestmark = pytest.mark.anyio

ITEMS = """[
    { text = "read the notes", status = "done" },
    { text = "write the letter \\u001b[31mto all", status = "in_progress", tools = ["bash"] },
    { text = "send it", status = "pending" },
]"""
PLAN = (PlanItem("read", ItemStatus.DONE), PlanItem("write", ItemStatus.IN_PROGRESS), PlanItem("send"))
FINISHED = tuple(PlanItem(item.text, ItemStatus.DONE) for item in PLAN)


def panel(*events: PlanChanged | TurnStarted) -> Panel:
    """The panel after these events."""
    fold = PanelFold()
    for event in events:
        fold.on_event(event, 1.0)
    return fold.now


def drawn(panel: Panel) -> str:
    return panel_content(panel, 60, 40, 1.0).plain


async def test_it_shows_the_whole_plan_at_any_time(tmp_path: Path) -> None:
    script = calls(f'{{ name = "todo_write", input = {{ items = {" ".join(ITEMS.split())} }} }}') + says("Later.")
    async with (
        PracticeServer(script=Script.parse(script)) as server,
        await open_session(settings_of(tmp_path, server.base_url), NoAsker()) as session,
    ):
        assert run_command("/checklist", session) == ShowText(
            "There is no checklist. The model writes one with todo_write when work has several parts."
        )
        await played(session.run("Write to them."))
        said = run_command("/todos", session)
        assert isinstance(said, ShowText)
        assert said.text.splitlines() == [
            "  [x] read the notes",
            "  [▸] write the letter \\x1b[31mto all (needs bash)",
            "  [ ] send it",
            "1 of 3 done",
        ]
        assert works_any_time("/checklist")


async def test_the_status_line_names_an_open_plan_last_and_a_finished_one_not(tmp_path: Path) -> None:
    async with await open_session(settings_of(tmp_path, "http://127.0.0.1:9"), NoAsker(), warm=False) as session:

        def facts(*events: PlanChanged | TurnStarted) -> tuple[str, ...]:
            told = status_of(session, panel(*events), running=True, past=False, warning="")
            return told.facts[2:]

        assert facts() == facts(PlanChanged(FINISHED)) == facts(PlanChanged(()))
        assert facts(PlanChanged(PLAN))[-2:] == ("todo 1 of 3", "write")
        assert facts(PlanChanged(PLAN[2:]))[-1] == "todo 0 of 1"
        long = (PlanItem("x\n" * 100, ItemStatus.IN_PROGRESS),)
        assert facts(PlanChanged(long))[-1] == "x " * 19 + "x…"


def test_an_open_plan_stays_on_the_panel_with_the_next_prompt_and_a_finished_one_goes() -> None:
    assert "1 of 3 done" in drawn(panel(PlanChanged(PLAN), TurnStarted(2, "Something else.")))
    assert "write" in drawn(panel(PlanChanged(PLAN), TurnStarted(2, "Something else.")))
    assert "3 of 3 done" in drawn(panel(PlanChanged(FINISHED)))
    assert "done" not in drawn(panel(PlanChanged(FINISHED), TurnStarted(2, "Something else.")))


async def test_plan_mode_is_entered_and_left_by_command_and_gives_the_mode_of_before_back(tmp_path: Path) -> None:
    values = settings_of(tmp_path, "http://127.0.0.1:9", permission_mode="edits")
    async with await open_session(values, NoAsker(), warm=False) as session:
        rules = session.permissions
        for line, mode in (("/plan", "plan"), ("/plan", "plan"), ("/plan off", "edits"), ("/plan off", "edits")):
            run_command(line, session)
            assert rules.mode == mode
        run_command("/mode plan", session)
        run_command("/mode ask", session)
        assert (rules.mode, works_any_time("/plan")) == ("ask", True)
