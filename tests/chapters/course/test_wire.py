"""The events of a loop by hand are derived from the wire, even if it forgets a turn."""

from chapters.course.wire import WireExchange, WireListener
from harness.events import Block, Event, Json, ToolEnded, ToolStarted, TurnStarted

CALL: Block = {"type": "tool_use", "id": "1", "name": "bash", "input": {"command": "ls"}}
RESULT: Block = {"type": "tool_result", "tool_use_id": "1", "content": "notes.txt"}
HELLO: Block = {"type": "text", "text": "Hello."}


def test_prompt_call_and_result_are_reported_once_each() -> None:
    hearing = WireListener()
    told = _told(hearing, [_user("look")], (CALL,))
    assert [type(event) for event in told] == [TurnStarted, ToolStarted]
    told = _told(hearing, [_user("look"), _assistant(CALL), _user(RESULT)], (HELLO,))
    assert [type(event) for event in told] == [ToolEnded]


def test_after_a_turn_was_forgotten_only_the_new_prompt_is_reported() -> None:
    hearing = WireListener()
    kept = [_user("look"), _assistant(CALL), _user(RESULT), _assistant(HELLO)]
    _told(hearing, kept[:1], (CALL,))
    _told(hearing, kept[:3], (HELLO,))
    _told(hearing, [*kept, _user("lost")], ())
    [turn] = _told(hearing, [*kept, _user("next")], (HELLO,))
    assert isinstance(turn, TurnStarted)
    assert (turn.turn, turn.prompt) == (3, "next")


def test_a_longer_turn_that_was_forgotten_is_not_reported_again() -> None:
    hearing = WireListener()
    first = [_user("hello"), _assistant(HELLO)]
    lost = [*first, _user("look"), _assistant(CALL), _user(RESULT)]
    _told(hearing, first[:1], (HELLO,))
    _told(hearing, lost[:3], (CALL,))
    _told(hearing, lost, ())
    [turn] = _told(hearing, [*first, _user("next")], (HELLO,))
    assert isinstance(turn, TurnStarted)
    assert turn.prompt == "next"


def test_a_reply_that_was_cut_on_its_way_is_reported_when_the_loop_has_it() -> None:
    hearing = WireListener()
    prompt = [_user("look")]
    assert not _told(hearing, prompt, (CALL,), "200 with reset")[1:]
    [turn] = _told(hearing, [_user("again")], (CALL,), "200 with cut_tool")
    assert isinstance(turn, TurnStarted)
    told = _told(hearing, [_user("again"), _assistant(CALL), _user(RESULT)], (HELLO,))
    assert [type(event) for event in told] == [ToolStarted, ToolEnded]


def test_a_call_took_the_time_between_its_reply_and_the_next_request() -> None:
    hearing = WireListener()
    history = [_user("look"), _assistant(CALL), _user(RESULT)]
    for length, at in ((1, 10.0), (3, 42.0)):
        sent: Json = {"messages": history[:length]}
        exchange = WireExchange(
            1, "m", 1, length, 1, "200", "", "", "", sent, (CALL,) if length == 1 else (HELLO,), at, 2.0
        )
        told = [*hearing.request(exchange), *hearing.reply(exchange)]
    [ended] = [event for event in told if isinstance(event, ToolEnded)]
    assert ended.duration_s == 30.0


def _told(hearing: WireListener, messages: list[Json], came: tuple[Block, ...], answer: str = "200") -> list[Event]:
    answer = answer if came else "529 overloaded_error"
    exchange = WireExchange(1, "m", 1, len(messages), 1, answer, "", "", "", {"messages": messages}, came)
    from_wire = [*hearing.request(exchange), *hearing.reply(exchange)]
    return [event for event in from_wire if isinstance(event, TurnStarted | ToolStarted | ToolEnded)]


def _user(said: str | Block) -> Json:
    return {"role": "user", "content": said if isinstance(said, str) else [said]}


def _assistant(block: Block) -> Json:
    return {"role": "assistant", "content": [block]}
