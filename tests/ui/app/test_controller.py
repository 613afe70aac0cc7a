"""Prompts that wait in the app: they run in their order, and none is lost, whatever happens meanwhile."""

import asyncio
from pathlib import Path

import pytest
from textual import events

from harness.events import Event, MessageAdded, Origin, ToolStarted
from harness.journal import read
from harness.ui.app.keys import KeysScreen
from harness.ui.transcript.entries import PromptEntry
from tests.agent.stage import calls, fails, says
from tests.ui.app.test_conversation import Here, opened
from tests.whole import WHOLE

pytestmark = pytest.mark.anyio
WAITS = "until [ -e go ]; do sleep 0.05; done"
LINES = 500 if WHOLE else 120
ANSWER = says("An answer.", times='"forever"')
STALLS = says(
    "Words that stop in the mid",
    when='{ text = "two" }',
    chunk="5",
    fault='{ kind = "stall", at = 7 }',
    times="1",
)


def asked(here: Here) -> list[str]:
    """The prompts that the model was asked, in their order."""
    return [entry.text for entry in here.controller.views.transcript.entries if isinstance(entry, PromptEntry)]


async def all_asked(here: Here, count: int, within_s: float = 60) -> list[str]:
    """Wait until so many lines were used and nothing runs; which they were."""
    async with asyncio.timeout(within_s):
        while len(asked(here)) < count or here.controller.running:
            await here.pilot.pause(0.02)
    return asked(here)


async def waiting(here: Here, count: int) -> None:
    """Wait until the status line counts so many prompts."""
    await here.sees(f"{count} queued")


async def test_the_second_of_three_is_stopped_and_the_third_is_the_users_again(tmp_path: Path) -> None:
    async with opened(tmp_path, STALLS + ANSWER) as here:
        await here.says(f"!{WAITS}")
        for line in ("one", "two", "three"):
            await here.says(line)
        await waiting(here, 3)
        (tmp_path / "workspace" / "go").touch()
        await here.sees("Words")
        await here.sees("Esc stop")
        await here.pilot.press("escape")
        assert await all_asked(here, 3) == [WAITS, "one", "two"]
        assert here.app.prompt.text == "three"
        await here.pilot.press("enter")
        assert (await all_asked(here, 4))[-1] == "three"


async def test_escape_on_a_command_gives_back_what_waits(tmp_path: Path) -> None:
    async with opened(tmp_path, ANSWER) as here:
        await here.says("!sleep 30")
        await here.sees("Esc stop")
        for line in ("one", "two"):
            await here.says(line)
        here.app.prompt.load("half a thou")
        await here.pilot.press("escape")
        await here.rests()
        assert here.app.prompt.text == "one\ntwo\nhalf a thou"
        await here.pilot.pause(0.3)
        assert asked(here) == ["sleep 30"]


async def test_a_command_that_a_stop_gave_back_is_a_command_again(tmp_path: Path) -> None:
    async with opened(tmp_path, ANSWER) as here:
        await here.says("!sleep 30")
        await here.sees("Esc stop")
        for line in ("one", "!echo mine"):
            await here.says(line)
        await here.pilot.press("escape")
        await here.rests()
        assert here.app.prompt.text == "one\n!echo mine"
        await here.pilot.press("enter")
        assert await all_asked(here, 3) == ["sleep 30", "one", "echo mine"]


async def test_the_queue_is_seen_and_its_last_prompt_taken_back_for_editing(tmp_path: Path) -> None:
    async with opened(tmp_path, ANSWER) as here:
        await here.says(f"!{WAITS}")
        lines = ["one\nmore", *(f"prompt {number}" for number in range(2, 7))]
        for line in lines:
            await here.says(line)
        seen = await here.sees("6 queued")
        first = next(number for number, row in enumerate(seen) if "6 queued" in row)
        rows = [row.strip() for row in seen[first + 1 : first + 6]]
        assert rows == ["one (+ 1 line)", "prompt 2", "prompt 3", "prompt 4", "… 2 more"]
        await here.pilot.press("up")
        await here.sees("5 queued")
        assert here.app.prompt.text == "prompt 6"
        await here.says("prompt six")
        await here.says("/queue")
        await here.sees("6 prompts queued; /queue clear removes them:")
        await here.says("/queue clear")
        await here.sees("6 queued prompts removed:")
        await here.pilot.pause()
        assert not here.app.queued.display
        await here.says("/queue")
        await here.sees("Nothing is queued.")
        await here.says("/queue all")
        await here.sees("type /queue or /queue clear")
        (tmp_path / "workspace" / "go").touch()
        assert await all_asked(here, 1) == [WAITS]


