"""Inline mode of the real command in a real terminal: what stays in its scrollback."""

import signal

import pytest

from tests.ui.program import Place
from tests.ui.terminals import REASON, TMUX, Tmux

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(TMUX is None, reason=REASON)]
INLINE = ("--inline", "--practice")
READY = "F2 panel"
LONG = "a line that is longer than sixty columns, so that a narrow terminal has to wrap it"


def script(place: Place, text: str) -> str:
    path = place.folder.parent / "script.toml"
    path.write_text(text)
    return str(path)


def order(text: str, *parts: str) -> None:
    """Each part is there exactly once, in this order."""
    counts = {part: text.count(part) for part in parts}
    assert set(counts.values()) == {1}, f"{counts} in\n{text}"
    assert sorted(parts, key=text.index) == list(parts), text


@pytest.mark.stories
async def test_the_conversation_stays_and_the_prompt_goes(place: Place) -> None:
    replies = '[[reply]]\ntext = "The answer."\n'
    async with Tmux(place, *INLINE, script(place, replies), columns=100, rows=12) as terminal:
        await terminal.sees("▸", READY)
        await terminal.say("the question")
        await terminal.sees("The answer.", "1 request", READY)
        assert not await terminal.alternate()
        await terminal.press("C-d")
        await terminal.sees("resume with: harness --resume", "exit code 0", "icanon")
        assert await terminal.modes() == "mouse=0 cursor=1 keypad=0"
        order(await terminal.scrollback(), "▌ the question", "The answer.", "resume with", "exit code 0")
        assert READY not in await terminal.scrollback()


@pytest.mark.stories
async def test_three_prompts_are_whole_in_the_scrollback_and_a_question_is_answered(place: Place) -> None:
    replies = """
[[reply]]
text = "First answer. \\n\\n- one\\n- two\\n- three\\n- four\\n- five\\n- six\\n- seven\\n- eight"

[[reply]]
tools = [{ name = "bash", input = { command = "echo made > made.txt" } }]

[[reply]]
text = "Second answer."

[[reply]]
text = "Third answer."
"""
    async with Tmux(place, *INLINE, script(place, replies), columns=100, rows=16) as terminal:
        await terminal.sees("▸", READY)
        await terminal.say("first question")
        await terminal.sees("eight", "1 request")
        await terminal.say("second question")
        await terminal.asks("echo made > made.txt", "yes, once")
        await terminal.press("1")
        await terminal.sees("Second answer.", gone=("yes, once",))
        await terminal.press("F2")
        await terminal.sees("failures ░░░░░ 0 of 5")
        await terminal.press("F2")
        await terminal.sees("Second answer.", gone=("model    practice-1",))
        await terminal.press("F3")
        await terminal.sees("n p incidents")
        await terminal.press("F3")
        await terminal.sees(READY, gone=("n p incidents",))
        await terminal.say("third question")
        await terminal.sees("Third answer.", READY)
        await terminal.say("/clear")
        await terminal.sees("conversation cleared; the journal keeps it")
        await terminal.press("C-d")
        await terminal.sees("exit code 0")
        kept = await terminal.scrollback()
        answers = ("▌ first question", "First answer.", "• eight", "▌ second question", "● bash echo made")
        order(
            kept,
            *answers,
            "Second answer.",
            "▌ third question",
            "Third answer.",
            "· conversation cleared",
            "resume with",
        )
        assert "rewound" not in kept
        assert READY not in kept
        assert "yes, once" not in kept
        assert (place.folder / "made.txt").read_text() == "made\n"


@pytest.mark.stories
async def test_the_newest_shortened_output_is_printed_again_in_full(place: Place) -> None:
    async with Tmux(place, *INLINE, columns=100, rows=16) as terminal:
        await terminal.sees("▸", READY)
        await terminal.say("!seq 101 140")
        await terminal.sees("  112\n", "… 28 more lines", READY)
        await terminal.press("C-o")
        await terminal.sees("  140\n", READY)
        kept = await terminal.scrollback()
        order(kept, "… 28 more lines", *(f"  {number}\n" for number in range(113, 141)))


@pytest.mark.stories
async def test_a_narrower_terminal_does_not_garble_what_streams(place: Place) -> None:
    replies = f"""
[[reply]]
text = "Begin: {LONG}.\\n\\nMiddle: {LONG}.\\n\\nFinal: {LONG}. Over."
chunk = 6
event_delay = 0.1
"""
    async with Tmux(place, *INLINE, script(place, replies)) as terminal:
        await terminal.sees("▸", READY)
        await terminal.say("go")
        await terminal.sees("Middle: a line")
        await terminal.resize(60, 40)
        await terminal.sees("Final: a line")
        await terminal.sees("Over.", "1 request", READY)
        await terminal.press("C-d")
        await terminal.sees("exit code 0")
        kept = await terminal.scrollback()
        order(kept, "▌ go", "Begin: a line", "Middle: a line", "Final: a line", "Over.", "exit code 0")
        assert kept.count("has to wrap") + kept.count("has to\n wrap") == 3, kept


@pytest.mark.stories
async def test_esc_stops_a_turn_and_what_had_come_is_printed(place: Place) -> None:
    replies = """
[[reply]]
text = "One two three four five six seven eight nine ten and so on for a long time, word by word."
chunk = 4
event_delay = 0.6

[[reply]]
text = "Here I am."
"""
    async with Tmux(place, *INLINE, script(place, replies), columns=100, rows=16) as terminal:
        await terminal.sees("▸", READY)
        await terminal.say("count")
        await terminal.sees("One two")
        await terminal.say("are you there?")
        await terminal.sees("▸ are you there?", "joins after this reply")
        await terminal.press("Escape")
        await terminal.sees("interrupted; partial results are kept", "▸ are you there?")
        await terminal.press("Enter")
        await terminal.sees("Here I am.", "1 request")
        await terminal.press("C-c")
        await terminal.sees("Ctrl+C again to quit")
        await terminal.press("C-c")
        await terminal.sees("exit code 130")
        order(await terminal.scrollback(), "▌ count", "One two", "interrupted", "▌ are you there?", "Here I am.")


@pytest.mark.stories
async def test_a_command_that_is_killed_with_a_signal_restores_the_terminal(place: Place) -> None:
    slow = '[[reply]]\ntext = "One two three four five six seven eight nine."\nchunk = 4\nevent_delay = 0.5\n'
    async with Tmux(place, *INLINE, script(place, slow), columns=100, rows=16) as terminal:
        await terminal.sees("▸", READY)
        await terminal.say("count")
        await terminal.sees("One two")
        await terminal.send(signal.SIGTERM)
        await terminal.sees("exit code 143", "icanon")
        order(await terminal.scrollback(), "▌ count", "One two", "resume with", "exit code 143")
