"""The app with a real session before the practice server, where a terminal would not show what matters."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import OptionList

from harness.events import OutputDelta, ToolEnded, ToolOutcome, ToolStarted
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import Opening
from harness.ui.app.app import HarnessApp
from harness.ui.app.controller import Controller
from harness.ui.app.keys import KEYS, KeysScreen
from harness.ui.app.list_picker import Picker
from harness.ui.app.panel_view import SplitView
from harness.ui.app.question import OPEN, Question
from harness.ui.transcript.entries import NoteEntry, TextEntry
from tests.agent.stage import calls, fails, says, settings_of
from tests.engine.test_repository import git
from tests.processes.traces import until
from tests.ui.app.resting import timers_running
from tests.ui.app.screens import settled

pytestmark = pytest.mark.anyio
HOSTILE = "[bold]x[/bold] [/] [@click=app.exit]y[/]"
WITHIN_S = 60


@dataclass
class Here:
    """An app, and the one who presses its keys."""

    app: HarnessApp
    pilot: Pilot[int]

    @property
    def controller(self) -> Controller:
        assert isinstance(self.app.controller, Controller)
        return self.app.controller

    async def sees(self, text: str) -> list[str]:
        """Wait until a row of the screen has this text; the whole screen."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                seen = await settled(self.pilot)
                if any(text in row for row in seen):
                    return seen

    def shown_step(self) -> int | None:
        return self.controller.views.shown_step

    async def says(self, text: str) -> None:
        """Type a line and send it."""
        self.app.prompt.load(text)
        await self.pilot.press("enter")

    def shows(self, kind: type[Screen[Any]]) -> bool:
        """Whether a screen of this kind is on top."""
        return isinstance(self.app.screen, kind)

    async def rests(self) -> None:
        """Wait until no turn runs."""
        async with asyncio.timeout(WITHIN_S):
            while self.controller.running:
                await self.pilot.pause(0.02)


@asynccontextmanager
async def opened(
    folder: Path, script: str, *, size: tuple[int, int] = (110, 40), **values: object
) -> AsyncIterator[Here]:
    """The app before a server that plays `script`, or else answers by its rules."""
    played = Script.parse(f'after = "repeat"\n{script}') if script else None
    async with PracticeServer(script=played) as server:
        loaded = settings_of(folder, server.base_url, **values)

        async def begin(app: HarnessApp) -> Controller:
            controller = Controller(app, loaded, lambda: loaded.settings, logging.getLogger("tests.ui.app"))
            app.controller = controller
            await controller.start(Opening(), choose=False, text="")
            return controller

        app = HarnessApp(begin)
        async with app.run_test(size=size) as pilot:
            here = Here(app, pilot)
            await here.sees("keys")
            yield here
        await here.controller.aclose()


async def test_text_of_others_is_shown_as_it_is(tmp_path: Path) -> None:
    call = f'{{ name = "bash", input = {{ command = "echo \'{HOSTILE}\'" }} }}'
    async with opened(tmp_path, calls(call) + says(f"`{HOSTILE}` 天気予報 👩‍👩‍👧|")) as here:
        await here.says(f"say {HOSTILE}")
        seen = await here.sees("天気予報")
        assert any(f"say {HOSTILE}" in row for row in seen)
        assert len({cell_len(row.partition("│")[0]) for row in seen if "│" in row}) == 1, (
            "wide characters move the edge"
        )
        assert any("bash echo '[bold]x" in row for row in seen)
        await here.pilot.press("ctrl+o")
        seen = await settled(here.pilot)
        assert sum(HOSTILE in row for row in seen) >= 3, seen
        assert here.app.is_running


async def test_a_permission_is_asked_above_the_prompt_and_a_reason_reaches_the_model(tmp_path: Path) -> None:
    script = calls('{ name = "bash", input = { command = "touch made" } }') + says("As you wish.")
    async with opened(tmp_path, script, permission_mode="ask") as here:
        await here.says("make it")
        await here.sees(OPEN)
        await here.pilot.pause(0.6)
        assert timers_running(here.app) == []
        await here.pilot.press("n", *"not now", "enter")
        await here.sees("As you wish.")
        assert here.app.prompt.empty
        assert not here.app.query(Question)
        assert not (tmp_path / "workspace" / "made").exists()


async def test_a_turn_that_paused_continues_with_a_tool_reset(tmp_path: Path) -> None:
    search = calls('{ name = "grep", input = { pattern = "TODO" } }')
    async with opened(tmp_path, search * 4 + says("That is all."), failure_budget=3) as here:
        await here.says("/toolfault grep refused 3")
        await here.says("find it")
        await here.sees("Paused:")
        await here.sees(OPEN)
        await here.pilot.press("r")
        assert any("all work" in row for row in await here.sees("That is all."))