@pytest.mark.stories
@pytest.mark.timeout(400)
async def test_hundreds_of_prompts_are_all_asked_in_their_order(tmp_path: Path) -> None:
    lines = [f"prompt {number}" for number in range(320)]
    async with opened(tmp_path, ANSWER) as here:
        here.controller.submit(f"!{WAITS}")
        for line in lines:
            here.controller.submit(line)
        await waiting(here, 320)
        (tmp_path / "workspace" / "go").touch()
        assert await all_asked(here, 321, within_s=350) == [WAITS, *lines]


async def test_lines_that_are_pasted_without_brackets_keep_their_order(tmp_path: Path) -> None:
    """A terminal that marks no paste sends every character as a key; ?, r, m, ! and / begin lines, too."""
    lines = [f"{'rm?!'[number % 4]}{number}" for number in range(LINES)]
    lines[0], lines[3] = "first", "/etc/passwd"
    async with opened(tmp_path, ANSWER) as here:
        await here.says(f"!{WAITS}")
        await here.sees("Esc stop")
        for character in "".join(f"{line}\r" for line in lines):
            here.app.post_message(events.Key("enter" if character == "\r" else character, character))
        async with asyncio.timeout(90):
            while len(here.controller.queue) < LINES or not here.app.prompt.empty:
                await here.pilot.pause(0.05)
        await waiting(here, LINES)
        assert list(here.controller.queue.lines) == lines
        await here.pilot.press("escape")
        await here.rests()
        assert here.app.prompt.text == "\n".join(lines)


async def test_a_queue_behind_a_question_runs_after_the_answer(tmp_path: Path) -> None:
    asks = calls('{ name = "bash", input = { command = "touch made" } }', when='{ text = "make it" }', times="1")
    async with opened(tmp_path, asks + ANSWER, permission_mode="ask") as here:
        await here.says(f"!{WAITS}")
        for line in ("make it", "one", "two"):
            await here.says(line)
        await waiting(here, 3)
        (tmp_path / "workspace" / "go").touch()
        await here.sees("touch made")
        await here.sees("yes, once")
        await waiting(here, 2)
        assert not (tmp_path / "workspace" / "made").exists()
        await here.pilot.pause(1.0)
        await here.pilot.press("y")
        assert await all_asked(here, 4) == [WAITS, "make it", "one", "two"]


async def test_a_queue_behind_a_retry_and_a_compaction_keeps_its_order(tmp_path: Path) -> None:
    script = fails(529, headers='{ retry-after = "50" }', times="1") + ANSWER
    async with opened(tmp_path, script) as here:
        await here.says("first")
        await here.sees("next try in")
        for line in ("one", "/compact", "!echo mine", "two", "/clear", "three"):
            here.controller.submit(line, own_turn=True)
        await waiting(here, 6)
        await here.pilot.press("alt+r")
        async with asyncio.timeout(60):
            while asked(here) != ["three"] or here.controller.running:
                await here.pilot.pause(0.02)
        told = [record.event for record in read(here.controller.session.path).records]
        assert list(filter(None, map(_line, told))) == ["first", "one", "!echo mine", "two", "three"]


def _line(event: Event) -> str:
    """The typed line that an event of the journal comes from; empty: none."""
    match event:
        case MessageAdded(message=message, origin=Origin.PROMPT):
            return str(message.content[-1]["text"])
        case ToolStarted(tool="bash", input={"command": command}):
            return f"!{command}"
        case _:
            return ""


