"""The effects of breaking the s01 loop, as described in its text."""

from collections.abc import Iterable

import pytest

from chapters.course import Fact, LessonError, Recording, WireExchange
from tests.chapters.live import live, typed

pytestmark = pytest.mark.anyio


async def test_each_overload_costs_a_turn_and_the_next_one_works() -> None:
    async with live("s01") as recording:
        recording.break_model("529 3")
        for prompt in ("read notes.txt", "list the files", "read count.py"):
            assert answers(await typed(recording, prompt)) == ["529 overloaded_error"]
        facts = await typed(recording, "read notes.txt")
        assert answers(facts) == ["200", "200"]
        assert "herring" in said(facts)


async def test_an_empty_reply_spoils_every_request_after_it() -> None:
    async with live("s01") as recording:
        recording.break_model("empty")
        assert answers(await typed(recording, "read notes.txt")) == ["200"]
        for prompt in ("read count.py", "list the files"):
            [answer] = answers(await typed(recording, prompt))
            assert answer.startswith("400 invalid_request_error")


async def test_a_web_page_ends_the_program() -> None:
    async with live("s01") as recording:
        await _ends_it(recording)
    async with live("s02") as recording:
        await _ends_it(recording)


async def _ends_it(recording: Recording) -> None:
    recording.break_model("html")
    with pytest.raises(LessonError, match="no attribute 'content'"):
        await typed(recording, "list the files")


def answers(facts: Iterable[Fact]) -> list[str]:
    """How the requests were answered."""
    return [fact.answer for fact in facts if isinstance(fact, WireExchange)]


def said(facts: Iterable[Fact]) -> str:
    """The last words of the model."""
    return [fact.text for fact in facts if isinstance(fact, WireExchange)][-1]