async def test_leaving_is_at_once_at_rest_and_else_ends_the_turn_first(tmp_path: Path) -> None:
    async with opened(tmp_path, "") as here:
        here.controller.leave(3)
        assert here.app.return_value == 3
    call = calls('{ name = "bash", input = { command = "touch began; sleep 30" } }')
    async with opened(tmp_path, call) as here:
        await here.says("wait")
        await until((tmp_path / "workspace" / "began").exists)
        here.controller.leave(4)
        assert here.app.return_value is None
        await until(lambda: here.app.return_value == 4)
        assert "interrupted" in str(here.controller.session.conversation.messages[-1])


@pytest.mark.parametrize(("key", "rule"), [("a", "bash(touch made)"), ("f", "bash(touch *)")])
async def test_a_rule_on_offer_is_kept(tmp_path: Path, key: str, rule: str) -> None:
    script = calls('{ name = "bash", input = { command = "touch made" } }') + says("Made.")
    async with opened(tmp_path, script, permission_mode="ask") as here:
        await here.says("make it")
        await here.sees("always in this folder: touch with any words after it")
        await here.sees(OPEN)
        await here.pilot.press(key)
        await here.sees("Made.")
        assert (tmp_path / "workspace" / "made").exists()
        assert [rule.text for rule in here.controller.session.permissions.rules] == [rule]


async def test_all_edits_from_now_on_covers_the_other_tool_and_shows_the_diff(tmp_path: Path) -> None:
    script = calls('{ name = "edit_file", input = { path = "a.py", old_string = "x = 1", new_string = "x = 2" } }')
    script += calls('{ name = "write_file", input = { path = "b.py", content = "y" } }') + says("Both.")
    async with opened(tmp_path, script, permission_mode="ask") as here:
        (tmp_path / "workspace" / "a.py").write_text("# first\nx = 1\n")
        await here.says("change them")
        for row in ("edit_file a.py", "2 - x = 1", "2 + x = 2", "e  yes, and all edits from now on", OPEN):
            await here.sees(row)
        await here.pilot.press("e")
        await here.sees("Both.")
        assert here.controller.session.permissions.mode == "edits"


async def test_the_key_for_the_mode_decides_the_open_question_but_not_while_a_reason_is_written(tmp_path: Path) -> None:
    script = calls('{ name = "write_file", input = { path = "b.py", content = "y" } }') + says("Done.")
    async with opened(tmp_path, script, permission_mode="ask") as here:
        await here.says("write it")
        await here.sees(OPEN)
        await here.pilot.press("n", "shift+tab")
        assert here.controller.session.permissions.mode == "ask"
        await here.pilot.press("escape", "shift+tab")
        await here.sees("Done.")
        assert not here.app.query(Question)
        assert (tmp_path / "workspace" / "b.py").read_text() == "y"


async def test_escape_while_a_permission_is_asked_stops_the_turn(tmp_path: Path) -> None:
    script = calls('{ name = "bash", input = { command = "touch made" } }') + says("Anew.")
    async with opened(tmp_path, script, permission_mode="ask") as here:
        await here.says("make it")
        await here.sees("yes, once")
        await here.pilot.press("escape")
        await here.rests()
        await settled(here.pilot)
        assert not here.app.query(Question)
        await here.says("and now?")
        await here.sees("Anew.")


async def test_alt_r_ends_the_wait_for_a_retry(tmp_path: Path) -> None:
    script = fails(529, headers='{ retry-after = "50" }', times="1") + says("There it is.")
    async with opened(tmp_path, script) as here:
        await here.says("go")
        await here.sees("next try in")
        assert len(timers_running(here.app)) <= 2
        await here.pilot.press("alt+r")
        await here.sees("There it is.")


