"""The driver of every front end, with a real session before the practice server and a front end that only notes."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.events import (
    CompactionStarted,
    Event,
    MessageAdded,
    Origin,
    PauseReport,
    PlanHandedOver,
    RequestSent,
    TextDelta,
    ToolStarted,
    TurnStarted,
)
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import Opening, open_session
from harness.settings import LoadedSettings
from harness.ui.driver import SessionDriver
from harness.ui.lines.line import Groups, Line
from harness.ui.turn_queue import ItemEnd, TypedLine
from tests.agent.stage import calls, fails, says, settings_of, summarises
from tests.processes.traces import until

pytestmark = pytest.mark.anyio
WITHIN_S = 60.0
WAITS = "until [ -e go ]; do sleep 0.02; done"
ANSWER = says("An answer.", times='"forever"')
STALLS = says("Words that stop", chunk="5", fault='{ kind = "stall", at = 7 }', times="1")
SEARCH = calls('{ name = "grep", input = { pattern = "TODO" } }')


class Noted(SessionDriver):
    """Records what it is asked to show, and each start."""

    def __init__(self, loaded: LoadedSettings) -> None:
        super().__init__(logging.getLogger("tests.ui"))
        self._loaded = loaded
        self._news = asyncio.Event()
        self.shown: list[str] = []
        self.items: list[str] = []
        self.asked: list[str] = []
        self.events: list[Event] = []
        self.answers: list[str | None] = []
        """How to continue after each pause; when there is none left the question stays open."""
        self.exit_code: int | None = None

    async def open(self, opening: Opening) -> None:
        session = await open_session(
            self._loaded, None, opening, reread=lambda: self._loaded.settings, observer=self._observe, log=self._log
        )
        if (before := self.attach(session)) is not None:
            await before.aclose()

    def _observe(self, event: Event, at: float) -> None:
        self.on_event(event)
        self.events.append(event)
        if isinstance(event, TurnStarted):
            self.asked.append(event.prompt)
        self._news.set()

    async def sees(self, found: Callable[[], object]) -> None:
        """Wait until something is so."""
        async with asyncio.timeout(WITHIN_S):
            while not found():
                self._news.clear()
                await self._news.wait()

    async def shows(self, text: str) -> None:
        await self.sees(lambda: any(text in one for one in self.shown))

    async def rests(self) -> None:
        await self.sees(lambda: not self.running)

    def show_text(self, text: str, heading: str = "") -> None:
        self.shown.append(f"{heading}: {text}" if heading else text)
        self._news.set()

    def show_line(self, line: Line) -> None:
        self.show_text(str(line))

    def show_list(self, groups: Groups) -> None:
        self.show_text("\n".join(title for title, _ in groups))

    def changed(self) -> None:
        self._news.set()

    def ended(self, end: ItemEnd, given_back: Sequence[str]) -> None:
        self.items.append(end.item.text if isinstance(end.item, TypedLine) else "delivery")
        self.shown += [f"given back: {line}" for line in given_back]
        self._news.set()

    async def ask_how_to_continue(self, report: PauseReport, open_tools: Sequence[str]) -> str | None:
        self.show_text(f"paused: {', '.join(open_tools)}")
        return self.answers.pop(0) if self.answers else await asyncio.Future()

    async def switch(self, opening: Opening, text: str) -> None:
        await self.open(opening)
        self.show_text(text)

    def leave(self, code: int = 0) -> None:
        self.end_turn()
        self.exit_code = code


@asynccontextmanager
async def driving(folder: Path, script: str = ANSWER, **values: object) -> AsyncIterator[Noted]:
    async with PracticeServer(script=Script.parse(f'after = "repeat"\n{script}')) as server:
        driver = Noted(settings_of(folder, server.base_url, **values))
        await driver.open(Opening())
        driver.start_turns()
        try:
            yield driver
        finally:
            await driver.aclose()


def go(folder: Path) -> None:
    """End the command that waits for this."""
    (folder / "workspace" / "go").touch()


async def test_a_conversation_of_prompts_commands_and_shell_commands_runs_in_the_order_of_its_lines(
    tmp_path: Path,
) -> None:
    lines = [f"!{WAITS}", "one", "/mode deny", "!!", "/nonsense", "//two", "/help", "/clear"]
    async with driving(tmp_path) as driver:
        for line in lines:
            assert driver.submit(line), "nothing has begun, so nothing is overtaken"
        assert (driver.submit("  "), driver.queue.lines) == (False, tuple(lines))
        await driver.sees(lambda: driver.playing)
        go(tmp_path)
        await driver.rests()
        assert driver.items == lines
        assert driver.asked == ["one", "/two"]
        assert driver.session.permissions.mode == "deny"
        assert [text.partition("\n")[0] for text in driver.shown] == [
            "/mode deny: permissions: read only",
            "! There is no command; type for example !ls.",
            "! Unknown command /nonsense; /help lists them.",
            "Conversation",
            "/clear: Conversation cleared; the journal keeps it.",
        ]
        assert not driver.queue.lines


async def test_while_a_turn_runs_commands_that_need_not_wait_run_at_once_and_others_queue(tmp_path: Path) -> None:
    async with driving(tmp_path) as driver:
        driver.submit(f"!{WAITS}")
        await driver.sees(lambda: driver.playing)
        waits = {
            "/mode edits": False,
            "/budget x": False,
            "/tasks": False,
            "/clear": True,
            "one": True,
            "!true": True,
            "/exit": True,
        }
        assert {line: driver.submit(line) for line in waits} == waits
        assert driver.submit("/queue") is False
        await driver.shows("permissions: writes files")
        await driver.shows("! 'x' is not")
        await driver.shows("4 prompts queued")
        await driver.settle()
        go(tmp_path)
        await driver.sees(lambda: driver.exit_code == 0)
        assert driver.asked == ["one"]


@pytest.mark.parametrize("at_once", [True, False])
async def test_exit_ends_a_running_turn_where_a_front_end_quits_at_once(tmp_path: Path, at_once: bool) -> None:
    async with driving(tmp_path, STALLS) as driver:
        driver.quits_at_once = at_once
        driver.submit("go")
        await driver.sees(lambda: driver.playing)
        assert driver.submit("/exit") is not at_once
        assert driver.leaving is at_once
        assert driver.end_turn() is not at_once, "the second time there is nothing to wait for"


async def test_without_a_user_an_exclamation_mark_begins_a_prompt_and_a_pause_ends_the_turn(tmp_path: Path) -> None:
    async with driving(tmp_path, SEARCH * 3 + ANSWER, failure_budget=3) as driver:
        driver.attended = False
        driver.submit("/toolfault grep refused 3")
        driver.submit("!touch made")
        await driver.sees(lambda: len(driver.items) == 2)
        assert driver.asked == ["!touch made"]
        assert not (tmp_path / "workspace" / "made").exists()
        assert not any(text.startswith("paused") for text in driver.shown)


async def test_a_stop_gives_back_what_waits_and_the_second_one_waits_for_no_tool(tmp_path: Path) -> None:
    stubborn = calls('{ name = "bash", input = { command = "trap \'\' TERM; touch began; sleep 30" } }')
    async with driving(tmp_path, STALLS + stubborn + ANSWER) as driver:
        assert (driver.interrupt(), driver.end_at_once()) == (False, False)
        for line in ("stall", "one", "two"):
            driver.submit(line)
        await driver.sees(lambda: any(isinstance(event, TextDelta) for event in driver.events))
        assert driver.interrupt()
        await driver.sees(lambda: driver.items)
        assert driver.shown == ["given back: one", "given back: two"]
        assert not driver.running
        driver.submit("work")
        await until((tmp_path / "workspace" / "began").exists)
        assert driver.interrupt()
        assert driver.interrupt()
        await driver.shows("stopped at once")
        driver.submit("and now?")
        await driver.sees(lambda: len(driver.items) == 3)
        assert driver.asked[-1] == "and now?"


@pytest.mark.parametrize("line", ["", "/retry"])
async def test_a_wait_for_a_retry_ends_when_the_user_asks_for_it(tmp_path: Path, line: str) -> None:
    async with driving(tmp_path, fails(529, headers='{ retry-after = "50" }', times="1") + ANSWER) as driver:
        assert driver.retry_now() is False
        driver.submit("go")
        await driver.sees(lambda: driver.waiting)
        assert driver.submit(line) is False
        assert not driver.waiting
        await driver.rests()
        assert (driver.asked, driver.shown) == (["go"], [])


@pytest.mark.parametrize(
    ("answers", "asked", "continues"),
    [
        ([""], 1, True),
        (["grepp", "grep"], 2, True),
        (["all"], 1, True),
        ([None], 1, False),
        ([], 1, False),  # the question is open until it is interrupted
    ],
)
async def test_a_paused_turn_continues_as_the_user_says(
    tmp_path: Path, answers: list[str | None], asked: int, continues: bool
) -> None:
    async with driving(tmp_path, SEARCH * 3 + ANSWER, failure_budget=3) as driver:
        driver.answers = list(answers)
        driver.submit("/toolfault grep refused 3")
        driver.submit("find it")
        await driver.shows("paused: grep")
        if not answers:
            await driver.sees(lambda: driver.asks)
            assert driver.interrupt()
        await driver.rests()
        assert driver.shown.count("paused: grep") == asked
        assert ("There is no tool called grepp" in "".join(driver.shown)) is ("grepp" in answers)
        assert driver.asked == (["find it", ""] if continues else ["find it"])
        assert ("stopped; /retry continues with a fresh failure budget" in driver.shown) is not continues


async def test_results_of_background_work_begin_a_turn_after_the_first_prompt_also_in_another_session(
    tmp_path: Path,
) -> None:
    begins = calls(f'{{ name = "bash", input = {{ command = "{WAITS}", background = true }} }}') + says("It runs.")
    async with driving(tmp_path, begins + ANSWER, permission_mode="yolo") as driver:
        first = driver.session
        driver.submit("/fork")
        await driver.shows("This is a copy")
        assert driver.session is not first
        driver.submit("begin")
        await driver.rests()
        go(tmp_path)
        await driver.sees(lambda: "delivery" in driver.items)
        assert driver.asked == ["begin", ""]


async def test_run_next_runs_one_line_with_the_commands_beside_it(tmp_path: Path) -> None:
    async with PracticeServer() as server:
        driver = Noted(settings_of(tmp_path, server.base_url))
        await driver.open(Opening())
        assert await driver.run_next() is False
        driver.put("/kill b7")
        driver.put("/tasks")
        assert await driver.run_next()
        assert len(driver.shown) == 1
        assert "There is nothing called b7" in driver.shown[0]
        assert driver.queue.lines == ("/tasks",)
        await driver.aclose()
        assert await driver.run_next() is False


async def test_a_failure_inside_is_shown_and_logged_and_the_next_line_runs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def wrong() -> None:
        raise ZeroDivisionError("by zero")

    async with driving(tmp_path) as driver:
        driver.later(wrong())
        await driver.shows("! internal error (ZeroDivisionError: by zero)")
        driver.submit("/resume nosuchsession")
        driver.submit("still there?")
        await driver.rests()
        assert driver.asked == ["still there?"]
        assert "nosuchsession" in driver.shown[-1]
    assert [record.message for record in caplog.records if record.name == "tests.ui"] == ["internal error"]


def test_before_a_session_is_open_there_is_none(tmp_path: Path) -> None:
    driver = Noted(settings_of(tmp_path, "http://localhost:1"))
    assert not driver.is_open
    with pytest.raises(RuntimeError, match="no session is open"):
        _ = driver.session


RUNS = calls(f'{{ name = "bash", input = {{ command = "{WAITS}" }} }}')


def steered(driver: Noted) -> list[str]:
    """The texts that joined a turn."""
    added = [event for event in driver.events if isinstance(event, MessageAdded)]
    return [event.message.typed for event in added if event.origin is Origin.STEERING]


async def runs(driver: Noted) -> None:
    await driver.sees(lambda: any(isinstance(event, ToolStarted) for event in driver.events))


async def test_a_prompt_joins_the_running_turn_and_everything_else_keeps_its_kind(tmp_path: Path) -> None:
    async with driving(tmp_path, RUNS + ANSWER) as driver:
        driver.submit("go")
        await runs(driver)
        for line in ("also x", "!touch mine", "//help me", "/clear", "and y"):
            assert driver.submit(line)
        assert driver.submit("by itself", own_turn=True)
        assert driver.joining == ("also x", "//help me", "and y")
        assert driver.queue.lines == ("!touch mine", "/clear", "by itself")
        go(tmp_path)
        await driver.rests()
        assert steered(driver) == ["also x", "/help me", "and y"]
        assert driver.asked == ["go", "by itself"]
        assert (tmp_path / "workspace" / "mine").exists()


async def test_a_text_that_fits_no_window_is_refused_and_the_turn_goes_on(tmp_path: Path) -> None:
    async with driving(tmp_path, RUNS + ANSWER, model="claude-haiku-4-5") as driver:
        driver.submit("go")
        await runs(driver)
        assert not driver.submit("word " * 250_000)
        await driver.shows("choose a model with a larger window")
        assert driver.joining == ()
        go(tmp_path)
        await driver.rests()
        assert (steered(driver), driver.asked) == ([], ["go"])


async def test_a_stop_gives_back_all_in_the_order_in_which_they_were_typed(tmp_path: Path) -> None:
    async with driving(tmp_path, RUNS + ANSWER) as driver:
        driver.submit("go")
        await runs(driver)
        driver.submit("one")
        driver.submit("two", own_turn=True)
        driver.submit("//help three")
        driver.submit("four", own_turn=True)
        assert [driver.take_last(), driver.take_last()] == ["four", "//help three"]
        driver.submit("//help three")
        driver.interrupt()
        assert driver.submit("after the stop")
        await driver.sees(lambda: driver.shown)
        await driver.rests()
        assert driver.shown[:3] == ["given back: one", "given back: two", "given back: //help three"]
        assert (steered(driver), driver.asked) == ([], ["go", "after the stop"])


async def test_a_text_that_a_failed_turn_left_becomes_a_turn_of_its_own(tmp_path: Path) -> None:
    stops = fails(400, message='"credit balance is too low"', delay="0.5", times="1")
    async with driving(tmp_path, RUNS + stops + ANSWER) as driver:
        driver.submit("go")
        await runs(driver)
        go(tmp_path)
        await driver.sees(lambda: sum(isinstance(event, RequestSent) for event in driver.events) == 2)
        driver.submit("one")
        driver.submit("two")
        await driver.rests()
        assert (steered(driver), driver.asked) == ([], ["go", "one", "two"])


async def test_the_queue_is_listed_and_cleared_with_what_would_join(tmp_path: Path) -> None:
    async with driving(tmp_path, RUNS + ANSWER) as driver:
        driver.submit("go")
        await runs(driver)
        driver.submit("one")
        driver.submit("two", own_turn=True)
        driver.submit("/queue clear")
        await driver.shows("1 prompt for the running turn removed:\n  one\n1 queued prompt removed:\n  two")
        assert (driver.joining, driver.queue.lines) == ((), ())
        assert driver.take_last() is None
        go(tmp_path)
        await driver.rests()
        assert steered(driver) == []


async def test_while_the_history_is_compacted_by_hand_a_prompt_waits_for_a_turn_of_its_own(tmp_path: Path) -> None:
    slow = summarises().replace("[[reply]]", "[[reply]]\ndelay = 1")
    async with driving(tmp_path, says("One.") + slow + ANSWER) as driver:
        driver.submit("go")
        await driver.rests()
        driver.submit("/compact")
        await driver.sees(lambda: any(isinstance(event, CompactionStarted) for event in driver.events))
        driver.submit("next")
        assert (driver.joining, driver.queue.lines) == ((), ("next",))
        await driver.rests()
        assert driver.asked == ["go", "next"]


async def test_a_text_that_a_kill_left_joins_the_next_prompt_of_the_resumed_session(tmp_path: Path) -> None:
    async with driving(tmp_path, RUNS + ANSWER) as driver:
        driver.submit("go")
        await runs(driver)
        driver.submit("also x")
        id = driver.session.id
    async with driving(tmp_path) as driver:
        await driver.open(Opening(id))
        assert (driver.joining, steered(driver)) == (("also x",), [])
        driver.submit("and y")
        await driver.rests()
        assert (driver.joining, driver.asked[-1]) == ((), "and y")
        added = [event for event in driver.events if isinstance(event, MessageAdded)]
        typed = [event.message.typed for event in added if event.origin in (Origin.PROMPT, Origin.STEERING)]
        assert typed[-2:] == ["also x", "and y"]


async def test_a_text_waits_through_a_pause_and_joins_when_the_user_continues(tmp_path: Path) -> None:
    faults = "".join(calls(f'{{ name = "grep", input = {{ pattern = "{word}" }} }}') for word in ("a", "b"))
    script = RUNS + faults + ANSWER
    async with driving(tmp_path, script, failure_budget=2) as driver:
        driver.answers = ["all"]
        driver.submit("/toolfault grep refused 2")
        driver.submit("go")
        await runs(driver)
        driver.submit("also x")
        go(tmp_path)
        await driver.shows("paused")
        await driver.rests()
        assert steered(driver) == ["also x"]


async def test_texts_for_a_turn_that_hands_over_to_another_session_run_there(tmp_path: Path) -> None:
    async with driving(tmp_path, RUNS + ANSWER) as driver:
        driver.submit("go")
        await runs(driver)
        driver.submit("one")
        driver.submit("two")
        await driver.open(Opening())
        await driver.rests()
        assert driver.asked == ["go", "one", "two"]


async def test_a_plan_whose_new_conversation_cannot_be_opened_says_how_to_carry_it_out_here(tmp_path: Path) -> None:
    async def hands_over() -> AsyncGenerator[Event, None]:
        yield PlanHandedOver("Carry out this plan", ("one",), "ask")

    async with driving(tmp_path) as driver:
        session = driver.session
        folder = session.state_folder / "sessions"
        folder.rename(tmp_path / "away")
        folder.write_text("no folder")
        driver.put("a line that waits")
        with pytest.raises(HarnessError, match=r"cannot be created.*carry the plan out"):
            await driver.play(hands_over())
        assert driver.session is session
        await driver.rests()
        assert driver.asked == ["a line that waits"]


@pytest.mark.parametrize("key", ["y", " YY ", "1", "\uff59"])
async def test_an_answer_typed_before_its_question_is_no_text_for_the_model(key: str, tmp_path: Path) -> None:
    async with driving(tmp_path, RUNS + ANSWER) as driver:
        driver.submit("go")
        await runs(driver)
        assert not driver.submit(key)
        assert not driver.joining
        await driver.shows(f'"{key.strip()}" answers no question here')
        for text in ("no", "y then", "?", "\u65e5"):
            assert driver.submit(text), "a text joins"
        go(tmp_path)
        await driver.rests()
        assert steered(driver) == ["no", "y then", "?", "\u65e5"]
        assert driver.asked == ["go"]
