"""Plan, approve, do: on a real screen, in the terminal's scrollback, in lines, and without a user."""

import json
import signal

import pytest

from tests.ui.program import Place, run
from tests.ui.terminals import REASON, TMUX, Tmux

pytestmark = [pytest.mark.anyio, pytest.mark.stories, pytest.mark.skipif(TMUX is None, reason=REASON)]


def proposes(title: str) -> str:
    """An entry of a script that proposes a plan of two steps."""
    plan = f"# {title}\\n\\nIn **one** place."
    input = f'plan = "{plan}", steps = ["write the test", "change the code"]'
    return f'\n[[reply]]\ntools = [{{ name = "propose_plan", input = {{ {input} }} }}]\n'


WRITES = """
[[reply]]
tools = [{ name = "write_file", input = { path = "made.md", content = "made\\n" } }]
"""
SAYS = '\n[[reply]]\ntext = "The model goes on."\n'


def script_of(place: Place, *entries: str) -> str:
    file = place.folder.parent / "script.toml"
    file.write_text("".join(entries))
    return str(file)


def editor_of(place: Place) -> str:
    file = place.folder.parent / "editor"
    file.write_text('#!/bin/sh\nsed -i "s/one/only one/; s/^- change.*/- change it all/" "$1"\n')
    file.chmod(0o700)
    return str(file)


@pytest.mark.parametrize("screen", ["", "--inline"])
async def test_a_plan_is_refused_edited_approved_and_carried_out(screen: str, place: Place) -> None:
    script = script_of(place, WRITES, proposes("First"), proposes("Second"), WRITES, SAYS)
    flags = ("--practice", script, *([screen] if screen else []))
    async with Tmux(place, *flags, EDITOR=editor_of(place)) as terminal:
        await terminal.sees("asks first")
        await terminal.say("/plan")
        await terminal.sees("plan mode")
        await terminal.say("add a timeout")
        await terminal.asks("First", "☐ write the test", "Carry out this plan?", "▸ y  yes, ask before each edit")
        assert not (place.folder / "made.md").exists()
        await terminal.press("BTab")
        await terminal.sees("read only", "Carry out this plan?")
        await terminal.press("BTab", "BTab", "BTab")
        await terminal.asks("plan mode", "Carry out this plan?")
        await terminal.press("n")
        await terminal.sees("what to change?")
        await terminal.type("smaller")
        await terminal.press("Enter")
        await terminal.asks("Second", "yes, ask before each edit")
        await terminal.press("e")
        await terminal.asks("In **only one** place.", "Carry out this plan?")
        await terminal.press("Down", "Enter") if screen else await terminal.press("Enter")
        await terminal.sees("checklist · 0 of 2 done", "☐ change it all")
        if not screen:
            await terminal.asks("▸ y  yes, once")
            await terminal.press("y")
        await terminal.sees("The model goes on.")
    assert (place.folder / "made.md").exists()
    journals = [file.read_text() for file in place.state.rglob("*.jsonl")]
    assert any(
        "The user edited it; only this version holds" in text and "only one** place" in text for text in journals
    )


async def test_a_small_screen_shows_the_plan_above_its_question(place: Place) -> None:
    script = script_of(place, proposes("First"))
    async with Tmux(place, "--practice", script, columns=80, rows=30) as terminal:
        await terminal.sees("asks first")
        await terminal.say("/plan")
        await terminal.sees("plan mode")
        await terminal.say("add a timeout")
        await terminal.asks("First", "In one place.", "☐ write the test", "☐ change the code", "▸ y  yes")


async def test_a_new_conversation_carries_it_out_and_a_kill_at_the_question_loses_nothing(place: Place) -> None:
    script = script_of(place, proposes("First"), proposes("Again"), proposes("Then"))
    async with Tmux(place, "--practice", script) as terminal:
        await terminal.sees("asks first")
        await terminal.say("/plan")
        await terminal.say("add a timeout")
        await terminal.asks("Carry out this plan?")
        await terminal.send(signal.SIGKILL)
    async with Tmux(place, "--inline", "--practice", script, "-c", "--yolo") as terminal:
        await terminal.sees("plan mode", "its last turn was cut off")
        await terminal.say("/retry")
        await terminal.asks("Carry out this plan?", "yes, everything without asking, as before")
        await terminal.press("c")
        await terminal.sees("Carry out this plan, which I have approved", "asks nothing", "todo 0 of 2")
        await terminal.say("/sessions")
        await terminal.sees("approved: # First In", "add a timeout", "2  ")
        assert "rewound" not in await terminal.scrollback()


async def test_leaving_in_lines_gives_the_mode_back(place: Place) -> None:
    script = script_of(place, proposes("First"), SAYS)
    async with Tmux(place, "--practice", script, "--plain") as terminal:
        await terminal.sees("/help lists")
        await terminal.say("/plan")
        await terminal.sees("plan mode: only looks")
        await terminal.say("add a timeout")
        await terminal.sees("  [ ] write the test", "4 leave plan mode", "e edits it first")
        await terminal.say("yes")
        await terminal.sees_that(lambda screen: screen.count("e edits it first") == 2, "the question again")
        await terminal.say("4")
        await terminal.sees("permission mode is now ask", "leave plan mode without this plan, ")
        await terminal.say("/mode")
        await terminal.sees("asks before writing or running")


@pytest.mark.parametrize("flags", [(), ("--yolo",)])
@pytest.mark.parametrize("form", ["text", "json"])
async def test_without_a_user_the_plan_is_the_answer_and_no_plan_a_failure(
    form: str, flags: tuple[str, ...], place: Place
) -> None:
    script = script_of(place, WRITES, proposes("First"))
    plan = ("-p", "add a timeout", "--permission-mode", "plan", "--output-format", form, *flags)
    ended = await run(place, *plan, "--practice", script)
    text = "# First\n\nIn **one** place.\n\n- write the test\n- change the code"
    assert ended.code == 0
    assert not (place.folder / "made.md").exists()
    if form == "text":
        assert ended.out == f"{text}\n"
    else:
        result = json.loads(ended.out)
        assert (result["result"], result["exit_code"], result["plan"]["steps"][0]) == (text, 0, "write the test")
    ended = await run(place, *plan, "--practice", script_of(place, SAYS))
    assert (ended.code, "no plan was proposed" in ended.err) == (1, True)
    if form == "json":
        assert json.loads(ended.out)["subtype"] == "error_no_plan"
    refused = await run(place, *plan, "--json-schema", '{"type": "object"}')
    assert (refused.code, "give one of them" in refused.err) == (2, True)
    again = ("-p", "go", "-c", "--practice", script_of(place, WRITES, SAYS))
    assert (await run(place, *again, "--yolo")).code == 1, "a flag that allows everything approves nothing"
    assert (await run(place, *again, "--permission-mode", "edits")).code == 0
    assert (place.folder / "made.md").exists()


async def test_a_long_plan_is_read_while_its_question_is_open(place: Place) -> None:
    lines = "\\n".join(f"{number}. part {number}" for number in range(1, 41))
    script = script_of(place, proposes(f"Long\\n\\n{lines}"), SAYS)
    async with Tmux(place, "--practice", script, "--permission-mode", "plan") as terminal:
        await terminal.sees("plan mode")
        await terminal.say("add a timeout")
        await terminal.asks("40. part 40", "Carry out this plan?")
        await terminal.press("PPage")
        await terminal.sees("1. part 1", "Carry out this plan?", gone=("40. part 40",))
        await terminal.press("y")
        await terminal.sees("The model goes on.")