async def test_leaving_waits_for_the_prompts_before_it_and_runs_none_behind_it(tmp_path: Path) -> None:
    async with opened(tmp_path, ANSWER) as here:
        await here.says(f"!{WAITS}")
        for line in ("one", "/quit", "two"):
            await here.says(line)
        await waiting(here, 3)
        (tmp_path / "workspace" / "go").touch()
        async with asyncio.timeout(60):
            while here.app.is_running:  # noqa: ASYNC110 (no event to await)
                await asyncio.sleep(0.02)
        assert asked(here) == [WAITS, "one"]


async def test_a_list_that_is_chosen_from_holds_what_waits_behind_it(tmp_path: Path) -> None:
    async with opened(tmp_path, ANSWER) as here:
        await here.says("zero")
        await all_asked(here, 1)
        await here.says(f"!{WAITS}")
        for line in ("/rewind", "one"):
            await here.says(line)
        await waiting(here, 2)
        (tmp_path / "workspace" / "go").touch()
        await here.sees("Go back to before which prompt?")
        await here.pilot.pause(0.3)
        assert asked(here) == ["zero", WAITS]
        await here.pilot.press("escape")
        assert (await all_asked(here, 3))[-1] == "one"


async def test_stopped_before_it_has_begun_a_turn_is_stopped_all_the_same(tmp_path: Path) -> None:
    async with opened(tmp_path, ANSWER) as here:
        here.controller.submit("go")
        async with asyncio.timeout(60):
            while not here.controller.playing:  # noqa: ASYNC110 (the moment before any event)
                await asyncio.sleep(0)
        here.controller.interrupt()
        await here.sees("interrupted")
        assert not any("An answer." in row for row in await here.sees("interrupted"))


# ── keys while a prompt may be typed ────────────────────────────────────────────────────────────

RETRIES = fails(529, headers='{ retry-after = "50" }', times="1") + ANSWER


async def test_no_letter_that_is_typed_during_a_wait_acts_or_is_lost(tmp_path: Path) -> None:
    text = "?rm it"
    async with opened(tmp_path, RETRIES, fallback_models=["claude-haiku-4-5"]) as here:
        await here.says("go")
        await here.sees("Alt+M fallback model")
        await here.pilot.press(*text)
        assert here.app.prompt.text == text
        assert not here.shows(KeysScreen)
        await here.pilot.press("enter")
        seen = await here.sees("joins the next try")
        assert any("next try in" in row for row in seen)
        await here.pilot.press("alt+r")
        assert await all_asked(here, 2) == ["go", text]


async def test_the_other_model_is_asked_with_a_text_in_the_prompt(tmp_path: Path) -> None:
    async with opened(tmp_path, RETRIES, fallback_models=["claude-haiku-4-5"]) as here:
        await here.says("go")
        await here.sees("Alt+M fallback model")
        await here.pilot.press("h", "alt+m")
        await here.sees("An answer.")
        assert here.app.prompt.text == "h"
        assert any("claude-haiku-4-5" in row for row in await here.sees("claude-haiku"))
        await here.pilot.press("alt+m", "alt+r")
        await here.sees("there is no retry to wait for")


async def test_a_click_on_what_can_be_pressed_presses_it(tmp_path: Path) -> None:
    async with opened(tmp_path, RETRIES) as here:
        await here.says("go")
        seen = await here.sees("Alt+R retry now")
        row = next(number for number, row in enumerate(seen) if "Alt+R retry now" in row)
        await here.pilot.click(offset=(seen[row].index("retry now"), row))
        await here.sees("An answer.")


async def test_a_question_mark_shows_the_keys_only_while_nothing_runs(tmp_path: Path) -> None:
    async with opened(tmp_path, ANSWER) as here:
        await here.says("!sleep 30")
        await here.sees("Esc stop")
        await here.pilot.press("?")
        assert here.app.prompt.text == "?"
        await here.pilot.press("backspace", "escape")
        await here.rests()
        await here.pilot.press("?")
        assert here.shows(KeysScreen)
