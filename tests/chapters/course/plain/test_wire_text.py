"""The wire of a lesson, as its real server recorded it."""

import pytest

from chapters.course import Lesson, Recording, WireExchange, lesson
from chapters.course.plain.position import LessonPosition
from chapters.course.plain.wire_text import WireLine, exchange_lines
from chapters.course.wire import MASK, SECRET_HEADERS

pytestmark = pytest.mark.anyio


async def recorded(one: Lesson) -> list[tuple[WireExchange, list[WireLine]]]:
    """Every request of a chapter with its lines."""
    async with Recording(one, scripted_only=True) as recording:
        await recording.finished()
        position = LessonPosition(recording)
        found = {}
        for place in range(1, position.last + 1):
            position.place = place
            for exchange, before in position.compared():
                found[exchange.number] = exchange, list(exchange_lines(exchange, before, "en", 600))
        return list(found.values())


async def test_headers_are_those_of_the_client_with_its_key_masked() -> None:
    [(one, lines), *_] = await recorded(lesson("s01"))
    keys = [(name, value) for name, value in one.headers if name in SECRET_HEADERS]
    assert [value for _, value in keys] == [MASK]
    sent, head, *_ = [line.text for line in lines if line.kind == "header"]
    assert sent == "POST /v1/messages"
    assert "anthropic-version: 20" in head
    assert f"{keys[0][0]}: {MASK}" in head
    assert "HTTP/1.1 200" in [line.text for line in lines]


async def test_only_added_messages_are_new() -> None:
    [(_, first), (_, second), *_] = await recorded(lesson("s01"))
    assert not any(line.new for line in first)
    new = "\n".join(line.text for line in second if line.new)
    assert new.count('"role"') == 2
    assert '"tool_result"' in new
    assert "Which files are here" not in new


async def test_a_stream_is_shown_event_by_event_and_an_error_with_its_headers() -> None:
    exchanges = await recorded(lesson("s11"))
    refused, lines = next((one, lines) for one, lines in exchanges if one.status == 529)
    assert '"overloaded_error"' in refused.body
    assert any(line.text.startswith("HTTP/1.1 529") for line in lines)
    whole = next(one for one, _ in exchanges if one.answer == "200")
    assert (whole.stream[0].name, whole.stream[-1].name) == ("message_start", "message_stop")
    times = [event.after_s for event in whole.stream]
    assert times == sorted(times)
    assert times[0] > 0
