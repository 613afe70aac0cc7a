"""The first screen: examples that can be taken, and that are answered."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from harness.cli.parser import agent_parser
from harness.ui.app.app import HarnessApp
from harness.ui.app.keys import KeysScreen
from harness.ui.app.prompt import PromptArea
from harness.ui.app.run import _open
from harness.ui.lines.reports import PRACTISED, REAL
from tests.agent.stage import says
from tests.pages.conftest import without_a_user
from tests.ui.app.test_conversation import Here, opened

pytestmark = pytest.mark.anyio
OFFER = "Ask for something; Tab takes an example"


async def test_an_example_is_taken_by_tab_or_a_click_and_none_is_offered_after_the_first_prompt(tmp_path: Path) -> None:
    async with opened(tmp_path, says("An answer.", times='"forever"')) as here:
        seen = await here.sees(OFFER)
        assert any("? keys · / commands" in row for row in seen)
        for text in (*REAL, REAL[0]):
            await here.pilot.press("tab")
            assert here.app.prompt.text == text
        await here.pilot.press("x", "tab")
        assert here.app.prompt.text == f"{REAL[0]}x"
        here.app.prompt.clear()
        row = next(number for number, row in enumerate(seen) if REAL[2] in row)
        await here.pilot.click(offset=(seen[row].index("Run") + 2, row))
        assert here.app.prompt.text == REAL[2]
        await here.pilot.press("enter")
        await here.sees("An answer.")
        await here.pilot.press("tab")
        assert here.app.prompt.empty
        assert not any(OFFER in row for row in await here.sees("An answer."))
        await here.says("/clear")
        await here.pilot.press("question_mark")
        assert here.shows(KeysScreen)


@pytest.mark.stories
@pytest.mark.parametrize("readme", [False, True])
async def test_the_practice_model_answers_every_example(tmp_path: Path, readme: bool) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "notes.md").write_text("TODO: write more\n")
    if readme:
        (folder / "README.md").write_text("# The title\n")
    async with opened(tmp_path, "", practice=True) as here:
        examples = here.app.prompt.examples
        assert len(examples) == 3
        await here.says(examples[0])
        await here.sees("notes.md")
        await here.rests()
        await here.says(examples[1])
        await here.sees("The title" if readme else "write more")
        await here.rests()
        assert examples[2] == PRACTISED[2]
        await here.says(examples[2])
        await here.sees("On purpose, for the next 2 requests")


async def test_a_line_that_is_sent_while_the_session_opens_is_run_when_it_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_a_user(monkeypatch, tmp_path)
    monkeypatch.chdir(tmp_path)
    app = HarnessApp(partial(_open, agent_parser().parse_args([]), {}))
    async with app.run_test(size=(110, 40)) as pilot:
        app.on_prompt_area_submitted(PromptArea.Submitted("/budget"))
        while app.controller is None:  # noqa: ASYNC110 (no tick later than that)
            await asyncio.sleep(0)
        assert app.controller.session.id, "no line reaches it before that"
        await Here(app, pilot).sees("failure budget")
        await app.controller.aclose()
