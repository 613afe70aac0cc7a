"""Sessions on a real screen: modes, commands while a turn runs, pauses, going back, watching, replaying."""

import re

import pytest

from tests.ui.app.test_in_a_terminal import PRACTICE, script
from tests.ui.program import ROOT, Place
from tests.ui.terminals import REASON, TMUX, Tmux

pytestmark = [pytest.mark.anyio, pytest.mark.stories, pytest.mark.skipif(TMUX is None, reason=REASON)]


async def test_modes_own_commands_and_prompts_that_wait_for_their_turn(place: Place) -> None:
    replies = """
[[reply]]
tools = [{ name = "bash", input = { command = "sleep 2 && touch slept" } }]

[[reply]]
text = "The first is done."

[[reply]]
text = "The second is done."
"""
    async with Tmux(place, PRACTICE, script(place, replies)) as terminal:
        await terminal.sees("asks first")
        await terminal.press("BTab")
        await terminal.sees("edits freely")
        await terminal.press("BTab")
        await terminal.sees("plan mode")
        await terminal.press("BTab")
        await terminal.sees("read only")
        await terminal.press("BTab")
        await terminal.sees("asks first")
        await terminal.type("!echo from $0 && exit 3")
        await terminal.press("Enter")
        await terminal.sees("▌ ! echo from", "✗ bash", "exit 3")
        await terminal.type("first")
        await terminal.press("Enter")
        await terminal.asks("may bash run?")
        await terminal.press("y")
        await terminal.sees("running bash")
        await terminal.type("second")
        await terminal.press("M-Enter")
        await terminal.sees("1 queued")
        await terminal.type("/trip grep")
        await terminal.press("Escape", "Enter")
        await terminal.sees("paused     0", "grep is paused.", "1 queued")
        await terminal.sees("The first is done.", "▌ second", "The second is done.", gone=("1 queued",))


async def test_esc_answers_a_question_with_a_stop_and_a_long_wait_is_asked_about(place: Place) -> None:
    replies = """
[[reply]]
tools = [{ name = "bash", input = { command = "echo never > ran" } }]

[[reply]]
status = 429
headers = { retry-after = "3600" }

[[reply]]
text = "Unreachable."
"""
    async with Tmux(place, PRACTICE, script(place, replies)) as terminal:
        await terminal.sees("asks first")
        await terminal.type("do it")
        await terminal.press("Enter")
        await terminal.sees("may bash run?", "y  yes, once")
        await terminal.press("Escape")
        await terminal.sees("interrupted", "practice-1 · ready", "▸", gone=("y  yes, once",))
        await terminal.type("again")
        await terminal.press("Enter")
        await terminal.asks("w  wait 60 min", "s  stop")
        await terminal.press("s")
        await terminal.sees("practice-1 ·", gone=("w  wait 60 min",))
    assert not (place.folder / "ran").exists()


async def test_a_pause_asks_how_to_continue_and_a_reset_continues(place: Place) -> None:
    search = '[[reply]]\ntools = [{ name = "grep", input = { pattern = "x" } }]\n'
    replies = search * 3 + '[[reply]]\ntext = "Went on."\n'
    flags = ("--tool-faults", "grep-dies", "--yolo")
    async with Tmux(place, PRACTICE, script(place, replies), *flags, HARNESS_FAILURE_BUDGET="3") as terminal:
        await terminal.sees("asks nothing")
        await terminal.type("search")
        await terminal.press("Enter")
        await terminal.asks(
            "Paused: the failure budget", "r  reset grep and continue", "3 of 3 · used up", "waiting for your answer"
        )
        await terminal.press("r")
        await terminal.sees("Went on.", "all work", gone=("Paused:", "failures ▓"))


async def test_esc_twice_goes_back_to_an_earlier_prompt_and_sessions_are_chosen_from_a_list(place: Place) -> None:
    async with Tmux(place, PRACTICE, columns=100) as terminal:
        await terminal.sees("asks first")
        for prompt in ("hello", "list the files"):
            await terminal.type(prompt)
            await terminal.press("Enter")
            await terminal.sees(f"▌ {prompt}", "request", "ready")
        await terminal.press("Escape")
        await terminal.sees("press Esc again to go back")
        await terminal.press("Escape")
        await terminal.sees("Go back to before which prompt?", "1  hello", "2  list the files")
        await terminal.press("Enter")
        await terminal.sees("▸ list the files", "▌ hello", gone=("▌ list the files", "Go back"))
        await terminal.press("C-c")
        await terminal.press("C-d")
        await terminal.sees("exit code 0")
    async with Tmux(place, PRACTICE, "-r") as terminal:
        await terminal.sees("Choose a session to resume", "hello")
        await terminal.press("Enter")
        await terminal.sees("▌ hello", "Resumed", gone=("Choose a session to resume",))


async def test_a_session_is_watched_from_another_terminal(place: Place) -> None:
    storm = '[[reply]]\nstatus = 529\nheaders = { retry-after = "30" }\n\n[[reply]]\ntext = "Over."\n'
    async with Tmux(place, PRACTICE, script(place, storm)) as terminal:
        await terminal.sees("asks first")
        async with Tmux(place, "watch", columns=80, rows=24) as other:
            await other.sees("watching process")
            await terminal.type("hello")
            await terminal.press("Enter")
            await other.sees("▌ hello", "529 overloaded", "next try in")
            await terminal.press("M-r")
            await other.sees("Over.", "failures ░░░░░ 0 of 5", gone=("next try in",))
            await terminal.press("C-d")
            await other.sees("no process is writing")
            await other.press("q")
            await other.sees("exit code 0")


async def test_a_recorded_session_is_replayed(place: Place) -> None:
    journal = ROOT / "docs" / "sessions" / "storm.jsonl"
    async with Tmux(place, "replay", str(journal), "--from", "4") as terminal:
        await terminal.sees("529 overloaded", "step 4 of 10", "playing")
        await terminal.press("Space")
        await terminal.sees("paused")
        await terminal.press("End")
        await terminal.sees("end ·", "step 10 of 10", "The configuration is read in one place")
        await terminal.press("Home", "n", "n")  # the fault, and the retry that it is answered with
        screen = await terminal.sees("paused", "step 4 of 10", ", try ")
        await terminal.press("Right")
        await terminal.sees("step 4 of 10", "And in the tests?")
        await terminal.press("Left")
        await terminal.sees("step 3 of 10", gone=("And in the tests?",))
        await terminal.press("+", "F3")
        await terminal.sees("last ok")
        await terminal.press("F3", "q")
        await terminal.sees("exit code 0")
    assert re.search(r"grep +\w+ +2 ", screen), screen


async def test_markup_and_control_characters_of_others_stay_text(place: Place) -> None:
    nasty = """
[[reply]]
text = "[bold]no[/bold] [/] \\u001b[31mred\\u001b[0m and 日本語 🎉 [@click=app.exit]click[/]"
tools = [{ name = "bash", input = { command = "printf '[b]x[/b] [/nope] \\\\033]0;title\\\\007 天気予報'" } }]

[[reply]]
text = "Still here."
"""
    async with Tmux(place, PRACTICE, script(place, nasty), "--yolo") as terminal:
        await terminal.sees("asks nothing")
        await terminal.type("[red]prompt[/]")
        await terminal.press("Enter")
        screen = await terminal.sees("Still here.", "ready")
        assert "▌ [red]prompt[/]" in screen
        assert "[bold]no[/bold] [/]" in screen
        await terminal.press("C-o")
        await terminal.sees("[b]x[/b] [/nope]", "天気予報")
