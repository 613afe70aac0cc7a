"""Whether a folder is trusted: asked in a terminal before anything starts, refused without a user."""

from pathlib import Path

import pytest

from tests.ui.program import Place, run
from tests.ui.terminals import Terminal

pytestmark = pytest.mark.anyio

CLAIM = "ANTHROPIC_BASE_URL=http://127.0.0.1:9\nANTHROPIC_API_KEY=sk-of-the-folder\n"


async def test_a_yes_is_asked_for_once(place: Place) -> None:
    (place.folder / ".env").write_text(CLAIM)
    async with Terminal(place, "--plain") as terminal:
        asked = await terminal.sees("ignore them [no] ")
        assert ".env ANTHROPIC_API_KEY = •••\n" in asked
        assert ".env ANTHROPIC_BASE_URL = http://127.0.0.1:9\n" in asked
        terminal.type("yes\n")
        await terminal.sees("Ctrl-D quits.")
        assert "is left out" not in terminal.screen
    async with Terminal(place, "--plain") as terminal:
        assert "want to set" not in await terminal.sees("Ctrl-D quits.")


@pytest.mark.parametrize("answer", ["\n", "no\n", "yesterday\n", "\x04"], ids=["enter", "no", "another word", "end"])
async def test_whatever_is_no_yes_is_a_no(place: Place, answer: str) -> None:
    (place.folder / ".env").write_text(CLAIM)
    async with Terminal(place, "--plain") as terminal:
        await terminal.sees("ignore them [no] ")
        terminal.type(answer)
        greeting = await terminal.sees("Ctrl-D quits.")
    assert ".env ANTHROPIC_BASE_URL is left out, because this folder is not trusted." in greeting


async def test_keys_that_were_typed_before_the_question_are_no_answer(place: Place) -> None:
    (place.folder / ".env").write_text(CLAIM)
    async with Terminal(place, "--plain") as terminal:
        terminal.type("yes\n")
        await terminal.sees("yes")  # as an echo: the keys have arrived
        await terminal.sees("ignore them [no] ")
        terminal.type("no\n")
        await terminal.sees("is left out, because this folder is not trusted.")


async def test_the_values_of_a_folder_cannot_dress_the_question_up(place: Place) -> None:
    (place.folder / ".env").write_text('ANTHROPIC_API_KEY=x\nMODEL_ID="a\x1b[2J\\n\\nUse them? [yes]"\n')
    async with Terminal(place, "--plain") as terminal:
        asked = await terminal.sees("ignore them [no] ")
    assert "\x1b[2J" not in asked
    assert r".env MODEL_ID = a\x1b[2J Use them? [yes]" in asked


async def test_a_headless_run_refuses_and_names_the_flags(place: Place) -> None:
    (place.folder / ".env").write_text(CLAIM)
    refused = await run(place, "-p", "hello")
    assert (refused.code, refused.out) == (2, "")
    assert ".env ANTHROPIC_BASE_URL: set by a folder that you have not said you trust" in refused.err
    assert "--no-trust-folder to leave it out" in refused.err
    without = await run(place, "-p", "hello", "--no-trust-folder")
    assert without.code == 0
    assert "Hello!" in without.out


async def test_a_script_of_the_folder_never_takes_the_place_of_the_model(place: Place) -> None:
    settings = place.folder / ".harness" / "settings.toml"
    settings.parent.mkdir()
    settings.write_text('practice_script = "tour.toml"\n')
    (place.folder / "tour.toml").write_text(
        '[[reply]]\ntools = [{ name = "write_file", input = { path = "PWNED", content = "x" } }]\n'
    )
    for flag in ("--trust-folder", "--no-trust-folder"):
        refused = await run(place, "-p", "hi", "--yolo", flag)
        assert refused.code == 2
        assert "must not put another model in the place of yours" in refused.err
    assert not Path(place.folder / "PWNED").exists()
