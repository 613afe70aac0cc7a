"""What a person answers, types meanwhile and gets wrong, on a real screen."""

import pytest

from tests.ui.program import Place
from tests.ui.terminals import REASON, TMUX, Tmux

pytestmark = [pytest.mark.anyio, pytest.mark.stories, pytest.mark.skipif(TMUX is None, reason=REASON)]

ASKS = """
after = "error"

[[reply]]
tools = [{ name = "bash", input = { command = "touch one" } }]

[[reply]]
tools = [{ name = "bash", input = { command = "touch one" } }]

[[reply]]
tools = [{ name = "bash", input = { command = "touch two" } }]

[[reply]]
tools = [{ name = "bash", input = { command = "touch three" } }]

[[reply]]
when = { text = "too loud" }
text = "You said that it is too loud."

[[reply]]
text = "The model goes on."

[[reply]]
tools = [{ name = "write_file", input = { path = "made.md", content = "made\\n" } }]

[[reply]]
text = "It is written."

[[reply]]
tools = [{ name = "write_file", input = { path = "more.md", content = "more\\n" } }]

[[reply]]
text = "It may not be written."

[[reply]]
text = "Slowly, and slowly, and slowly, and slowly, and so on."
chunk = 7
event_delay = 0.5

[[reply]]
text = "The prompt that waited was answered."
"""


async def test_answers_modes_and_what_is_typed_meanwhile(place: Place) -> None:
    script = place.folder.parent / "script.toml"
    script.write_text(ASKS)
    async with Tmux(place, "--practice", str(script)) as terminal:
        await terminal.sees("asks first")
        await terminal.say("go")
        await terminal.asks("touch one", "a  yes, always in this folder: exactly this")
        await terminal.type("２")
        await terminal.asks("touch two", "▸ y  yes, once")  # the same command again was not asked about
        await terminal.press("Down", "Down", "Up", "Up", "Enter")
        await terminal.asks("touch three", "● bash touch two")
        await terminal.press("Up")
        await terminal.sees("▸ n  no, and say why")
        await terminal.press("Enter")
        await terminal.sees("why not?")
        await terminal.say("too loud")
        screen = await terminal.sees("not allowed: too loud", "You said that it is too loud.", "· ready")
        assert screen.count("● bash touch one") == 2

        await terminal.press("BTab")
        await terminal.sees("edits freely")
        await terminal.say("write")
        await terminal.sees("The model goes on.")
        await terminal.say("write")
        await terminal.sees("● write_file made.md", "It is written.", "· ready")
        assert (place.folder / "made.md").read_text() == "made\n"
        await terminal.press("BTab")
        await terminal.sees("plan mode")
        await terminal.press("BTab")
        await terminal.sees("read only")
        await terminal.say("write more")
        await terminal.sees("more.md", "It may not be written.", "· ready")
        assert not (place.folder / "more.md").exists()
        await terminal.press("BTab")
        await terminal.sees("asks first")

        await terminal.say("!ls")
        await terminal.sees("● bash ls", "made.md", "· ready")
        for wrong, told in (
            ("/compcat", "Unknown command /compcat; did you mean /compact?"),
            ("/reset", "Which tool? Type /reset and its name"),
            ("/reset nothing", "nothing"),
            ("/theme no-such", "Unknown theme 'no-such'"),
            ("/keys now", "/keys takes no arguments"),
        ):
            await terminal.say(wrong)
            await terminal.sees(told)

        await terminal.say("/clear")
        await terminal.sees("asks first", gone=("It is written.",))
        await terminal.say("slowly")
        await terminal.sees("Slowly", "Esc stop")
        await terminal.type("and then")
        await terminal.press("M-Enter")
        await terminal.sees("1 queued")
        await terminal.say("/trip grep")
        await terminal.sees("paused     0")
        await terminal.say("/breakers")
        await terminal.sees("after 3 failures in a row")
        await terminal.say("/reset grep")
        await terminal.sees("▌ and then", "The prompt that waited was answered.", gone=("queued", "paused     0"))


async def test_questions_of_the_model_of_a_subagent_and_before_a_fan_out_of_forty(place: Place) -> None:
    async with Tmux(place, "--practice", "--yolo") as terminal:
        await terminal.sees("asks nothing")
        await terminal.say("ask me which colour to use: red, green or blue")
        await terminal.sees("Which colour to use?", "▸ 1  red", "3  blue", "Esc: no answer")
        await terminal.press("Down", "Enter")
        await terminal.sees("Your answer: green", "· ready")

        await terminal.say("use an agent to ask me which size to take: small or large")
        await terminal.sees("agent a1: Which size to take?", "▸ 1  small", "Esc: no answer")
        await terminal.press("w")
        await terminal.sees("your answer (Enter: none)")
        await terminal.say("medium")
        await terminal.sees("Your answer: medium", "· ready")

        await terminal.say("ask me what my name is")
        await terminal.sees("What my name is?", "▸ w  write an answer", "Esc: no answer")
        await terminal.press("Escape")
        await terminal.sees("There is no answer: The user declined", "· ready")

        await terminal.say("use 40 agents to count the lines of notes.md")
        await terminal.sees(
            "The model wants to start 40 subagents, after 1 in this session.",
            "tokens each, the average of the 1 subagent so far.",
            "A yes holds for up to 41 in this session; max_subagents is 100.",
            "▸ n  do not start them, and say what instead",
            "Esc: no answer",
        )
        await terminal.press("Escape")
        await terminal.sees("(40 of 40): I was not allowed", "2 requests")
        await terminal.say("use 40 agents to count the lines of notes.md")
        await terminal.sees("y  start 40 subagents", "Esc: no answer")
        await terminal.type("y")
        await terminal.sees("(40 of 40): notes.md has", "82 requests")