async def test_running_commands_share_a_third_of_the_screen(tmp_path: Path) -> None:
    async with opened(tmp_path, says("x"), size=(110, 40)) as here:
        see = here.controller.views.see
        for id in ("c1", "c2"):
            see(ToolStarted(id, "bash", f"make {id}", {}), 1.0)
            see(OutputDelta(id, tuple(f"{id} line {number}" for number in range(40))), 1.5)
            rows = await here.sees(f"{id} line 39")
            assert len(rows_with(rows, f"{id} line")) == (40 // 3 if id == "c1" else 40 // 3 // 2)
        see(OutputDelta("c1", ("c1 line 40",)), 2.0)
        rows = await here.sees("c1 line 40")
        assert [len(rows_with(rows, f"{id} line")) for id in ("c1", "c2")] == [6, 6]
        see(ToolEnded("c1", "bash", ToolOutcome.OK, "exit 0", 1.0, "c1 line 0\n" * 41), 2.5)
        rows = await here.sees("38 more lines")
        assert len(rows_with(rows, "c1 line")) == 3, "folded at its end"


def rows_with(rows: list[str], text: str) -> list[str]:
    return [row for row in rows if text in row]


async def test_the_status_line_names_a_key_for_the_list_of_keys_that_works_now(tmp_path: Path) -> None:
    stalled = '[[reply]]\ntext = "It begins."\nchunk = 5\nfault = { kind = "stall", at = 5 }\n'
    async with opened(tmp_path, stalled) as here:
        assert any("? keys" in row for row in await settled(here.pilot))
        await here.says("first")
        await here.sees("F1 keys")
        await here.pilot.press("f1")
        assert here.shows(KeysScreen)
        await here.pilot.press("escape", "escape")
        await here.rests()
        await here.sees("? keys")


@pytest.mark.grid(1)
@pytest.mark.parametrize("size", [(110, 34), (60, 20)])
async def test_the_help_is_shown_from_its_top_until_something_else_is_asked(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with opened(tmp_path, says("Forty-two."), size=size) as here:
        await here.says("go")
        await here.sees("Forty-two.")
        await here.rests()
        await here.says("/help")
        seen = await here.sees("/clear")
        assert seen[0].split()[0] == "Conversation"
        assert any("/compact" in row for row in seen)
        await here.says("and now?")
        await here.rests()
        seen = await here.sees("Forty-two.")
        assert not any("/compact" in row for row in seen)
        await here.says("/help /compact")
        await here.sees("/compact [focus]")


async def test_on_a_small_screen_a_question_takes_the_place_of_the_panel(tmp_path: Path) -> None:
    edits = '{ name = "write_file", input = { path = "a.txt", content = "new\\n" } }'
    async with opened(tmp_path, calls(edits) + says("Done."), size=(80, 24), permission_mode="ask") as here:
        await here.says("change it")
        await here.sees("↑↓ Enter, or a letter")
        assert not here.app.split_view.panel.display
        await here.pilot.press("y")
        await here.sees("Done.")
        assert here.app.split_view.panel.display


async def test_a_mark_says_that_there_is_more_below_and_leads_there(tmp_path: Path) -> None:
    async with opened(tmp_path, says("An answer.")) as here:
        await here.says("!seq 10")
        await here.says("/help")
        seen = await here.sees("↓ more below")
        row = next(number for number, row in enumerate(seen) if "↓ more below" in row)
        assert row == here.app.split_view.chat.region.bottom - 1
        await here.pilot.press("f2")  # the conversation is wider, and the mark still in its corner
        seen = await here.sees("↓ more below")
        assert not here.app.split_view.panel.display
        await here.pilot.click(offset=(seen[row].index("more below"), row))
        await here.sees("list the keys")
        assert not any("↓ more below" in row for row in await settled(here.pilot))
        await here.pilot.press("pageup")
        await here.sees("↓ more below")
        assert here.app.controller is not None
        for text in ("first", "second"):
            here.app.controller.views.show(text)
        await here.sees("↓ 2 new below · Ctrl+End")
        await here.pilot.press("ctrl+end")
        await here.pilot.pause()
        assert not here.app.split_view.chat.more_below


async def test_model_and_effort_are_chosen_from_lists(tmp_path: Path) -> None:
    async with opened(tmp_path, says("An answer."), model="claude-opus-5-5", fallback_models=["local/other"]) as here:
        await here.says("/model")
        seen = await here.sees("Choose a model")
        assert any("claude-opus-5-5" in row and "1,000,000 tokens  $4 in, $20 out per million" in row for row in seen)
        await here.pilot.press("down", "enter")
        await here.sees("model: local/other, from the next prompt on")
        await here.says("/model")
        await here.sees("Choose a model")
        await here.pilot.press("escape")
        await here.says("/model claude-opus-5-5")
        await here.sees("model: claude-opus-5-5, from")
        await here.says("/effort")
        await here.sees("what the model does by itself")
        await here.pilot.press("up", "enter")  # the present one is selected
        await here.sees("effort: max, from the next prompt on")
        await here.says("/model claude-haiku-4-5")
        await here.says("/effort")
        await here.sees("claude-haiku-4-5 supports no effort levels.")


async def test_a_conversation_with_the_keys_lists_and_pages_that_come_between(tmp_path: Path) -> None:
    async with opened(tmp_path, says("One.", times="1") + says("Forty-two.")) as here:
        await here.says("/copy")
        await here.sees("There is no answer to copy yet.")
        for prompt, answer in (("first", "One."), (f"/etc/hosts {HOSTILE}", "Forty-two.")):
            await here.says(prompt)
            await here.sees(f"▌ {prompt}")
            await here.sees(answer)
            await here.rests()
        await here.says("/copy")
        await here.sees("sent 10 characters to the terminal")
        assert here.app.clipboard == "Forty-two."

        await here.pilot.press("left")
        assert here.shown_step() == 2
        await here.pilot.press("escape")
        assert here.shown_step() is None
        await here.pilot.press("left")
        await here.says("!!touch made")  # a line returns to the present, too
        assert here.shown_step() is None
        await here.sees("The program needs a terminal; start harness")
        assert not (tmp_path / "workspace" / "made").exists()

        here.app.prompt.load("find it")
        await here.pilot.press("ctrl+c")
        assert here.app.prompt.empty
        assert "Ctrl+C again" not in "".join(await settled(here.pilot))

        theme = here.app.theme
        await here.says("/theme")
        assert here.shows(Picker)
        await here.pilot.press("down", "escape")
        await settled(here.pilot)
        assert (here.shows(Picker), here.app.theme) == (False, theme)
        await here.says("/theme nrod")
        await here.sees("did you mean nord?")
        await here.says("/theme nord")
        await settled(here.pilot)
        assert here.app.theme == "nord"

        await here.pilot.press("escape")
        await here.sees("press Esc again")
        await here.pilot.press("escape")
        seen = await here.sees("Go back to before which prompt?")
        assert any(f"/etc/hosts {HOSTILE}" in row for row in seen)
        assert not any("press Esc again" in row for row in seen)
        assert here.app.screen.query_one(OptionList).highlighted == 1
        await here.pilot.press("up", "enter")
        seen = await settled(here.pilot)
        assert here.app.prompt.text == "first"
        assert not any("Forty-two." in row for row in seen)
        here.app.prompt.clear()
        await here.says("/clear")
        await here.sees("conversation cleared")
        await here.pilot.pause(0.5)
        assert timers_running(here.app) == [], "at rest nothing ticks"
        await here.app.query_one(SplitView).remove_children()  # as Textual does when an app closes
        here.controller.views.refreshing.changed()
        await here.pilot.pause(0.5)
        assert timers_running(here.app) == [], "a drawing that is due when the views have gone draws nothing"


async def test_every_key_is_listed_and_any_closing_key_closes(tmp_path: Path) -> None:
    async with opened(tmp_path, says("One.")) as here:
        for key in ("escape", "q", "question_mark", "ctrl+c"):
            await here.pilot.press("f1")
            seen = "\n".join(await settled(here.pilot))
            assert all(title in seen for title, _ in KEYS)
            await here.pilot.press(key)
            await settled(here.pilot)
            assert not here.shows(KeysScreen), key
        await here.pilot.resize_terminal(80, 24)
        await here.pilot.press("f1")
        rows = await settled(here.pilot)
        assert any("more lines · PgDn" in row for row in rows)
        assert not any(KEYS[-1][0] in row for row in rows)
        await here.pilot.press(*["pagedown"] * 4)
        rows = await settled(here.pilot)
        assert any("↑ PgUp" in row for row in rows)
        assert any(KEYS[-1][0] in row for row in rows)


async def test_commands_answer_once_under_their_names_and_a_list_opens_during_a_turn(tmp_path: Path) -> None:
    async with opened(tmp_path, says("x")) as here:
        for line, answer in (("/mode edits", "permissions: writes files"), ("/model claude-x", "model: claude-x")):
            await here.says(line)
            await here.sees(answer)
            await here.sees(line)
        await here.says("/tokens")
        await here.sees("did you mean /context?")
        entries = here.controller.views.transcript.entries
        assert [entry.heading for entry in entries if isinstance(entry, TextEntry)] == [
            "/mode edits",
            "/model claude-x",
        ]
        assert not [entry for entry in entries if isinstance(entry, NoteEntry) and " is now " in entry.line.text]
        git(tmp_path / "workspace", "init", "-q")
        (tmp_path / "workspace" / "new.py").write_text("def new(): ...\n")
        await here.says("/diff")
        await here.sees("1 + def new(): ...")
        await here.says("!until [ -e go ]; do sleep 0.02; done")
        async with asyncio.timeout(WITHIN_S):
            while not here.controller.playing:
                await here.pilot.pause(0.02)
        await here.says("/model")
        await here.sees("Choose a model")
        await here.pilot.press("escape")
        (tmp_path / "workspace" / "go").touch()
        await here.rests()
