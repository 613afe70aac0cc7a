"""A chapter on the screen: every key, the live part, failures, and leftovers."""

from pathlib import Path

import pytest
from textual.app import ComposeResult
from textual.content import Content

from chapters.course import Progress, lesson, with_model
from chapters.course.screen.layout import LAYOUT_CSS, LessonPanes, Part
from chapters.course.screen.panes import LessonPage, PageView
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.settings import Settings
from harness.ui.app.question import OPEN_DANGER, WAITING
from harness.ui.app.readable_colours import ReadableColours
from tests.chapters.course.plain.chapter import (
    first,
    with_a_failing_demo,
    with_a_step_that_never_comes,
    with_its_mistake_corrected,
)
from tests.chapters.course.screen.opened import opened, played, press, run_of, sees, types
from tests.ui.app.resting import timers_running
from tests.ui.app.screens import settled

pytestmark = pytest.mark.anyio


async def test_a_chapter_is_walked_forward_and_back_and_restarted_without_running_anything_twice(
    tmp_path: Path,
) -> None:
    async with opened(first(), tmp_path) as (app, pilot):
        await pilot.press("n")  # before it has happened: it is waited for and shown live
        await sees(pilot, "step 1 of 10")
        assert "⇄ request 1" in await press(pilot)
        await played(app, pilot)
        at_first = app.parts.text.body.scroll_offset.y
        recording, happened = run_of(app).position.recording, run_of(app).position.recording.moments
        third = await press(pilot, "n", "n")
        assert "⇄ request 2" in third
        second = await press(pilot, "b")
        assert "⇄ request 2" not in second
        assert await press(pilot, "n") == third
        assert run_of(app).position.recording is recording
        assert recording.moments == happened
        await press(pilot, "n")
        assert "run_turn" in (run_of(app).lesson.steps[3].code or "")
        assert app.parts.text.body.scroll_offset.y > at_first, "the text shows the code of the step where it has it"
        assert "This is the beginning." in await press(pilot, "b", "b", "b", "b", "b")
        for keys in (0, 5, 6):  # at the beginning, at a step, and at the end
            await press(pilot, *["n"] * keys)
            await pilot.pause(0.4)
            assert timers_running(app) == []
        assert run_of(app).position.at_end
        before, workspace = run_of(app), recording.workspace
        assert "The chapter starts again." in await press(pilot, "r")
        assert run_of(app) is not before
        assert run_of(app).place == 0
        assert not workspace.exists()


async def test_it_continues_where_the_learner_left(tmp_path: Path) -> None:
    Progress(tmp_path / "course.json").reach("s01", 3, of=10)
    async with opened(first(), tmp_path) as (_, pilot):
        assert "Continuing at step 3" in await sees(pilot, "step 3 of 10")


async def test_a_sentence_that_is_false_is_marked_on_its_step_alone(tmp_path: Path) -> None:
    async with opened(with_its_mistake_corrected(tmp_path), tmp_path) as (app, pilot):
        await played(app, pilot)
        assert "does not hold" not in await press(pilot, *"nnnnn")
        sixth = await press(pilot, "n")
        assert "The program failed: `23 words …`" in sixth
        assert 'This does not hold in this run: summary has "Traceback"' in sixth
        assert "does not hold" not in await press(pilot, "b")


async def test_another_model_is_shown_live_from_the_beginning(tmp_path: Path) -> None:
    script = Script.parse('[[reply]]\ntext = "I look at the time."\ntimes = 3\n')
    async with PracticeServer(script=script) as server:
        given = {"api_key": "sk-ant-x", "base_url": server.base_url, "model": "claude-opus-5-5"}
        settings = Settings.model_validate(given)
        async with opened(with_model(lesson("s10"), settings), tmp_path) as (app, pilot):
            assert "A real model answers" in await sees(pilot, "the end")
            await played(app, pilot)
            await sees(pilot, "I look at the time.")


