"""Lines from a terminal while the loop runs; a pipe replaces the terminal's buffer."""

import asyncio
import os
from collections.abc import Iterator

import pytest

from harness.ui.plain.keyboard import Keyboard

pytestmark = pytest.mark.anyio


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    """The ends for the program's input and for the typist."""
    source, typing = os.pipe()
    yield source, typing
    for end in (source, typing):
        os.close(end)


async def typed(typing: int, keys: bytes) -> None:
    """Press these keys and let the loop see them."""
    os.write(typing, keys)
    await asyncio.sleep(0.01)


async def test_a_paste_is_taken_line_by_line_and_a_line_that_is_not_whole_waits_for_its_rest(
    ends: tuple[int, int],
) -> None:
    source, typing = ends
    keyboard, lines = Keyboard(source), list[str]()
    with keyboard.listening(lines.append):
        await typed(typing, b"eins\r\nzwei\nd")
        assert lines == ["eins", "zwei"]
        await typed(typing, "rei 世".encode()[:-1])
        await typed(typing, "世".encode()[-1:] + b"\nvie")
    assert lines == ["eins", "zwei", "drei 世"]
    assert (keyboard.take_begun(), keyboard.take_begun()) == ("vie", "")


async def test_a_question_takes_one_line_of_a_paste(ends: tuple[int, int]) -> None:
    source, typing = ends
    keyboard, lines = Keyboard(source), list[str]()
    with keyboard.listening(lines.append):
        answer = asyncio.ensure_future(keyboard.answer())
        await asyncio.sleep(0)
        await typed(typing, b"no\nthe next prompt\n")
        assert (await answer, lines) == ("no", ["the next prompt"])


@pytest.mark.parametrize(("last", "taken"), [(b"", None), (b"y", "y")])
async def test_the_end_of_input_answers_a_question(last: bytes, taken: str | None) -> None:
    source, typing = os.pipe()
    keyboard = Keyboard(source)
    answer = asyncio.ensure_future(keyboard.answer())
    await asyncio.sleep(0)
    await typed(typing, last)
    os.close(typing)
    assert await answer == taken
    os.close(source)


async def test_a_question_at_the_prompt_is_answered_before_the_prompt(ends: tuple[int, int]) -> None:
    source, typing = ends
    keyboard = Keyboard(source)
    with keyboard.listening(list[str]().append):
        question = asyncio.ensure_future(keyboard.answer())
        await asyncio.sleep(0)
        prompt = asyncio.ensure_future(keyboard.answer(last=True))
        await asyncio.sleep(0)
        another = asyncio.ensure_future(keyboard.answer())
        await asyncio.sleep(0)
        await typed(typing, b"one\ntwo\nthree\n")
        assert (await another, await question, await prompt) == ("one", "two", "three")


async def test_a_withdrawn_question_takes_no_line(ends: tuple[int, int]) -> None:
    source, typing = ends
    keyboard, lines = Keyboard(source), list[str]()
    with keyboard.listening(lines.append):
        question = asyncio.ensure_future(keyboard.answer())
        await asyncio.sleep(0)
        question.cancel()
        await asyncio.wait({question})
        await typed(typing, b"one\n")
    assert lines == ["one"]


async def test_what_was_typed_before_a_question_goes_its_way_and_is_no_answer(ends: tuple[int, int]) -> None:
    source, typing = ends
    keyboard, lines = Keyboard(source, grace_s=0.3), list[str]()
    with keyboard.listening(lines.append):
        settled = asyncio.ensure_future(keyboard.settled())
        await typed(typing, b"y\n")
        assert lines == ["y"]
        await typed(typing, b"a te")
        assert await settled  # a line has been begun
        answer = asyncio.ensure_future(keyboard.answer())
        await asyncio.sleep(0)
        await typed(typing, b"n\nmo")
        assert await answer == "n"
        assert keyboard.take_begun() == "a temo"


async def test_a_line_that_turns_out_to_be_no_answer_is_kept_with_its_beginning(ends: tuple[int, int]) -> None:
    source, typing = ends
    keyboard, lines = Keyboard(source, grace_s=0.1), list[str]()
    with keyboard.listening(lines.append):
        await typed(typing, b"a te")
        assert await keyboard.settled()
        answer = asyncio.ensure_future(keyboard.answer())
        await asyncio.sleep(0)
        await typed(typing, b"st\n")
        assert keyboard.keep(await answer or "") == "a test"
    assert lines == ["a test"]


async def test_after_listening_a_line_is_left_to_others(ends: tuple[int, int]) -> None:
    source, typing = ends
    keyboard, lines = Keyboard(source), list[str]()
    with keyboard.listening(lines.append):
        await typed(typing, b"mine\n")
    await typed(typing, b"for readline\n")
    assert lines == ["mine"]
    assert os.read(source, 100) == b"for readline\n"


async def test_an_enter_that_came_while_the_line_editor_had_the_terminal_ends_a_line(ends: tuple[int, int]) -> None:
    source, typing = ends
    keyboard, lines = Keyboard(source), list[str]()
    with keyboard.listening(lines.append):
        await typed(typing, b"one\rtwo\r\nthree\nfo")
    assert lines == ["one", "two", "three"]
    assert keyboard.take_begun() == "fo"


async def test_a_line_with_alt_enter_goes_another_way_and_has_no_escape(ends: tuple[int, int]) -> None:
    source, typing = ends
    keyboard, lines, own = Keyboard(source), list[str](), list[str]()
    with keyboard.listening(lines.append, own.append):
        await typed(typing, b"one\ntwo\x1b\nthree\n")
    with keyboard.listening(lines.append):
        await typed(typing, b"four\x1b\n")
    assert (lines, own) == (["one", "three", "four"], ["two"])