@pytest.mark.stories
async def test_keys_change_the_pane_beside_the_conversation(tmp_path: Path) -> None:
    async with opened(first(), tmp_path) as (app, pilot):
        await played(app, pilot)
        assert "demo.py:BASH (1/2)" in await press(pilot, "n")
        assert "▸ chapters/s01_agent_loop/demo.py:BASH (1/2)" in await press(pilot, "c")
        screen = await press(pilot, "c")
        assert "chapters/s01_agent_loop/demo.py (2/2)" in screen
        assert '12 MODEL = "practice-1"' in screen
        assert "import asyncio" not in screen
        assert "demo.py:BASH (1/2)" in await press(pilot, "c")
        assert "my_agent.py ±" in await press(pilot, "d")
        screen = await press(pilot, "w")
        assert "request 1: sent" in screen
        assert '"model": "practice-1"' in screen
        assert '"stop_reason"' in await press(pilot, "end")
        assert "request 2: sent" in await press(pilot, "n", "n")
        assert "demo.py:run_turn" in await press(pilot, "escape")
        assert "▸ conversation" not in await press(pilot, "t")
        assert "Break it" in await press(pilot, *["pagedown"] * 6)
        assert "conversation" in await press(pilot, "t")
        assert "harness-exercises/s01-" in await press(pilot, "e")
        assert "harness check" in str(run_of(app).views.transcript.entries[-1])
        assert "requests and replies of this step" in await press(pilot, "question_mark")
        await press(pilot, "escape", "f3", "q")
        assert run_of(app).place == 3
        screen = await press(pilot, "l", "b")
        assert "エージェントループ · 場面 2/10" in screen
        assert "会話" in screen
        assert "次へ" in screen
        await press(pilot, "q")
    assert app.return_value == 0
    assert Progress(tmp_path / "course.json").language == "ja"
    assert list((tmp_path / "harness-exercises").glob("s01-*/TASK.md"))


async def test_the_deciding_line_of_each_step_is_in_view_at_any_size(tmp_path: Path) -> None:
    async with opened(first(), tmp_path, size=(60, 20)) as (app, pilot):
        await played(app, pilot)
        await press(pilot, "n", "n", "n", "n", "c")
        assert "▸        if not results:" in await press(pilot)
        assert "▸            messages.append(" in await press(pilot, "n")
        assert "▸        if not results:" in await press(pilot, "b")
        await pilot.resize_terminal(100, 24)
        assert "▸        if not results:" in await press(pilot)
        assert "async def run_turn" in await press(pilot, "home")
        assert '"content": results})' in await press(pilot, "end")
        await pilot.resize_terminal(120, 40)  # active code has room for whole lines
        await press(pilot, "tab")
        beside = app.parts.code.content_size.width
        assert beside <= 60
        assert "conversation" in await press(pilot, "c")
        assert app.parts.code.content_size.width >= 88 + len(" 30▸ ")
        await press(pilot, "tab")
        assert app.parts.code.content_size.width == beside
        await pilot.resize_terminal(110, 40)
        assert "conversation" not in await press(pilot, "c")


async def test_what_does_not_fit_is_reached_by_tab(tmp_path: Path) -> None:
    async with opened(first(), tmp_path, size=(80, 24)) as (app, pilot):
        await played(app, pilot)
        assert "▸ conversation" in await press(pilot, "n")
        assert "▸ text" in await press(pilot, "tab")
        assert "▸ chapters/s01_agent_loop/demo.py:BASH" in await press(pilot, "tab")
        assert "▸ conversation" in await press(pilot, "tab")
        assert "▸ chapters/s01_agent_loop/demo.py:BASH (1/2)" in await press(pilot, "c")
        assert "demo.py (2/2)" in await press(pilot, "c")


@pytest.mark.stories
async def test_what_is_typed_goes_to_the_agent_of_the_chapter_and_keys_are_letters_meanwhile(tmp_path: Path) -> None:
    async with opened(first(), tmp_path) as (app, pilot):
        await played(app, pilot)
        await press(pilot, "i", *"nqb")
        assert app.prompt.text == "nqb"
        assert run_of(app).place == 0
        await press(pilot, "escape")
        assert not app.prompt.display
        await press(pilot, "n", "p", *["backspace"] * 3)
        await types(pilot, "list the files")
        screen = await sees(pilot, "There are 3 files")
        assert "The agent loop · the end" in screen
        assert "works" not in (await press(pilot)).splitlines()[-1]
        await press(pilot, "r")
        assert app.prompt.text == "r"  # the next input is a prompt as well and restarts nothing
        await press(pilot, "backspace")
        await types(pilot, "/toolfault bash timeout")
        await sees(pilot, "The tools of this chapter cannot be")
        assert "step 10 of 10" in await press(pilot, "escape", "b")


@pytest.mark.stories
async def test_f_breaks_the_model_and_a_mistake_in_its_order_is_reported(tmp_path: Path) -> None:
    async with opened(first(), tmp_path) as (app, pilot):
        await played(app, pilot)
        await press(pilot, "f")
        assert app.prompt.text == "/fault "
        await press(pilot, *"529", "enter")
        await sees(pilot, "On purpose, for the next request")
        await types(pilot, "hello")
        await sees(pilot, "529 overloaded_error")
        await types(pilot, "/nonsense")
        await sees(pilot, "Unknown command /nonsense")
        await types(pilot, "/fault gibberish")
        await sees(pilot, "gibberish")
        assert not run_of(app).trouble


async def test_only_its_own_keys_answer_a_question_of_the_agent(tmp_path: Path) -> None:
    async with opened(lesson("s03"), tmp_path) as (app, pilot):
        await played(app, pilot)
        run_of(app).type("run rm -rf drafts")
        await sees(pilot, WAITING)
        await pilot.press("n", "enter", "c")  # keys of the course, pressed while the question appears
        drafts = run_of(app).position.recording.workspace / "drafts"
        assert drafts.exists()
        assert app.asking
        await sees(pilot, OPEN_DANGER)
        await pilot.press("n", "enter", "enter")  # marked, chosen, and no reason given
        await run_of(app).position.recording.settled()
        await press(pilot, "p")
        await types(pilot, "run rm -rf drafts")
        await sees(pilot, OPEN_DANGER)
        await pilot.press("q", "b")
        await sees(pilot, WAITING)
        assert app.prompt.text == "qb"
        await pilot.press("tab")
        await sees(pilot, OPEN_DANGER)
        await pilot.press("enter", "enter")  # a letter would continue the draft
        await run_of(app).position.recording.settled()
        assert run_of(app).position.at_end
        assert drafts.exists()


async def test_a_missing_step_is_reported_and_the_others_can_be_seen(tmp_path: Path) -> None:
    lesson = with_a_step_that_never_comes()
    async with opened(lesson, tmp_path) as (app, pilot):
        await press(pilot, "n")
        await sees(pilot, "step 1 of 11")
        screen = await sees(pilot, "step 11 did not happen: CompactionEnded")
        await press(pilot, *["n"] * 9)
        screen = await press(pilot, "n")
        assert "step 10 of 11" in screen
        assert "step 11 did not happen" in screen
        assert run_of(app).place == 10


async def test_a_failing_demo_is_reported(tmp_path: Path) -> None:
    async with opened(with_a_failing_demo(tmp_path), tmp_path) as (_, pilot):
        assert "KeyError" in await sees(pilot, "demo.py failed")


async def test_a_chapter_is_chosen_and_another_one_later_or_none(tmp_path: Path) -> None:
    Progress(tmp_path / "course.json").reach("s01", 3, of=10)
    async with opened(None, tmp_path) as (app, pilot):
        screen = await sees(pilot, "Choose a chapter")
        assert "s01  step 3 of 10" in screen
        await press(pilot, "enter")
        await sees(pilot, "s01 · The agent loop")
        await press(pilot, "g", "down", "enter")
        assert run_of(app).lesson.id == "s02"
    async with opened(None, tmp_path) as (app, pilot):
        await sees(pilot, "Choose a chapter")
        await press(pilot, "escape")
    assert app.return_value == 0


async def test_a_page_is_drawn_once_to_the_width_that_it_gets() -> None:
    drawn: list[int] = []

    def draw(columns: int) -> Content:
        drawn.append(columns)
        return Content("x" * columns)

    class Panes(ReadableColours):
        CSS = LAYOUT_CSS

        def compose(self) -> ComposeResult:
            yield LessonPanes()

    async with Panes().run_test(size=(120, 40)) as pilot:
        panes = pilot.app.query_one(LessonPanes)
        page = panes.text.query_one(PageView)
        narrow = page.content_size.width
        panes.show(frozenset({Part.TEXT}), reading=True, code_first=False)
        panes.text.show(LessonPage("", draw))
        await settled(pilot)
        assert drawn == [page.content_size.width]
        assert drawn > [narrow]
